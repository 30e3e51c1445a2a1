// C4.5 (Quinlan 1993) as Weka's J48 has it: gain ratio, a branch per category, missing values as fractions of a row,
// pessimistic or reduced-error pruning. In: columns of numbers and category codes, classes, weights. Out: a flat tree.
//
// No sum depends on the order of its terms: weights and the terms of entropies are rounded to multiples of one small
// power of two, so that double addition is exact. The order of the rows therefore changes no bit of the tree. What is
// equal within J48's tolerance of 1e-6 is decided by position: the first column, the lowest threshold, the first class,
// the last of the largest branches.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "threads/stop.h"

namespace committee {

namespace c45 {
struct SortedColumn;
}

// One column, either numbers (NaN is missing) or codes (0 is missing, 1 .. n_categories are categories).
struct C45Column {
    static constexpr std::int32_t is_number = -1;

    std::span<const double> numbers;
    std::span<const std::int32_t> codes;
    std::int32_t n_categories = is_number;
};

enum class C45Pruning { none, pessimistic, reduced_error };

struct C45Settings {
    C45Pruning pruning = C45Pruning::pessimistic;
    double confidence = 0.25;  // of pessimistic pruning, in (0, 0.5]; smaller prunes more
    bool subtree_raising = true;
    double min_leaf_weight = 2;
    std::uint32_t n_folds = 3;  // one row in so many is kept back for reduced-error pruning, by those who draw them
};

// Nodes are numbered from the root, 0, and a child has a higher number than its parent. A split has one branch per
// category, or two (value <= threshold, value > threshold). A branch that no training row took leads nowhere
// (no_child): rows that take it later get the distribution of the split itself. A missing value takes every branch, in
// parts as large as the weights of the children.
struct C45Tree {
    static constexpr std::int32_t is_leaf = -1;
    static constexpr std::int32_t no_child = -1;

    std::int32_t n_classes = 0;
    std::vector<std::int32_t> n_categories;  // per column; C45Column::is_number for numbers
    std::vector<std::int32_t> column;        // per node; is_leaf for leaves
    std::vector<double> threshold;           // per node; 0 if not a split on numbers
    std::vector<std::int32_t> first_branch;  // per node; into `branch`, 0 for leaves
    std::vector<std::int32_t> branch;        // children, the branches of one node side by side
    std::vector<double> distribution;        // per node and class: the weight of the training rows

    std::size_t n_nodes() const { return column.size(); }
    std::size_t n_branches(std::size_t node) const {
        if (column[node] == is_leaf) return 0;
        const std::int32_t n = n_categories[static_cast<std::size_t>(column[node])];
        return n == C45Column::is_number ? 2 : static_cast<std::size_t>(n);
    }
    std::span<std::int32_t> branches(std::size_t node) {
        return {branch.data() + first_branch[node], n_branches(node)};
    }
    std::span<const std::int32_t> branches(std::size_t node) const {
        return {branch.data() + first_branch[node], n_branches(node)};
    }
    std::span<double> classes(std::size_t node) {
        const auto n = static_cast<std::size_t>(n_classes);
        return {distribution.data() + node * n, n};
    }
    std::span<const double> classes(std::size_t node) const {
        const auto n = static_cast<std::size_t>(n_classes);
        return {distribution.data() + node * n, n};
    }
    double weight(std::size_t node) const;
    std::size_t n_bytes() const;
    // Empty branches count as leaves, as they do in J48.
    std::size_t n_leaves() const;
    std::vector<std::int32_t> depths() const;
};

// The branch of a row at a split, or `takes_all` where the row's value is missing or its category unknown.
inline constexpr std::size_t takes_all = std::numeric_limits<std::size_t>::max();
inline std::size_t choose_branch(const C45Tree& tree, std::size_t node, const C45Column& column, std::size_t row) {
    if (column.n_categories == C45Column::is_number) {
        const double value = column.numbers[row];
        if (value <= tree.threshold[node]) return 0;
        return value > tree.threshold[node] ? 1 : takes_all;
    }
    const auto code = static_cast<std::uint32_t>(column.codes[row]) - 1U;
    return code < static_cast<std::uint32_t>(column.n_categories) ? code : takes_all;
}

// Growing stops at this depth. It bounds the recursion; J48 itself runs out of stack before.
inline constexpr std::size_t max_c45_depth = 500;
inline constexpr std::size_t max_c45_rows = (std::size_t{1} << 31) - 1;

// Weights are finite, >= 0 and not all zero; a row of weight 0 is as absent. Reduced-error pruning grows on the rows
// that are not `held_out` and prunes on those that are; `held_out` is empty otherwise. Throws Stopped if a poll says
// so.
C45Tree grow_c45(std::span<const C45Column> columns, std::span<const std::int32_t> classes, std::int32_t n_classes,
                 std::span<const double> weights, const C45Settings& settings,
                 std::span<const std::uint8_t> held_out = {}, const Stop& stop = {});

// The same for a table whose columns of numbers are sorted already, with all its rows; those of categories have
// nullptr.
C45Tree grow_c45(std::span<const C45Column> columns, std::span<const c45::SortedColumn* const> known,
                 std::span<const std::int32_t> classes, std::int32_t n_classes, std::span<const double> weights,
                 const C45Settings& settings, std::span<const std::uint8_t> held_out = {}, const Stop& stop = {});

// The same for a table of numbers, none missing, whose columns are made when they are needed: make(j, out) writes
// column j. They are made twice if the tree is pruned, by its error estimates, and are not kept meanwhile.
using MakeNumbers = std::function<void(std::size_t column, std::span<double> out)>;
C45Tree grow_c45(std::size_t n_columns, const MakeNumbers& make, std::span<const std::int32_t> classes,
                 std::int32_t n_classes, std::span<const double> weights, const C45Settings& settings,
                 const Stop& stop = {});

// Class probabilities of rows begin .. end into `out`, n_classes per row. Throws Stopped if a poll says so.
void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::size_t begin, std::size_t end,
                 double* out, const Stop& stop = {});
void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::span<const std::uint32_t> rows,
                 double* out, const Stop& stop = {});

// Where a row ends: at a leaf, or at a split whose branch leads nowhere. Nothing if a missing value parts it.
std::optional<std::size_t> find_node(const C45Tree& tree, std::span<const C45Column> columns, std::size_t row);

// The entropy that the splits on each column remove, in bits, summed over rows.
std::vector<double> importances_of(const C45Tree& tree);

// What makes these arrays no tree, or nothing. After it, every function above is safe on the tree.
std::string find_fault(const C45Tree& tree);

}  // namespace committee
