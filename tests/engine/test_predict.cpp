#include <stdexcept>

#include "check.h"
#include "predict.h"
#include "small_tables.h"

using namespace committee;

namespace {

// A forest of three trees on two columns of numbers and one of categories, missing values everywhere.
struct Grown {
    SmallTable small;
    Table table;
    Target target;
    Forest forest;

    explicit Grown(std::uint32_t max_bins, std::uint64_t key = 1)
        : small({random_numbers(700, key, true), random_numbers(700, key + 1, true)},
                {random_codes(700, 70, key + 2, true)}, 70),
          table(small.bin({}, max_bins)),
          target(labels_target(3, random_labels(700, 3, key + 3))) {
        std::vector<Tree> trees;
        for (std::uint32_t tree = 0; tree < 3; ++tree) {
            GrowParameters parameters;
            parameters.max_features = 1 + tree;
            parameters.max_depth = 4 + 4 * tree;
            trees.push_back(grow_one(table, target, parameters));
        }
        forest = forest_of(table, target, std::move(trees));
    }
};

// One row, one tree, node by node.
std::uint32_t walk(const Forest& forest, const Tree& tree, const SmallTable& small, std::size_t row) {
    std::uint32_t node = 0;
    while (!is_leaf(tree.nodes[node])) {
        const std::uint32_t j = column_of(tree.nodes[node]);
        const std::uint32_t code = j < 2 ? naive_code(forest.binning.columns[j], small.numbers[j][row])
                                         : static_cast<std::uint32_t>(small.categories[0][row]);
        node = next_node(tree.nodes[node], code, tree.sets.data());
    }
    return node;
}

void every_way_of_predicting_ends_in_the_same_leaves() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const Grown grown(max_bins);
        const Forest& forest = grown.forest;
        std::vector<std::uint32_t> leaves(700 * 3);
        std::vector<double> votes(3 * 700 * 3);
        apply(forest, grown.small.views, 700, 2, leaves.data());
        predict_votes(forest, grown.small.views, 700, 2, votes.data());
        const auto means = decisions(forest, grown.small);
        for (std::size_t i = 0; i < 700; ++i) {
            double sums[3] = {};
            for (std::size_t t = 0; t < 3; ++t) {
                const Tree& tree = forest.trees[t];
                check(leaves[i * 3 + t] == walk(forest, tree, grown.small, i));
                add_vote(tree, leaves[i * 3 + t], 3, Rule::mean, sums);
                for (std::size_t k = 0; k < 3; ++k) {
                    check(votes[(t * 700 + i) * 3 + k] ==
                          tree.values[address_of(tree.nodes[leaves[i * 3 + t]]) * 3 + k]);
                }
            }
            for (std::size_t k = 0; k < 3; ++k) check(means[i * 3 + k] == sums[k] / 3);
        }
    }
}

void one_row_is_decided_as_among_many() {
    const Grown grown(65535);
    const auto all = decisions(grown.forest, grown.small);
    for (std::size_t i = 0; i < 700; i += 37) {
        const SmallTable one({std::vector{grown.small.numbers[0][i]}, std::vector{grown.small.numbers[1][i]}},
                             {std::vector{grown.small.categories[0][i]}}, 70);
        const auto alone = decisions(grown.forest, one);
        check(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<std::ptrdiff_t>(3 * i)));
    }
}

void any_number_of_threads_gives_the_same_decisions() {
    const Grown grown(65535);
    check(decisions(grown.forest, grown.small, 1) == decisions(grown.forest, grown.small, 4));
}

void a_majority_counts_the_first_of_the_best_classes() {
    Forest forest;
    forest.binning.columns.resize(1);
    forest.n_outputs = 2;
    forest.is_classifier = true;
    for (const double first : {0.5, 0.2, 0.9}) forest.trees.push_back({{leaf_word(0)}, {}, {first, 1 - first}, {}, {}});
    const SmallTable small({{1, 2, 3, 4, 5, 6}});
    const auto shares = decisions(forest, small, 1, Rule::majority);
    check(std::abs(shares[0] - 2.0 / 3) < 1e-15 && std::abs(shares[1] - 1.0 / 3) < 1e-15);
}

void unseen_categories_go_with_the_missing_ones() {
    const Grown grown(65535);
    const std::vector<double> half{0.5};
    const SmallTable unseen({half, half}, {std::vector{71}}, 70), none({half, half}, {std::vector{0}}, 70);
    check(decisions(grown.forest, unseen) == decisions(grown.forest, none));
}

void dropping_unused_cuts_changes_no_decision() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        Grown grown(max_bins);
        const auto before = decisions(grown.forest, grown.small);
        const std::size_t bytes = grown.forest.nbytes();
        drop_unused_cuts(grown.forest, 2);
        check(decisions(grown.forest, grown.small) == before);
        check(grown.forest.nbytes() <= bytes);
        const Forest once = grown.forest;
        drop_unused_cuts(grown.forest, 2);
        check(same_trees(once, grown.forest), "there is nothing left to drop");
    }
}

void a_column_that_no_tree_asks_about_is_marked() {
    const SmallTable small({{1, 2, 3, 4}, {7, 7, 7, 7}});
    const Table table = small.bin();
    const Target target = labels_target(2, {0, 0, 1, 1});
    Forest forest = forest_of(table, target, {grow_one(table, target, {})});
    drop_unused_cuts(forest, 2);
    check(forest.binning.columns[0].is_used && !forest.binning.columns[1].is_used);
    check(forest.binning.columns[0].cuts == std::vector<double>{2.5});
}

void appended_trees_vote_as_before() {
    Grown first(65535, 1), second(65535, 10);
    drop_unused_cuts(first.forest, 2);
    drop_unused_cuts(second.forest, 2);
    const auto of_first = decisions(first.forest, first.small), of_second = decisions(second.forest, first.small);
    append_trees(first.forest, second.forest);
    check(first.forest.trees.size() == 6);
    const auto joint = decisions(first.forest, first.small);
    for (std::size_t i = 0; i < joint.size(); ++i) {
        check(std::abs(joint[i] - (of_first[i] + of_second[i]) / 2) < 1e-12);
    }
}

}  // namespace

int main() {
    every_way_of_predicting_ends_in_the_same_leaves();
    one_row_is_decided_as_among_many();
    any_number_of_threads_gives_the_same_decisions();
    a_majority_counts_the_first_of_the_best_classes();
    unseen_categories_go_with_the_missing_ones();
    dropping_unused_cuts_changes_no_decision();
    a_column_that_no_tree_asks_about_is_marked();
    appended_trees_vote_as_before();
    return report();
}
