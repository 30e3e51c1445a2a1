// Grows one tree of a boosted model. In: the gradients and hessians of the rows. Out: a tree whose leaves hold Newton
// steps, and the rows of each leaf.
#pragma once
#include <cstdint>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/row_blocks.h"
#include "boosting/tree/split_search.h"
#include "table/table.h"
#include "threads/thread_team.h"
#include "tree/tree.h"

namespace committee {

// The gain of a split.
struct SplitGain {
    std::uint32_t column;
    double gain;
};

template <class Code>
class BoostGrower {
  public:
    BoostGrower(const Table& table, const BoostTreeParameters& parameters, ThreadTeam& team);
    BoostGrower(const BoostGrower&) = delete;
    BoostGrower& operator=(const BoostGrower&) = delete;

    Tree grow(const BoostRows& rows, const WordScale& scale, std::uint64_t key, std::vector<SplitGain>& gains);

    const RowParts& parts() const { return parts_; }

    // Calls body(value, rows) for every leaf of the last tree, with the index of its value and its rows in this part.
    template <class Body>
    void for_each_leaf(std::size_t part, Body body) const {
        for (std::size_t leaf = 0; leaf < leaves_.size(); ++leaf) {
            body(leaf, parts_.rows(leaves_[leaf], nodes_[leaves_[leaf]].depth, part));
        }
    }

  private:
    void divide(std::uint32_t parent, bool are_last);
    std::size_t divide_rows(const BoostNode& parent);
    void bound_children(const BoostNode& parent);
    void offer(const BoostNode& node);
    std::uint32_t take_open();
    bool comes_later(std::uint32_t a, std::uint32_t b) const;
    Tree write_tree(const WordScale& scale, std::vector<SplitGain>& gains);

    const Codes<Code>& codes_;
    BoostTreeParameters parameters_;
    ThreadTeam& team_;
    RowParts parts_;
    NodeSearch<Code> search_;
    Polls polls_;

    std::vector<BoostNode> nodes_;
    std::vector<std::uint32_t> leaves_;
    std::vector<std::uint32_t> open_;      // nodes with a split that has not been applied
    std::vector<std::uint8_t> goes_left_;  // by code, of the category set being applied
};

// Makes leaf values monotonic that are not Newton steps: at a split of a constrained column, the midpoint between the
// means of both sides bounds their values.
void keep_monotonic(const BoostTreeParameters& parameters, Tree& tree);

extern template class BoostGrower<std::uint8_t>;
extern template class BoostGrower<std::uint16_t>;

}  // namespace committee
