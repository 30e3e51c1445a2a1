#include <stdexcept>

#include "check.h"
#include "growing/row_sampling.h"
#include "small_tables.h"
#include "tree/stump.h"

using namespace committee;

namespace {

void a_stump_has_a_branch_for_missing() {
    const SmallTable small({{1, 2, 10, 20, missing, missing}});
    const Forest forest = grow_stump(small.bin(), labels_target(3, {0, 0, 1, 1, 2, 2}), {}, Criterion::entropy);
    const Tree& tree = forest.trees[0];
    check(tree.nodes.size() == 5 && threshold_of(tree.nodes[0]) == 0 && !missing_goes_right(tree.nodes[0]));
    check(forest.binning.columns[0].cuts == std::vector<double>{6}, "the midpoint between 2 and 10");
    const auto votes = decisions(forest, small);
    const std::vector<double> expected{1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
    check(votes == expected);
}

void missing_predicts_the_mean_of_all_rows_if_none_was_seen() {
    const SmallTable small({{1, 2, 3, 4}}), unknown({std::vector<double>{missing}});
    const Forest forest = grow_stump(small.bin(), labels_target(2, {0, 1, 1, 1}), {}, Criterion::gini);
    check(decisions(forest, unknown) == std::vector<double>{0.25, 0.75});
    check(forest.trees[0].records[1].n_rows == 0 && forest.trees[0].records[1].weight == 0);
}

void categories_are_split_into_two_sets() {
    const SmallTable small({}, {{1, 2, 3, 40, 1, 2, 3, 40, 0, 2}}, 50);
    const Target target = labels_target(2, {0, 1, 0, 1, 0, 1, 0, 1, 0, 1});
    const Forest forest = grow_stump(small.bin(), target, {}, Criterion::gini);
    const auto votes = decisions(forest, small);
    for (std::size_t i = 0; i < 10; ++i) check(votes[2 * i + target.labels[i]] == 1);
    const SmallTable unseen({}, {std::vector<std::int32_t>{17}}, 50);
    check(decisions(forest, unseen) == std::vector<double>{0, 1}, "an unseen category goes to the heavier side");
}

void a_regression_stump_predicts_means() {
    const SmallTable small({{1, 2, 3, 4, missing}});
    const Target target = fixed_target(std::vector<double>{1, 3, 10, 12, 50}, {}, 5, false);
    const auto values = decisions(grow_stump(small.bin(), target, {}, Criterion::squared_error), small);
    const std::vector<double> expected{2, 2, 11, 11, 50};
    for (std::size_t i = 0; i < 5; ++i) check(std::abs(values[i] - expected[i]) < 1e-9);
}

// The number of errors of three leaves, counted directly.
double errors(const std::vector<double>& column, const std::vector<std::uint32_t>& labels, double threshold) {
    double counts[3][2] = {};
    for (std::size_t i = 0; i < column.size(); ++i) {
        const int branch = std::isnan(column[i]) ? 2 : column[i] <= threshold ? 0 : 1;
        ++counts[branch][labels[i]];
    }
    double sum = 0;
    for (const auto& count : counts) sum += std::min(count[0], count[1]);
    return sum;
}

void no_other_column_or_threshold_has_fewer_errors() {
    for (std::uint64_t key = 0; key < 10; ++key) {
        const SmallTable small({random_numbers(60, 4 * key, true), random_numbers(60, 4 * key + 1, true)});
        const auto labels = random_labels(60, 2, 4 * key + 2);
        const Forest forest = grow_stump(small.bin(), labels_target(2, labels), {}, Criterion::error);
        const std::uint32_t chosen = column_of(forest.trees[0].nodes[0]);
        const double found = errors(small.numbers[chosen], labels, forest.binning.columns[chosen].cuts[0]);
        for (const auto& column : small.numbers) {
            for (const double threshold : column) check(found <= errors(column, labels, threshold));
        }
    }
}

void ties_go_to_the_first_column() {
    const SmallTable small({{7, 7, 7, 7}, {1, 2, 3, 4}, {4, 3, 2, 1}});
    const Forest forest = grow_stump(small.bin(), labels_target(2, {0, 0, 1, 1}), {}, Criterion::gini);
    check(column_of(forest.trees[0].nodes[0]) == 1);
}

void rows_that_cannot_be_split_make_one_leaf() {
    const SmallTable constant({{7, 7, 7}}), other({{1, 2, 3}});
    const Forest leaf = grow_stump(constant.bin(), labels_target(2, {0, 1, 1}), {}, Criterion::gini);
    check(leaf.trees[0].nodes.size() == 1 && leaf.trees[0].records.size() == 1);
    check(std::abs(leaf.trees[0].values[1] - 2.0 / 3) < 1e-15);
    const Forest pure = grow_stump(other.bin(), labels_target(2, {1, 1, 1}), {}, Criterion::gini);
    check(pure.trees[0].nodes.size() == 1 && pure.trees[0].values == std::vector<double>{0, 1});
}

void a_split_can_separate_missing_from_present() {
    const SmallTable small({{1, 2, 3, missing, missing}, {1, 2, 3, 4, 4}});
    const Forest forest = grow_stump(small.bin(), labels_target(2, {0, 0, 0, 1, 1}), {}, Criterion::gini);
    check(forest.trees[0].nodes.size() == 3 && column_of(forest.trees[0].nodes[0]) == 0);
    check(decisions(forest, small) == std::vector<double>{1, 0, 1, 0, 1, 0, 0, 1, 0, 1});
}

void weight_two_equals_two_rows_and_weight_zero_equals_none() {
    const SmallTable weighted({{1, 2, 3, 4, 9}}), repeated({{1, 2, 2, 3, 4}});
    const std::vector<std::uint32_t> weights{1, 2, 1, 1, 0};
    const Forest a = grow_stump(weighted.bin(weights), labels_target(2, {0, 0, 1, 1, 0}), weights, Criterion::entropy);
    const Forest b = grow_stump(repeated.bin(), labels_target(2, {0, 0, 0, 1, 1}), {}, Criterion::entropy);
    check(same_trees(a, b));
    check(a.trees[0].records[0].n_rows == 4 && b.trees[0].records[0].n_rows == 5);
}

void records_describe_the_branches() {
    const SmallTable small({random_numbers(100, 1, true)});
    for (const std::uint32_t n_classes : {2U, 3U}) {
        const Forest forest =
            grow_stump(small.bin(), labels_target(n_classes, random_labels(100, n_classes, 2)), {}, Criterion::gini);
        const auto& records = forest.trees[0].records;
        check(records[0].n_rows == 100 && records[1].n_rows + records[2].n_rows == 100);
        check(records[3].n_rows + records[4].n_rows == records[2].n_rows);
        for (std::size_t i = 0; i < 5; ++i) {
            double gini = 1;
            for (std::size_t k = 0; k < n_classes; ++k) {
                const double share = forest.trees[0].values[i * n_classes + k];
                gini -= share * share;
            }
            check(std::abs(records[i].impurity - gini) < 1e-12);
        }
    }
}

void other_criteria_and_no_rows_are_refused() {
    const SmallTable small({{1, 2}});
    auto is_refused = [&](const Target& target, const std::vector<std::uint32_t>& weights, Criterion criterion) {
        try {
            grow_stump(small.bin(), target, weights, criterion);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    const Target target = labels_target(2, {0, 1});
    check(is_refused(target, {}, Criterion::squared_error));
    check(is_refused(fixed_target(std::vector<double>{1, 2}, {}, 2, false), {}, Criterion::poisson));
    check(is_refused(target, {0, 0}, Criterion::gini));
}

}  // namespace

int main() {
    a_stump_has_a_branch_for_missing();
    missing_predicts_the_mean_of_all_rows_if_none_was_seen();
    categories_are_split_into_two_sets();
    a_regression_stump_predicts_means();
    no_other_column_or_threshold_has_fewer_errors();
    ties_go_to_the_first_column();
    rows_that_cannot_be_split_make_one_leaf();
    a_split_can_separate_missing_from_present();
    weight_two_equals_two_rows_and_weight_zero_equals_none();
    records_describe_the_branches();
    other_criteria_and_no_rows_are_refused();
    return report();
}
