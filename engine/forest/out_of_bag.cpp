#include "forest/out_of_bag.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "numbers/exact_sum.h"

namespace committee {

double row_loss(const Target& target, std::uint32_t row, const double* decision) {
    if (target.n_classes > 0) {
        return std::max_element(decision, decision + target.n_classes) - decision == target.labels[row] ? 0 : 1;
    }
    const double error = *decision - target.numbers[row];
    return error * error;
}

OutOfBagTally::OutOfBagTally(const Target& target, std::size_t n_rows, Rule rule, OutOfBag before,
                             std::vector<bool> does_count)
    : target_(target), rule_(rule), found_(std::move(before)), does_count_(std::move(does_count)) {
    if (found_.counts.empty()) {
        found_.sums.assign(n_rows * target.n_outputs(), 0.0);
        found_.counts.assign(n_rows, 0);
    }
    assert(found_.counts.size() == n_rows && found_.sums.size() == n_rows * target.n_outputs());
    assert(does_count_.empty() || does_count_.size() == n_rows);
}

double OutOfBagTally::loss_of(std::uint32_t row) const {
    if (target_.n_classes > 0) return row_loss(target_, row, found_.sums.data() + row * target_.n_outputs());
    const double mean = found_.sums[row] / found_.counts[row];
    return row_loss(target_, row, &mean);
}

// Sums the losses of all rows again after every tree, so that a warm start computes the same bits.
void OutOfBagTally::add_to_curve() {
    std::vector<double> losses;
    losses.reserve(found_.counts.size());
    for (std::uint32_t row = 0; row < found_.counts.size(); ++row) {
        if (found_.counts[row] > 0 && counts_in_error(row)) losses.push_back(loss_of(row));
    }
    found_.curve.push_back(losses.empty() ? std::numeric_limits<double>::quiet_NaN()
                                          : sum_exactly(losses) / static_cast<double>(losses.size()));
}

bool OutOfBagTally::is_flat(std::size_t window) const {
    const std::vector<double>& curve = found_.curve;
    if (window == 0 || curve.size() < 2 * window) return false;
    const auto middle = curve.end() - static_cast<std::ptrdiff_t>(window);
    const double last = std::accumulate(middle, curve.end(), 0.0);
    const double before = std::accumulate(middle - static_cast<std::ptrdiff_t>(window), middle, 0.0);
    return last >= 0.995 * before || std::isnan(last);
}

}  // namespace committee
