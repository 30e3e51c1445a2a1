// Random thresholds: from a share of the way between two values of a column to a code.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "table.h"

namespace committee {

// Values of a column at some 256 of its codes, with straight lines between: small enough to stay in the cache, where
// the cuts of all columns would not. The last line may end a little beyond the last code.
class Knots {
  public:
    explicit Knots(const Column& column)
        : bits_(std::bit_width(column.n_bins / 256)), step_(1U << bits_), part_(1.0 / step_) {
        for (std::uint32_t code = 1; code < column.n_bins; code += step_) values_.push_back(value_of_bin(column, code));
        values_.resize(std::max<std::size_t>(values_.size() + 1, 2), column.highest);
    }

    // The code in [lowest, highest) whose values end at a share of the way from the value of lowest to that of highest.
    std::uint32_t code_between(std::uint32_t lowest, std::uint32_t highest, double share) const {
        const double low = value_of(lowest), high = value_of(highest);
        const double value = low + share * (high - low);
        if (!std::isfinite(value)) return lowest + static_cast<std::uint32_t>(share * (highest - lowest));
        std::size_t at = line_of(lowest);
        for (std::size_t size = line_of(highest) - at + 1; size > 1;) {
            const std::size_t half = size / 2;
            at += values_[at + half] <= value ? half : 0;
            size -= half;
        }
        const double part = (value - values_[at]) / (values_[at + 1] - values_[at]);
        const std::uint32_t code =
            1 + static_cast<std::uint32_t>(at) * step_ + static_cast<std::uint32_t>(part * step_);
        return std::clamp(code, lowest, highest - 1);
    }

  private:
    static double value_of_bin(const Column& column, std::uint32_t code) {
        if (code <= 1) return column.lowest;
        return column.cuts[code - 2] / 2 + column.cuts[code - 1] / 2;
    }
    std::size_t line_of(std::uint32_t code) const {
        return std::min<std::size_t>((code - 1) >> bits_, values_.size() - 2);
    }
    double value_of(std::uint32_t code) const {
        const std::size_t at = line_of(code);
        const auto beyond = static_cast<double>(code - 1 - static_cast<std::uint32_t>(at) * step_);
        return values_[at] + beyond * part_ * (values_[at + 1] - values_[at]);
    }

    int bits_;
    std::uint32_t step_;
    double part_;
    std::vector<double> values_;
};

}  // namespace committee
