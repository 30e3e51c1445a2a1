#include <numeric>

#include "check.h"
#include "forest/forest.h"
#include "growing/row_sampling.h"
#include "small_tables.h"

using namespace committee;

namespace {

struct Problem {
    SmallTable small{{random_numbers(400, 1, true), random_numbers(400, 2)}, {random_codes(400, 8, 3)}, 8};
    Table table = small.bin();
    Target classes = labels_target(3, random_labels(400, 3, 4));
    Target numbers = fixed_target(random_numbers(400, 5), {}, 400, false);
};

ForestParameters some_trees(std::uint32_t n_trees, bool of_numbers = false) {
    ForestParameters parameters;
    parameters.n_trees = n_trees;
    parameters.seed = 3;
    parameters.out_of_bag = true;
    parameters.grow.max_features = 2;
    parameters.grow.exact = of_numbers;
    if (of_numbers) parameters.grow.criterion = Criterion::squared_error;
    return parameters;
}

// Draws bootstrap samples unless the parameters have a drawing.
Grown grow(const Problem& problem, ForestParameters parameters, int n_threads = 1,
           std::span<const std::uint32_t> weights = {}, OutOfBag before = {},
           const std::function<bool(std::size_t)>& after_tree = {}) {
    const Target& target = parameters.grow.criterion == Criterion::squared_error ? problem.numbers : problem.classes;
    const SmallBootstrap bootstrap(problem.table, target, 400, weights);
    if (!parameters.drawing) parameters.drawing = bootstrap.drawing;
    return grow_forest(problem.table, target, weights, parameters, std::move(before), n_threads, after_tree);
}

bool same(const Grown& a, const Grown& b) {
    return same_trees(a.forest, b.forest) && a.importances == b.importances &&
           a.out_of_bag_importances == b.out_of_bag_importances && a.out_of_bag.sums == b.out_of_bag.sums &&
           a.out_of_bag.counts == b.out_of_bag.counts && a.out_of_bag.curve == b.out_of_bag.curve;
}

void any_number_of_threads_grows_the_same_forest() {
    const Problem problem;
    for (const bool of_numbers : {false, true}) {
        ForestParameters parameters = some_trees(8, of_numbers);
        parameters.out_of_bag_importances = true;
        check(same(grow(problem, parameters, 1), grow(problem, parameters, 4)));
    }
}

void a_flat_curve_ends_the_same_forest_on_any_number_of_threads() {
    const Problem problem;
    ForestParameters parameters = some_trees(200);
    parameters.flat_trees = 10;
    const Grown one = grow(problem, parameters, 1);
    check(one.forest.trees.size() >= 20 && one.forest.trees.size() < 200);
    check(same(one, grow(problem, parameters, 4)));
}

void another_seed_grows_another_forest() {
    const Problem problem;
    ForestParameters parameters = some_trees(2);
    const Grown one = grow(problem, parameters);
    parameters.seed = 4;
    check(!same_trees(one.forest, grow(problem, parameters).forest));
}

void a_warm_start_equals_an_uninterrupted_run() {
    const Problem problem;
    ForestParameters parameters = some_trees(6);
    const Grown whole = grow(problem, parameters);
    parameters.n_trees = 2;
    Grown begun = grow(problem, parameters);
    parameters.first_tree = 2;
    parameters.n_trees = 6;
    const Grown rest = grow(problem, parameters, 1, {}, begun.out_of_bag);
    append_trees(begun.forest, rest.forest);
    check(decisions(begun.forest, problem.small) == decisions(whole.forest, problem.small));
    check(rest.out_of_bag.sums == whole.out_of_bag.sums && rest.out_of_bag.curve == whole.out_of_bag.curve);
}

void every_tree_votes_for_the_rows_outside_its_bag() {
    const Problem problem;
    const Grown grown = grow(problem, some_trees(20));
    const auto total = std::accumulate(grown.out_of_bag.counts.begin(), grown.out_of_bag.counts.end(), 0.0);
    check(total > 0.33 * 400 * 20 && total < 0.41 * 400 * 20, "about 37 percent of the rows");
    for (std::size_t i = 0; i < 400; ++i) {
        const double* sums = grown.out_of_bag.sums.data() + 3 * i;
        check(std::abs(sums[0] + sums[1] + sums[2] - grown.out_of_bag.counts[i]) < 1e-9);
    }
    check(grown.out_of_bag.curve.size() == 20);
}

void the_curve_ends_at_the_error_of_the_sums() {
    const Problem problem;
    const Grown grown = grow(problem, some_trees(30));
    double errors = 0, counted = 0;
    for (std::size_t i = 0; i < 400; ++i) {
        if (grown.out_of_bag.counts[i] == 0) continue;
        const double* sums = grown.out_of_bag.sums.data() + 3 * i;
        errors += std::max_element(sums, sums + 3) - sums == problem.classes.labels[i] ? 0 : 1;
        ++counted;
    }
    check(std::abs(grown.out_of_bag.curve.back() - errors / counted) < 1e-9);
}

void without_a_drawing_no_row_is_outside() {
    const Problem problem;
    ForestParameters parameters = some_trees(3);
    const Grown grown = grow_forest(problem.table, problem.classes, {}, parameters, {}, 1, {});
    check(std::ranges::all_of(grown.out_of_bag.counts, [](std::uint32_t count) { return count == 0; }));
}

void rows_of_weight_zero_are_outside_every_bag() {
    const Problem problem;
    std::vector<std::uint32_t> weights(400, 1);
    weights[7] = 0;
    check(grow(problem, some_trees(5), 1, weights).out_of_bag.counts[7] == 5);
}

void leaf_rows_contain_the_bag() {
    const Problem problem;
    ForestParameters parameters = some_trees(3, true);
    parameters.keep_leaf_rows = true;
    const Grown grown = grow(problem, parameters);
    std::vector<std::uint32_t> leaves(400 * 3);
    apply(grown.forest, problem.small.views, 400, 1, leaves.data());
    for (std::size_t t = 0; t < 3; ++t) {
        const LeafRows& leaf_rows = grown.leaf_rows[t];
        const Tree& tree = grown.forest.trees[t];
        check(std::accumulate(leaf_rows.weights.begin(), leaf_rows.weights.end(), 0U) == 400);
        for (std::uint32_t value = 0; value + 1 < leaf_rows.offsets.size(); ++value) {
            for (std::uint32_t i = leaf_rows.offsets[value]; i < leaf_rows.offsets[value + 1]; ++i) {
                check(address_of(tree.nodes[leaves[leaf_rows.rows[i] * 3 + t]]) == value);
            }
        }
    }
}

void class_weights_shift_the_decision() {
    const Problem problem;
    ForestParameters parameters = some_trees(5);
    parameters.grow.max_depth = 0;
    parameters.class_weights = {1000, 1, 1};
    const Grown grown = grow(problem, parameters);
    const auto votes = decisions(grown.forest, problem.small);
    for (std::size_t i = 0; i < 400; ++i) check(votes[3 * i] > 0.99);
}

void balanced_bags_give_every_class_the_same_weight() {
    const Problem problem;
    ForestParameters parameters = some_trees(3);
    parameters.balance_bags = true;
    parameters.grow.max_depth = 0;
    for (const double share : decisions(grow(problem, parameters).forest, problem.small)) {
        check(std::abs(share - 1.0 / 3) < 1e-4);
    }
}

void balanced_bags_count_rows_and_not_weights() {
    const Problem problem;
    ForestParameters parameters = some_trees(2);
    parameters.out_of_bag = false;
    parameters.balance_bags = true;
    parameters.grow.max_depth = 0;
    std::vector<std::uint32_t> units(400), weights(400, 1);
    std::iota(units.begin(), units.end(), 0U);
    std::vector<double> counts(3, 0.0), expected(3, 0.0);
    for (std::uint32_t i = 0; i < 400; ++i) {
        const std::uint32_t label = problem.classes.labels[i];
        weights[i] += 4 * label;
        counts[label] += 1;
    }
    const std::vector<double> factors = balancing_factors(counts);
    for (std::size_t k = 0; k < 3; ++k) expected[k] = counts[k] * factors[k] * static_cast<double>(1 + 4 * k) / 2000;
    const std::vector<std::uint64_t> all{400};
    parameters.drawing = Drawing{units, all, all, {}, {}, false, true};
    const auto found = decisions(grow(problem, parameters, 1, weights).forest, problem.small);
    for (std::size_t k = 0; k < 3; ++k) check(std::abs(found[k] - expected[k]) < 1e-4);
}

// The rows of a problem; each row of weight w occurs w times in the second table.
void weight_two_equals_two_rows() {
    constexpr std::size_t n_rows = 3000;
    const std::vector<double> first = random_numbers(n_rows, 1), second = random_numbers(n_rows, 2);
    const std::vector<std::uint32_t> labels = random_labels(n_rows, 2, 3);
    std::vector<std::uint32_t> weights(n_rows), more_labels;
    std::vector<std::vector<double>> more(2);
    for (std::size_t i = 0; i < n_rows; ++i) {
        weights[i] = 1 + static_cast<std::uint32_t>(i % 3);
        for (std::uint32_t k = 0; k < weights[i]; ++k) {
            more[0].push_back(first[i]);
            more[1].push_back(second[i]);
            more_labels.push_back(labels[i]);
        }
    }
    const SmallTable weighted({first, second}), repeated(std::move(more));
    const Table once = weighted.bin(weights), twice = repeated.bin();
    const Target target = labels_target(2, labels), more_target = labels_target(2, more_labels);
    const SmallBootstrap of_once(once, target, 6000, weights), of_twice(twice, more_target, 6000);
    for (const bool balance : {false, true}) {
        ForestParameters parameters = some_trees(5);
        parameters.out_of_bag = false;
        parameters.balance_bags = balance;
        parameters.drawing = of_once.drawing;
        const Forest a = grow_forest(once, target, weights, parameters, {}, 1, {}).forest;
        parameters.drawing = of_twice.drawing;
        check(same_trees(a, grow_forest(twice, more_target, {}, parameters, {}, 1, {}).forest));
    }
}

void the_order_of_the_rows_changes_no_estimate() {
    constexpr std::size_t n_rows = 300;
    std::vector<double> x = random_numbers(n_rows, 1), z = random_numbers(n_rows, 2), y = random_numbers(n_rows, 3);
    const auto grow_and_measure = [&] {
        const SmallTable small({x, z});
        const Table table = small.bin();
        const Target target = fixed_target(y, {}, n_rows, false);
        const SmallBootstrap bootstrap(table, target, n_rows);
        ForestParameters parameters = some_trees(5, true);
        parameters.out_of_bag_importances = true;
        parameters.drawing = bootstrap.drawing;
        return grow_forest(table, target, {}, parameters, {}, 1, {});
    };
    const Grown before = grow_and_measure();
    for (std::vector<double>* each : {&x, &z, &y}) std::ranges::rotate(*each, each->begin() + 100);
    const Grown after = grow_and_measure();
    check(before.out_of_bag.curve == after.out_of_bag.curve);
    check(before.out_of_bag_importances == after.out_of_bag_importances);
}

void a_noise_column_has_no_importance() {
    std::vector<double> y = random_numbers(400, 1);
    const SmallTable small({y, random_numbers(400, 2)});
    const Table table = small.bin();
    const Target target = fixed_target(y, {}, 400, false);
    ForestParameters parameters = some_trees(10, true);
    parameters.out_of_bag_importances = true;
    parameters.grow.max_features = 0;
    const SmallBootstrap bootstrap(table, target, 400);
    parameters.drawing = bootstrap.drawing;
    const Grown grown = grow_forest(table, target, {}, parameters, {}, 1, {});
    double signal = 0, noise = 0, signal_outside = 0, noise_outside = 0;
    for (std::size_t t = 0; t < 10; ++t) {
        signal += grown.importances[2 * t];
        noise += grown.importances[2 * t + 1];
        signal_outside += grown.out_of_bag_importances[2 * t];
        noise_outside += grown.out_of_bag_importances[2 * t + 1];
    }
    check(noise < 0.01 * signal);
    check(noise_outside < 0.01 * signal_outside);
}

void a_caller_can_stop_and_keep_complete_trees() {
    const Problem problem;
    std::size_t n_asked = 0;
    const Grown grown = grow(problem, some_trees(50), 2, {}, {}, [&](std::size_t) { return ++n_asked == 3; });
    check(grown.stopped && grown.forest.trees.size() >= 2 && grown.forest.trees.size() < 50);
    const Grown whole = grow(problem, some_trees(static_cast<std::uint32_t>(grown.forest.trees.size())));
    check(decisions(grown.forest, problem.small) == decisions(whole.forest, problem.small));
}

void a_tree_only_uses_its_own_columns() {
    const Problem problem;
    ForestParameters parameters = some_trees(3);
    parameters.columns = {{0, 2}, {1}, {0, 1, 2}};
    parameters.columns_tried = {1, 1, 2};
    const Grown grown = grow(problem, parameters, 2);
    for (std::size_t i = 0; i < 3; ++i) {
        for (const NodeWord word : grown.forest.trees[i].nodes) {
            check(is_leaf(word) || std::ranges::count(parameters.columns[i], column_of(word)) == 1);
        }
    }
}

void kept_weights_equal_weights_without_drawing() {
    const Problem problem;
    std::vector<std::uint32_t> weights(400), units(400);
    for (std::uint32_t i = 0; i < 400; ++i) weights[i] = (1U << 24) + 1000 * i;
    std::iota(units.begin(), units.end(), 0U);
    const std::vector<std::uint64_t> all{400};
    ForestParameters parameters = some_trees(2);
    parameters.out_of_bag = false;
    parameters.grow.max_features = 0;
    const std::vector<std::uint32_t> light(400, 3);
    const Grown plain = grow_forest(problem.table, problem.classes, light, parameters, {}, 1, {});
    parameters.drawing = Drawing{units, all, all, {}, {}, false, true};
    check(same_trees(plain.forest, grow(problem, parameters, 1, light).forest));
    // Weights with a sum of 2^31 or more are scaled down.
    check(grow(problem, parameters, 1, weights).forest.trees.size() == 2);
}

void a_forest_can_grow_stumps() {
    const Problem problem;
    ForestParameters parameters = some_trees(4, true);
    parameters.are_stumps = true;
    const Grown grown = grow(problem, parameters, 2);
    for (const Tree& tree : grown.forest.trees) check(tree.nodes.size() <= 5);
    check(grown.importances.size() == 12 &&
          std::accumulate(grown.importances.begin(), grown.importances.end(), 0.0) == 4);
}

}  // namespace

int main() {
    any_number_of_threads_grows_the_same_forest();
    a_flat_curve_ends_the_same_forest_on_any_number_of_threads();
    another_seed_grows_another_forest();
    a_warm_start_equals_an_uninterrupted_run();
    every_tree_votes_for_the_rows_outside_its_bag();
    the_curve_ends_at_the_error_of_the_sums();
    without_a_drawing_no_row_is_outside();
    rows_of_weight_zero_are_outside_every_bag();
    leaf_rows_contain_the_bag();
    class_weights_shift_the_decision();
    balanced_bags_give_every_class_the_same_weight();
    balanced_bags_count_rows_and_not_weights();
    weight_two_equals_two_rows();
    the_order_of_the_rows_changes_no_estimate();
    a_noise_column_has_no_importance();
    a_caller_can_stop_and_keep_complete_trees();
    a_tree_only_uses_its_own_columns();
    kept_weights_equal_weights_without_drawing();
    a_forest_can_grow_stumps();
    return report();
}
