// The constants and steps of the objectives: the number that minimises the loss of many rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>

#include "boosting/objective.h"
#include "numbers/exact_sum.h"

namespace committee {
namespace {

std::vector<Weighted> weighted_numbers(const Observed& observed, const double* scores) {
    std::vector<Weighted> values;
    values.reserve(observed.n_rows());
    for (std::size_t i = 0; i < observed.n_rows(); ++i) {
        const double weight = observed.weight(i);
        if (weight > 0) values.emplace_back(observed.numbers[i] - (scores == nullptr ? 0 : scores[i]), weight);
    }
    return values;
}

double weighted_mean(const Observed& observed) {
    double largest_sum = 0, largest_weight = 0;
    for (std::size_t i = 0; i < observed.n_rows(); ++i) {
        const double weight = std::max(observed.weight(i), 0.0);
        largest_weight = std::max(largest_weight, weight);
        largest_sum = std::max(largest_sum, weight * std::abs(observed.numbers[i]));
    }
    ExactSum sum(largest_sum, observed.n_rows()), total(largest_weight, observed.n_rows());
    for (std::size_t i = 0; i < observed.n_rows(); ++i) {
        const double weight = std::max(observed.weight(i), 0.0);
        sum.add(weight * observed.numbers[i]);
        total.add(weight);
    }
    return sum.value() / total.value();
}

// The shares of the classes, clipped to stay away from 0 and 1.
std::vector<double> class_shares(const Observed& observed, std::uint32_t n_classes) {
    std::vector<double> shares(n_classes, 0);
    for (std::size_t i = 0; i < observed.n_rows(); ++i) shares[observed.labels[i]] += observed.weight(i);
    const double total = std::accumulate(shares.begin(), shares.end(), 0.0);
    constexpr double least = 1e-15;
    for (double& share : shares) share = std::clamp(share / total, least, 1 - least);
    return shares;
}

// Friedman 2001, section 4.4: the median, plus the mean of the remaining residuals clipped at delta.
double huber_step(std::span<Weighted> residuals, double delta) {
    if (residuals.empty()) return 0;
    const double middle = weighted_quantile(residuals, 0.5);
    std::ranges::sort(residuals);
    double sum = 0, total = 0;
    for (const auto& [residual, weight] : residuals) {
        sum += weight * std::clamp(residual - middle, -delta, delta);
        total += weight;
    }
    return middle + sum / total;
}

}  // namespace

double weighted_quantile(std::span<Weighted> values, double quantile) {
    if (values.empty()) return 0;
    const bool same_weights =
        std::ranges::all_of(values, [&](const Weighted& value) { return value.second == values.front().second; });
    if (same_weights) {
        const double place = quantile * static_cast<double>(values.size());
        const auto whole = static_cast<std::size_t>(std::ceil(place));
        const std::size_t at = std::min(whole == 0 ? 0 : whole - 1, values.size() - 1);
        const auto found = values.begin() + static_cast<std::ptrdiff_t>(at);
        std::ranges::nth_element(values, found);
        if (static_cast<double>(whole) != place || at + 1 == values.size()) return found->first;
        return (found->first + std::ranges::min_element(found + 1, values.end())->first) / 2;
    }
    std::ranges::sort(values);
    double total = 0;
    for (const Weighted& value : values) total += value.second;
    double below = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        below += values[i].second;
        if (below < quantile * total) continue;
        const bool is_exact = below == quantile * total && i + 1 < values.size();
        return is_exact ? (values[i].first + values[i + 1].first) / 2 : values[i].first;
    }
    return values.back().first;
}

double fixed_loss(const Objective& objective, const Observed& observed) {
    constexpr double p = tweedie_power;
    double sum = 0;
    for (std::size_t i = 0; i < observed.numbers.size(); ++i) {
        const double y = observed.numbers[i], weight = observed.weight(i);
        if (!(weight > 0)) continue;
        switch (objective.loss) {
            case Loss::poisson:
                sum += weight * 2 * ((y > 0 ? y * std::log(y) : 0) - y);
                break;
            case Loss::gamma:
                sum += weight * 2 * (-std::log(y) - 1);
                break;
            case Loss::tweedie:
                sum += weight * 2 * std::pow(y, 2 - p) / ((1 - p) * (2 - p));
                break;
            default:
                return 0;
        }
    }
    return sum;
}

std::vector<double> best_constants(const Objective& objective, const Observed& observed) {
    constexpr double least_mean = 1e-30;
    switch (objective.loss) {
        case Loss::log_loss:
        case Loss::exponential: {
            std::vector<double> scores = class_shares(observed, objective.n_classes);
            if (objective.n_classes == 2) return {std::log(scores[1] / scores[0])};
            for (double& score : scores) score = std::log(score);
            return scores;
        }
        case Loss::squared_error:
            return {weighted_mean(observed)};
        case Loss::poisson:
        case Loss::gamma:
        case Loss::tweedie:
            return {std::log(std::max(weighted_mean(observed), least_mean))};
        case Loss::absolute_error:
        case Loss::quantile:
        case Loss::huber: {
            std::vector<Weighted> values = weighted_numbers(observed, nullptr);
            Objective around = objective;
            around.adapt_to_median(observed);
            return {line_search(around, values)};
        }
        default:
            return std::vector<double>(objective.n_scores(), 0.0);
    }
}

// Newton's method. One score also has a bracket, in which steps are bisections when Newton's leave it; a side that is
// still open is searched with growing steps.
std::vector<double> best_constants(const CustomGradients& custom, const Observed& observed, std::size_t n_scores) {
    constexpr int most_steps = 100;
    constexpr double tolerance = 1e-8, infinity = std::numeric_limits<double>::infinity();
    const std::size_t n_rows = observed.n_rows();
    std::vector<double> constants(n_scores, 0), scores(n_rows * n_scores);
    Gradients slopes{std::vector<float>(scores.size()), std::vector<float>(scores.size())};
    const double joint = n_scores > 1 ? (n_scores - 1.0) / n_scores : 1.0;
    double lowest = -infinity, highest = infinity, before = 0, largest = 0;
    for (int i = 0; i < most_steps; ++i) {
        for (std::size_t k = 0; k < n_scores; ++k) std::fill_n(scores.data() + k * n_rows, n_rows, constants[k]);
        custom(scores, slopes);
        double farthest = 0, reach = 0;
        for (std::size_t k = 0; k < n_scores; ++k) {
            double gradient = 0, hessian = 0;
            for (std::size_t row = 0; row < n_rows; ++row) {
                const double weight = std::max(observed.weight(row), 0.0);
                gradient += weight * slopes.gradient[k * n_rows + row];
                hessian += weight * slopes.hessian[k * n_rows + row];
            }
            double step = hessian > 0 ? -joint * gradient / hessian : 0;
            if (n_scores == 1 && gradient != 0) {
                double& side = gradient > 0 ? highest : lowest;
                side = constants[0];
                const bool is_open = std::isinf(gradient > 0 ? lowest : highest);
                const double direction = gradient > 0 ? -1 : 1;
                // A step that is not longer than the one before comes nearer only if the loss is not flat.
                if (is_open && i > 0) step = direction * std::max(std::abs(step), 2 * std::abs(before));
                const double next = constants[0] + step;
                if (!is_open && (step == 0 || next <= lowest || next >= highest || i % 4 == 3)) {
                    step = (lowest + highest) / 2 - constants[0];
                }
            }
            before = step;
            constants[k] += step;
            farthest = std::max(farthest, std::abs(step));
            reach = std::max(reach, std::abs(constants[k]));
        }
        largest = std::max(largest, farthest);
        if (farthest <= tolerance * std::max(reach, largest)) break;
    }
    return constants;
}

void Objective::adapt(const Observed& observed, const double* scores) {
    if (!adapts()) return;
    std::vector<Weighted> residuals = weighted_numbers(observed, scores);
    for (auto& [residual, weight] : residuals) residual = std::abs(residual);
    delta = weighted_quantile(residuals, quantile);
}

void Objective::adapt_to_median(const Observed& observed) {
    if (!adapts()) return;
    std::vector<Weighted> values = weighted_numbers(observed, nullptr);
    const std::vector<double> middle(observed.n_rows(), weighted_quantile(values, 0.5));
    adapt(observed, middle.data());
}

double line_search(const Objective& objective, std::span<Weighted> residuals) {
    if (objective.loss == Loss::huber) return huber_step(residuals, objective.delta);
    return weighted_quantile(residuals, objective.loss == Loss::quantile ? objective.quantile : 0.5);
}

}  // namespace committee
