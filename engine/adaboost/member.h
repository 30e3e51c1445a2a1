// A member of AdaBoost. It is grown on the weights of a round, or on rows drawn with these weights, and votes on each
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
    bool resample = false;  // members are trained on rows drawn by weight instead of on weights
    bool is_stump = false;  // members are stumps with grow.criterion instead of trees
    GrowParameters grow = {};
    double ccp_alpha = 0;         // if > 0, trees (which must keep records) are pruned
    std::optional<C45Table> c45;  // members are C4.5 trees on these columns, with c45_settings
    C45Settings c45_settings = {};
};

// The votes of a member on the rows of a table. A vote is one row of `values`, and several rows may share it.
struct PlacedVotes {
    std::vector<double> values;
    std::vector<std::uint32_t> places;  // by row
};

// Rows without a missing value on their path share the vote of the node that they reach.
PlacedVotes place_votes(const C45Tree& tree, const C45Table& table, const Stop& stop = {});

// Table, target, parameters and team must outlive it.
class MemberGrower {
  public:
    // n_draws: the number of rows drawn per member, if `resample` is set.
    MemberGrower(const Table& table, const Target& target, const MemberParameters& parameters, std::uint64_t n_draws,
                 ThreadTeam& team);

    // Grows a member. weights: fixed-point, one per row of the table.
    void grow(std::span<const std::uint32_t> weights, std::uint64_t key);

    // The votes of the member. find_values() writes the index of each row's vote, for rows [begin, end).
    const std::vector<double>& values() const { return parameters_.c45 ? placed_.values : tree_.values; }
    void find_values(std::size_t begin, std::size_t end, std::uint32_t* places) const;

    // Adds the member to the committee.
    void keep();

    // All members added so far: trees or C4.5 trees, with their importances.
    Forest trees;
    C45Forest c45_trees;
    std::vector<double> importances;

  private:
    void draw(std::span<const std::uint32_t> weights, std::uint64_t key);
    void grow_c45(std::span<const std::uint32_t> weights, std::uint64_t key);
    double weight_unit() const;
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
    Tree tree_;  // the current member
    C45Tree c45_tree_;
    PlacedVotes placed_;
    std::vector<std::uint32_t> by_content_;  // the rows in the order along which they are drawn
    std::vector<std::uint32_t> drawn_by_, drawn_, seen_rows_, seen_weights_;
    std::uint32_t stump_column_ = 0;
    std::vector<std::uint32_t> values_by_code_;  // of that column
};

}  // namespace committee
