// A member of AdaBoost: grown from the weights of a round, or from rows drawn by them, and asked for its vote on each
// row.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "c45/ensemble/forest.h"
#include "c45/ensemble/grower.h"
#include "growing/row_sampling.h"
#include "growing/tree_growth.h"
#include "prediction/prediction.h"
#include "table/table.h"
#include "threads/thread_team.h"
#include "tree/stump.h"

namespace committee {

struct MemberParameters {
    bool resample = false;  // members see rows drawn by weight instead of weights
    bool is_stump = false;  // members are stumps by grow.criterion instead of grown trees
    GrowParameters grow = {};
    double ccp_alpha = 0;         // above 0, trees (which must keep records) are pruned
    std::optional<C45Table> c45;  // members are C4.5 trees of these columns of values, by the settings
    C45Settings c45_settings = {};
};

// What members vote on the rows of a table: a vote is so many numbers of `values`, and many rows may share one.
struct PlacedVotes {
    std::vector<double> values;
    std::vector<std::uint32_t> places;  // per row
};

// Rows that are not parted by a missing value share the vote of the node where they end.
PlacedVotes place_votes(const C45Tree& tree, const C45Table& table, const Stop& stop = {});

// Table, target, parameters and team must outlive it.
class MemberGrower {
  public:
    // n_draws: how many rows a member draws, if it does.
    MemberGrower(const Table& table, const Target& target, const MemberParameters& parameters, std::uint64_t n_draws,
                 ThreadTeam& team);

    // Makes a member. weights: fixed-point, one per row of the table.
    void grow(std::span<const std::uint32_t> weights, std::uint64_t key);

    // The votes that the member has to give, and for rows [begin, end) the place of each row's own among them.
    const std::vector<double>& values() const { return parameters_.c45 ? placed_.values : tree_.values; }
    void find_values(std::size_t begin, std::size_t end, std::uint32_t* places) const;

    // Takes the member into the committee.
    void keep();

    // All that were kept: trees, or C4.5 trees, and the importances of the columns for each.
    Forest trees;
    C45Forest c45_trees;
    std::vector<double> importances;

  private:
    void draw(std::span<const std::uint32_t> weights, std::uint64_t key);
    void grow_c45(std::span<const std::uint32_t> weights, std::uint64_t key);
    void look_up_codes();

    const Table& table_;
    const Target& target_;
    const MemberParameters& parameters_;
    std::uint64_t n_draws_;
    int n_threads_;
    const Stop& stop_;
    bool has_missing_;
    GrowStump grow_stump_;
    GrowTree grow_tree_;
    std::optional<C45Grower> c45_grower_;
    Tree tree_;  // the member, or the next
    C45Tree c45_tree_;
    PlacedVotes placed_;
    std::vector<std::uint32_t> by_content_;  // the rows in the order that they are drawn along
    std::vector<std::uint32_t> drawn_by_, drawn_, seen_rows_, seen_weights_;
    std::uint32_t stump_column_ = 0;
    std::vector<std::uint32_t> values_by_code_;  // of that column
};

}  // namespace committee
