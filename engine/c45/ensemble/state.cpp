#include "c45/ensemble/state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "numbers/flat_arrays.h"

namespace committee {
namespace {

constexpr Requirement require = require_c45_trees;

}  // namespace

C45ForestArrays to_arrays(const C45Forest& forest) {
    C45ForestArrays arrays;
    arrays.n_classes = forest.n_classes;
    arrays.n_categories = forest.n_categories;
    arrays.weights = forest.weights;
    arrays.are_crisp = forest.are_crisp;
    arrays.link = static_cast<std::uint8_t>(forest.link);
    arrays.scale = forest.scale;
    arrays.node_offsets = arrays.branch_offsets = {0};
    for (const C45Tree& tree : forest.trees) {
        append(arrays.columns, tree.column);
        append(arrays.thresholds, tree.threshold);
        append(arrays.first_branches, tree.first_branch);
        append(arrays.distributions, tree.distribution);
        append(arrays.branches, tree.branch);
        arrays.node_offsets.push_back(arrays.columns.size());
        arrays.branch_offsets.push_back(arrays.branches.size());
    }
    return arrays;
}

C45Forest from_arrays(const C45ForestArrays& arrays) {
    require(arrays.n_classes > 0 && arrays.n_classes <= std::numeric_limits<std::int32_t>::max(),
            "no or too many classes");
    require(!arrays.n_categories.empty(), "there are no columns");
    require(arrays.node_offsets.size() > 1, "there are none");
    const std::size_t n_trees = arrays.node_offsets.size() - 1, n_nodes = arrays.columns.size();
    require(arrays.thresholds.size() == n_nodes && arrays.first_branches.size() == n_nodes &&
                arrays.distributions.size() / arrays.n_classes == n_nodes &&
                arrays.distributions.size() % arrays.n_classes == 0,
            "the arrays of the nodes differ in length");
    require(are_offsets(arrays.node_offsets, n_trees, n_nodes), "the offsets of the nodes are out of order");
    require(are_offsets(arrays.branch_offsets, n_trees, arrays.branches.size()),
            "the offsets of the branches are out of order");
    // Crisp votes may be negative: they count for the other classes.
    const auto can_be_summed = [&](double weight) {
        return (weight >= 0 || arrays.are_crisp) && std::abs(weight) < 1e300;
    };
    require((arrays.weights.empty() || arrays.weights.size() == n_trees) &&
                std::ranges::all_of(arrays.weights, can_be_summed),
            "the weights of the votes are not valid");
    C45Forest forest{arrays.n_classes, arrays.n_categories, {}, arrays.weights, arrays.are_crisp};
    forest.link = static_cast<Link>(arrays.link);
    forest.scale = arrays.scale;
    require((forest.link == Link::mean || needs_votes(forest.link)) && arrays.link < n_links &&
                std::isfinite(forest.scale) && forest.scale > 0,
            "their link is unknown or does not fit");
    for (std::size_t t = 0; t < n_trees; ++t) {
        const std::uint64_t begin = arrays.node_offsets[t], end = arrays.node_offsets[t + 1];
        C45Tree tree;
        tree.n_classes = static_cast<std::int32_t>(arrays.n_classes);
        tree.n_categories = arrays.n_categories;
        tree.column = copied(part(arrays.columns, begin, end));
        tree.threshold = copied(part(arrays.thresholds, begin, end));
        tree.first_branch = copied(part(arrays.first_branches, begin, end));
        tree.branch = copied(part(arrays.branches, arrays.branch_offsets[t], arrays.branch_offsets[t + 1]));
        tree.distribution = copied(part(arrays.distributions, begin * arrays.n_classes, end * arrays.n_classes));
        const std::string error = find_error(tree);
        require(error.empty(), error.c_str());
        forest.trees.push_back(std::move(tree));
    }
    return forest;
}

}  // namespace committee
