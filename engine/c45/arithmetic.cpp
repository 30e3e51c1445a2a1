#include "c45/arithmetic.h"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace committee::c45 {

// A term is at least -w log2(1 / tolerance) and at most w log2(total), which bounds every sum of terms.
Entropy::Entropy(double total_weight, std::size_t largest_count)
    : grid_(total_weight * (std::log2(total_weight + 2) - std::log2(tolerance)) + 1), terms_(largest_count + 1) {
    for (std::size_t count = 0; count <= largest_count; ++count) terms_[count] = term(static_cast<double>(count));
}

double sum(std::span<const double> weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

std::size_t find_majority(std::span<const double> class_weights) {
    std::size_t best = 0;
    double most = 0;
    for (std::size_t c = 0; c < class_weights.size(); ++c) {
        if (!is_greater(class_weights[c], most)) continue;
        most = class_weights[c];
        best = c;
    }
    return best;
}

double count_errors(std::span<const double> class_weights) {
    return sum(class_weights) - class_weights[find_majority(class_weights)];
}

ErrorEstimate::ErrorEstimate(double confidence) : confidence_(confidence), z_(upper_normal_quantile(confidence)) {}

double ErrorEstimate::operator()(std::span<const double> class_weights) const {
    const double total = sum(class_weights);
    if (is_equal(total, 0)) return 0;
    const double errors = count_errors(class_weights);
    return errors + extra(total, errors);
}

double ErrorEstimate::extra(double total, double errors) const {
    if (errors < 1) {
        // Exact for 0 errors. Between 0 and 1, C4.5 interpolates linearly.
        const double none = total * (1 - std::pow(confidence_, 1 / total));
        return errors == 0 ? none : none + errors * (extra(total, 1) - none);
    }
    if (errors + 0.5 >= total) return std::max(total - errors, 0.0);
    // Wilson's upper limit with continuity correction.
    const double rate = (errors + 0.5) / total;
    const double z2 = z_ * z_;
    const double spread = z_ * std::sqrt(rate / total - rate * rate / total + z2 / (4 * total * total));
    const double limit = (rate + z2 / (2 * total) + spread) / (1 + z2 / total);
    return limit * total - errors;
}

double upper_normal_quantile(double probability) {
    double low = 0;
    double high = 40;  // beyond it, the tail probability is below the smallest positive double
    for (int step = 0; step < 64; ++step) {
        const double middle = (low + high) / 2;
        const bool too_low = std::erfc(middle / std::numbers::sqrt2) / 2 > probability;
        (too_low ? low : high) = middle;
    }
    return (low + high) / 2;
}

}  // namespace committee::c45
