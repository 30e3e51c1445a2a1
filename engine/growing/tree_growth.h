// Grows one tree from a binned table: the loop around the three steps (histogram.h, split.h, partition.h).
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "table/table.h"
#include "threads/stop.h"
#include "tree/node_statistics.h"
#include "tree/tree.h"

namespace committee {

// The target: labels for classification (n_classes >= 1), fixed-point numbers for regression (n_classes 0). target =
// offset + fixed / scale, and scale is a power of two.
struct Target {
    std::uint32_t n_classes = 0;
    std::vector<std::uint32_t> labels;
    std::vector<std::int64_t> fixed;
    std::vector<double> numbers;  // the unrounded targets of regression
    double lowest = 0;            // over the rows of positive weight
    double highest = 0;
    double offset = 0;
    double scale = 1;

    // Converts a mean of fixed-point targets to a number. Clamping undoes rounding outside the range of the targets.
    double number(double mean) const { return std::clamp(offset + mean / scale, lowest, highest); }
    std::size_t n_outputs() const { return n_classes == 0 ? 1 : n_classes; }
};

struct GrowParameters {
    Criterion criterion = Criterion::gini;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t max_leaf_nodes = 0;  // 0: no limit, depth first; otherwise best first
    std::uint32_t min_samples_split = 2;
    std::uint32_t min_samples_leaf = 1;
    double min_weight_fraction_leaf = 0;
    double min_impurity_decrease = 0;
    std::uint32_t max_features = 0;  // columns tried at a node; 0: all
    bool random_thresholds = false;  // extremely randomised trees: one random threshold per column
    bool exact = false;              // try every boundary between codes, also in large nodes
    bool needs_gain = false;         // try further columns until one has a positive gain
    bool branches = false;           // split a categorical column into one branch per category; depth first only
    bool keep_records = false;
    std::vector<std::int8_t> monotonic = {};  // by column, or empty
};

// The columns that a tree may split on, and how many are tried at a node. If there are none, the tree may use all
// columns, and the parameters of the grower give the number tried.
struct SeenColumns {
    std::span<const std::uint32_t> columns = {};
    std::uint32_t max_features = 0;  // 0: all
};

// The rows of a tree in increasing order, at least one, and their positive fixed-point weights, with a sum below 2^31.
struct SeenRows {
    std::span<const std::uint32_t> rows;
    std::span<const std::uint32_t> weights;
    double row_weight = 1;  // the weight of a row that occurs once
};

// Grows one tree. It reuses its buffers from call to call, so each thread needs its own.
using GrowTree = std::function<Tree(const SeenRows& seen, std::uint64_t key, const SeenColumns& columns)>;

// Table, target and stop must outlive the result. The result throws Stopped if a poll requests it.
GrowTree make_grower(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop);

}  // namespace committee
