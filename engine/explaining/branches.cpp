#include "explaining/branches.h"

#include <algorithm>

namespace committee {
namespace {

// Appends the nodes of a tree in preorder.
class Lister {
  public:
    Lister(Branches& list, std::size_t n_players) : list_(list), last_(n_players, 0) {}

    // The next node in preorder. Its split, branch, player, depth and fraction are set.
    Branches::Node& add(Branches::Node node) {
        leave(node.depth);
        if (node.depth > 0) {
            node.above = last_[node.player];
            last_[node.player] = node.depth;
            path_.push_back(static_cast<std::uint32_t>(list_.nodes.size()));
            n_players_ += node.above == 0 ? 1 : 0;
            list_.most_players = std::max(list_.most_players, n_players_);
            list_.depth = std::max<std::size_t>(list_.depth, node.depth);
        }
        return list_.nodes.emplace_back(node);
    }

    void finish() {
        leave(1);
        list_.nodes[0].end = static_cast<std::uint32_t>(list_.nodes.size());
    }

  private:
    // Closes the open nodes of this depth or below.
    void leave(std::size_t depth) {
        while (path_.size() >= std::max<std::size_t>(depth, 1)) {
            Branches::Node& node = list_.nodes[path_.back()];
            node.end = static_cast<std::uint32_t>(list_.nodes.size());
            last_[node.player] = node.above;
            n_players_ -= node.above == 0 ? 1 : 0;
            path_.pop_back();
        }
    }

    Branches& list_;
    std::vector<std::uint32_t> last_;  // depth of the lowest open branch by player
    std::vector<std::uint32_t> path_;  // the open nodes below the root
    std::size_t n_players_ = 0;
};

// A node of the tree that is still to be listed.
struct Pending {
    std::uint32_t at;
    Branches::Node node;
};

void append_values(Branches& list, Branches::Node& node, std::span<const double> values, bool is_crisp, double weight) {
    node.leaf = static_cast<std::uint32_t>(list.values.size() / list.n_outputs);
    const auto largest = static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
    for (std::size_t k = 0; k < values.size(); ++k) {
        list.values.push_back(weight * (is_crisp ? (k == largest ? 1.0 : 0.0) : values[k]));
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
    Lister lister(list, players.empty() ? 0 : std::ranges::max(players) + std::size_t{1});
    std::vector<Pending> pending{{0, {}}};
    while (!pending.empty()) {
        const Pending next = pending.back();
        pending.pop_back();
        const NodeWord word = tree.nodes[next.at];
        Branches::Node& node = lister.add(next.node);
        if (is_leaf(word)) {
            append_values(list, node, {tree.values.data() + address_of(word) * list.n_outputs, list.n_outputs},
                          rule == Rule::majority, 1);
            continue;
        }
        const std::uint32_t left = left_child(tree, word);
        const double both = has_fractions ? weights[left] + weights[left + 1] : 0;
        const auto split = static_cast<std::uint32_t>(list.splits.size());
        list.splits.push_back(next.at);
        for (std::int32_t branch = 1; branch >= 0; --branch) {
            const std::uint32_t child = left + static_cast<std::uint32_t>(branch);
            pending.push_back({child,
                               {.split = split,
                                .branch = branch,
                                .player = players[column_of(word)],
                                .depth = next.node.depth + 1,
                                .fraction = both > 0 ? weights[child] / both : 0.5}});
        }
    }
    lister.finish();
    return list;
}

Branches list_branches(const C45Tree& tree, std::span<const std::uint32_t> players, bool are_crisp, double weight) {
    Branches list;
    list.n_outputs = static_cast<std::size_t>(tree.n_classes);
    list.splits_missing = true;
    const std::vector<double> weights = tree.node_weights();
    Lister lister(list, players.empty() ? 0 : std::ranges::max(players) + std::size_t{1});
    // A branch without a child ends in a leaf with the classes of the split, which no training row reaches.
    constexpr std::uint32_t ends_bit = std::uint32_t{1} << 31;
    std::vector<Pending> pending{{0, {}}};
    while (!pending.empty()) {
        const Pending next = pending.back();
        pending.pop_back();
        const std::size_t at = next.at & ~ends_bit;
        Branches::Node& node = lister.add(next.node);
        if ((next.at & ends_bit) != 0 || tree.column[at] == C45Tree::is_leaf) {
            append_values(list, node, tree.classes(at), are_crisp, are_crisp ? weight : weight / weights[at]);
            continue;
        }
        const auto split = static_cast<std::uint32_t>(list.splits.size());
        list.splits.push_back(next.at);
        const auto children = tree.branches(at);
        for (std::size_t branch = children.size(); branch-- > 0;) {
            const bool ends = children[branch] == C45Tree::no_child;
            const auto child = static_cast<std::uint32_t>(ends ? 0 : children[branch]);
            pending.push_back({ends ? next.at | ends_bit : child,
                               {.split = split,
                                .branch = static_cast<std::int32_t>(branch),
                                .player = players[static_cast<std::size_t>(tree.column[at])],
                                .depth = next.node.depth + 1,
                                .fraction = ends ? 0 : weights[child] / weights[at]}});
        }
    }
    lister.finish();
    return list;
}

}  // namespace committee
