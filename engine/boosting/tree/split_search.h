// Finds the splits of the nodes of a tree that is being grown. Large nodes have histograms of byte codes; the larger
// child's is computed by subtraction. If most bins are empty, in small nodes or with 16-bit codes, the bins of the
// node's rows are collected column by column instead. The columns are shared between the threads: each sums, subtracts
// and searches its own.
#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "boosting/tree/collected_bins.h"
#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "boosting/tree/row_blocks.h"
#include "boosting/tree/split.h"
#include "boosting/tree/unusual_codes.h"
#include "table/table.h"
#include "threads/thread_team.h"

namespace committee {

struct BoostTreeParameters {
    std::uint32_t max_leaf_nodes = 31;  // 0: no limit
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    bool is_depthwise = false;  // level by level; otherwise the leaf of largest gain first
    std::uint32_t min_samples_leaf = 20;
    double min_child_weight = 1e-3;
    double min_split_gain = 0;
    double reg_lambda = 0;
    double reg_alpha = 0;
    double colsample_bytree = 1;
    double colsample_bynode = 1;
    bool random_thresholds = false;  // draw one threshold per column at every node
    double cat_smooth = 10;
    std::uint32_t max_cat_to_onehot = 4;
    std::vector<std::int8_t> monotonic;  // by column, or empty
    // Sets of columns that may occur on one path from the root to a leaf. Empty: all may.
    std::vector<std::vector<std::uint32_t>> interactions;

    bool is_monotonic() const;
    int direction(std::uint32_t column) const { return monotonic.empty() ? 0 : monotonic[column]; }
};

// Whether a set of columns that may interact contains a column.
bool contains(const std::vector<std::uint32_t>& interaction, std::uint32_t column);

struct BoostNode {
    std::uint32_t id = 0;
    std::uint32_t depth = 0;
    std::uint32_t left = 0;  // 0: a leaf
    std::size_t n_rows = 0;
    std::size_t slot = 0;  // the index of its histogram; 0: none
    Word sum = 0;
    std::uint64_t key = 0;
    double lower = -std::numeric_limits<double>::infinity();  // bounds on its value, in units
    double upper = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> interactions;  // the sets that contain the columns of all splits above
    double gain = 0;                          // of its split; 0: no split
    BoostSplit split;
};

template <class Code>
class NodeSearch {
  public:
    NodeSearch(const Table& table, const BoostTreeParameters& parameters, const RowParts& parts, ThreadTeam& team);

    void start_tree(const WordScale& scale, std::uint64_t key);

    bool may_split(const BoostNode& node) const;
    // The Newton step of a node, in units.
    double value(const BoostNode& node) const;

    // Finds the split of the root. Its histogram may be passed if it is known.
    void find(BoostNode& root, const Word* known);
    // Finds the splits of two siblings, if they are wanted. Overwrites the parent's histogram.
    void find(BoostNode& parent, BoostNode& smaller, BoostNode& larger, bool wants_smaller, bool wants_larger);

    void release(BoostNode& node);

  private:
    // Buffers of one thread.
    struct Scratch {
        explicit Scratch(const Stop& stop) : polls(stop) {}

        Polls polls;
        BoostSearch search;
        BinCollector<Code> collector;
    };
    // A node that is being searched: the columns drawn for it, and the best split of every share of the columns.
    struct Wanted {
        BoostNode* node = nullptr;
        BoostLimits limits;                  // of the node
        std::vector<std::uint8_t> is_drawn;  // by column, of those that may interact; empty: all
        std::vector<BoostSplit> found;
    };

    void want(Wanted& wanted, BoostNode* node);
    BoostLimits limits_of(const BoostNode& node) const;
    template <class Body>
    void for_each_share(std::size_t work, Body body);
    void fill(const ColumnShare& share, const BoostNode& node, Word* histogram) const;
    void subtract_rows(const ColumnShare& share, const BoostNode& node, Word rest, Word* histogram) const;
    void add(const ColumnShare& share, const BoostNode& node, Word factor, Word total, Word* histogram) const;
    void search(const ColumnShare& share, std::size_t which, int thread, const Word* sums, const std::uint32_t* counts,
                Wanted& wanted);
    void search_column(std::uint32_t column, Scratch& own, const Wanted& wanted, const BinSums& bins,
                       BoostSplit& best) const;
    bool is_searched(std::uint32_t column, const Wanted& wanted) const;
    bool is_too_light(Word sum) const;
    bool is_small(const BoostNode& node) const;
    void find_collected(Wanted& wanted);
    void find_counted(Wanted& wanted);
    void settle(Wanted& wanted);
    bool may_break_min_rows(const BoostSplit& split, const BoostNode& node) const;
    std::size_t take_slot();

    const Table& table_;
    const Codes<Code>& codes_;
    const BoostTreeParameters& parameters_;
    const RowParts& parts_;
    ThreadTeam& team_;
    HistogramShape shape_;
    std::vector<std::uint8_t>
        is_constant_;  // columns that cannot be split, because too few rows differ from the most frequent code
    UnusualCodes unusual_;

    WordScale scale_;
    BoostLimits limits_;
    std::vector<std::uint32_t> columns_;  // of this tree, if they are drawn
    std::vector<ColumnShare> shares_;     // of this tree's columns, one per thread
    ColumnShare all_columns_;
    std::size_t n_columns_ = 0, n_bins_ = 0;  // of this tree

    std::vector<std::vector<Word>> slots_;  // histograms; slot 0 stays empty
    std::vector<std::size_t> free_slots_;
    std::vector<std::uint32_t> counts_;
    std::vector<Scratch> scratch_;
    Wanted wanted_[2];
};

extern template class NodeSearch<std::uint8_t>;
extern template class NodeSearch<std::uint16_t>;

}  // namespace committee
