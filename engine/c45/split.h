// The split of one node. In: the instances of the node, sorted by every numeric column. Out: the column and the cut of
// highest gain ratio among the columns of at least average gain.
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

// An instance, with the rank of its value among the distinct values of a column. C4.5 does not split between close
// values.
struct Entry {
    std::uint32_t instance : 31;
    std::uint32_t is_close : 1;  // the next value in the whole column is close or equal
    std::uint32_t rank;
};
inline constexpr std::size_t max_instances = std::size_t{1} << 31;
inline constexpr std::uint32_t missing_rank = std::numeric_limits<std::uint32_t>::max();

template <class Weight>
struct Label {
    std::int32_t class_code;
    Weight weight;
};
// Read in random order in the innermost loop, so it must be small.
template <>
struct Label<std::uint32_t> {
    static constexpr std::uint32_t highest = std::numeric_limits<std::uint16_t>::max();

    std::uint16_t class_code;
    std::uint16_t weight;
};

// An instance is a row, or the fraction of a row with missing values that reaches a node. Weights are counts (uint32)
// while all are integers, and double afterwards. Whole rows are numbered by class.
template <class Weight>
struct Sample {
    std::vector<std::uint32_t> row;        // by instance
    std::vector<Label<Weight>> label;      // by instance
    std::vector<std::uint32_t> instances;  // the instances of a node are contiguous
    std::vector<std::vector<Entry>>
        sorted;               // by numeric column: the same, sorted by rank within a node, with missing values last
    bool has_weights = true;  // some weight is not 1
    std::uint32_t n_first_class = 0;  // smaller instances belong to class 0, if all are whole rows
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
    double gain = 0;  // in bits per row, after the correction for the number of thresholds
    double ratio = 0;
    std::uint32_t rank_below = 0;  // of numeric columns: the last rank on the left and the first rank on the right
    std::uint32_t rank_above = 0;
};

// The distinct values of a numeric column in increasing order. Values at most `gap` apart are close.
struct Values {
    std::vector<double> sorted;
    double gap = 0;

    bool are_close(std::uint32_t rank, std::uint32_t higher_rank) const {
        return !(sorted[rank] + gap < sorted[higher_rank]);
    }
};

class SplitChooser {
  public:
    // `values` has one element per column, empty for categories. `total_weight` is the weight of the whole table:
    // columns with very many categories are excluded from the average gain.
    SplitChooser(std::span<const C45Column> columns, std::span<const Values> values, std::size_t n_classes,
                 double min_leaf_weight, double total_weight, const Entropy& entropy, Polls& polls);

    // Returns Split::none as column if no split is useful.
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
    CountTerms node_terms_;   // of the current node
    CountTerms known_terms_;  // of its rows without a missing value
    ManyCounts many_counts_;
    Weights weights_;
    std::vector<const Entry*> doubtful_;  // buffer for the current column
    std::vector<Split> splits_;           // of the current node, by column
    std::vector<std::int32_t> slots_;     // by category: its index in seen_, or -1
    std::vector<std::int32_t> present_;   // the categories in the node
};

}  // namespace committee::c45
