// What boosting makes small. Comes in: what was observed and the scores so far. Goes out: the gradients and hessians of
// every row, the loss, the constant to start from, and the step of a leaf where the loss wants a line search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boosting/tree/gradient_words.h"

namespace committee {

enum class Loss : std::uint8_t {
    log_loss,
    exponential,
    squared_error,
    absolute_error,
    huber,
    quantile,
    poisson,
    gamma,
    tweedie,
    logit,  // LogitBoost of Friedman, Hastie and Tibshirani 2000: log loss by clamped Newton steps
    custom
};

struct Observed;

// The variance of the Tweedie loss grows with this power of the mean. Near 1 numbers are like counts, near 2 like
// gamma.
inline constexpr double tweedie_power = 1.5;

struct Objective {
    Loss loss = Loss::squared_error;
    std::uint32_t n_classes = 0;  // 0 for numbers
    double quantile = 0.5;        // of the quantile loss; of the absolute residuals that are Huber's delta
    double z_max = 3;             // the largest working response of logit
    bool one_versus_all = false;  // logit: a two-class model for every class
    double delta = 1;             // Huber's, for the scores so far
    std::size_t n_custom_scores = 1;

    std::size_t n_scores() const {
        if (loss == Loss::custom) return n_custom_scores;
        return n_classes > 2 ? n_classes : 1;
    }
    bool needs_line_search() const {
        return loss == Loss::absolute_error || loss == Loss::quantile || loss == Loss::huber;
    }
    // Every row of weight one has the hessian one.
    bool has_constant_hessian() const { return loss == Loss::squared_error || needs_line_search(); }
    // Whether the loss depends on the scores so far, as Huber's does through its delta.
    bool adapts() const { return loss == Loss::huber; }
    // Set Huber's delta for some scores, or for the median in place of scores. Other losses stay as they are.
    void adapt(const Observed& observed, const double* scores);
    void adapt_to_median(const Observed& observed);
    // The share of a Newton step that is taken, apart from the learning rate. LogitBoost's steps for J > 2 classes are
    // also centred over the classes; that changes no probability and is left out.
    double step() const {
        return loss == Loss::logit && n_classes > 2 && !one_versus_all ? (n_classes - 1.0) / n_classes : 1.0;
    }
};

// What was observed: labels or numbers, and a weight per row (or none, for all one).
struct Observed {
    std::span<const std::uint32_t> labels;
    std::span<const double> numbers;
    std::span<const double> weights;

    std::size_t n_rows() const { return labels.empty() ? numbers.size() : labels.size(); }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

// Arrays by score, then by row: the value of score k of row i is at k * n_rows + i.
struct Gradients {
    std::vector<float> gradient;
    std::vector<float> hessian;
};

// Rows whose sums are made together. Sums over all rows are sums over these blocks, in order, whoever made them.
inline constexpr std::size_t block_rows = 2048;

// The totals of n rows.
GradientTotals totals_of(const float* gradient, const float* hessian, std::size_t n);

struct BlockTotals {
    double loss = 0;  // weighted, but for the part that does not depend on the scores
    std::vector<GradientTotals> by_score;
};

// The gradients of rows [begin, end), at most block_rows of them, weighed; rows of weight 0 get none. Those of a custom
// loss are there already and only weighed.
void fill_gradients(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                    std::size_t end, Gradients& out, BlockTotals& totals);

// The loss of rows [begin, end), as in BlockTotals.
double block_loss(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                  std::size_t end);

// The part of the summed loss that does not depend on the scores.
double fixed_loss(const Objective& objective, const Observed& observed);

// The constants that make the loss smallest, one per score.
std::vector<double> best_constants(const Objective& objective, const Observed& observed);

// A residual and its weight.
using Weighted = std::pair<double, double>;

// The smallest value with a share `quantile` of the weight at or below it; midway to the next where the share is met
// exactly. Reorders the values.
double weighted_quantile(std::span<Weighted> values, double quantile);

// The step that makes the loss of these residuals (number - score) smallest. Reorders them.
double line_search(const Objective& objective, std::span<Weighted> residuals);

}  // namespace committee
