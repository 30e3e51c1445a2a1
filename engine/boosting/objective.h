// The losses that boosting minimises. In: the target and the current scores. Out: the gradients and hessians of every
// row, the loss, the initial constant, and the step of a leaf if the loss needs a line search.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
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
    logit,  // LogitBoost (Friedman, Hastie and Tibshirani 2000): log loss with clamped Newton steps
    custom
};

struct Observed;

// The variance of a Tweedie distribution is proportional to this power of its mean: 1 is Poisson, 2 is gamma.
inline constexpr double tweedie_power = 1.5;

struct Objective {
    Loss loss = Loss::squared_error;
    std::uint32_t n_classes = 0;  // 0 for regression
    double quantile = 0.5;        // of the quantile loss; for Huber, of the absolute residuals that give delta
    double z_max = 3;             // the largest working response of logit
    bool one_versus_all = false;  // logit: one two-class model per class
    bool second_order = true;     // otherwise, trees fit the gradients by least squares (Friedman 2001)
    double delta = 1;             // Huber's, at the current scores
    std::size_t n_custom_scores = 1;

    std::size_t n_scores() const {
        if (loss == Loss::custom) return n_custom_scores;
        return n_classes > 2 ? n_classes : 1;
    }
    bool needs_line_search() const {
        return loss == Loss::absolute_error || loss == Loss::quantile || loss == Loss::huber;
    }
    // A row of weight 1 has a hessian of 1.
    bool has_constant_hessian() const { return loss == Loss::squared_error || needs_line_search(); }
    // Whether a leaf of a tree that fits the gradients takes a Newton step.
    bool takes_newton_steps() const { return !second_order && !has_constant_hessian(); }
    // Whether the loss depends on the current scores, as Huber's does through delta.
    bool adapts() const { return loss == Loss::huber; }
    // Sets Huber's delta, at the current scores or at the median. Does nothing for other losses.
    void adapt(const Observed& observed, const double* scores);
    void adapt_to_median(const Observed& observed);
    // The factor on a Newton step, besides the learning rate. LogitBoost for J > 2 classes also centres the steps over
    // the classes; this is omitted, because it does not change the probabilities.
    double step() const {
        const bool is_joint = (loss == Loss::logit && !one_versus_all) || (loss == Loss::log_loss && !second_order);
        return is_joint && n_classes > 2 ? (n_classes - 1.0) / n_classes : 1.0;
    }
};

// The target: labels or numbers, and a weight per row (empty: all 1).
struct Observed {
    std::span<const std::uint32_t> labels;
    std::span<const double> numbers;
    std::span<const double> weights;

    std::size_t n_rows() const { return labels.empty() ? numbers.size() : labels.size(); }
    double weight(std::size_t row) const { return weights.empty() ? 1.0 : weights[row]; }
};

// Ordered by score, then by row: the value of score k of row i is at k * n_rows + i.
struct Gradients {
    std::vector<float> gradient;
    std::vector<float> hessian;
};

// The size of a block of rows. Sums over all rows add the sums of these blocks in order, so threads do not change them.
inline constexpr std::size_t block_rows = 2048;

// The totals of n rows.
GradientTotals totals_of(const float* gradient, const float* hessian, std::size_t n);

struct BlockTotals {
    double loss = 0;  // weighted, without the part that does not depend on the scores
    std::vector<GradientTotals> by_score;
};

// Computes the weighted gradients of rows [begin, end), at most block_rows. Rows of weight 0 get 0. The gradients of a
// custom loss have been computed before and are only multiplied by the weights.
void fill_gradients(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                    std::size_t end, Gradients& out, BlockTotals& totals);

// The loss of rows [begin, end), as in BlockTotals.
double block_loss(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                  std::size_t end);

// The part of the total loss that does not depend on the scores.
double fixed_loss(const Objective& objective, const Observed& observed);

// The constants that minimise the loss, one per score.
std::vector<double> best_constants(const Objective& objective, const Observed& observed);

// Computes the gradients and hessians of a custom loss, ordered by score, then by row, like the scores. May throw
// Stopped to end boosting with the rounds so far.
using CustomGradients = std::function<void(std::span<const double> scores, Gradients& out)>;

// The constants at which the gradients of a custom loss sum to 0, one per score.
std::vector<double> best_constants(const CustomGradients& custom, const Observed& observed, std::size_t n_scores);

// A residual and its weight.
using Weighted = std::pair<double, double>;

// The smallest value at which the cumulative weight reaches the share `quantile`, or its midpoint with the next value
// if the share is reached exactly. Reorders the values.
double weighted_quantile(std::span<Weighted> values, double quantile);

// The step that minimises the loss of these residuals (number - score). Reorders them.
double line_search(const Objective& objective, std::span<Weighted> residuals);

}  // namespace committee
