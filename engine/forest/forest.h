// Grows many trees from one table in parallel: draws the rows of each tree, and computes the out-of-bag decision.
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
    std::uint32_t first_tree =
        0;  // trees [first_tree, n_trees) are grown; a warm start continues where the last fit ended
    std::uint32_t n_trees = 100;
    std::uint64_t seed = 0;
    bool are_stumps = false;                          // uses grow.criterion only
    std::optional<Drawing> drawing;                   // of the bags; without it, trees use all rows
    std::vector<std::vector<std::uint32_t>> columns;  // of each of these trees; empty: all
    std::vector<std::uint32_t> columns_tried;         // by each of these trees at a node
    std::vector<double> class_weights;                // by class, or empty
    bool balance_bags = false;                        // compute class weights from the class frequencies of each bag
    bool out_of_bag = false;
    bool out_of_bag_importances = false;
    bool keep_leaf_rows = false;
    double weight_unit = 1;  // the weight of a row whose fixed-point weight is 1
    double ccp_alpha = 0;    // if > 0, trees (which must keep records) are pruned after growing
    Rule rule = Rule::mean;
    std::span<const ColumnView> values;  // the columns of a table that was binned without keeping its cuts
    std::uint32_t flat_trees = 0;        // 0, or stop once the out-of-bag error has not improved over this many trees
};

// The training rows in the leaves of one tree: leaf value i holds rows[offsets[i]] .. rows[offsets[i + 1]], with
// weights.
struct LeafRows {
    std::vector<std::uint32_t> offsets;
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> weights;
};

struct Grown {
    Forest forest;
    OutOfBag out_of_bag;
    std::vector<double> importances;  // (n_trees, n_columns): summed impurity decrease, not normalised
    std::vector<double>
        out_of_bag_importances;  // (n_trees, n_columns): decrease of accuracy, or increase of squared error
    std::vector<LeafRows> leaf_rows;
    bool stopped = false;  // early; the trees so far are complete, and are the first of those requested
};

// weights: fixed-point row weights, or empty for 1 per row. Rows of weight 0 are not trained on, but get an out-of-bag
// decision. before: the out-of-bag sums of the trees before first_tree, or empty. after_tree is called now and then on
// the calling thread with the number of finished trees. If it returns true, or `stop` is requested, growing ends with
// the trees so far.
Grown grow_forest(const Table& table, const Target& target, std::span<const std::uint32_t> weights,
                  const ForestParameters& parameters, OutOfBag before, int n_threads,
                  const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
