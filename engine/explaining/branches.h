// A tree as a list of its nodes in preorder, with what attributions need to know about each branch. Trees of forests
// and of C4.5 become such lists.
//
// A player is a column of the user. Several columns of the engine can belong to one player.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "prediction/prediction.h"

namespace committee {

struct Branches {
    static constexpr std::uint32_t no_leaf = ~std::uint32_t{0};

    // A node and the branch to it from its parent. The root has depth 0 and no branch.
    struct Node {
        std::uint32_t split = 0;  // number of the parent among the splits
        std::int32_t branch = 0;  // number of the branch among those of the split
        std::uint32_t player = 0;
        std::uint32_t depth = 0;
        std::uint32_t above = 0;       // depth of the next branch above of the same player; 0 if there is none
        std::uint32_t end = 0;         // the first node after the subtree
        std::uint32_t leaf = no_leaf;  // values[leaf * n_outputs]
        double fraction = 0;           // of the training weight of the parent
    };

    std::vector<Node> nodes;
    std::vector<std::uint32_t> splits;  // nodes of the tree, by number of the split
    std::vector<double> values;
    std::size_t n_outputs = 1;
    std::size_t depth = 0;         // of the deepest node
    std::size_t most_players = 0;  // on a path
    bool splits_missing = false;   // a row with a missing value takes all branches, with these fractions
};

// players: by column. Fractions are only computed if has_fractions is true: they need the weights of the leaves.
Branches list_branches(const Forest& forest, std::size_t tree, std::span<const std::uint32_t> players, Rule rule,
                       bool has_fractions);

// are_crisp: a leaf votes for its most probable class only. `weight` multiplies the votes.
Branches list_branches(const C45Tree& tree, std::span<const std::uint32_t> players, bool are_crisp, double weight);

}  // namespace committee
