// Converts a share of the range between two values of a column to a code, for random thresholds.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "table/table.h"

namespace committee {

// A piecewise linear approximation of the values of a column at about 256 of its codes. It is small enough to stay in
// the cache, unlike the cuts of all columns. The last line may end slightly beyond the last code.
class ValueLines {
  public:
    static constexpr std::uint32_t most_lines = 256;

    explicit ValueLines(const Column& column)
        : bits_(std::bit_width(column.n_bins / most_lines)), step_(1U << bits_), part_(1.0 / step_) {
        for (std::uint32_t code = 1; code < column.n_bins; code += step_) values_.push_back(value_of_bin(column, code));
        values_.resize(std::max<std::size_t>(values_.size() + 1, 2), column.highest);
        n_lines_ = static_cast<std::uint32_t>(values_.size() - 1);
        values_.resize(std::max<std::size_t>(values_.size(), most_lines), std::numeric_limits<double>::infinity());
    }

    // The code in [lowest, highest) whose upper value is `share` of the way from the value of lowest to that of
    // highest.
    std::uint32_t code_between(std::uint32_t lowest, std::uint32_t highest, double share) const {
        const double value = value_between(lowest, highest, share);
        std::uint32_t line = 0;
        for (std::uint32_t step = most_lines / 2; step > 0; step /= 2) line = step_on(line, step, value);
        return code_on(line, lowest, highest, share, value);
    }

    // The same in three steps, so that several columns can be searched together: the value, then calls of step_on from
    // line 0 with most_lines / 2, / 4 .. 1, then the code.
    double value_between(std::uint32_t lowest, std::uint32_t highest, double share) const {
        const double low = value_of(lowest), high = value_of(highest);
        return low + share * (high - low);
    }
    std::uint32_t step_on(std::uint32_t line, std::uint32_t step, double value) const {
        return line + (values_[line + step] <= value ? step : 0);
    }
    std::uint32_t code_on(std::uint32_t line, std::uint32_t lowest, std::uint32_t highest, double share,
                          double value) const {
        if (!std::isfinite(value)) return lowest + static_cast<std::uint32_t>(share * (highest - lowest));
        line = std::clamp(line, line_of(lowest), line_of(highest));
        // Both ends of the line may round to the same double.
        const double rise = values_[line + 1] - values_[line];
        const double part = rise > 0 ? (value - values_[line]) / rise : 0;
        const std::uint32_t code = 1 + line * step_ + static_cast<std::uint32_t>(part * step_);
        return std::clamp(code, lowest, highest - 1);
    }

  private:
    static double value_of_bin(const Column& column, std::uint32_t code) {
        if (code <= 1) return column.lowest;
        return column.cuts[code - 2] / 2 + column.cuts[code - 1] / 2;
    }
    std::uint32_t line_of(std::uint32_t code) const { return std::min((code - 1) >> bits_, n_lines_ - 1); }
    double value_of(std::uint32_t code) const {
        const std::uint32_t at = line_of(code);
        const auto beyond = static_cast<double>(code - 1 - at * step_);
        return values_[at] + beyond * part_ * (values_[at + 1] - values_[at]);
    }

    int bits_;
    std::uint32_t step_;
    double part_;
    std::uint32_t n_lines_ = 0;
    std::vector<double> values_;  // infinity after the last line
};

}  // namespace committee
