#include <stdexcept>
#include <vector>

#include "check.h"
#include "forest/packing.h"
#include "small_tables.h"
#include "tree/stump.h"

using namespace committee;

namespace {

const SmallTable& small_table() {
    static const SmallTable small({random_numbers(200, 1, true), random_numbers(200, 2)},
                                  {random_codes(200, 70, 3, true)}, 70);
    return small;
}

// Trees that were grown depth first or best first, with or without records and categories.
Forest some_forest(std::uint32_t n_classes, std::uint32_t most_leaves, bool keep_records) {
    const Table table = small_table().bin();
    const Target target = labels_target(n_classes, random_labels(200, n_classes, 4));
    std::vector<Tree> trees;
    for (const std::uint32_t max_features : {1U, 3U}) {
        GrowParameters parameters;
        parameters.max_features = max_features;
        parameters.min_samples_leaf = max_features;
        parameters.max_leaf_nodes = most_leaves;
        parameters.keep_records = keep_records;
        trees.push_back(grow_one(table, target, parameters));
    }
    Forest forest = forest_of(table, target, std::move(trees));
    drop_unused_cuts(forest, 1);
    return forest;
}

bool are_same(const ForestArrays& a, const ForestArrays& b) {
    return a.n_outputs == b.n_outputs && a.is_classifier == b.is_classifier && a.n_scores == b.n_scores &&
           a.turns == b.turns && a.start == b.start && a.link == b.link && a.scale == b.scale && a.nodes == b.nodes &&
           a.node_offsets == b.node_offsets && a.sets == b.sets && a.set_offsets == b.set_offsets &&
           a.values == b.values && a.value_offsets == b.value_offsets && a.impurities == b.impurities &&
           a.weights == b.weights && a.n_rows == b.n_rows && a.leaf_weights.codes == b.leaf_weights.codes &&
           a.leaf_weights.offsets == b.leaf_weights.offsets && a.leaf_weights.units == b.leaf_weights.units &&
           a.columns.cuts == b.columns.cuts && a.columns.cut_offsets == b.columns.cut_offsets &&
           a.columns.n_bins == b.columns.n_bins && a.columns.is_category == b.columns.is_category &&
           a.columns.is_used == b.columns.is_used && a.columns.lowest == b.columns.lowest &&
           a.columns.highest == b.columns.highest;
}

void every_array_survives() {
    for (const std::uint32_t n_classes : {2U, 3U}) {
        for (const std::uint32_t most_leaves : {0U, 9U}) {
            for (const bool keep_records : {false, true}) {
                const ForestArrays arrays = to_arrays(some_forest(n_classes, most_leaves, keep_records));
                check(are_same(arrays, unpack_forest(pack(arrays))));
            }
        }
    }
    const Target target = labels_target(2, random_labels(200, 2, 4));
    const ForestArrays stump = to_arrays(grow_stump(small_table().bin(), target, {}, Criterion::gini));
    check(are_same(stump, unpack_forest(pack(stump))));
}

void unknown_weights_survive() {
    Forest forest = some_forest(2, 0, false);
    forest.trees[1].leaf_weights.codes.clear();
    const Forest back = from_arrays(unpack_forest(pack(to_arrays(forest))));
    check(back.trees[0].leaf_weights.are_known() && !back.trees[1].leaf_weights.are_known());
}

void a_full_tree_takes_a_few_bytes_per_node() {
    const std::vector<std::vector<double>> columns{random_numbers(4000, 1), random_numbers(4000, 2)};
    const SmallTable table(columns);
    const Target target = labels_target(2, random_labels(4000, 2, 4));
    Forest forest = forest_of(table.bin(), target, {grow_one(table.bin(), target, {})});
    const std::size_t n_nodes = forest.trees[0].nodes.size();
    for (Column& column : forest.binning.columns) column.cuts.clear();
    check(pack(to_arrays(forest)).size() < 2 * n_nodes, "a quarter of the words of the nodes");
}

void columns_with_the_same_values_share_their_cuts() {
    const auto packed_with = [](std::uint64_t seed) {
        const std::vector<std::vector<double>> columns{random_numbers(2000, 1), random_numbers(2000, seed)};
        const SmallTable table(columns);
        const Target target = labels_target(2, random_labels(2000, 2, 4));
        const ForestArrays arrays = to_arrays(forest_of(table.bin(), target, {grow_one(table.bin(), target, {})}));
        check(arrays.columns.cuts.size() > 400);
        const std::vector<std::uint8_t> bytes = pack(arrays);
        check(are_same(arrays, unpack_forest(bytes)));
        return bytes.size();
    };
    check(packed_with(1) + 1000 < packed_with(2));
}

void damaged_bytes_are_refused_or_harmless() {
    const std::vector<std::uint8_t> good = pack(to_arrays(some_forest(3, 0, false)));
    Random random(1, Purpose::permutation);
    int n_accepted = 0;
    for (int trial = 0; trial < 3000; ++trial) {
        std::vector<std::uint8_t> bad = good;
        for (std::uint64_t flip = 0; flip <= random.below(2); ++flip) {
            bad[random.below(bad.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
        }
        if (random.below(10) == 0) bad.resize(random.below(bad.size()));
        try {
            const Forest forest = from_arrays(unpack_forest(bad));
            ++n_accepted;
            for (const double value : decisions(forest, small_table())) check(value >= 0 && value <= 1);
            for (const Tree& tree : forest.trees) {
                if (tree.leaf_weights.are_known()) check(node_weights(tree).size() == tree.nodes.size());
            }
        } catch (const std::invalid_argument&) {
        }
    }
    check(n_accepted > 0 && n_accepted < 3000);
}

}  // namespace

int main() {
    every_array_survives();
    unknown_weights_survive();
    a_full_tree_takes_a_few_bytes_per_node();
    columns_with_the_same_values_share_their_cuts();
    damaged_bytes_are_refused_or_harmless();
    return report();
}
