#include "tree/pruning.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace committee {
namespace {

constexpr std::uint32_t none = 0xffffffffU;

// A pruning step: at this alpha the branch of a node becomes a leaf, which adds `impurity` and removes `n_leaves`
// leaves. The steps inside a branch form a leftist heap (Crane 1972) with the highest alpha on top, so two branches
// merge in logarithmic time.
struct Fall {
    double alpha = 0;
    double impurity = 0;
    double n_leaves = 0;
    std::uint32_t left = none;
    std::uint32_t right = none;
    std::uint32_t rank = 0;
};

std::uint32_t merge(std::vector<Fall>& falls, std::uint32_t a, std::uint32_t b) {
    if (a == none) return b;
    if (b == none) return a;
    if (falls[a].alpha < falls[b].alpha) std::swap(a, b);
    Fall& top = falls[a];
    top.right = merge(falls, top.right, b);
    auto rank_of = [&](std::uint32_t heap) { return heap == none ? 0 : falls[heap].rank; };
    if (rank_of(top.left) < rank_of(top.right)) std::swap(top.left, top.right);
    top.rank = rank_of(top.right) + 1;
    return a;
}

class WeakestLinks {
  public:
    explicit WeakestLinks(const Tree& tree) : tree_(tree), falls_(tree.nodes.size()), heaps_(tree.nodes.size(), none) {
        if (tree.records.size() != tree.nodes.size()) {
            throw std::invalid_argument("Only a tree that was grown with records can be pruned.");
        }
        // Children have higher indices than their parents.
        for (std::size_t i = tree.nodes.size(); i-- > 0;) {
            if (!is_leaf(tree.nodes[i])) add_fall(i);
        }
    }

    bool falls_by(std::size_t node, double alpha) const {
        return !is_leaf(tree_.nodes[node]) && falls_[node].alpha <= alpha;
    }

    PruningPath path() const {
        std::vector<std::uint32_t> order;
        std::vector<std::uint32_t> stack(1, heaps_[0]);
        while (!stack.empty()) {
            const std::uint32_t fall = stack.back();
            stack.pop_back();
            if (fall == none) continue;
            order.push_back(fall);
            stack.push_back(falls_[fall].left);
            stack.push_back(falls_[fall].right);
        }
        std::ranges::sort(
            order, {}, [&](std::uint32_t i) { return std::tuple(falls_[i].alpha, left_child(tree_, tree_.nodes[i])); });
        double impurity = 0;
        for (std::size_t i = 0; i < tree_.nodes.size(); ++i) impurity += is_leaf(tree_.nodes[i]) ? risk(i) : 0;
        PruningPath path{{0.0}, {impurity}};
        for (const std::uint32_t fall : order) {
            impurity += falls_[fall].impurity;
            path.alphas.push_back(falls_[fall].alpha);
            path.impurities.push_back(impurity);
        }
        return path;
    }

  private:
    double risk(std::size_t node) const {
        return tree_.records[node].impurity * tree_.records[node].weight / tree_.records[0].weight;
    }

    // Start from the children's branches after all of their steps, when each is a single leaf. Then undo their steps
    // from the highest alpha down, until the step of this node comes after all that remain. The undone steps never
    // happen, because this node's step prunes the whole branch before them.
    void add_fall(std::size_t node) {
        const std::uint32_t left = left_child(tree_, tree_.nodes[node]);
        std::uint32_t heap = merge(falls_, heaps_[left], heaps_[left + 1]);
        Fall own;
        own.rank = 1;
        own.impurity = risk(node) - risk(left) - risk(left + 1);
        own.n_leaves = 1;
        own.alpha = std::max(own.impurity, 0.0);
        while (heap != none && falls_[heap].alpha >= own.alpha) {
            const Fall& undone = falls_[heap];
            own.impurity += undone.impurity;
            own.n_leaves += undone.n_leaves;
            own.alpha = std::max(own.impurity / own.n_leaves, 0.0);
            heap = merge(falls_, undone.left, undone.right);
        }
        falls_[node] = own;
        heaps_[node] = merge(falls_, heap, static_cast<std::uint32_t>(node));
    }

    const Tree& tree_;
    std::vector<Fall> falls_;           // by inner node
    std::vector<std::uint32_t> heaps_;  // the heap of each node's branch
};

// Copies the split of a node with another left child.
NodeWord with_left_child(const Tree& tree, NodeWord word, std::uint32_t left, std::vector<std::uint32_t>& sets) {
    if (!is_category(word)) return number_word(column_of(word), threshold_of(word), missing_goes_right(word), left);
    const auto begin = tree.sets.begin() + address_of(word);
    const auto at = static_cast<std::uint32_t>(sets.size());
    sets.insert(sets.end(), begin, begin + 3 + begin[2]);
    sets[at] = left;
    return category_word(column_of(word), missing_goes_right(word), at);
}

}  // namespace

PruningPath pruning_path(const Tree& tree) { return WeakestLinks(tree).path(); }

Tree prune(const Tree& tree, double ccp_alpha, std::size_t n_outputs) {
    const WeakestLinks links(tree);
    Tree pruned;
    std::vector<std::uint32_t> old(1, 0);  // the old index of each new node
    std::vector<std::uint32_t> stack(1, 0);
    pruned.nodes.push_back(0);
    while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        const std::uint32_t from = old[node];
        if (is_leaf(tree.nodes[from]) || links.falls_by(from, ccp_alpha)) {
            pruned.nodes[node] = leaf_word(node);
            continue;
        }
        const auto left = static_cast<std::uint32_t>(pruned.nodes.size());
        pruned.nodes[node] = with_left_child(tree, tree.nodes[from], left, pruned.sets);
        pruned.nodes.resize(left + 2);
        old.push_back(left_child(tree, tree.nodes[from]));
        old.push_back(left_child(tree, tree.nodes[from]) + 1);
        stack.push_back(left + 1);
        stack.push_back(left);
    }
    for (const std::uint32_t from : old) {
        pruned.records.push_back(tree.records[from]);
        const auto value = tree.values.begin() + static_cast<std::ptrdiff_t>(from * n_outputs);
        pruned.values.insert(pruned.values.end(), value, value + static_cast<std::ptrdiff_t>(n_outputs));
    }
    if (tree.leaf_weights.are_known()) {
        pruned.leaf_weights.unit = tree.leaf_weights.unit;
        for (std::size_t i = 0; i < pruned.nodes.size(); ++i) {
            if (!is_leaf(pruned.nodes[i])) continue;
            append_weight(pruned.leaf_weights.codes, static_cast<std::uint64_t>(pruned.records[i].weight));
        }
    }
    return pruned;
}

Tree prune_grown(const Tree& tree, double ccp_alpha, std::size_t n_outputs, std::size_t n_columns) {
    Tree kept = prune(tree, ccp_alpha, n_outputs);
    kept.importances.assign(n_columns, 0.0);
    auto burden = [&](std::size_t node) { return kept.records[node].weight * kept.records[node].impurity; };
    for (std::size_t i = 0; i < kept.nodes.size(); ++i) {
        const NodeWord word = kept.nodes[i];
        if (is_leaf(word)) continue;
        const std::size_t left = left_child(kept, word);
        kept.importances[column_of(word)] += burden(i) - burden(left) - burden(left + 1);
    }
    return kept;
}

}  // namespace committee
