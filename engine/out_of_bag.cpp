#include "out_of_bag.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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
    // Where a warm start takes the curve up again.
    for (std::uint32_t row = 0; row < n_rows; ++row) {
        if (found_.counts[row] == 0 || !counts_in_error(row)) continue;
        loss_ += loss_of(row);
        ++n_judged_;
    }
}

double OutOfBagTally::loss_of(std::uint32_t row) const {
    if (target_.n_classes > 0) return row_loss(target_, row, found_.sums.data() + row * target_.n_outputs());
    const double mean = found_.sums[row] / found_.counts[row];
    return row_loss(target_, row, &mean);
}

void OutOfBagTally::add_row(std::uint32_t row, const double* value) {
    const std::size_t n_outputs = target_.n_outputs();
    const bool counts = counts_in_error(row);
    if (counts && found_.counts[row] > 0) {
        loss_ -= loss_of(row);
    } else if (counts) {
        ++n_judged_;
    }
    add_vote(value, n_outputs, rule_, found_.sums.data() + row * n_outputs);
    ++found_.counts[row];
    if (counts) loss_ += loss_of(row);
}

void OutOfBagTally::add_to_curve() {
    found_.curve.push_back(n_judged_ > 0 ? std::max(loss_, 0.0) / static_cast<double>(n_judged_)
                                         : std::numeric_limits<double>::quiet_NaN());
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
