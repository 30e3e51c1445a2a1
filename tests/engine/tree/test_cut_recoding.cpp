#include "check.h"
#include "small_tables.h"
#include "tree/cut_recoding.h"

using namespace committee;

namespace {

void dropping_unused_cuts_changes_no_decision() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        SmallForest grown(max_bins);
        const auto before = decisions(grown.forest, grown.small);
        const std::size_t bytes = grown.forest.nbytes();
        drop_unused_cuts(grown.forest, 2);
        check(decisions(grown.forest, grown.small) == before);
        check(grown.forest.nbytes() <= bytes);
        const Forest once = grown.forest;
        drop_unused_cuts(grown.forest, 2);
        check(same_trees(once, grown.forest), "no unused cuts are left");
    }
}

void a_column_that_no_tree_uses_is_marked() {
    const SmallTable small({{1, 2, 3, 4}, {7, 7, 7, 7}});
    const Table table = small.bin();
    const Target target = labels_target(2, {0, 0, 1, 1});
    Forest forest = forest_of(table, target, {grow_one(table, target, {})});
    drop_unused_cuts(forest, 2);
    check(forest.binning.columns[0].is_used && !forest.binning.columns[1].is_used);
    check(forest.binning.columns[0].cuts == std::vector<double>{2.5});
}

void appended_trees_keep_their_votes() {
    SmallForest first(65535, 1), second(65535, 10);
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

void appended_rounds_add_to_the_same_scores() {
    SmallForest first(65535, 1), second(65535, 10);
    for (Forest* forest : {&first.forest, &second.forest}) {
        forest->turns = true;
        forest->link = Link::softmax;
        forest->start = {0.1, 0.2, 0.3};
        drop_unused_cuts(*forest, 1);
    }
    std::vector<double> of_first(2100), of_second(2100), joint(2100);
    predict_scores(first.forest, first.small.views, 700, 0, 3, 1, of_first.data());
    second.forest.start = {0, 0, 0};
    predict_scores(second.forest, first.small.views, 700, 0, 3, 1, of_second.data());
    append_trees(first.forest, second.forest);
    predict_scores(first.forest, first.small.views, 700, 0, 6, 1, joint.data());
    for (std::size_t i = 0; i < joint.size(); ++i) check(joint[i] == of_first[i] + of_second[i]);
}

void a_forest_on_its_columns_makes_the_same_decisions() {
    const SmallTable small({{5, 5, 6, 6}, {1, 2, 3, 4}}), seen({{1, 2, 3, 4}});
    const Table table = small.bin();
    const Target target = labels_target(2, {0, 0, 1, 1});
    const std::vector<std::uint32_t> first{0}, second{1};
    const Forest forest = forest_of(table, target, {grow_one(table, target, {}, {}, {second, 1})});
    check(decisions(on_columns(forest, second), seen) == decisions(forest, small));
    bool is_refused = false;
    try {
        on_columns(forest, first);
    } catch (const std::invalid_argument&) {
        is_refused = true;
    }
    check(is_refused, "the tree uses the other column");
}

}  // namespace

int main() {
    dropping_unused_cuts_changes_no_decision();
    a_column_that_no_tree_uses_is_marked();
    appended_trees_keep_their_votes();
    appended_rounds_add_to_the_same_scores();
    a_forest_on_its_columns_makes_the_same_decisions();
    return report();
}
