#include "rotation/state.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

#include "numbers/flat_arrays.h"

namespace committee {
namespace {

constexpr Requirement require = require_rotation_forest;

Axes read_axes(const RotationForestArrays& arrays) {
    Axes axes{arrays.n_categories, {}};
    const std::size_t n_axes = arrays.axis_columns.size();
    require(arrays.axis_categories.size() == n_axes && arrays.axis_lows.size() == n_axes &&
                arrays.axis_ranges.size() == n_axes,
            "the arrays of the axes differ in length");
    require(!axes.n_categories.empty(), "it has no columns");
    // Category codes are read as 16 bits.
    require(std::ranges::all_of(axes.n_categories, [](std::uint32_t n) { return n <= 65535; }),
            "a column has too many categories");
    for (std::size_t a = 0; a < n_axes; ++a) {
        const Axis axis{arrays.axis_columns[a], arrays.axis_categories[a], arrays.axis_lows[a], arrays.axis_ranges[a]};
        require(axis.column < axes.n_categories.size(), "an axis belongs to a column that does not exist");
        require(axis.category <= axes.n_categories[axis.column] &&
                    (axis.category == 0) == (axes.n_categories[axis.column] == 0),
                "an axis belongs to a category that does not exist");
        require(std::isfinite(axis.low) && std::isfinite(axis.range) && axis.range > 0, "an axis has no range");
        require(axes.list.empty() ||
                    std::tie(axes.list.back().column, axes.list.back().category) < std::tie(axis.column, axis.category),
                "the axes are out of order");
        axes.list.push_back(axis);
    }
    return axes;
}

// The coefficients of unit vectors are at most 1, and the values of rows are bounded, so all sums are finite.
void check_rotation(const Rotation& rotation, std::size_t n_axes) {
    std::vector<char> is_there(n_axes, 0);
    for (const std::uint32_t axis : rotation.axes) {
        require(axis < n_axes && is_there[axis] == 0, "a rotation does not contain every axis once");
        is_there[axis] = 1;
    }
    std::uint64_t n_grouped = 0, n_coefficients = 0;
    for (const std::uint32_t size : rotation.group_sizes) {
        require(size > 0 && size <= n_axes, "a group is empty or too large");
        n_grouped += size;
        n_coefficients += std::uint64_t{size} * size;
    }
    require(n_grouped == n_axes, "the groups do not contain every axis once");
    require(rotation.coefficients.size() == n_coefficients, "the coefficients do not fit the groups");
    require(std::ranges::all_of(rotation.coefficients, [](double c) { return std::abs(c) <= 1 + 1e-9; }),
            "a coefficient is not between -1 and 1");
    require(std::ranges::all_of(rotation.fill, [](double value) { return std::abs(value) <= furthest; }),
            "a value that replaces missing values is out of range");
}

// Children come after their parents and have exactly one parent each, so there are no cycles.
void check_nodes(const RotatedTree& tree, std::size_t n_values) {
    require(!tree.nodes.empty(), "a tree has no nodes");
    std::vector<char> has_parent(tree.nodes.size(), 0);
    std::size_t n_children = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const RotatedNode& node = tree.nodes[i];
        const std::size_t address = node.address;
        if (node.component == RotatedNode::is_leaf) {
            require(address < n_values, "a leaf's value is out of bounds");
            continue;
        }
        require(node.component < tree.components.size(), "a node splits on a component that does not exist");
        require(std::isfinite(node.threshold), "a threshold is not finite");
        require(address > i && address + 1 < tree.nodes.size(),
                "a child is out of bounds, or does not come after its parent");
        require(has_parent[address] == 0 && has_parent[address + 1] == 0, "a node has two parents");
        has_parent[address] = has_parent[address + 1] = 1;
        n_children += 2;
    }
    require(n_children + 1 == tree.nodes.size(), "a node has no parent");
}

void check_values(std::span<const double> values, std::size_t n_outputs, bool is_classifier) {
    require(values.size() % n_outputs == 0, "a tree's values do not fit the number of outputs");
    require(are_finite(values), "a value is not finite");
    if (is_classifier) check_probabilities(values, n_outputs, require);
}

RotatedTree read_tree(const RotationForestArrays& arrays, const RotationForest& forest, std::size_t t) {
    const std::size_t n_axes = forest.axes.size();
    RotatedTree tree;
    Rotation& rotation = tree.rotation;
    rotation.axes = copied(part(arrays.turned_axes, t * n_axes, (t + 1) * n_axes));
    rotation.fill = copied(part(arrays.fill, t * n_axes, (t + 1) * n_axes));
    rotation.group_sizes = copied(part(arrays.group_sizes, arrays.group_offsets, t));
    rotation.coefficients = copied(part(arrays.coefficients, arrays.coefficient_offsets, t));
    check_rotation(rotation, n_axes);
    tree.components = rotation.components();
    for (std::uint64_t i = arrays.node_offsets[t]; i < arrays.node_offsets[t + 1]; ++i) {
        tree.nodes.push_back({arrays.thresholds[i], arrays.components[i], arrays.addresses[i]});
    }
    tree.values = copied(part(arrays.values, arrays.value_offsets, t));
    check_values(tree.values, forest.n_outputs, forest.is_classifier);
    check_nodes(tree, tree.values.size() / forest.n_outputs);
    tree.leaf_weights =
        read_weights(arrays.leaf_weights, t, arrays.node_offsets.size() - 1, tree.nodes.size() / 2 + 1, require);
    return tree;
}

}  // namespace

RotationForestArrays to_arrays(const RotationForest& forest) {
    RotationForestArrays arrays;
    arrays.n_outputs = forest.n_outputs;
    arrays.is_classifier = forest.is_classifier;
    arrays.n_categories = forest.axes.n_categories;
    for (const Axis& axis : forest.axes.list) {
        arrays.axis_columns.push_back(axis.column);
        arrays.axis_categories.push_back(axis.category);
        arrays.axis_lows.push_back(axis.low);
        arrays.axis_ranges.push_back(axis.range);
    }
    arrays.group_offsets = arrays.coefficient_offsets = arrays.node_offsets = arrays.value_offsets = {0};
    for (const RotatedTree& tree : forest.trees) {
        append(arrays.turned_axes, tree.rotation.axes);
        append(arrays.fill, tree.rotation.fill);
        append(arrays.group_sizes, tree.rotation.group_sizes);
        append(arrays.coefficients, tree.rotation.coefficients);
        for (const RotatedNode& node : tree.nodes) {
            arrays.thresholds.push_back(node.threshold);
            arrays.components.push_back(node.component);
            arrays.addresses.push_back(node.address);
        }
        append(arrays.values, tree.values);
        append(arrays.leaf_weights, tree.leaf_weights);
        arrays.group_offsets.push_back(arrays.group_sizes.size());
        arrays.coefficient_offsets.push_back(arrays.coefficients.size());
        arrays.node_offsets.push_back(arrays.thresholds.size());
        arrays.value_offsets.push_back(arrays.values.size());
    }
    return arrays;
}

RotationForest from_arrays(const RotationForestArrays& arrays) {
    require(arrays.n_outputs > 0, "it has no outputs");
    RotationForest forest;
    forest.axes = read_axes(arrays);
    forest.n_outputs = arrays.n_outputs;
    forest.is_classifier = arrays.is_classifier;
    require(forest.is_classifier || forest.n_outputs == 1, "a regression forest must have one output");
    require(arrays.node_offsets.size() > 1, "it has no trees");
    const std::size_t n_trees = arrays.node_offsets.size() - 1;
    require(arrays.components.size() == arrays.thresholds.size() && arrays.addresses.size() == arrays.thresholds.size(),
            "the arrays of the nodes differ in length");
    require(
        arrays.turned_axes.size() == n_trees * forest.axes.size() && arrays.fill.size() == arrays.turned_axes.size(),
        "the rotations do not fit the axes");
    require(are_offsets(arrays.node_offsets, n_trees, arrays.thresholds.size()),
            "the offsets of the nodes are out of order");
    require(are_offsets(arrays.group_offsets, n_trees, arrays.group_sizes.size()),
            "the offsets of the groups are out of order");
    require(are_offsets(arrays.coefficient_offsets, n_trees, arrays.coefficients.size()),
            "the offsets of the coefficients are out of order");
    require(are_offsets(arrays.value_offsets, n_trees, arrays.values.size()),
            "the offsets of the values are out of order");
    forest.trees.reserve(n_trees);
    for (std::size_t t = 0; t < n_trees; ++t) forest.trees.push_back(read_tree(arrays, forest, t));
    return forest;
}

}  // namespace committee
