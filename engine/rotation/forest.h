// Growing a rotation forest: trees in parallel, each on a rotation of its own. A thread holds the rotated table of one
// tree, and only as the tree's own codes or sorted lists of it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "forest/forest.h"
#include "growing/tree_growth.h"
#include "rotation/rotated_tree.h"
#include "rotation/rotation.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

struct RotationForestParameters {
    RotationParameters rotation;
    bool is_c45 = true;
    C45Settings c45;      // of C4.5 trees
    GrowParameters cart;  // of the others
    std::uint32_t min_leaf_rows = 2;
    std::uint32_t n_trees = 100;
    std::uint64_t seed = 0;
    bool bootstrap = false;
    std::uint64_t n_draws = 0;
    bool out_of_bag = false;
    bool tells_outside = false;                                // which rows each tree has not seen
    Rule rule = Rule::mean;                                    // of the out-of-bag decision
    double seconds = std::numeric_limits<double>::infinity();  // no tree is begun that would not be done by then
};

struct GrownRotations {
    RotationForest forest;
    std::vector<double> importances;  // (n_trees, n_columns): summed impurity decrease, not normalised
    OutOfBag out_of_bag;
    std::vector<std::uint8_t> outside;  // (n_trees, n_rows): 1 for a row that the tree has not seen; or empty
};

// weights: fixed-point row weights, empty for all one. Rows of weight 0 take no part but get an out-of-bag decision.
// after_tree is told on the calling thread, now and then, how many trees are done; true ends the work. Time runs from
// the call on, and at least one tree is grown, whatever the time. Throws Stopped if a poll says so.
GrownRotations grow_rotation_forest(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories,
                                    const Target& target, std::span<const std::uint32_t> weights,
                                    const RotationForestParameters& parameters, int n_threads,
                                    const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
