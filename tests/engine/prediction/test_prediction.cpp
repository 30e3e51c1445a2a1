#include <stdexcept>

#include "check.h"
#include "prediction/prediction.h"
#include "small_tables.h"

using namespace committee;

namespace {

// Descends one tree with one row, node by node.
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

void all_predictions_use_the_same_leaves() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const SmallForest grown(max_bins);
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
                add_vote(TreeView(tree), leaves[i * 3 + t], 3, Rule::mean, sums);
                for (std::size_t k = 0; k < 3; ++k) {
                    check(votes[(t * 700 + i) * 3 + k] ==
                          tree.values[address_of(tree.nodes[leaves[i * 3 + t]]) * 3 + k]);
                }
            }
            for (std::size_t k = 0; k < 3; ++k) check(means[i * 3 + k] == sums[k] / 3);
        }
    }
}

void one_row_gets_the_same_decision_as_among_many() {
    const SmallForest grown(65535);
    const auto all = decisions(grown.forest, grown.small);
    for (std::size_t i = 0; i < 700; i += 37) {
        const SmallTable one({std::vector{grown.small.numbers[0][i]}, std::vector{grown.small.numbers[1][i]}},
                             {std::vector{grown.small.categories[0][i]}}, 70);
        const auto alone = decisions(grown.forest, one);
        check(std::equal(alone.begin(), alone.end(), all.begin() + static_cast<std::ptrdiff_t>(3 * i)));
        std::vector<double> prepared(3);
        Prepared(grown.forest, Rule::mean).predict(one.views, 1, prepared.data());
        check(prepared == alone);
    }
}

// Enough rows for several blocks, and for five levels at a time where the machine supports them.
void many_rows_get_the_same_decisions_as_few() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const SmallForest grown(max_bins);
        const auto repeated = [](const auto& column) {
            auto longer = column;
            for (int i = 1; i < 50; ++i) longer.insert(longer.end(), column.begin(), column.end());
            return longer;
        };
        const SmallTable many({repeated(grown.small.numbers[0]), repeated(grown.small.numbers[1])},
                              {repeated(grown.small.categories[0])}, 70);
        check(decisions(grown.forest, many, 2) == repeated(decisions(grown.forest, grown.small)));
    }
}

// Trees without categories: a full one, which is large and has pure leaves; a smaller one with pure and impure leaves;
// and one whose values are halved. Predictions for a few rows, which descend node by node and add all values of a leaf,
// must be the same.
void large_and_small_trees_decide_the_same_for_few_and_many_rows() {
    constexpr std::size_t n_rows = 30000, few = 3;
    const SmallTable small({random_numbers(n_rows, 1, true), random_numbers(n_rows, 2), random_numbers(n_rows, 3)});
    const Target target = labels_target(5, random_labels(n_rows, 5, 4));
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const Table table = small.bin({}, max_bins);
        std::vector<Tree> trees;
        for (const std::uint32_t max_depth : {100U, 13U, 14U}) {
            GrowParameters parameters;
            parameters.max_features = 2;
            parameters.max_depth = max_depth;
            trees.push_back(grow_one(table, target, parameters));
        }
        check(trees[0].nodes.size() > 1U << 15, "the tree is too small: vectors of rows would descend it");
        for (double& value : trees.back().values) value /= 2;
        const Forest forest = forest_of(table, target, std::move(trees));
        for (const Rule rule : {Rule::mean, Rule::majority}) {
            std::vector<double> alone(n_rows * 5);
            for (std::size_t i = 0; i < n_rows; i += few) {
                auto views = small.views;
                for (std::size_t j = 0; j < 3; ++j) views[j].data = small.numbers[j].data() + i;
                predict(forest, views, few, rule, 1, alone.data() + i * 5);
            }
            check(decisions(forest, small, 2, rule) == alone);
        }
    }
}

void any_number_of_threads_gives_the_same_decisions() {
    const SmallForest grown(65535);
    check(decisions(grown.forest, grown.small, 1) == decisions(grown.forest, grown.small, 4));
}

void a_majority_counts_the_first_class_among_ties() {
    Forest forest = voting_forest({{Column{}}}, 2, true);
    for (const double first : {0.5, 0.2, 0.9}) forest.trees.push_back({{leaf_word(0)}, {}, {first, 1 - first}, {}, {}});
    const SmallTable small({{1, 2, 3, 4, 5, 6}});
    const auto shares = decisions(forest, small, 1, Rule::majority);
    check(std::abs(shares[0] - 2.0 / 3) < 1e-15 && std::abs(shares[1] - 1.0 / 3) < 1e-15);
}

// The trees of SmallForest as a boosted model: each leaf has three scores, or one score per tree in turn.
Forest additive(Forest forest, bool turns, Link link) {
    forest.turns = turns;
    forest.link = link;
    forest.n_scores = link == Link::logistic ? 1 : 3;
    forest.n_outputs = count_outputs(link, forest.n_scores);
    forest.start.assign(forest.n_scores, 0.25);
    if (forest.leaf_size() == 1) {
        for (Tree& tree : forest.trees) {
            std::vector<double> first;
            for (std::size_t i = 0; i < tree.values.size(); i += 3) first.push_back(tree.values[i] - 0.5);
            tree.values = first;
        }
    }
    return forest;
}

void scores_are_the_sum_of_start_and_leaves() {
    const SmallForest grown(65535);
    for (const bool turns : {false, true}) {
        const Forest forest = additive(grown.forest, turns, Link::softmax);
        std::vector<double> scores(700 * 3), later(700 * 3), stages(2 * 700 * 3), last(700 * 3);
        predict_scores(forest, grown.small.views, 700, 0, 3, 2, scores.data());
        predict_scores(forest, grown.small.views, 700, 1, 3, 2, later.data());
        const Stages of_two{0, 3, 2};
        check(of_two.count() == 2);
        predict_stages(forest, grown.small.views, 700, of_two, nullptr, 2, stages.data());
        check(std::equal(scores.begin(), scores.end(), stages.begin() + 2100));
        predict_stages(forest, grown.small.views, 700, {2, 3, 1}, stages.data(), 2, last.data());
        check(last == scores);
        for (std::size_t i = 0; i < 700; ++i) {
            double sums[3] = {0.25, 0.25, 0.25}, after[3] = {};
            for (std::size_t t = 0; t < 3; ++t) {
                const Tree& tree = forest.trees[t];
                const std::uint32_t leaf = walk(forest, tree, grown.small, i);
                const std::size_t offset = turns ? t : 0, size = turns ? 1 : 3;
                add_vote(TreeView(tree), leaf, size, Rule::mean, sums + offset);
                if (t > 0) add_vote(TreeView(tree), leaf, size, Rule::mean, after + offset);
                if (t == 1) check(std::equal(sums, sums + 3, stages.begin() + static_cast<std::ptrdiff_t>(3 * i)));
            }
            check(std::equal(sums, sums + 3, scores.begin() + static_cast<std::ptrdiff_t>(3 * i)));
            check(std::equal(after, after + 3, later.begin() + static_cast<std::ptrdiff_t>(3 * i)));
        }
    }
}

void the_decision_is_the_link_of_the_scores() {
    const SmallForest grown(65535);
    for (std::uint8_t link = 0; link < n_links; ++link) {
        for (const bool turns : {false, true}) {
            const Forest forest = additive(grown.forest, turns, Link{link});
            std::vector<double> scores(700 * forest.n_scores), linked(700 * forest.n_outputs);
            predict_scores(forest, grown.small.views, 700, 0, 3, 1, scores.data());
            link_scores(forest, 700, scores.data(), linked.data());
            check(decisions(forest, grown.small, 2) == linked);
            const SmallTable one({std::vector{grown.small.numbers[0][9]}, std::vector{grown.small.numbers[1][9]}},
                                 {std::vector{grown.small.categories[0][9]}}, 70);
            const auto alone = decisions(forest, one);
            check(std::ranges::equal(alone, std::span(linked).subspan(9 * forest.n_outputs, forest.n_outputs)));
        }
    }
}

void a_booster_without_trees_decides_by_its_start() {
    Forest forest = voting_forest({{Column{}}}, 1, false);
    forest.link = Link::exponential;
    forest.start = {0.5};
    const SmallTable few({{1, 2}}), many({{1, 2, 3, 4, 5, 6}});
    for (const SmallTable* small : {&few, &many}) {
        for (const double decision : decisions(forest, *small)) check(decision == std::exp(0.5));
    }
}

void unseen_categories_are_treated_as_missing() {
    const SmallForest grown(65535);
    const std::vector<double> half{0.5};
    const SmallTable unseen({half, half}, {std::vector{71}}, 70), none({half, half}, {std::vector{0}}, 70);
    check(decisions(grown.forest, unseen) == decisions(grown.forest, none));
}

}  // namespace

int main() {
    all_predictions_use_the_same_leaves();
    one_row_gets_the_same_decision_as_among_many();
    many_rows_get_the_same_decisions_as_few();
    large_and_small_trees_decide_the_same_for_few_and_many_rows();
    any_number_of_threads_gives_the_same_decisions();
    a_majority_counts_the_first_class_among_ties();
    scores_are_the_sum_of_start_and_leaves();
    the_decision_is_the_link_of_the_scores();
    a_booster_without_trees_decides_by_its_start();
    unseen_categories_are_treated_as_missing();
    return report();
}
