#include <stdexcept>

#include "check.h"
#include "forest/forest.h"
#include "forest/quantiles.h"
#include "growing/row_sampling.h"
#include "small_tables.h"

using namespace committee;

namespace {

// A regression forest with the training rows of its leaves.
struct Problem {
    SmallTable small{{random_numbers(300, 1, true), random_numbers(300, 2)}};
    std::vector<double> y = random_numbers(300, 3);
    Grown grown;

    Problem() {
        for (double& target : y) target = std::round(20 * target);
        ForestParameters parameters;
        parameters.n_trees = 7;
        parameters.keep_leaf_rows = true;
        parameters.grow.criterion = Criterion::squared_error;
        parameters.grow.min_samples_leaf = 4;
        parameters.grow.exact = true;
        const Table table = small.bin();
        const Target target = fixed_target(y, {}, 300, false);
        const SmallBootstrap bootstrap(table, target, 300);
        parameters.drawing = bootstrap.drawing;
        grown = grow_forest(table, target, {}, parameters, {}, 1, {});
    }

    std::vector<LeafRowsView> views() const {
        std::vector<LeafRowsView> views;
        for (const LeafRows& rows : grown.leaf_rows) views.push_back({rows.offsets, rows.rows, rows.weights});
        return views;
    }

    std::vector<double> quantiles(const std::vector<double>& levels, int n_threads = 1) const {
        std::vector<double> out(small.n_rows * levels.size());
        check_leaf_rows(grown.forest, views(), y);
        predict_quantiles(grown.forest, views(), y, small.views, small.n_rows, levels, n_threads, out.data());
        return out;
    }
};

// The definition, with one weight per training row.
double naive_quantile(const Problem& problem, const std::vector<std::uint32_t>& leaves, std::size_t row, double level) {
    std::vector<double> weights(problem.small.n_rows, 0.0);
    for (std::size_t t = 0; t < 7; ++t) {
        const LeafRows& rows = problem.grown.leaf_rows[t];
        const std::uint32_t value = address_of(problem.grown.forest.trees[t].nodes[leaves[row * 7 + t]]);
        double total = 0;
        for (std::uint32_t i = rows.offsets[value]; i < rows.offsets[value + 1]; ++i) total += rows.weights[i];
        for (std::uint32_t i = rows.offsets[value]; i < rows.offsets[value + 1]; ++i) {
            weights[rows.rows[i]] += rows.weights[i] / total / 7;
        }
    }
    for (double target = 0;; ++target) {
        double up_to = 0;
        for (std::size_t i = 0; i < weights.size(); ++i) up_to += problem.y[i] <= target ? weights[i] : 0;
        if (up_to > 0 && up_to >= level - 1e-12) return target;
    }
}

void quantiles_follow_the_definition() {
    const Problem problem;
    const std::vector<double> levels{0.9, 0, 0.5, 1, 0.25};
    const auto found = problem.quantiles(levels);
    std::vector<std::uint32_t> leaves(300 * 7);
    apply(problem.grown.forest, problem.small.views, 300, 1, leaves.data());
    for (std::size_t i = 0; i < 300; ++i) {
        for (std::size_t k = 0; k < levels.size(); ++k) {
            check(found[i * levels.size() + k] == naive_quantile(problem, leaves, i, levels[k]));
        }
    }
}

void any_number_of_threads_gives_the_same_quantiles() {
    const Problem problem;
    check(problem.quantiles({0.1, 0.9}, 1) == problem.quantiles({0.1, 0.9}, 4));
}

void the_median_needs_half_of_the_weight() {
    // One leaf with targets 1, 2, 3, 4: the second target reaches a cumulative weight of one half.
    Forest forest;
    forest.binning.columns.resize(1);
    forest.trees.push_back({{leaf_word(0)}, {}, {2.5}, {}, {}});
    const std::vector<std::uint32_t> offsets{0, 4}, rows{3, 1, 0, 2}, weights{1, 1, 1, 1};
    const LeafRowsView views[] = {{offsets, rows, weights}};
    const std::vector<double> y{1, 2, 3, 4}, levels{0.5, 0.51, 0.75};
    const SmallTable small({std::vector<double>{0}});
    double out[3];
    predict_quantiles(forest, views, y, small.views, 1, levels, 1, out);
    check(out[0] == 2 && out[1] == 3 && out[2] == 3);
}

template <class Damage>
bool is_refused(Damage damage) {
    Problem problem;
    damage(problem);
    try {
        check_leaf_rows(problem.grown.forest, problem.views(), problem.y);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

void bad_leaf_rows_are_refused() {
    check(!is_refused([](Problem&) {}));
    check(is_refused([](Problem& p) { p.grown.leaf_rows.pop_back(); }), "one list too few");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].offsets.pop_back(); }), "one offset too few");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].offsets.clear(); }), "no offsets");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].offsets[1] = 1U << 31; }), "an offset that is out of order");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].offsets[1] = 0; }), "an empty leaf");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].rows[0] = 300; }), "a row that is out of bounds");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].weights[0] = 0; }), "a row of weight 0");
    check(is_refused([](Problem& p) { p.grown.leaf_rows[0].weights.pop_back(); }), "one weight too few");
    check(is_refused([](Problem& p) { p.y.resize(10); }), "too few targets");
    check(is_refused([](Problem& p) { p.y[0] = missing; }), "a missing target");
    check(is_refused([](Problem& p) { p.grown.forest.is_classifier = true; }), "a classifier");
}

}  // namespace

int main() {
    quantiles_follow_the_definition();
    any_number_of_threads_gives_the_same_quantiles();
    the_median_needs_half_of_the_weight();
    bad_leaf_rows_are_refused();
    return report();
}
