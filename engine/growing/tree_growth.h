// Growing one tree from a binned table: the loop around the three steps (growing/histogram.h, growing/split.h,
// growing/partition.h).
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

// What is to be learnt. Labels for classification (n_classes >= 1), fixed-point targets for regression (n_classes 0):
// target = offset + fixed / scale, scale a power of two.
struct Target {
    std::uint32_t n_classes = 0;
    std::vector<std::uint32_t> labels;
    std::vector<std::int64_t> fixed;
    std::vector<double> numbers;  // the targets of regression as they came
    double lowest = 0;            // of those that have a weight
    double highest = 0;
    double offset = 0;
    double scale = 1;

    // The number that a mean of fixed-point targets stands for. Rounding does not take it out of their range.
    double number(double mean) const { return std::clamp(offset + mean / scale, lowest, highest); }
    std::size_t n_outputs() const { return n_classes == 0 ? 1 : n_classes; }
};

struct GrowParameters {
    Criterion criterion = Criterion::gini;
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t max_leaf_nodes = 0;  // 0: no limit, grow depth first; else best first
    std::uint32_t min_samples_split = 2;
    std::uint32_t min_samples_leaf = 1;
    double min_weight_fraction_leaf = 0;
    double min_impurity_decrease = 0;
    std::uint32_t max_features = 0;  // columns tried at a node; 0: all
    bool random_thresholds = false;  // extremely randomised trees: one threshold drawn per column
    bool exact = false;              // every boundary between codes is tried, also in large nodes
    bool needs_gain = false;         // go on to further columns until one has a positive gain
    bool keep_records = false;
    std::vector<std::int8_t> monotonic = {};  // per column, or empty
};

// The columns that a tree may ask about, and how many of them are tried at a node. Without columns, they are all of the
// table, and the parameters of the grower say how many are tried.
struct SeenColumns {
    std::span<const std::uint32_t> columns = {};
    std::uint32_t max_features = 0;  // 0: all of them
};

// The rows of a tree, increasing, at least one, and their fixed-point weights, all positive, summing to less than 2^31.
struct SeenRows {
    std::span<const std::uint32_t> rows;
    std::span<const std::uint32_t> weights;
    double row_weight = 1;  // what a row weighs that stands there once
};

// Grows one tree; keeps buffers from call to call, so each thread has its own.
using GrowTree = std::function<Tree(const SeenRows& seen, std::uint64_t key, const SeenColumns& columns)>;

// Table, target and stop must outlive the result, which throws Stopped if a poll says so.
GrowTree make_grower(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop);

}  // namespace committee
