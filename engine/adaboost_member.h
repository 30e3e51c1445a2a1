// A member of AdaBoost: grown from the weights of a round, or from rows drawn by them, and asked for the leaf of each
// row.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "grow.h"
#include "sampling.h"
#include "stump.h"
#include "table.h"
#include "thread_team.h"

namespace committee {

struct MemberParameters {
    bool resample = false;  // members see rows drawn by weight instead of weights
    bool is_stump = false;  // members are stumps by grow.criterion instead of grown trees
    GrowParameters grow = {};
    double ccp_alpha = 0;  // above 0, trees (which must keep records) are pruned
};

// Table, target, parameters and team must outlive it.
class MemberGrower {
  public:
    // n_draws: how many rows a member draws, if it does.
    MemberGrower(const Table& table, const Target& target, const MemberParameters& parameters, std::uint64_t n_draws,
                 ThreadTeam& team);

    // weights: fixed-point, one per row of the table.
    Tree grow(std::span<const std::uint32_t> weights, std::uint64_t key);

    // values[row] = the place of the row's leaf among the values of the tree that was grown last, for rows [begin,
    // end).
    void find_values(const Tree& tree, std::size_t begin, std::size_t end, std::uint32_t* values) const;

  private:
    void look_up_codes(const Tree& tree);

    const Table& table_;
    const Target& target_;
    const MemberParameters& parameters_;
    std::uint64_t n_draws_;
    const Stop& stop_;
    bool has_missing_;
    std::optional<Bootstrap> bootstrap_;
    GrowStump grow_stump_;
    GrowTree grow_tree_;
    std::vector<std::uint32_t> drawn_, seen_rows_, seen_weights_;
    std::uint32_t stump_column_ = 0;
    std::vector<std::uint32_t> values_by_code_;  // of that column
};

}  // namespace committee
