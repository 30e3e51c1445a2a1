#include "boosting/objective.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "numbers/exponentials.h"

namespace committee {
namespace {

inline double logistic(double score) { return 1.0 / (1.0 + exponential(-score)); }

// A lower bound on probabilities in the log loss: no row costs more than about 69.
constexpr double least_probability = 1e-30;

// The sum of -log p. It takes logarithms of products of eight numbers, four products at a time.
double sum_of_logarithms(const double* probabilities, std::size_t n) {
    constexpr std::size_t lanes = 4, factors = 8;
    double sum = 0;
    std::size_t i = 0;
    while (i + lanes * factors <= n) {
        std::array<double, lanes> products{1, 1, 1, 1};
        for (std::size_t f = 0; f < factors; ++f, i += lanes) {
            for (std::size_t k = 0; k < lanes; ++k) products[k] *= std::max(probabilities[i + k], least_probability);
        }
        for (const double product : products) sum -= std::log(product);
    }
    for (; i < n; ++i) sum -= std::log(std::max(probabilities[i], least_probability));
    return sum;
}

double loss_of_probabilities(const double* probabilities, std::size_t begin, std::size_t n, const Observed& observed) {
    if (observed.weights.empty()) return sum_of_logarithms(probabilities, n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        sum -= observed.weights[begin + i] * std::log(std::max(probabilities[i], least_probability));
    }
    return sum;
}

// The first and second derivatives of a row's loss with respect to its score, and the loss.
struct Slope {
    double gradient;
    double hessian;
    double loss;
};

constexpr double most_exponent = 80;  // of a mean e^score

inline double capped(double score) { return std::min(std::max(score, -most_exponent), most_exponent); }

// Calls body with the function (number or label, score) -> Slope of a loss with one score, except log loss and logit.
template <class Body>
void with_slope(const Objective& objective, Body body) {
    switch (objective.loss) {
        case Loss::exponential:
            // The loss is exp(-margin / 2), so the optimal score is the log-odds.
            return body([](double label, double score) -> Slope {
                const double sign = 2 * label - 1;
                const double e = exponential(capped(-0.5 * sign * score));
                return {-0.5 * sign * e, 0.25 * e, e};
            });
        case Loss::squared_error:
            return body([](double y, double score) -> Slope { return {score - y, 1, (score - y) * (score - y)}; });
        case Loss::absolute_error:
            return body([](double y, double score) -> Slope {
                return {score > y ? 1.0 : score < y ? -1.0 : 0.0, 1, std::abs(score - y)};
            });
        case Loss::quantile:
            return body([q = objective.quantile](double y, double score) -> Slope {
                const double residual = y - score;
                return {residual > 0   ? -q
                        : residual < 0 ? 1 - q
                                       : 0.0,
                        1, residual > 0 ? q * residual : (q - 1) * residual};
            });
        case Loss::huber:
            return body([delta = objective.delta](double y, double score) -> Slope {
                const double error = score - y, size = std::abs(error);
                return {std::clamp(error, -delta, delta), 1,
                        size <= delta ? 0.5 * error * error : delta * (size - 0.5 * delta)};
            });
        case Loss::poisson:
            return body([](double y, double score) -> Slope {
                const double log_mean = capped(score), mean = exponential(log_mean);
                return {mean - y, mean, 2 * (mean - y * log_mean)};
            });
        case Loss::gamma:
            return body([](double y, double score) -> Slope {
                const double log_mean = capped(score), ratio = y * exponential(-log_mean);
                return {1 - ratio, ratio, 2 * (log_mean + ratio)};
            });
        case Loss::tweedie:
            return body([p = tweedie_power](double y, double score) -> Slope {
                const double a = y * exponential(capped((1 - p) * score)), b = exponential(capped((2 - p) * score));
                return {b - a, (2 - p) * b - (1 - p) * a, 2 * (b / (2 - p) - a / (1 - p))};
            });
        default:
            return;
    }
}

// Multiplies the gradients by the weights and sums them.
void weigh_and_add(const Observed& observed, std::size_t begin, std::size_t n, float* gradient, float* hessian,
                   GradientTotals& totals) {
    if (!observed.weights.empty()) {
        for (std::size_t i = 0; i < n; ++i) {
            const auto weight = static_cast<float>(observed.weights[begin + i]);
            gradient[i] = weight > 0 ? gradient[i] * weight : 0;
            hessian[i] = weight > 0 ? hessian[i] * weight : 0;
        }
    }
    totals = totals_of(gradient, hessian, n);
}

// Gradient and hessian from logit's weighted working response. `is_class` is 1 or 0.
struct ClassSlope {
    static constexpr double least_weight = 2 * std::numeric_limits<double>::epsilon();
    double z_max;

    std::pair<float, float> operator()(double p, double is_class) const {
        // If z_max clips the working response, the weight is chosen so that their product stays is_class - p, as in
        // Weka. With the paper's weight p (1 - p), rows with large errors would hardly count.
        const double gradient = p - is_class;
        const double weight = std::max({p * (1 - p), std::abs(gradient) / z_max, least_weight});
        return {static_cast<float>(gradient), static_cast<float>(weight)};
    }
};

// Two classes: one score, the log-odds of class 1. Returns the loss.
double two_classes(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                   std::size_t n, float* gradient, float* hessian) {
    std::array<double, block_rows> p;
    std::array<double, block_rows> label;
    for (std::size_t i = 0; i < n; ++i) label[i] = static_cast<int>(observed.labels[begin + i]);
    for (std::size_t i = 0; i < n; ++i) p[i] = -scores[begin + i];
    to_exponentials(p.data(), n);
    for (std::size_t i = 0; i < n; ++i) p[i] = 1 / (1 + p[i]);
    if (gradient != nullptr && objective.loss == Loss::log_loss) {
        for (std::size_t i = 0; i < n; ++i) {
            gradient[i] = static_cast<float>(p[i] - label[i]);
            hessian[i] = static_cast<float>(p[i] * (1 - p[i]));
        }
    } else if (gradient != nullptr) {
        const ClassSlope slope{objective.z_max};
        for (std::size_t i = 0; i < n; ++i) {
            std::tie(gradient[i], hessian[i]) = slope(p[i], label[i]);
        }
    }
    for (std::size_t i = 0; i < n; ++i) p[i] = label[i] * p[i] + (1 - label[i]) * (1 - p[i]);
    return loss_of_probabilities(p.data(), begin, n, observed);
}

// More than two classes: a softmax over one score per class. place(k) returns where to write the block's gradients and
// hessians of class k. Rows are processed in chunks, so that their probabilities stay in the first cache.
template <class Place>
double many_classes(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                    std::size_t n, Place place) {
    constexpr std::size_t at_a_time = 128;
    const std::size_t n_rows = observed.n_rows(), n_classes = objective.n_classes;
    const ClassSlope slope{objective.z_max};
    std::array<double, block_rows> of_label{};
    std::vector<double> p(n_classes * at_a_time);
    for (std::size_t first = 0; first < n; first += at_a_time) {
        const std::size_t m = std::min(at_a_time, n - first);
        const std::uint32_t* labels = observed.labels.data() + begin + first;
        const auto for_each_class = [&](auto body) {
            for (std::size_t k = 0; k < n_classes; ++k) body(scores + k * n_rows + begin + first, p.data() + k * m);
        };
        std::array<double, at_a_time> largest, sum{};
        largest.fill(-std::numeric_limits<double>::infinity());
        for_each_class([&](const double* score, double*) {
            for (std::size_t i = 0; i < m; ++i) largest[i] = std::max(largest[i], score[i]);
        });
        for_each_class([&](const double* score, double* to) {
            for (std::size_t i = 0; i < m; ++i) to[i] = score[i] - largest[i];
        });
        to_exponentials(p.data(), n_classes * m);
        for_each_class([&](const double*, const double* e) {
            for (std::size_t i = 0; i < m; ++i) sum[i] += e[i];
        });
        for (std::size_t i = 0; i < m; ++i) sum[i] = 1 / sum[i];
        for_each_class([&](const double*, double* e) {
            for (std::size_t i = 0; i < m; ++i) e[i] *= sum[i];
        });
        for (std::size_t i = 0; i < m; ++i) of_label[first + i] = p[labels[i] * m + i];
        if (place(0).first == nullptr) continue;
        for (std::size_t k = 0; k < n_classes; ++k) {
            float *gradient = place(k).first + first, *hessian = place(k).second + first;
            const double* of_class = p.data() + k * m;
            if (objective.loss == Loss::logit) {
                for (std::size_t i = 0; i < m; ++i) {
                    std::tie(gradient[i], hessian[i]) = slope(of_class[i], labels[i] == k ? 1.0 : 0.0);
                }
                continue;
            }
            for (std::size_t i = 0; i < m; ++i) {
                gradient[i] = static_cast<float>(of_class[i]);
                hessian[i] = static_cast<float>(of_class[i] * (1 - of_class[i]));
            }
        }
        if (objective.loss == Loss::logit) continue;
        for (std::size_t i = 0; i < m; ++i) {
            place(labels[i]).first[first + i] = static_cast<float>(of_label[first + i] - 1);
        }
    }
    return loss_of_probabilities(of_label.data(), begin, n, observed);
}

// One two-class model per class. The loss is the sum of their losses.
template <class Place>
double one_versus_all(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                      std::size_t n, Place place) {
    const std::size_t n_rows = observed.n_rows();
    const ClassSlope slope{objective.z_max};
    std::array<double, block_rows> right;
    double loss = 0;
    for (std::size_t k = 0; k < objective.n_classes; ++k) {
        const double* score = scores + k * n_rows + begin;
        const auto [gradient, hessian] = place(k);
        for (std::size_t i = 0; i < n; ++i) {
            const bool is_class = observed.labels[begin + i] == k;
            const double p = logistic(score[i]);
            right[i] = is_class ? p : 1 - p;
            if (gradient != nullptr) std::tie(gradient[i], hessian[i]) = slope(p, is_class ? 1.0 : 0.0);
        }
        loss += loss_of_probabilities(right.data(), begin, n, observed);
    }
    return loss;
}

double one_score(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                 std::size_t n, float* gradient, float* hessian) {
    double loss = 0;
    with_slope(objective, [&](auto slope) {
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t row = begin + i;
            const double y = observed.numbers.empty() ? observed.labels[row] : observed.numbers[row];
            const Slope at = slope(y, scores[row]);
            if (gradient != nullptr) {
                gradient[i] = static_cast<float>(at.gradient);
                hessian[i] = static_cast<float>(at.hessian);
            }
            const double weight = observed.weight(row);
            if (weight > 0) loss += weight * at.loss;
        }
    });
    return loss;
}

// Writes gradients and hessians to place(k) unless it is null. Returns the loss.
template <class Place>
double evaluate(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                std::size_t n, Place place) {
    if (objective.loss == Loss::custom) return std::numeric_limits<double>::quiet_NaN();
    if (objective.loss == Loss::log_loss || objective.loss == Loss::logit) {
        if (objective.n_classes > 2) {
            return objective.one_versus_all ? one_versus_all(objective, observed, scores, begin, n, place)
                                            : many_classes(objective, observed, scores, begin, n, place);
        }
        const auto [gradient, hessian] = place(0);
        return two_classes(objective, observed, scores, begin, n, gradient, hessian);
    }
    const auto [gradient, hessian] = place(0);
    return one_score(objective, observed, scores, begin, n, gradient, hessian);
}

}  // namespace

// Eight partial sums, one per lane.
GradientTotals totals_of(const float* gradient, const float* hessian, std::size_t n) {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> absolute{}, sum{};
    std::array<float, lanes> most{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t k = 0; k < lanes; ++k) {
            absolute[k] += static_cast<double>(std::abs(gradient[i + k]));
            sum[k] += static_cast<double>(hessian[i + k]);
            most[k] = std::max(most[k], hessian[i + k]);
        }
    }
    for (; i < n; ++i) {
        absolute[0] += static_cast<double>(std::abs(gradient[i]));
        sum[0] += static_cast<double>(hessian[i]);
        most[0] = std::max(most[0], hessian[i]);
    }
    GradientTotals totals;
    for (std::size_t k = 0; k < lanes; ++k) totals.add({absolute[k], sum[k], static_cast<double>(most[k])});
    return totals;
}

void fill_gradients(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                    std::size_t end, Gradients& out, BlockTotals& totals) {
    const std::size_t n_rows = observed.n_rows(), n = end - begin;
    const auto place = [&](std::size_t k) {
        const std::size_t at = k * n_rows + begin;
        return std::pair(out.gradient.data() + at, out.hessian.data() + at);
    };
    totals.loss = evaluate(objective, observed, scores, begin, n, place);
    totals.by_score.resize(objective.n_scores());
    for (std::size_t k = 0; k < totals.by_score.size(); ++k) {
        const auto [gradient, hessian] = place(k);
        weigh_and_add(observed, begin, n, gradient, hessian, totals.by_score[k]);
    }
}

double block_loss(const Objective& objective, const Observed& observed, const double* scores, std::size_t begin,
                  std::size_t end) {
    return evaluate(objective, observed, scores, begin, end - begin,
                    [](std::size_t) { return std::pair<float*, float*>(nullptr, nullptr); });
}

}  // namespace committee
