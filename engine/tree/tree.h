// A flat tree. A node is one 64-bit word, the two children of a node are adjacent, and leaves point into a list of
// values:
//
//     bits  0-15  threshold      a code <= threshold goes left
//     bits 16-34  column
//     bit  35     missing right  missing (code 0) goes right
//     bit  36     category       the address is an index into the sets
//     bits 37-62  address        left child (the right one follows it), set or value
//     bit  63     leaf           the address is an index into the values
//
// A set holds the categories that go left, as a bit set: the left child, the index of the first 32-bit word of the bit
// set, the number of words, and the words. If there are fewer categories than words, the set is a sorted list: the left
// child, lists_codes, the number of codes, and the codes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/leaf_weights.h"

namespace committee {

using NodeWord = std::uint64_t;

inline constexpr std::size_t max_columns = std::size_t{1} << 19;
inline constexpr std::size_t max_address = (std::size_t{1} << 26) - 1;
inline constexpr int address_shift = 37;
inline constexpr std::uint64_t missing_right_bit = std::uint64_t{1} << 35;
inline constexpr std::uint64_t category_bit = std::uint64_t{1} << 36;
inline constexpr std::uint64_t leaf_bit = std::uint64_t{1} << 63;
inline constexpr std::uint32_t lists_codes = std::uint32_t{1} << 31;

inline NodeWord leaf_word(std::uint32_t value) { return leaf_bit | (NodeWord{value} << address_shift); }

inline NodeWord number_word(std::uint32_t column, std::uint32_t threshold, bool missing_right, std::uint32_t left) {
    return threshold | (NodeWord{column} << 16) | (missing_right ? missing_right_bit : 0) |
           (NodeWord{left} << address_shift);
}

inline NodeWord category_word(std::uint32_t column, bool missing_right, std::uint32_t set) {
    return (NodeWord{column} << 16) | (missing_right ? missing_right_bit : 0) | category_bit |
           (NodeWord{set} << address_shift);
}

inline bool is_leaf(NodeWord word) { return (word & leaf_bit) != 0; }
inline bool is_category(NodeWord word) { return (word & category_bit) != 0; }
inline bool missing_goes_right(NodeWord word) { return (word & missing_right_bit) != 0; }
inline std::uint32_t threshold_of(NodeWord word) { return static_cast<std::uint16_t>(word); }
inline std::uint32_t column_of(NodeWord word) { return static_cast<std::uint32_t>(word >> 16) & 0x7ffffU; }
inline std::uint32_t address_of(NodeWord word) {
    return static_cast<std::uint32_t>(word >> address_shift) & static_cast<std::uint32_t>(max_address);
}

// The next node of a row, given its code in the column of an inner node that splits a numeric column.
template <bool may_miss>
std::uint32_t next_number_node(NodeWord word, std::uint32_t code) {
    // If missing goes right, 1 is subtracted from code and threshold, so that missing wraps around to the highest code.
    const std::uint32_t shift = may_miss ? static_cast<std::uint32_t>(word >> 35) & 1 : 0;
    const bool right = static_cast<std::uint16_t>(code - shift) > static_cast<std::uint16_t>(word - shift);
    return static_cast<std::uint32_t>(word >> address_shift) + (right ? 1 : 0);
}

inline std::uint32_t next_category_node(NodeWord word, std::uint32_t code, const std::uint32_t* sets) {
    const std::uint32_t* set = sets + address_of(word);
    if (code == 0) return set[0] + (missing_goes_right(word) ? 1 : 0);
    const std::uint32_t at = (code >> 5) - set[1];  // wraps around to a large number for a code before the first word
    const bool in_set = set[1] == lists_codes ? std::binary_search(set + 3, set + 3 + set[2], code)
                                              : at < set[2] && ((set[3 + at] >> (code & 31)) & 1) != 0;
    return set[0] + (in_set ? 0 : 1);
}

inline std::uint32_t next_node(NodeWord word, std::uint32_t code, const std::uint32_t* sets) {
    return is_category(word) ? next_category_node(word, code, sets) : next_number_node<true>(word, code);
}

// Kept for single trees, which can be pruned, plotted and inspected. Forests have no records.
struct NodeRecord {
    double impurity = 0;
    double weight = 0;
    std::uint64_t n_rows = 0;
};

struct Tree {
    std::vector<NodeWord> nodes;
    std::vector<std::uint32_t> sets;
    std::vector<double> values;  // every value has as many numbers as the forest has scores
    LeafWeights leaf_weights;
    std::vector<NodeRecord> records;       // by node, or empty; with records, value i belongs to node i
    std::vector<double> importances = {};  // summed impurity decrease by column, not normalised
};

// The left child of an inner node. The right one follows it.
inline std::uint32_t left_child(const Tree& tree, NodeWord word) {
    return is_category(word) ? tree.sets[address_of(word)] : address_of(word);
}

// The training weights of all nodes. Throws std::invalid_argument if they are unknown.
inline std::vector<double> node_weights(const Tree& tree) {
    return weigh_nodes(tree.leaf_weights, tree.nodes.size(), [&](std::size_t node) -> std::size_t {
        return is_leaf(tree.nodes[node]) ? 0 : left_child(tree, tree.nodes[node]);
    });
}

// Pointers to the arrays of a tree. They are small, so those of many trees fit in the first cache.
struct TreeView {
    const NodeWord* nodes = nullptr;
    const std::uint32_t* sets = nullptr;  // nullptr if the tree has no sets
    const double* values = nullptr;

    TreeView() = default;
    explicit TreeView(const Tree& tree)
        : nodes(tree.nodes.data()), sets(tree.sets.empty() ? nullptr : tree.sets.data()), values(tree.values.data()) {}
};

}  // namespace committee
