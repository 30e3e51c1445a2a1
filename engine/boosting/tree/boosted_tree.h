// Grows one tree of a boosted model. Comes in: the gradients and hessians of the rows. Goes out: a tree whose leaves
// hold Newton steps, and which rows ended in which leaf.
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

// What a split was worth.
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

    // Calls body(value, rows) for every leaf of the last tree: the index of its value, and its rows of this part.
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
    std::vector<std::uint32_t> open_;      // nodes with a split that is not yet made
    std::vector<std::uint8_t> goes_left_;  // by code, of the categories being divided
};

// Keeps values that are not Newton steps monotonic: a split of a monotonic column parts the values of its sides midway
// between their means.
void keep_monotonic(const BoostTreeParameters& parameters, Tree& tree);

extern template class BoostGrower<std::uint8_t>;
extern template class BoostGrower<std::uint16_t>;

}  // namespace committee
