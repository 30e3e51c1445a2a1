// Sums of numbers that are rounded to a common grid. Every addition is exact, so the order does not matter.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace committee {

class ExactSum {
  public:
    // For n numbers of magnitude at most `largest`.
    ExactSum(double largest, std::size_t n)
        : grid_(std::max(std::exp2(std::ceil(std::log2(std::max(largest, std::numeric_limits<double>::min()))) -
                                   (61 - std::bit_width(n))),
                         std::numeric_limits<double>::denorm_min())) {}
    void add(double value) { sum_ += std::llrint(value / grid_); }
    double value() const { return static_cast<double>(sum_) * grid_; }

  private:
    double grid_;
    std::int64_t sum_ = 0;
};

// The sum of nonnegative numbers.
inline double sum_exactly(std::span<const double> numbers) {
    if (numbers.empty()) return 0;
    ExactSum sum(std::ranges::max(numbers), numbers.size());
    for (const double number : numbers) sum.add(number);
    return sum.value();
}

}  // namespace committee
