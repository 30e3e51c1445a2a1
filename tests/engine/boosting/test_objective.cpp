#include <algorithm>
#include <cmath>
#include <vector>

#include "boosting/objective.h"
#include "check.h"
#include "numbers/random.h"

using namespace committee;

namespace {

const std::vector<double> numbers{0.5, 3, 1, 2, 7, 0.1, 4, 4};
const std::vector<std::uint32_t> labels{0, 1, 2, 1, 0, 2, 2, 1};

std::vector<Objective> of_numbers() {
    std::vector<Objective> objectives;
    for (const Loss loss : {Loss::squared_error, Loss::absolute_error, Loss::huber, Loss::quantile, Loss::poisson,
                            Loss::gamma, Loss::tweedie}) {
        objectives.push_back({.loss = loss, .quantile = 0.7, .delta = 1.3});
    }
    return objectives;
}

double loss_at(const Objective& objective, const Observed& observed, const std::vector<double>& scores) {
    return block_loss(objective, observed, scores.data(), 0, observed.n_rows()) + fixed_loss(objective, observed);
}

void gradients_are_the_derivatives_of_the_loss() {
    const auto differs = [](const Objective& objective, const Observed& observed, double factor) {
        const std::size_t n = observed.n_rows(), size = n * objective.n_scores();
        std::vector<double> scores(size);
        Random random(3, Purpose::split);
        for (double& score : scores) score = 2 * random.uniform() - 1;
        Gradients gradients{std::vector<float>(size), std::vector<float>(size)};
        BlockTotals totals;
        fill_gradients(objective, observed, scores.data(), 0, n, gradients, totals);
        double worst = 0;
        for (std::size_t i = 0; i < size; ++i) {
            constexpr double step = 1e-5;
            auto up = scores, down = scores;
            up[i] += step;
            down[i] -= step;
            const double slope = (loss_at(objective, observed, up) - loss_at(objective, observed, down)) / (2 * step);
            worst = std::max(worst, std::abs(slope - factor * static_cast<double>(gradients.gradient[i])));
        }
        return worst > 1e-4;
    };
    for (const Objective& objective : of_numbers()) {
        const bool is_doubled = objective.loss == Loss::squared_error || objective.loss == Loss::poisson ||
                                objective.loss == Loss::gamma || objective.loss == Loss::tweedie;
        check(!differs(objective, {.labels = {}, .numbers = numbers, .weights = {}}, is_doubled ? 2 : 1));
    }
    const std::vector<double> weights{1, 2, 0.5, 1, 3, 1, 1, 1};
    check(!differs({.loss = Loss::log_loss, .n_classes = 3}, {.labels = labels, .numbers = {}, .weights = {}}, 1));
    check(!differs({.loss = Loss::log_loss, .n_classes = 3}, {.labels = labels, .numbers = {}, .weights = weights}, 1));
    std::vector<std::uint32_t> two(labels);
    for (auto& label : two) label = label > 0 ? 1 : 0;
    check(!differs({.loss = Loss::log_loss, .n_classes = 2}, {.labels = two, .numbers = {}, .weights = {}}, 1));
    check(!differs({.loss = Loss::exponential, .n_classes = 2}, {.labels = two, .numbers = {}, .weights = {}}, 1));
    const Objective wide{.loss = Loss::logit, .n_classes = 3, .z_max = 1e9};
    check(!differs(wide, {.labels = labels, .numbers = {}, .weights = {}}, 1), "logit without a clamp is log loss");
    const Objective all{.loss = Loss::logit, .n_classes = 3, .z_max = 1e9, .one_versus_all = true};
    check(!differs(all, {.labels = labels, .numbers = {}, .weights = {}}, 1));
}

void no_constant_is_better_than_the_best() {
    const Observed observed{.labels = {}, .numbers = numbers, .weights = {}};
    for (Objective objective : of_numbers()) {
        const double best = best_constants(objective, observed)[0];
        const std::vector<double> middle(numbers.size(), 2.5);
        objective.adapt(observed, middle.data());
        const double loss = loss_at(objective, observed, std::vector<double>(numbers.size(), best));
        for (const double other : {best - 0.5, best - 0.01, best + 0.01, best + 0.5}) {
            const double slack = objective.loss == Loss::huber ? 0.02 : 1e-9;
            check(loss <= loss_at(objective, observed, std::vector<double>(numbers.size(), other)) + slack);
        }
    }
    const Objective classes{.loss = Loss::log_loss, .n_classes = 3};
    const auto scores = best_constants(classes, {.labels = labels, .numbers = {}, .weights = {}});
    check(std::abs(std::exp(scores[0]) - 0.25) < 1e-12 && std::abs(std::exp(scores[1]) - 0.375) < 1e-12);
}

void a_weight_of_two_equals_two_values() {
    for (const double quantile : {0.1, 0.25, 0.5, 0.6, 0.9, 1.0}) {
        std::vector<Weighted> weighted{{3, 2}, {1, 1}, {2, 3}, {5, 2}};
        std::vector<Weighted> repeated{{3, 1}, {3, 1}, {1, 1}, {2, 1}, {2, 1}, {2, 1}, {5, 1}, {5, 1}};
        check(weighted_quantile(weighted, quantile) == weighted_quantile(repeated, quantile));
    }
    std::vector<Weighted> even{{4, 1}, {1, 1}, {3, 1}, {2, 1}};
    check(weighted_quantile(even, 0.5) == 2.5);
}

void extreme_scores_give_finite_gradients() {
    const std::vector<std::uint32_t> two{0, 1};
    const std::vector<double> y{0.0, 5.0};
    for (const double score : {1e6, -1e6}) {
        for (const Loss loss : {Loss::log_loss, Loss::exponential, Loss::logit, Loss::poisson, Loss::tweedie}) {
            const bool is_class = loss == Loss::log_loss || loss == Loss::exponential || loss == Loss::logit;
            const Objective objective{.loss = loss, .n_classes = is_class ? 2U : 0U};
            Observed observed;
            if (is_class) {
                observed.labels = two;
            } else {
                observed.numbers = y;
            }
            const std::vector<double> scores(2, score);
            Gradients gradients{std::vector<float>(2), std::vector<float>(2)};
            BlockTotals totals;
            fill_gradients(objective, observed, scores.data(), 0, 2, gradients, totals);
            check(std::isfinite(totals.loss));
            for (const float value : gradients.gradient) check(std::isfinite(value));
            for (const float value : gradients.hessian) check(std::isfinite(value) && value >= 0);
        }
    }
}

void working_responses_are_clamped() {
    const std::vector<std::uint32_t> one{1};
    const std::vector<double> scores{-20.0};
    const Objective objective{.loss = Loss::logit, .n_classes = 2, .z_max = 3};
    Gradients gradients{std::vector<float>(1), std::vector<float>(1)};
    BlockTotals totals;
    fill_gradients(objective, {.labels = one, .numbers = {}, .weights = {}}, scores.data(), 0, 1, gradients, totals);
    check(std::abs(-gradients.gradient[0] / gradients.hessian[0] - 3) < 1e-5F);
}

}  // namespace

int main() {
    gradients_are_the_derivatives_of_the_loss();
    no_constant_is_better_than_the_best();
    a_weight_of_two_equals_two_values();
    extreme_scores_give_finite_gradients();
    working_responses_are_clamped();
    return report();
}
