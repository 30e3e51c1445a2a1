// Many trees on one table: who sees which rows, growing in parallel, the out-of-bag decision along the way.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "forest/out_of_bag.h"
#include "growing/row_sampling.h"
#include "growing/tree_growth.h"
#include "prediction/prediction.h"
#include "table/table.h"
#include "threads/thread_team.h"

namespace committee {

struct ForestParameters {
    GrowParameters grow;
    std::uint32_t first_tree = 0;  // members [first_tree, n_trees) are grown; a warm start goes on where it stopped
    std::uint32_t n_trees = 100;
    std::uint64_t seed = 0;
    bool are_stumps = false;         // of the criterion to grow by, which is all that they have to do with `grow`
    std::optional<Drawing> drawing;  // how bags are drawn; without, a tree sees all rows
    std::vector<std::vector<std::uint32_t>> columns;  // what each of the trees that are grown sees; empty: all
    std::vector<std::uint32_t> columns_tried;         // by each of these trees at a node
    std::vector<double> class_weights;                // per class, or empty
    bool balance_bags = false;                        // class weights from each bag's own class frequencies
    bool out_of_bag = false;
    bool out_of_bag_importances = false;
    bool keep_leaf_rows = false;
    double ccp_alpha = 0;  // above 0, trees (which must keep records) are pruned as they are grown
    Rule rule = Rule::mean;
    std::span<const ColumnView> values;  // of the columns of a table that was binned without its cuts
    std::uint32_t flat_trees = 0;        // 0, or stop when the out-of-bag error has not improved over this many trees
};

// The rows behind the leaves of one tree: leaf value i holds rows[offsets[i]] .. rows[offsets[i + 1]], with weights.
struct LeafRows {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> weights;
};

struct Grown {
    Forest forest;
    OutOfBag out_of_bag;
    std::vector<double> importances;             // (n_trees, n_columns): summed impurity decrease, not normalised
    std::vector<double> out_of_bag_importances;  // (n_trees, n_columns): loss of accuracy, or gain of squared error
    std::vector<LeafRows> leaf_rows;
    bool stopped = false;  // before its time; the trees so far are whole, and the first of those that were wanted
};

// weights: fixed-point row weights, empty for all one. Rows of weight 0 take no part but get an out-of-bag decision.
// before: out-of-bag sums of the trees before first_tree, or empty. after_tree is asked on the calling thread, now and
// then, with the number of trees that are done; true ends the work, as `stop` does, with the trees so far.
Grown grow_forest(const Table& table, const Target& target, std::span<const std::uint32_t> weights,
                  const ForestParameters& parameters, OutOfBag before, int n_threads,
                  const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
