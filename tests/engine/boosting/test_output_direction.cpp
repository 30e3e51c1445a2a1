#include <algorithm>
#include <cmath>
#include <vector>

#include "boosting/boosting.h"
#include "boosting/output_direction.h"
#include "check.h"
#include "numbers/random.h"
#include "small_tables.h"

using namespace committee;

namespace {

constexpr std::size_t n_scores = 4;

Gradients random_gradients(std::size_t n_rows, std::uint64_t key) {
    Random random(key, Purpose::split);
    Gradients gradients;
    for (std::size_t i = 0; i < n_rows * n_scores; ++i) {
        gradients.gradient.push_back(static_cast<float>(random.uniform() - 0.5));
        gradients.hessian.push_back(static_cast<float>(random.uniform() / 4));
    }
    return gradients;
}

void a_direction_leans_towards_large_gradients() {
    Gradients gradients = random_gradients(5000, 1);
    std::fill_n(gradients.gradient.begin(), 5000, 3.0F);  // of score 0
    ThreadTeam one(1), three(3);
    for (std::uint64_t key = 0; key < 5; ++key) {
        const auto direction = draw_direction(gradients, n_scores, key, one);
        double squares = 0;
        for (const double x : direction) squares += x * x;
        check(std::abs(squares - 1) < 1e-12 && std::abs(direction[0]) > 0.9);
        check(direction == draw_direction(gradients, n_scores, key, three));
        check(direction != draw_direction(gradients, n_scores, key + 1, one));
    }
    std::ranges::fill(gradients.gradient, 0.0F);
    check(std::isfinite(draw_direction(gradients, n_scores, 1, one)[0]), "without gradients, any direction is valid");
}

void derivatives_along_a_direction_are_projections() {
    const Gradients gradients = random_gradients(3000, 2);
    ThreadTeam team(2);
    const std::vector<double> direction{0.5, -0.5, 0.1, 0.7};
    Gradients along;
    const GradientTotals totals = project(gradients, direction, team, along);
    double absolute = 0, hessians = 0;
    for (std::size_t i = 0; i < 3000; ++i) {
        double gradient = 0, hessian = 0;
        for (std::size_t k = 0; k < n_scores; ++k) {
            gradient += direction[k] * static_cast<double>(gradients.gradient[k * 3000 + i]);
            hessian += direction[k] * direction[k] * static_cast<double>(gradients.hessian[k * 3000 + i]);
        }
        check(std::abs(gradient - static_cast<double>(along.gradient[i])) < 1e-6);
        check(std::abs(hessian - static_cast<double>(along.hessian[i])) < 1e-6);
        absolute += std::abs(gradient);
        hessians += hessian;
    }
    check(std::abs(totals.absolute_gradient - absolute) < 1e-3 && std::abs(totals.hessian - hessians) < 1e-3);
    project(gradients, std::vector<double>{0, 0, 1, 0}, team, along);
    check(std::equal(along.gradient.begin(), along.gradient.end(), gradients.gradient.begin() + 2 * 3000),
          "the projection on one axis is that score");
}

// Rows of four classes that two columns separate; a third column is noise.
struct Classes {
    std::vector<std::vector<double>> columns;
    std::vector<std::uint32_t> labels;

    explicit Classes(std::size_t n) {
        for (std::uint64_t key = 0; key < 3; ++key) columns.push_back(random_numbers(n, key, key == 2));
        for (std::size_t i = 0; i < n; ++i) {
            labels.push_back((columns[0][i] > 0.5 ? 1U : 0U) + (columns[1][i] > 0.3 ? 2U : 0U));
        }
    }
};

Boosted boost_classes(const Table& table, const Classes& classes, BoostParameters parameters, int n_threads) {
    parameters.objective = {.loss = Loss::log_loss, .n_classes = n_scores};
    parameters.is_multi_output = true;
    const Observed observed{.labels = classes.labels, .numbers = {}, .weights = {}};
    BoostSample training{&table, observed, std::vector<double>(n_scores * table.n_rows(), 0.0)};
    return boost(std::move(training), {}, parameters, {}, n_threads, {});
}

void the_first_split_is_the_best_along_the_direction() {
    const std::size_t n = 200;
    const Classes classes(n);
    const SmallTable small(classes.columns);
    const Table table = small.bin();
    BoostParameters parameters;
    parameters.n_rounds = 1;
    parameters.learning_rate = 1;
    parameters.tree.max_leaf_nodes = 2;
    parameters.tree.min_samples_leaf = 1;
    parameters.tree.reg_lambda = 0.7;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        parameters.seed = seed;
        const Boosted boosted = boost_classes(table, classes, parameters, 1);
        // At scores of 0, all classes have p = 1/4.
        Gradients gradients;
        for (std::size_t k = 0; k < n_scores; ++k) {
            for (std::size_t i = 0; i < n; ++i) {
                gradients.gradient.push_back(0.25F - (classes.labels[i] == k ? 1.0F : 0.0F));
                gradients.hessian.push_back(0.1875F);
            }
        }
        ThreadTeam team(1);
        const auto direction = draw_direction(gradients, n_scores, derive_key(seed, 0), team);
        double best = -1;
        std::vector<std::uint8_t> best_left;
        for (const auto& column : classes.columns) {
            for (const double cut : column) {
                for (const bool missing_left : {false, true}) {
                    std::vector<std::uint8_t> left(n);
                    double sums[2][2] = {};
                    for (std::size_t i = 0; i < n; ++i) {
                        left[i] = std::isnan(column[i]) ? missing_left : column[i] <= cut;
                        for (std::size_t k = 0; k < n_scores; ++k) {
                            const double r = direction[k];
                            sums[left[i]][0] += r * static_cast<double>(gradients.gradient[k * n + i]);
                            sums[left[i]][1] += r * r * 0.1875;
                        }
                    }
                    if (sums[0][1] == 0 || sums[1][1] == 0) continue;
                    const double score =
                        sums[0][0] * sums[0][0] / (sums[0][1] + 0.7) + sums[1][0] * sums[1][0] / (sums[1][1] + 0.7);
                    if (score > best * (1 + 1e-6)) {
                        best = score;
                        best_left = left;
                    }
                }
            }
        }
        // The values of a leaf are the Newton steps of its rows for every class.
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < n_scores; ++k) {
                double gradient = 0, hessian = 0;
                for (std::size_t other = 0; other < n; ++other) {
                    if (best_left[other] != best_left[i]) continue;
                    gradient += static_cast<double>(gradients.gradient[k * n + other]);
                    hessian += 0.1875;
                }
                check(std::abs(boosted.scores[k * n + i] + gradient / (hessian + 0.7)) < 1e-3);
            }
        }
    }
}

void any_number_of_threads_gives_the_same_bits() {
    const Classes classes(60'000);
    std::vector<std::vector<double>> columns = classes.columns;
    for (std::uint64_t key = 10; key < 16; ++key) columns.push_back(random_numbers(60'000, key));
    const SmallTable small(columns, {random_codes(60'000, 30, 99, true)}, 30);
    const Table table = small.bin({}, 255);
    BoostParameters parameters;
    parameters.n_rounds = 3;
    parameters.subsample = 0.7;
    parameters.tree.colsample_bynode = 0.7;
    const Boosted one = boost_classes(table, classes, parameters, 1);
    check(one.trees.size() == 3 && one.trees[0].values.size() % n_scores == 0);
    check(one.train_loss[3] < one.train_loss[0]);
    for (const int n_threads : {2, 3, 7}) {
        const Boosted other = boost_classes(table, classes, parameters, n_threads);
        check(one.scores == other.scores && one.train_loss == other.train_loss);
        for (std::size_t t = 0; t < 3; ++t) check(same_tree(one.trees[t], other.trees[t]));
    }
}

}  // namespace

int main() {
    a_direction_leans_towards_large_gradients();
    derivatives_along_a_direction_are_projections();
    the_first_split_is_the_best_along_the_direction();
    any_number_of_threads_gives_the_same_bits();
    return report();
}
