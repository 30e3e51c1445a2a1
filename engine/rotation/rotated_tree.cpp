#include "rotation/rotated_tree.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "threads/thread_team.h"

namespace committee {
namespace {

RotatedTree tree_on(Rotation rotation) {
    RotatedTree tree;
    tree.components = rotation.components();
    tree.rotation = std::move(rotation);
    return tree;
}

// The approximate number of values read per row and tree.
constexpr std::size_t values_of_a_descent = 64;
constexpr std::size_t block_rows = 256;

// Calls body(row, tree number, leaf) for blocks of rows and all trees.
template <class Body>
void for_each_block(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows,
                    int n_threads, const Stop& stop, Body body) {
    const std::size_t n_axes = forest.axes.size();
    for_each_task((n_rows + block_rows - 1) / block_rows, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t begin = task * block_rows, n = std::min(block_rows, n_rows - begin);
        std::vector<double> values(n * n_axes);
        const bool has_missing = read_axes(forest.axes, columns, begin, n, {values.data(), n_axes, 1});
        AxisBlock block(values, n, n_axes, has_missing);
        Polls polls(stop);
        for (std::size_t t = 0; t < forest.trees.size(); ++t) {
            polls.after(values_of_a_descent * n);
            const std::span<const double> seen = block.filled_for(forest.trees[t]);
            for (std::size_t i = 0; i < n; ++i) {
                body(begin + i, t, forest.trees[t].find_leaf(seen.data() + i * n_axes));
            }
        }
    });
}

}  // namespace

std::size_t RotatedTree::n_bytes() const {
    return rotation.axes.size() * sizeof(std::uint32_t) + rotation.group_sizes.size() * sizeof(std::uint32_t) +
           (rotation.coefficients.size() + rotation.fill.size() + values.size()) * sizeof(double) +
           components.size() * sizeof(Component) + nodes.size() * sizeof(RotatedNode) + leaf_weights.codes.size();
}

std::size_t RotationForest::n_bytes() const {
    std::size_t total = axes.list.size() * sizeof(Axis) + axes.n_categories.size() * sizeof(std::uint32_t);
    for (const RotatedTree& tree : trees) total += tree.n_bytes();
    return total;
}

GrownRotatedTree rotated_tree(const C45Tree& tree, Rotation rotation) {
    GrownRotatedTree grown{tree_on(std::move(rotation)), importances_of(tree)};
    RotatedTree& made = grown.tree;
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    // The new index of each node.
    std::vector<std::uint32_t> place(tree.n_nodes(), 0);
    made.nodes.resize(1);
    std::vector<double> weights(1);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
        if (tree.column[node] == C45Tree::is_leaf) {
            made.nodes[place[node]].address = static_cast<std::uint32_t>(made.values.size() / n_classes);
            const double weight = weights[place[node]] = tree.weight(node);
            for (const double part : tree.classes(node)) made.values.push_back(part / weight);
            continue;
        }
        const auto component = static_cast<std::uint32_t>(tree.column[node]);
        const auto left = static_cast<std::uint32_t>(made.nodes.size());
        made.nodes.resize(made.nodes.size() + 2);
        weights.resize(made.nodes.size());
        made.nodes[place[node]] = {tree.threshold[node], component, left};
        for (std::uint32_t side = 0; side < 2; ++side) {
            place[static_cast<std::size_t>(tree.branches(node)[side])] = left + side;
        }
    }
    std::vector<double> of_leaves;
    for (std::size_t node = 0; node < weights.size(); ++node) {
        if (made.nodes[node].component == RotatedNode::is_leaf) of_leaves.push_back(weights[node]);
    }
    made.leaf_weights = encode_weights(of_leaves);
    return grown;
}

std::vector<double> node_weights(const RotatedTree& tree) {
    return weigh_nodes(tree.leaf_weights, tree.nodes.size(), [&](std::size_t node) -> std::size_t {
        return tree.nodes[node].component == RotatedNode::is_leaf ? 0 : tree.nodes[node].address;
    });
}

GrownRotatedTree rotated_tree(const Tree& tree, const Binning& binning, Rotation rotation) {
    GrownRotatedTree grown{tree_on(std::move(rotation)), tree.importances};
    grown.tree.values = tree.values;
    grown.tree.leaf_weights = tree.leaf_weights;
    for (const NodeWord word : tree.nodes) {
        if (is_leaf(word)) {
            grown.tree.nodes.push_back({0, RotatedNode::is_leaf, address_of(word)});
        } else {
            // A code is at most the threshold if the value is at most the cut after it.
            const double threshold = binning.columns[column_of(word)].cuts[threshold_of(word) - 1];
            grown.tree.nodes.push_back({threshold, column_of(word), address_of(word)});
        }
    }
    return grown;
}

std::span<const double> AxisBlock::filled_for(const RotatedTree& tree) {
    if (!has_missing_) return values_;
    filled_.resize(values_.size());
    for (std::size_t i = 0; i < n_rows_; ++i) {
        for (std::size_t a = 0; a < n_axes_; ++a) {
            const double value = values_[i * n_axes_ + a];
            filled_[i * n_axes_ + a] = std::isnan(value) ? tree.rotation.fill[a] : value;
        }
    }
    return filled_;
}

void add_vote(const RotatedTree& tree, std::uint32_t leaf, std::size_t n_outputs, Rule rule, double* sums) {
    add_vote(tree.values.data() + tree.nodes[leaf].address * n_outputs, n_outputs, rule, sums);
}

void predict(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule,
             int n_threads, double* out, const Stop& stop) {
    const std::size_t n_outputs = forest.n_outputs;
    std::fill_n(out, n_rows * n_outputs, 0.0);
    for_each_block(forest, columns, n_rows, n_threads, stop, [&](std::size_t row, std::size_t t, std::uint32_t leaf) {
        add_vote(forest.trees[t], leaf, n_outputs, rule, out + row * n_outputs);
    });
    const auto n_trees = static_cast<double>(forest.trees.size());
    for (std::size_t i = 0; i < n_rows * n_outputs; ++i) out[i] /= n_trees;
}

void predict_votes(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop) {
    const std::size_t n_outputs = forest.n_outputs;
    std::fill_n(out, forest.trees.size() * n_rows * n_outputs, 0.0);
    for_each_block(forest, columns, n_rows, n_threads, stop, [&](std::size_t row, std::size_t t, std::uint32_t leaf) {
        add_vote(forest.trees[t], leaf, n_outputs, Rule::mean, out + (t * n_rows + row) * n_outputs);
    });
}

void apply(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out, const Stop& stop) {
    for_each_block(forest, columns, n_rows, n_threads, stop, [&](std::size_t row, std::size_t t, std::uint32_t leaf) {
        out[row * forest.trees.size() + t] = leaf;
    });
}

}  // namespace committee
