// Finds the splits of the nodes of a growing tree. Large nodes have histograms of their byte codes, the larger child's
// by subtraction. Where most codes are absent, from small nodes or because codes have 16 bits, the bins of the node's
// own rows are collected column by column. The columns are shared between the threads: each sums, subtracts and
// searches its own.
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
    bool is_depthwise = false;  // level by level, or the leaf of the largest gain first
    std::uint32_t min_samples_leaf = 20;
    double min_child_weight = 1e-3;
    double min_split_gain = 0;
    double reg_lambda = 0;
    double reg_alpha = 0;
    double colsample_bytree = 1;
    double colsample_bynode = 1;
    bool random_thresholds = false;  // of each column one is drawn at every node
    double cat_smooth = 10;
    std::uint32_t max_cat_to_onehot = 4;
    std::vector<std::int8_t> monotonic;  // per column, or empty

    bool is_monotonic() const;
    int direction(std::uint32_t column) const { return monotonic.empty() ? 0 : monotonic[column]; }
};

struct BoostNode {
    std::uint32_t id = 0;
    std::uint32_t depth = 0;
    std::uint32_t left = 0;  // 0: a leaf
    std::size_t n_rows = 0;
    std::size_t slot = 0;  // of its histogram; 0: none
    Word sum = 0;
    std::uint64_t key = 0;
    double lower = -std::numeric_limits<double>::infinity();  // of its value, in units
    double upper = std::numeric_limits<double>::infinity();
    double gain = 0;  // of its split; 0: it has none
    BoostSplit split;
};

template <class Code>
class NodeSearch {
  public:
    NodeSearch(const Table& table, const BoostTreeParameters& parameters, const RowParts& parts, ThreadTeam& team);

    void start_tree(const WordScale& scale, std::uint64_t key);

    bool may_split(const BoostNode& node) const;
    // A node's Newton step, in units.
    double value(const BoostNode& node) const;

    // Looks for the split of the root, whose histogram may be known.
    void find(BoostNode& root, const Word* known);
    // Looks for the splits of two siblings where they are wanted. The parent's histogram is used up.
    void find(BoostNode& parent, BoostNode& smaller, BoostNode& larger, bool wants_smaller, bool wants_larger);

    void release(BoostNode& node);

  private:
    // What a thread reuses.
    struct Scratch {
        explicit Scratch(const Stop& stop) : polls(stop) {}

        Polls polls;
        BoostSearch search;
        BinCollector<Code> collector;
    };
    // A node whose split is looked for: the columns drawn for it, if they are, and the best split of every share.
    struct Wanted {
        BoostNode* node = nullptr;
        BoostLimits limits;                  // of the node
        std::vector<std::uint8_t> is_drawn;  // by column; empty: all are
        std::vector<BoostSplit> found;
    };

    void want(Wanted& wanted, BoostNode* node);
    BoostLimits limits_of(const BoostNode& node) const;
    template <class Body>
    void for_each_share(std::size_t work, Body body);
    void fill(const ColumnShare& share, const BoostNode& node, Word* histogram) const;
    void take_away(const ColumnShare& share, const BoostNode& node, Word rest, Word* histogram) const;
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
    std::vector<std::uint8_t> is_constant_;  // columns with nothing to split: too few rows differ from the others
    UnusualCodes unusual_;

    WordScale scale_;
    BoostLimits limits_;
    std::vector<std::uint32_t> columns_;  // of this tree, if they are drawn
    std::vector<ColumnShare> shares_;     // of the columns of this tree, between the threads
    ColumnShare all_columns_;
    std::size_t n_columns_ = 0, n_bins_ = 0;  // of this tree

    std::vector<std::vector<Word>> slots_;  // of histograms; slot 0 stays empty
    std::vector<std::size_t> free_slots_;
    std::vector<std::uint32_t> counts_;
    std::vector<Scratch> scratch_;
    Wanted wanted_[2];
};

extern template class NodeSearch<std::uint8_t>;
extern template class NodeSearch<std::uint16_t>;

}  // namespace committee
