// Grows a rotation forest: trees in parallel, each with its own rotation. A thread holds the rotated table of only one
// tree at a time, and only as the tree's own codes or sorted lists.
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
    C45Settings c45;      // for C4.5 trees
    GrowParameters cart;  // for other trees
    std::uint32_t min_leaf_rows = 2;
    std::uint32_t n_trees = 100;
    std::uint64_t seed = 0;
    bool bootstrap = false;
    std::uint64_t n_draws = 0;
    bool out_of_bag = false;
    bool returns_outside = false;  // return which rows each tree was not trained on
    Rule rule = Rule::mean;        // of the out-of-bag decision
    double seconds =
        std::numeric_limits<double>::infinity();  // no tree is started that is not expected to finish in this time
};

struct GrownRotations {
    RotationForest forest;
    std::vector<double> importances;  // (n_trees, n_columns): summed impurity decrease, not normalised
    OutOfBag out_of_bag;
    std::vector<std::uint8_t> outside;  // (n_trees, n_rows): 1 for a row that the tree was not trained on; or empty
};

// weights: fixed-point row weights, or empty for 1 per row. Rows of weight 0 are not trained on, but get an out-of-bag
// decision. after_tree is called now and then on the calling thread with the number of finished trees; returning true
// ends the work. The time limit counts from the call; at least one tree is grown. Throws Stopped if a poll requests it.
GrownRotations grow_rotation_forest(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories,
                                    const Target& target, std::span<const std::uint32_t> weights,
                                    const RotationForestParameters& parameters, int n_threads,
                                    const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
