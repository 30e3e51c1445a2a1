#include "explaining/branches.h"

#include <algorithm>

#include "prediction/crisp_vote.h"

namespace committee {
namespace {

// Appends the nodes of a tree in preorder.
class Lister {
  public:
    Lister(Branches& list, std::span<const std::uint32_t> players)
        : list_(list), last_(players.empty() ? 0 : std::ranges::max(players) + std::size_t{1}, 0), open_{{0, 0}} {}

    // The tree's node whose branch at this depth is added next.
    std::uint32_t parent(std::size_t depth) const { return list_.splits[open_[depth - 1].split]; }

    Branches::Node& add_root() { return list_.nodes.emplace_back(); }

    // The next node in preorder, below the last split that is one level higher.
    Branches::Node& add(std::uint32_t depth, std::int32_t branch, std::uint32_t player, double fraction) {
        leave(depth);
        const auto at = static_cast<std::uint32_t>(list_.nodes.size());
        Branches::Node& node = list_.nodes.emplace_back();
        node.split = open_[depth - 1].split;
        node.branch = branch;
        node.player = player;
        node.depth = depth;
        node.above = last_[player];
        node.fraction = fraction;
        if (node.above == 0) list_.most_players = std::max(list_.most_players, ++n_players_);
        last_[player] = depth;
        list_.depth = std::max<std::size_t>(list_.depth, depth);
        open_.push_back({at, 0});
        return node;
    }

    // Makes the last node a split.
    void split(std::uint32_t at) {
        open_.back().split = static_cast<std::uint32_t>(list_.splits.size());
        list_.splits.push_back(at);
    }

    void finish() {
        leave(1);
        list_.nodes[0].end = static_cast<std::uint32_t>(list_.nodes.size());
    }

  private:
    struct Open {
        std::uint32_t node, split;
    };

    // Closes the open nodes of this depth or below.
    void leave(std::size_t depth) {
        while (open_.size() > depth) {
            Branches::Node& node = list_.nodes[open_.back().node];
            node.end = static_cast<std::uint32_t>(list_.nodes.size());
            last_[node.player] = node.above;
            n_players_ -= node.above == 0 ? 1 : 0;
            open_.pop_back();
        }
    }

    Branches& list_;
    std::vector<std::uint32_t> last_;  // depth of the lowest open branch by player
    std::vector<Open> open_;           // the path to the last node, by depth
    std::size_t n_players_ = 0;
};

// A node of the tree that is still to be listed. Few bytes, because all of them are written and read once.
struct Pending {
    std::uint32_t at, depth;
    std::int32_t branch;
};

void append_values(Branches& list, Branches::Node& node, std::span<const double> values, bool is_crisp, double weight) {
    node.leaf = static_cast<std::uint32_t>(list.values.size() / list.n_outputs);
    const std::size_t begin = list.values.size();
    list.values.resize(begin + values.size());
    if (is_crisp) {
        add_crisp_vote(weight, values.data(), values.size(), list.values.data() + begin);
    } else {
        for (std::size_t k = 0; k < values.size(); ++k) list.values[begin + k] = weight * values[k];
    }
}

}  // namespace

Branches list_branches(const Forest& forest, std::size_t t, std::span<const std::uint32_t> players, Rule rule,
                       bool has_fractions) {
    const Tree& tree = forest.trees[t];
    const std::vector<double> weights = has_fractions ? node_weights(tree) : std::vector<double>{};
    Branches list;
    list.n_outputs = forest.leaf_size();
    list.nodes.reserve(tree.nodes.size());
    list.splits.reserve(tree.nodes.size() / 2);
    list.values.reserve(tree.values.size());
    Lister lister(list, players);
    std::vector<Pending> pending{{0, 0, 0}};
    while (!pending.empty()) {
        const auto [at, depth, branch] = pending.back();
        pending.pop_back();
        Branches::Node* node;
        if (depth == 0) {
            node = &lister.add_root();
        } else {
            const std::uint32_t parent = lister.parent(depth);
            const double all = has_fractions ? weights[parent] : 0;
            node =
                &lister.add(depth, branch, players[column_of(tree.nodes[parent])], all > 0 ? weights[at] / all : 0.5);
        }
        const NodeWord word = tree.nodes[at];
        if (is_leaf(word)) {
            append_values(list, *node, {tree.values.data() + address_of(word) * list.n_outputs, list.n_outputs},
                          rule == Rule::majority, 1);
            continue;
        }
        lister.split(at);
        const std::uint32_t left = left_child(tree, word);
        pending.push_back({left + 1, depth + 1, 1});
        pending.push_back({left, depth + 1, 0});
    }
    lister.finish();
    return list;
}

Branches list_branches(const C45Tree& tree, std::span<const std::uint32_t> players, bool are_crisp, double weight) {
    Branches list;
    list.n_outputs = static_cast<std::size_t>(tree.n_classes);
    list.splits_missing = true;
    const std::vector<double> weights = tree.node_weights();
    Lister lister(list, players);
    // A branch without a child ends in a leaf with the classes of the split, which no training row reaches.
    constexpr std::uint32_t ends_bit = std::uint32_t{1} << 31;
    std::vector<Pending> pending{{0, 0, 0}};
    while (!pending.empty()) {
        const auto [place, depth, branch] = pending.back();
        pending.pop_back();
        const std::size_t at = place & ~ends_bit;
        const bool ends = (place & ends_bit) != 0;
        Branches::Node* node;
        if (depth == 0) {
            node = &lister.add_root();
        } else {
            const std::uint32_t parent = lister.parent(depth);
            node = &lister.add(depth, branch, players[static_cast<std::size_t>(tree.column[parent])],
                               ends ? 0 : weights[at] / weights[parent]);
        }
        if (ends || tree.column[at] == C45Tree::is_leaf) {
            append_values(list, *node, tree.classes(at), are_crisp, are_crisp ? weight : weight / weights[at]);
            continue;
        }
        lister.split(place);
        const auto children = tree.branches(at);
        for (std::size_t k = children.size(); k-- > 0;) {
            const bool has_child = children[k] != C45Tree::no_child;
            pending.push_back({has_child ? static_cast<std::uint32_t>(children[k]) : place | ends_bit, depth + 1,
                               static_cast<std::int32_t>(k)});
        }
    }
    lister.finish();
    return list;
}

}  // namespace committee
