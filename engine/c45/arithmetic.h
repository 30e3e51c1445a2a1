// The arithmetic of C4.5: comparisons with J48's tolerance, exact sums, w log2 w, and the pessimistic error estimate.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee::c45 {

inline constexpr double tolerance = 1e-6;

inline bool is_greater(double a, double b) { return a - b > tolerance; }
inline bool is_equal(double a, double b) { return std::abs(a - b) < tolerance; }
inline bool is_at_most(double a, double b) { return a - b < tolerance; }
inline bool is_at_least(double a, double b) { return b - a < tolerance; }

// Rounds to multiples of a power of two that is chosen such that sums below `bound` are exact.
class Grid {
  public:
    explicit Grid(double bound)
        : shift_(1.5 * std::ldexp(1.0, std::ilogb(bound) + 2)), unit_(std::ldexp(1.0, std::ilogb(bound) - 50)) {}
    // Adding the shift discards all bits below the grid.
    double round(double x) const { return (x + shift_) - shift_; }
    // The same for a weight. Positive weights stay positive.
    double round_weight(double x) const { return x > 0 ? std::max(round(x), unit_) : 0; }

  private:
    double shift_;
    double unit_;
};

// w log2 w on a grid. Integer weights use a table, which has the same values as the logarithm.
class Entropy {
  public:
    explicit Entropy(double total_weight, std::size_t largest_count = 0);

    double term(std::uint32_t count) const { return terms_[count]; }
    double term(double weight) const { return weight < tolerance ? 0.0 : grid_.round(weight * std::log2(weight)); }

  private:
    Grid grid_;
    std::vector<double> terms_;
};

double sum(std::span<const double> weights);

// The class of largest weight; the first one wins ties.
std::size_t find_majority(std::span<const double> class_weights);

// The weight of the rows outside the majority class.
double count_errors(std::span<const double> class_weights);

// The upper confidence limit of a node's number of errors, given its errors on the training rows (Quinlan 1993, section
// 4.2).
class ErrorEstimate {
  public:
    explicit ErrorEstimate(double confidence);

    double operator()(std::span<const double> class_weights) const;
    // The difference between the limit and `errors`, for `errors` errors in `total` rows.
    double extra(double total, double errors) const;

  private:
    double confidence_;
    double z_;
};

// The z that a standard normal variable exceeds with this probability, which is in (0, 0.5].
double upper_normal_quantile(double probability);

}  // namespace committee::c45
