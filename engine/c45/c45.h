// C4.5 (Quinlan 1993) as implemented by Weka's J48: gain ratio, one branch per category, missing values as fractions of
// a row, pessimistic or reduced-error pruning. In: numeric columns and category codes, classes, weights. Out: a flat
// tree.
//
// No sum depends on the order of its terms: weights and entropy terms are rounded to multiples of a small power of two,
// so that additions of doubles are exact. Therefore the order of the rows does not change a bit of the tree. Ties
// within J48's tolerance of 1e-6 are broken by position: the first column, the lowest threshold, the first class, the
// last of the largest branches.
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

// One column: numbers (NaN is missing), or codes (0 is missing, 1 .. n_categories are categories).
struct C45Column {
    static constexpr std::int32_t is_number = -1;

    std::span<const double> numbers;
    std::span<const std::int32_t> codes;
    std::int32_t n_categories = is_number;
};

enum class C45Pruning { none, pessimistic, reduced_error };

struct C45Settings {
    C45Pruning pruning = C45Pruning::pessimistic;
    double confidence = 0.25;  // of pessimistic pruning, in (0, 0.5]; smaller values prune more
    bool subtree_raising = true;
    double min_leaf_weight = 2;
    std::uint32_t n_folds = 3;  // the caller holds out one row in n_folds for reduced-error pruning
};

// Node 0 is the root, and a child has a higher number than its parent. A split has one branch per category, or two
// (value <= threshold, value > threshold). A branch without training rows has no child (no_child); rows that take it at
// prediction get the distribution of the split. A row with a missing value takes every branch, with a fraction
// proportional to the weight of each child.
struct C45Tree {
    static constexpr std::int32_t is_leaf = -1;
    static constexpr std::int32_t no_child = -1;

    std::int32_t n_classes = 0;
    std::vector<std::int32_t> n_categories;  // by column; C45Column::is_number for numbers
    std::vector<std::int32_t> column;        // by node; is_leaf for leaves
    std::vector<double> threshold;           // by node; 0 unless it splits a numeric column
    std::vector<std::int32_t> first_branch;  // by node; index into `branch`, 0 for leaves
    std::vector<std::int32_t> branch;        // children; the branches of a node are contiguous
    std::vector<double> distribution;        // by node and class: the weight of the training rows

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
    std::vector<double> node_weights() const;
    std::size_t n_bytes() const;
    // Empty branches count as leaves, as in J48.
    std::size_t n_leaves() const;
    std::vector<std::int32_t> depths() const;
};

// The branch of a row at a split, or takes_all if its value is missing or its category is unknown.
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

// Growing stops at this depth, which limits the recursion. J48 itself runs out of stack earlier.
inline constexpr std::size_t max_c45_depth = 500;
inline constexpr std::size_t max_c45_rows = (std::size_t{1} << 31) - 1;

// Weights are finite, >= 0 and not all 0. Rows of weight 0 are ignored. Reduced-error pruning grows the tree on the
// rows that are not `held_out` and prunes it on the others; otherwise `held_out` is empty. Throws Stopped if a poll
// requests it.
C45Tree grow_c45(std::span<const C45Column> columns, std::span<const std::int32_t> classes, std::int32_t n_classes,
                 std::span<const double> weights, const C45Settings& settings,
                 std::span<const std::uint8_t> held_out = {}, const Stop& stop = {});

// The same for a table whose numeric columns have been sorted, with all rows; nullptr for categorical columns.
C45Tree grow_c45(std::span<const C45Column> columns, std::span<const c45::SortedColumn* const> known,
                 std::span<const std::int32_t> classes, std::int32_t n_classes, std::span<const double> weights,
                 const C45Settings& settings, std::span<const std::uint8_t> held_out = {}, const Stop& stop = {});

// The same for numeric columns without missing values that are computed on demand: make(j, out) writes column j.
// Columns are not stored while the tree is grown; those needed for pruning by error estimates are computed a second
// time.
using MakeNumbers = std::function<void(std::size_t column, std::span<double> out)>;
C45Tree grow_c45(std::size_t n_columns, const MakeNumbers& make, std::span<const std::int32_t> classes,
                 std::int32_t n_classes, std::span<const double> weights, const C45Settings& settings,
                 const Stop& stop = {});

// Writes the class probabilities of rows [begin, end) to `out`, n_classes per row. Throws Stopped if a poll requests
// it.
void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::size_t begin, std::size_t end,
                 double* out, const Stop& stop = {});
void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::span<const std::uint32_t> rows,
                 double* out, const Stop& stop = {});

// The node that a row ends in: a leaf, or a split whose branch has no child. Empty if a missing value splits the row.
std::optional<std::size_t> find_node(const C45Tree& tree, std::span<const C45Column> columns, std::size_t row);

// The decrease in entropy by the splits on each column, in bits, summed over rows.
std::vector<double> importances_of(const C45Tree& tree);

// Describes why the arrays are not a valid tree; empty if they are. All functions above are safe on a valid tree.
std::string find_error(const C45Tree& tree);

}  // namespace committee
