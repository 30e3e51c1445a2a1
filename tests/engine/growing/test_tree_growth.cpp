#include <algorithm>
#include <map>
#include <numeric>

#include "check.h"
#include "growing/row_sampling.h"
#include "growing/tree_growth.h"
#include "small_tables.h"

using namespace committee;

namespace {

Target numbers_target(const std::vector<double>& y, std::span<const std::uint32_t> weights = {}) {
    return fixed_target(y, weights, 1U << 20, false);
}

std::size_t n_leaves(const Tree& tree) { return static_cast<std::size_t>(std::ranges::count_if(tree.nodes, is_leaf)); }

std::uint32_t left_of(const Tree& tree, NodeWord word) {
    return is_category(word) ? tree.sets[address_of(word)] : address_of(word);
}

std::size_t depth_of(const Tree& tree, std::uint32_t node = 0) {
    if (is_leaf(tree.nodes[node])) return 0;
    const std::uint32_t left = left_of(tree, tree.nodes[node]);
    return 1 + std::max(depth_of(tree, left), depth_of(tree, left + 1));
}

template <class Element>
std::vector<Element> taken(const std::vector<Element>& all, const std::vector<std::uint32_t>& order) {
    std::vector<Element> result;
    for (const std::uint32_t i : order) result.push_back(all[i]);
    return result;
}

void a_full_tree_fits_its_rows_perfectly() {
    for (const std::uint32_t n_classes : {2U, 5U}) {
        const SmallTable small({random_numbers(500, 1), random_numbers(500, 2, true)});
        const Table table = small.bin();
        const Target target = labels_target(n_classes, random_labels(500, n_classes, 3));
        for (const Criterion criterion :
             {Criterion::gini, Criterion::entropy, Criterion::gain_ratio, Criterion::error}) {
            const Forest forest = forest_of(
                table, target, {grow_one(table, target, {.criterion = criterion, .exact = true, .monotonic = {}})});
            const auto votes = decisions(forest, small);
            for (std::size_t i = 0; i < 500; ++i) check(votes[i * n_classes + target.labels[i]] == 1);
        }
    }
}

void a_leaf_predicts_the_mean_of_its_rows() {
    const SmallTable small({{1, 2, 3, 10, 11, 12}});
    const Table table = small.bin();
    const Target target = numbers_target({1, 2, 3, 101, 102, 103});
    const Tree tree = grow_one(table, target,
                               {.criterion = Criterion::squared_error, .max_depth = 1, .exact = true, .monotonic = {}});
    const auto values = decisions(forest_of(table, target, {tree}), small);
    const std::vector<double> expected{2, 2, 2, 102, 102, 102};
    for (std::size_t i = 0; i < 6; ++i) check(std::abs(values[i] - expected[i]) < 1e-6);
    check(threshold_of(tree.nodes[0]) == 3);
}

void row_order_does_not_change_the_tree() {
    const auto a = random_numbers(800, 1, true), b = random_numbers(800, 2), y = random_numbers(800, 3);
    const auto c = random_codes(800, 12, 4, true);
    const auto labels = random_labels(800, 3, 5);
    std::vector<std::uint32_t> order(800);
    std::iota(order.begin(), order.end(), 0U);
    Random random(9, Purpose::permutation);
    for (std::size_t i = 800; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    const SmallTable before({a, b}, {c}, 12), after({taken(a, order), taken(b, order)}, {taken(c, order)}, 12);
    for (const bool exact : {false, true}) {
        const GrowParameters of_classes{.max_features = 2, .exact = exact, .monotonic = {}};
        check(same_tree(grow_one(before.bin(), labels_target(3, labels), of_classes),
                        grow_one(after.bin(), labels_target(3, taken(labels, order)), of_classes)));
        const GrowParameters of_numbers{
            .criterion = Criterion::squared_error, .max_features = 2, .exact = exact, .monotonic = {}};
        check(same_tree(grow_one(before.bin(), numbers_target(y), of_numbers),
                        grow_one(after.bin(), numbers_target(taken(y, order)), of_numbers)));
    }
}

void weight_two_equals_two_rows() {
    const auto a = random_numbers(200, 1), b = random_numbers(200, 2, true);
    const auto labels = random_labels(200, 2, 3);
    std::vector<std::uint32_t> weights(200, 1), twice(200);
    std::iota(twice.begin(), twice.end(), 0U);
    for (std::uint32_t i = 0; i < 200; i += 3) {
        weights[i] = 2;
        twice.push_back(i);
    }
    const SmallTable weighted({a, b}), repeated({taken(a, twice), taken(b, twice)});
    const GrowParameters parameters{.max_depth = 6, .exact = true, .monotonic = {}};
    check(same_tree(grow_one(weighted.bin(weights), labels_target(2, labels), parameters, weights),
                    grow_one(repeated.bin(), labels_target(2, taken(labels, twice)), parameters)));
}

void rows_of_weight_zero_change_nothing() {
    const SmallTable some({{1, 2, 3, 4}}), more({{1, 2, 2.5, 3, 4}});
    const std::vector<std::uint32_t> weights{1, 1, 0, 1, 1};
    const Tree without = grow_one(some.bin(), labels_target(2, {0, 0, 1, 1}), {.exact = true, .monotonic = {}});
    const Tree with =
        grow_one(more.bin(weights), labels_target(2, {0, 0, 0, 1, 1}), {.exact = true, .monotonic = {}}, weights);
    check(same_tree(without, with));
}

void a_monotone_transform_changes_nothing() {
    const auto numbers = random_numbers(600, 1, true);
    std::vector<double> transformed;
    for (const double number : numbers) transformed.push_back(std::exp(10 * number) - 5);
    const SmallTable before({numbers}), after({transformed});
    const Target target = labels_target(2, random_labels(600, 2, 3));
    check(same_tree(grow_one(before.bin(), target, {}), grow_one(after.bin(), target, {})));
}

void the_side_of_missing_values_is_learned() {
    const SmallTable small({{1, 2, 3, 4, missing, missing}});
    for (const std::uint32_t label_of_missing : {0U, 1U}) {
        const Table table = small.bin();
        const Target target = labels_target(2, {0, 0, 1, 1, label_of_missing, label_of_missing});
        const Tree tree = grow_one(table, target, {.exact = true, .monotonic = {}});
        check(tree.nodes.size() == 3);
        check(missing_goes_right(tree.nodes[0]) == (label_of_missing == 1));
    }
}

void a_side_can_have_only_missing_values() {
    const SmallTable small({{1, 2, 3, missing}});
    const Table table = small.bin();
    const Target target = labels_target(2, {0, 0, 0, 1});
    const auto votes =
        decisions(forest_of(table, target, {grow_one(table, target, {.exact = true, .monotonic = {}})}), small);
    check(votes == std::vector<double>{1, 0, 1, 0, 1, 0, 0, 1});
}

void missing_goes_to_the_heavier_side_if_none_was_seen() {
    const SmallTable small({{1, 2, 3, 4}});
    check(!missing_goes_right(
        grow_one(small.bin(), labels_target(2, {0, 0, 0, 1}), {.exact = true, .monotonic = {}}).nodes[0]));
    check(missing_goes_right(
        grow_one(small.bin(), labels_target(2, {0, 1, 1, 1}), {.exact = true, .monotonic = {}}).nodes[0]));
}

void categories_are_split_into_sets() {
    const SmallTable small({}, {{1, 2, 3, 4, 40, 41, 1, 2, 3, 4, 40, 41}}, 60);
    const Table table = small.bin();
    const Target target = labels_target(2, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    const Tree tree = grow_one(table, target, {.exact = true, .monotonic = {}});
    check(tree.nodes.size() == 3, "one split is enough");
    const auto votes = decisions(forest_of(table, target, {tree}), small);
    for (std::size_t i = 0; i < 12; ++i) check(votes[2 * i + target.labels[i]] == 1);
}

void the_tree_respects_its_limits() {
    const SmallTable small({random_numbers(1000, 1), random_numbers(1000, 2)});
    const Table table = small.bin();
    const Target target = labels_target(2, random_labels(1000, 2, 3));
    check(depth_of(grow_one(table, target, {.max_depth = 3, .monotonic = {}})) == 3);
    check(n_leaves(grow_one(table, target, {.max_leaf_nodes = 17, .monotonic = {}})) == 17);
    check(n_leaves(grow_one(table, target, {.min_impurity_decrease = 1, .monotonic = {}})) == 1);
    for (const std::uint32_t max_leaf_nodes : {0U, 30U}) {
        const Tree tree =
            grow_one(table, target,
                     {.max_leaf_nodes = max_leaf_nodes, .min_samples_leaf = 20, .keep_records = true, .monotonic = {}});
        for (const NodeRecord& record : tree.records) check(record.n_rows >= 20);
    }
    const Tree heavy =
        grow_one(table, target, {.min_weight_fraction_leaf = 0.1, .keep_records = true, .monotonic = {}});
    for (const NodeRecord& record : heavy.records) check(record.weight >= 100);
}

void best_first_takes_the_best_gain_first() {
    // The split at 10 has the largest gain, then the split of the right side.
    const SmallTable small({{1, 2, 3, 4, 11, 12, 13, 14}});
    const Table table = small.bin();
    const Target target = numbers_target({0, 0, 1, 1, 100, 100, 150, 150});
    const Tree tree = grow_one(
        table, target, {.criterion = Criterion::squared_error, .max_leaf_nodes = 3, .exact = true, .monotonic = {}});
    check(threshold_of(tree.nodes[0]) == 4);
    check(is_leaf(tree.nodes[1]) && threshold_of(tree.nodes[2]) == 6);
}

void records_describe_the_nodes() {
    const SmallTable small({random_numbers(300, 1), random_numbers(300, 2)}, {random_codes(300, 5, 3)}, 5);
    const Table table = small.bin();
    const Target target = labels_target(3, random_labels(300, 3, 4));
    for (const std::uint32_t max_leaf_nodes : {0U, 20U}) {
        const Tree tree =
            grow_one(table, target, {.max_leaf_nodes = max_leaf_nodes, .keep_records = true, .monotonic = {}});
        check(tree.records.size() == tree.nodes.size() && tree.values.size() == 3 * tree.nodes.size());
        check(tree.records[0].n_rows == 300 && tree.records[0].weight == 300);
        for (std::uint32_t i = 0; i < tree.nodes.size(); ++i) {
            if (is_leaf(tree.nodes[i])) {
                check(address_of(tree.nodes[i]) == i);
                continue;
            }
            const std::uint32_t left = left_of(tree, tree.nodes[i]);
            check(left > i, "children come after their parents");
            check(tree.records[left].n_rows + tree.records[left + 1].n_rows == tree.records[i].n_rows);
            check(tree.records[left].weight + tree.records[left + 1].weight == tree.records[i].weight);
            for (std::size_t k = 0; k < 3; ++k) {
                const double sum = tree.values[3 * left + k] * tree.records[left].weight +
                                   tree.values[3 * left + 3 + k] * tree.records[left + 1].weight;
                check(std::abs(sum - tree.values[3 * i + k] * tree.records[i].weight) < 1e-9);
            }
        }
    }
}

void importances_sum_to_the_impurity_decrease() {
    const SmallTable small({random_numbers(300, 1), random_numbers(300, 2)});
    const Table table = small.bin();
    const Target target = numbers_target(random_numbers(300, 3));
    const Tree tree = grow_one(
        table, target, {.criterion = Criterion::squared_error, .exact = true, .keep_records = true, .monotonic = {}});
    const double lost = std::accumulate(tree.importances.begin(), tree.importances.end(), 0.0);
    check(std::abs(lost - 300 * tree.records[0].impurity) < 1e-6, "a full tree removes all impurity");
}

void monotonic_columns_make_monotonic_trees() {
    const SmallTable small({random_numbers(500, 1)});
    const Table table = small.bin();
    const Target target = numbers_target(random_numbers(500, 2));
    for (const std::int8_t direction : {std::int8_t{1}, std::int8_t{-1}}) {
        const Tree tree =
            grow_one(table, target, {.criterion = Criterion::squared_error, .exact = true, .monotonic = {direction}});
        const auto values = decisions(forest_of(table, target, {tree}), small);
        std::map<double, double> by_number;
        for (std::size_t i = 0; i < 500; ++i) by_number[small.numbers[0][i]] = direction * values[i];
        double last = -std::numeric_limits<double>::infinity();
        for (const auto& [number, value] : by_number) {
            check(value >= last);
            last = value;
        }
        check(n_leaves(tree) > 1);
    }
}

void random_thresholds_grow_complete_trees() {
    const SmallTable small({random_numbers(300, 1, true), random_numbers(300, 2)}, {random_codes(300, 9, 3, true)}, 9);
    const Table table = small.bin();
    const Target target = labels_target(2, random_labels(300, 2, 4));
    const GrowParameters parameters{.max_features = 1, .random_thresholds = true, .monotonic = {}};
    const Tree tree = grow_one(table, target, parameters);
    const auto votes = decisions(forest_of(table, target, {tree}), small);
    for (std::size_t i = 0; i < 300; ++i) check(votes[2 * i + target.labels[i]] == 1);
    check(same_tree(tree, grow_one(table, target, parameters)), "the same key draws the same thresholds");
}

void random_thresholds_do_not_depend_on_the_scale_of_weights() {
    // Light rows are summed as 16-bit words, heavy ones separately. Multiplying by a power of two does not change the
    // rounding.
    constexpr std::size_t n = 700;
    const SmallTable small({random_numbers(n, 1, true), random_numbers(n, 2), random_numbers(n, 3)}, {}, 0);
    const Table table = small.bin();
    const Target target = labels_target(2, random_labels(n, 2, 4));
    for (const std::uint32_t min_leaf : {1U, 5U}) {
        const GrowParameters parameters{
            .min_samples_leaf = min_leaf, .max_features = 2, .random_thresholds = true, .monotonic = {}};
        const std::vector<std::uint32_t> light(n, 2), heavy(n, 1U << 16);
        check(same_tree(grow_one(table, target, parameters, light), grow_one(table, target, parameters, heavy)));
    }
}

void comparing_random_thresholds_together_equals_one_by_one() {
    // If there is a list of constraints, even an empty one per column, columns are compared one by one.
    constexpr std::size_t n = 900;
    std::vector<std::vector<double>> columns;
    for (std::uint64_t j = 0; j < 11; ++j) columns.push_back(random_numbers(n, j, j % 3 == 0));
    const Table table = SmallTable(columns).bin();
    std::vector<std::uint32_t> weights(n);
    for (std::size_t i = 0; i < n; ++i) weights[i] = 1 + i % 3;
    for (const std::uint32_t max_features : {1U, 3U, 8U, 11U}) {
        GrowParameters at_once{.max_features = max_features, .random_thresholds = true, .monotonic = {}};
        GrowParameters one_by_one = at_once;
        one_by_one.monotonic.assign(11, 0);
        for (const std::uint32_t n_classes : {2U, 4U}) {
            const Target target = labels_target(n_classes, random_labels(n, n_classes, 4));
            check(same_tree(grow_one(table, target, at_once), grow_one(table, target, one_by_one)));
            check(same_tree(grow_one(table, target, at_once, weights), grow_one(table, target, one_by_one, weights)));
        }
        at_once.criterion = one_by_one.criterion = Criterion::squared_error;
        const Target target = numbers_target(random_numbers(n, 5));
        check(same_tree(grow_one(table, target, at_once), grow_one(table, target, one_by_one)));
    }
}

void poisson_leaves_have_positive_rates() {
    const SmallTable small({random_numbers(200, 1)});
    const Table table = small.bin();
    std::vector<double> y(200, 0);
    for (std::size_t i = 0; i < 200; i += 7) y[i] = 3;
    const Target target = fixed_target(y, {}, 200, true);
    const Tree tree = grow_one(table, target, {.criterion = Criterion::poisson, .exact = true, .monotonic = {}});
    for (const double value : decisions(forest_of(table, target, {tree}), small)) check(value > 0);
    check(n_leaves(tree) > 1);
}

}  // namespace

int main() {
    a_full_tree_fits_its_rows_perfectly();
    a_leaf_predicts_the_mean_of_its_rows();
    row_order_does_not_change_the_tree();
    weight_two_equals_two_rows();
    rows_of_weight_zero_change_nothing();
    a_monotone_transform_changes_nothing();
    the_side_of_missing_values_is_learned();
    a_side_can_have_only_missing_values();
    missing_goes_to_the_heavier_side_if_none_was_seen();
    categories_are_split_into_sets();
    the_tree_respects_its_limits();
    best_first_takes_the_best_gain_first();
    records_describe_the_nodes();
    importances_sum_to_the_impurity_decrease();
    monotonic_columns_make_monotonic_trees();
    random_thresholds_grow_complete_trees();
    random_thresholds_do_not_depend_on_the_scale_of_weights();
    comparing_random_thresholds_together_equals_one_by_one();
    poisson_leaves_have_positive_rates();
    return report();
}
