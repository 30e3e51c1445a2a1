// The split of one node. In: the instances of the node, sorted by every column of numbers. Out: the column and the cut
// of highest gain ratio among the columns of at least average gain.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "c45/arithmetic.h"
#include "c45/c45.h"
#include "c45/cut_sides.h"

namespace committee::c45 {

// An instance with the rank of its value among the distinct values of a column. C4.5 does not part values that are
// close.
struct Entry {
    std::uint32_t instance : 31;
    std::uint32_t is_close : 1;  // what comes next in the whole column is close to this, or equal
    std::uint32_t rank;
};
inline constexpr std::size_t max_instances = std::size_t{1} << 31;
inline constexpr std::uint32_t missing_rank = std::numeric_limits<std::uint32_t>::max();

template <class Weight>
struct Label {
    std::int32_t class_code;
    Weight weight;
};
// Read out of order in the innermost loop, so it is kept small.
template <>
struct Label<std::uint32_t> {
    static constexpr std::uint32_t highest = std::numeric_limits<std::uint16_t>::max();

    std::uint16_t class_code;
    std::uint16_t weight;
};

// An instance is a row, or the part of a row with missing values that reaches a node. Weights are counts (uint32) as
// long as all are whole, and double afterwards. Whole rows are numbered by class.
template <class Weight>
struct Sample {
    std::vector<std::uint32_t> row;          // per instance
    std::vector<Label<Weight>> label;        // per instance
    std::vector<std::uint32_t> instances;    // those of one node side by side
    std::vector<std::vector<Entry>> sorted;  // per column of numbers: likewise, within a node by rank, missing last
    bool has_weights = true;                 // other than 1
    std::uint32_t n_first_class = 0;         // instances below this are of class 0, if they are whole rows
};

// The instances [begin, end) of a sample's lists.
template <class Weight>
struct NodeRows {
    const Sample<Weight>& sample;
    std::size_t begin;
    std::size_t end;
    std::span<const Weight> class_weights;
    double weight;  // their sum
};

struct Split {
    static constexpr std::int32_t none = -1;

    std::int32_t column = none;
    double gain = 0;  // per row in bits, after the correction for many thresholds
    double ratio = 0;
    std::uint32_t rank_below = 0;  // the last rank on the left and the first on the right; numbers only
    std::uint32_t rank_above = 0;
};

// The distinct values of a column of numbers, increasing. Values no further apart than `gap` are close.
struct Values {
    std::vector<double> sorted;
    double gap = 0;

    bool are_close(std::uint32_t rank, std::uint32_t higher_rank) const {
        return !(sorted[rank] + gap < sorted[higher_rank]);
    }
};

class SplitChooser {
  public:
    // `values` has one entry per column, empty for categories. `total_weight` is that of the whole table: a column of
    // very many categories does not count in the average gain.
    SplitChooser(std::span<const C45Column> columns, std::span<const Values> values, std::size_t n_classes,
                 double min_leaf_weight, double total_weight, const Entropy& entropy, Polls& polls);

    // `Split::none` as column if nothing is worth splitting.
    template <class Weight>
    Split choose(const NodeRows<Weight>& node);

  private:
    template <class Weight>
    Split split_numbers(const NodeRows<Weight>& node, std::size_t column);
    template <class Weight>
    Split split_categories(const NodeRows<Weight>& node, std::size_t column);
    double split_ratio(double gain, double known, double total, double sum_of_terms) const;

    std::span<const C45Column> columns_;
    std::span<const Values> values_;
    std::size_t n_classes_;
    double min_leaf_weight_;
    const Entropy& entropy_;
    Polls& polls_;
    std::vector<bool> has_many_categories_;
    CountTerms node_terms_;   // of the node whose split is chosen
    CountTerms known_terms_;  // of its rows without a missing value
    ManyCounts many_counts_;
    Weights weights_;
    std::vector<const Entry*> doubtful_;  // while the rows of a column are looked at
    std::vector<Split> splits_;           // the chosen node's, one per column
    std::vector<std::int32_t> slots_;     // of categories met at a node, -1 before they are met
    std::vector<std::int32_t> met_;       // those categories
};

}  // namespace committee::c45
