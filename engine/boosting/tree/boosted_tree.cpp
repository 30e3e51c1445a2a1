#include "boosting/tree/boosted_tree.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "numbers/random.h"
#include "tree/recorded_tree.h"

namespace committee {

template <class Code>
BoostGrower<Code>::BoostGrower(const Table& table, const BoostTreeParameters& parameters, ThreadTeam& team)
    : codes_(std::get<Codes<Code>>(table.codes)),
      parameters_(parameters),
      team_(team),
      parts_(table.n_rows(), static_cast<std::size_t>(team.size())),
      search_(table, parameters_, parts_, team),
      polls_(team.stop()),
      goes_left_(std::size_t{std::numeric_limits<Code>::max()} + 1) {}

template <class Code>
Tree BoostGrower<Code>::grow(const BoostRows& rows, const WordScale& scale, std::uint64_t key,
                             std::vector<SplitGain>& gains) {
    open_.clear();
    nodes_.assign(1, {});
    BoostNode& root = nodes_[0];
    std::tie(root.n_rows, root.sum) = parts_.assign_all(rows, scale, team_);
    root.key = key;
    root.interactions.resize(parameters_.interactions.size());
    std::iota(root.interactions.begin(), root.interactions.end(), 0U);
    search_.start_tree(scale, key);
    const std::size_t most_leaves = parameters_.max_leaf_nodes;
    if (most_leaves != 1 && search_.may_split(root)) {
        search_.find(root, rows.histogram);
        offer(root);
    }
    for (std::size_t n_leaves = 2; !open_.empty() && (most_leaves == 0 || n_leaves <= most_leaves); ++n_leaves) {
        divide(take_open(), n_leaves == most_leaves);
    }
    for (const std::uint32_t node : open_) search_.release(nodes_[node]);
    return write_tree(scale, gains);
}

template <class Code>
void BoostGrower<Code>::divide(std::uint32_t id, bool are_last) {
    const auto left = static_cast<std::uint32_t>(nodes_.size());
    if (left + 1 > max_address) throw std::length_error("A tree has more than 67,108,863 nodes.");
    nodes_.resize(nodes_.size() + 2);
    BoostNode& parent = nodes_[id];
    polls_.after(parent.n_rows * codes_.n_columns);
    parent.left = left;
    const std::size_t n_left = divide_rows(parent), n_right = parent.n_rows - n_left;
    if (!parent.split.has_missing && !parent.split.is_category) parent.split.missing_right = n_left < n_right;
    for (const std::uint32_t side : {0U, 1U}) {
        BoostNode& child = nodes_[left + side];
        child.id = left + side;
        child.depth = parent.depth + 1;
        child.n_rows = side == 0 ? n_left : n_right;
        child.sum = side == 0 ? parent.split.left : parent.sum - parent.split.left;
        child.key = derive_key(parent.key, side);
        child.lower = parent.lower;
        child.upper = parent.upper;
    }
    bound_children(parent);
    for (const std::uint32_t set : parent.interactions) {
        if (!contains(parameters_.interactions[set], parent.split.column)) continue;
        for (const std::uint32_t side : {0U, 1U}) nodes_[left + side].interactions.push_back(set);
    }
    BoostNode& smaller = nodes_[n_left <= n_right ? left : left + 1];
    BoostNode& larger = nodes_[n_left <= n_right ? left + 1 : left];
    search_.find(parent, smaller, larger, !are_last && search_.may_split(smaller),
                 !are_last && search_.may_split(larger));
    offer(nodes_[left]);
    offer(nodes_[left + 1]);
}

template <class Code>
std::size_t BoostGrower<Code>::divide_rows(const BoostNode& parent) {
    const BoostSplit& split = parent.split;
    const Code* codes = codes_.column(split.column);
    const auto divide_by = [&](auto goes_right) {
        return parts_.divide(parent.id, parent.depth, parent.left, parent.n_rows, codes, goes_right, team_);
    };
    if (split.is_category) {
        std::ranges::fill(goes_left_, 0);
        goes_left_[0] = split.missing_right ? 0 : 1;
        for (const std::uint16_t code : split.left_codes) goes_left_[code] = 1;
        return divide_by([goes_left = goes_left_.data()](Code code) { return goes_left[code] == 0; });
    }
    // Subtracting 1 wraps missing around to the highest code.
    const Code shift = split.missing_right ? 1 : 0;
    const auto threshold = static_cast<Code>(split.threshold - shift);
    return divide_by([=](Code code) { return static_cast<Code>(code - shift) > threshold; });
}

template <class Code>
void BoostGrower<Code>::bound_children(const BoostNode& parent) {
    const int direction = parent.split.is_category ? 0 : parameters_.direction(parent.split.column);
    if (direction == 0) return;
    BoostNode &first = nodes_[parent.left], &second = nodes_[parent.left + 1];
    const double bound = (search_.value(first) + search_.value(second)) / 2;
    (direction > 0 ? first.upper : first.lower) = bound;
    (direction > 0 ? second.lower : second.upper) = bound;
}

// True if node b must be split before node a.
template <class Code>
bool BoostGrower<Code>::comes_later(std::uint32_t a, std::uint32_t b) const {
    const BoostNode &first = nodes_[a], &second = nodes_[b];
    if (parameters_.is_depthwise && first.depth != second.depth) return first.depth > second.depth;
    return first.gain != second.gain ? first.gain < second.gain : a > b;
}

template <class Code>
void BoostGrower<Code>::offer(const BoostNode& node) {
    if (node.gain == 0) return;
    open_.push_back(node.id);
    if (parameters_.max_leaf_nodes == 0) return;
    std::ranges::push_heap(open_, [this](std::uint32_t a, std::uint32_t b) { return comes_later(a, b); });
}

// If all nodes will be split in the end, the last one comes first, which keeps fewer histograms in memory.
template <class Code>
std::uint32_t BoostGrower<Code>::take_open() {
    if (parameters_.max_leaf_nodes != 0) {
        std::ranges::pop_heap(open_, [this](std::uint32_t a, std::uint32_t b) { return comes_later(a, b); });
    }
    const std::uint32_t node = open_.back();
    open_.pop_back();
    return node;
}

template <class Code>
Tree BoostGrower<Code>::write_tree(const WordScale& scale, std::vector<SplitGain>& gains) {
    Tree tree;
    tree.nodes.reserve(nodes_.size());
    tree.values.reserve(nodes_.size() / 2 + 1);
    leaves_.clear();
    for (const BoostNode& node : nodes_) {
        if (node.left == 0) {
            tree.nodes.push_back(leaf_word(static_cast<std::uint32_t>(leaves_.size())));
            tree.values.push_back(search_.value(node) * scale.hessian / scale.gradient);
            leaves_.push_back(node.id);
            append_weight(tree.leaf_weights.codes, node.n_rows);
            continue;
        }
        const BoostSplit& split = node.split;
        gains.push_back({split.column, node.gain});
        tree.nodes.push_back(
            split.is_category
                ? category_word(split.column, split.missing_right, add_set(tree, node.left, split.left_codes))
                : number_word(split.column, split.threshold, split.missing_right, node.left));
    }
    return tree;
}

void keep_monotonic(const BoostTreeParameters& parameters, Tree& tree) {
    struct Below {
        double sum = 0;  // over the leaf values
        double n = 0;
        double lower = -std::numeric_limits<double>::infinity();
        double upper = std::numeric_limits<double>::infinity();
    };
    std::vector<Below> below(tree.nodes.size());
    // Children have higher indices than their parents.
    for (std::size_t node = tree.nodes.size(); node-- > 0;) {
        const NodeWord word = tree.nodes[node];
        if (is_leaf(word)) {
            below[node].sum = tree.values[address_of(word)];
            below[node].n = 1;
            continue;
        }
        for (const std::uint32_t side : {0U, 1U}) {
            below[node].sum += below[left_child(tree, word) + side].sum;
            below[node].n += below[left_child(tree, word) + side].n;
        }
    }
    for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
        const NodeWord word = tree.nodes[node];
        const Below& own = below[node];
        if (is_leaf(word)) {
            double& value = tree.values[address_of(word)];
            value = std::clamp(value, own.lower, own.upper);
            continue;
        }
        Below &left = below[left_child(tree, word)], &right = below[left_child(tree, word) + 1];
        left.lower = right.lower = own.lower;
        left.upper = right.upper = own.upper;
        const int direction = is_category(word) ? 0 : parameters.direction(column_of(word));
        if (direction == 0) continue;
        const double bound = std::clamp((left.sum / left.n + right.sum / right.n) / 2, own.lower, own.upper);
        (direction > 0 ? left.upper : left.lower) = bound;
        (direction > 0 ? right.lower : right.upper) = bound;
    }
}

template class BoostGrower<std::uint8_t>;
template class BoostGrower<std::uint16_t>;

}  // namespace committee
