#include "forest/state.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <stdexcept>

#include "numbers/flat_arrays.h"

namespace committee {
namespace {

constexpr Requirement require{"This is not a forest"};

// The left child of an inner node. Checks the node's column and set first.
std::uint32_t checked_left_child(const Tree& tree, const Binning& binning, NodeWord word) {
    require(column_of(word) < binning.columns.size(), "a node splits on a column that does not exist");
    const Column& column = binning.columns[column_of(word)];
    require(column.is_used, "a node splits on a column that is marked as unused");
    require(is_category(word) == column.is_category,
            "a node splits a numeric column by categories, or a categorical one by a threshold");
    if (!is_category(word)) {
        require(column.n_bins > 0, "a node splits on a column without values");
        return address_of(word);
    }
    const std::size_t at = address_of(word);
    require(word == category_word(column_of(word), missing_goes_right(word), address_of(word)),
            "a category node has stray bits");
    require(at + 3 <= tree.sets.size() && tree.sets[at + 2] <= tree.sets.size() - at - 3,
            "a set of categories is out of bounds");
    const std::span<const std::uint32_t> held(tree.sets.data() + at + 3, tree.sets[at + 2]);
    if (tree.sets[at + 1] == lists_codes) {
        require(std::ranges::is_sorted(held) && (held.empty() || held.back() <= column.n_bins),
                "a set lists categories that do not exist, or are not sorted");
    } else {
        require(std::uint64_t{tree.sets[at + 1]} + held.size() <= column.n_bins / 32 + 1,
                "a set holds categories that do not exist");
    }
    return tree.sets[at];
}

// Children come after their parents, and each has exactly one parent. Therefore there are no cycles, and every node is
// reachable.
void check_nodes(const Tree& tree, const Binning& binning, std::size_t n_values) {
    std::vector<char> has_parent(tree.nodes.size(), 0);
    std::size_t n_children = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        const NodeWord word = tree.nodes[i];
        if (is_leaf(word)) {
            require(word == leaf_word(address_of(word)), "a leaf has stray bits");
            require(address_of(word) < n_values, "a leaf's value is out of bounds");
            require(tree.records.empty() || address_of(word) == i,
                    "a leaf with a record has the value of another node");
            continue;
        }
        const std::size_t left = checked_left_child(tree, binning, word);
        require(left > i && left + 1 < tree.nodes.size(),
                "a child is out of bounds, or does not come after its parent");
        require(has_parent[left] == 0 && has_parent[left + 1] == 0, "a node has two parents");
        has_parent[left] = has_parent[left + 1] = 1;
        n_children += 2;
    }
    require(n_children + 1 == tree.nodes.size(), "a node has no parent");
}

// A faster check_nodes() for trees without sets and records. Leaves and inner nodes alternate unpredictably, so it does
// not branch on them.
bool is_valid(const Tree& tree, std::span<const std::uint8_t> is_splittable, std::size_t n_values) {
    const std::size_t n_nodes = tree.nodes.size(), n_columns = is_splittable.size() - 1;
    std::vector<std::uint8_t> n_parents(n_nodes + 2, 0);  // the last two count children of leaves
    std::size_t n_inner = 0;
    bool holds = true;
    for (std::size_t i = 0; i < n_nodes; ++i) {
        const NodeWord word = tree.nodes[i];
        const std::size_t address = address_of(word);
        const bool leaf = is_leaf(word);
        const bool good_leaf = (word == leaf_word(address_of(word))) & (address < n_values);
        const std::size_t column = std::min<std::size_t>(column_of(word), n_columns);
        const bool good_inner =
            !is_category(word) & (is_splittable[column] != 0) & (address > i) & (address + 1 < n_nodes);
        holds &= leaf ? good_leaf : good_inner;
        const std::size_t child = !leaf && good_inner ? address : n_nodes;
        ++n_parents[child];
        ++n_parents[child + 1];
        n_inner += leaf ? 0 : 1;
    }
    // A count of 257 would wrap around to 1, but then the total count would be too large.
    return holds && 2 * n_inner + 1 == n_nodes && n_parents[0] == 0 &&
           std::all_of(n_parents.begin() + 1, n_parents.end() - 2, [](std::uint8_t n) { return n == 1; });
}

// By column: whether a node may split it at a threshold. The last element is false, for columns that do not exist.
std::vector<std::uint8_t> find_splittable(const Binning& binning) {
    std::vector<std::uint8_t> is_splittable;
    for (const Column& column : binning.columns) {
        is_splittable.push_back(!column.is_category && column.is_used && column.n_bins > 0 ? 1 : 0);
    }
    is_splittable.push_back(0);
    return is_splittable;
}

// Reads the scores and the link of a forest, without its columns and trees.
Forest read_scores(const ForestArrays& arrays) {
    require(arrays.n_outputs > 0, "it has no outputs");
    require(arrays.n_scores > 0, "it has no scores");
    require(arrays.link < n_links, "its link is unknown");
    Forest forest;
    forest.n_outputs = arrays.n_outputs;
    forest.is_classifier = arrays.is_classifier;
    forest.n_scores = arrays.n_scores;
    forest.turns = arrays.turns;
    forest.start = arrays.start;
    forest.link = Link{arrays.link};
    forest.scale = arrays.scale;
    require(forest.link != Link::logistic || forest.n_scores == 1, "a logistic link takes one score");
    require(forest.n_outputs == count_outputs(forest.link, forest.n_scores), "the outputs do not fit the scores");
    require(forest.link == Link::mean || forest.is_classifier == gives_probabilities(forest.link),
            "the link does not fit the task");
    require(forest.link != Link::mean || !forest.turns, "trees that vote cannot take turns");
    require(forest.start.size() == forest.n_scores, "the start does not fit the scores");
    require(std::ranges::all_of(forest.start,
                                [&](double score) {
                                    return std::isfinite(score) && (score == 0 || forest.link != Link::mean) &&
                                           (score >= 0 || !needs_votes(forest.link));
                                }),
            "the start score is invalid");
    require(std::isfinite(forest.scale) && forest.scale > 0, "the scale is not a positive number");
    return forest;
}

void check_values(const Forest& forest, std::span<const double> values) {
    require(are_finite(values), "a value is not finite");
    require(!needs_votes(forest.link) || std::ranges::all_of(values, [](double value) { return value >= 0; }),
            "a vote is negative");
    if (forest.is_classifier && forest.link == Link::mean) check_probabilities(values, forest.n_outputs, require);
}

void read_records(const ForestArrays& arrays, std::size_t begin, Tree& tree) {
    tree.records.resize(tree.nodes.size());
    for (std::size_t i = 0; i < tree.records.size(); ++i) {
        NodeRecord& record = tree.records[i];
        record = {arrays.impurities[begin + i], arrays.weights[begin + i], arrays.n_rows[begin + i]};
        require(std::isfinite(record.impurity), "an impurity is not finite");
        require(std::isfinite(record.weight) && record.weight >= 0, "a node's weight is negative or not finite");
    }
    require(tree.records.front().weight > 0, "a root has no weight");
}

// Scores that overflow would make the classes indistinguishable to the link.
void check_reach(const Forest& forest) {
    double reach = 0;
    for (const double score : forest.start) reach = std::max(reach, std::abs(score));
    for (const Tree& tree : forest.trees) {
        double largest = 0;
        for (const double value : tree.values) largest = std::max(largest, std::abs(value));
        reach += largest;
    }
    const double total = reach * static_cast<double>(forest.n_scores);
    require(std::isfinite(total) && std::isfinite(total * forest.scale), "its scores are out of range");
}

Tree read_tree(const ForestArrays& arrays, const Forest& forest, std::span<const std::uint8_t> is_splittable,
               std::size_t t) {
    Tree tree;
    const auto nodes = part(arrays.nodes, arrays.node_offsets, t);
    const auto sets = part(arrays.sets, arrays.set_offsets, t);
    const auto values = part(arrays.values, arrays.value_offsets, t);
    require(!nodes.empty(), "a tree has no nodes");
    require(values.size() % forest.leaf_size() == 0, "a tree's values do not fit the number of scores");
    tree.nodes.assign(nodes.begin(), nodes.end());
    tree.sets.assign(sets.begin(), sets.end());
    tree.values.assign(values.begin(), values.end());
    const std::size_t n_values = values.size() / forest.leaf_size();
    if (!arrays.impurities.empty()) {
        require(n_values == nodes.size(), "a tree with records must have a value per node");
        read_records(arrays, arrays.node_offsets[t], tree);
    }
    tree.leaf_weights =
        read_weights(arrays.leaf_weights, t, arrays.node_offsets.size() - 1, nodes.size() / 2 + 1, require);
    const bool is_plain = tree.sets.empty() && tree.records.empty();
    if (!is_plain || !is_valid(tree, is_splittable, n_values)) check_nodes(tree, forest.binning, n_values);
    check_values(forest, values);
    return tree;
}

}  // namespace

ForestArrays to_arrays(const Forest& forest) {
    ForestArrays arrays;
    arrays.n_outputs = forest.n_outputs;
    arrays.is_classifier = forest.is_classifier;
    arrays.n_scores = forest.n_scores;
    arrays.turns = forest.turns;
    arrays.start = forest.start;
    arrays.link = static_cast<std::uint8_t>(forest.link);
    arrays.scale = forest.scale;
    arrays.node_offsets = arrays.set_offsets = arrays.value_offsets = {0};
    for (const Tree& tree : forest.trees) {
        if (tree.records.empty() != forest.trees.front().records.empty()) {
            throw std::invalid_argument("Some trees of the forest have records and some have none.");
        }
        append(arrays.nodes, arrays.node_offsets, tree.nodes);
        append(arrays.sets, arrays.set_offsets, tree.sets);
        append(arrays.values, arrays.value_offsets, tree.values);
        append(arrays.leaf_weights, tree.leaf_weights);
        for (const NodeRecord& record : tree.records) {
            arrays.impurities.push_back(record.impurity);
            arrays.weights.push_back(record.weight);
            arrays.n_rows.push_back(record.n_rows);
        }
    }
    arrays.columns = to_arrays(forest.binning);
    return arrays;
}

Forest from_arrays(const ForestArrays& arrays) {
    Forest forest = read_scores(arrays);
    require(arrays.node_offsets.size() > (forest.link == Link::mean ? 1 : 0), "it has no trees");
    const std::size_t n_trees = arrays.node_offsets.size() - 1;
    require(are_offsets(arrays.node_offsets, n_trees, arrays.nodes.size()),
            "the offsets of the nodes are out of order");
    require(are_offsets(arrays.set_offsets, n_trees, arrays.sets.size()), "the offsets of the sets are out of order");
    require(are_offsets(arrays.value_offsets, n_trees, arrays.values.size()),
            "the offsets of the values are out of order");
    require(arrays.impurities.empty() || arrays.impurities.size() == arrays.nodes.size(),
            "there must be a record for every node or for none");
    require(arrays.weights.size() == arrays.impurities.size() && arrays.n_rows.size() == arrays.impurities.size(),
            "the arrays of the records differ in length");
    forest.binning = from_arrays(arrays.columns, "a forest");
    forest.trees.reserve(n_trees);
    const auto is_splittable = find_splittable(forest.binning);
    for (std::size_t t = 0; t < n_trees; ++t) forest.trees.push_back(read_tree(arrays, forest, is_splittable, t));
    if (forest.link != Link::mean) check_reach(forest);
    return forest;
}

}  // namespace committee
