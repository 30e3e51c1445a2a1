// Appends nodes and sets of categories to a tree that is being grown.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tree/tree.h"

namespace committee {

// Appends two nodes, with records if the tree has them. Returns the index of the first one, the left child.
inline std::uint32_t add_children(Tree& tree) {
    const auto left = static_cast<std::uint32_t>(tree.nodes.size());
    if (left + 1 > max_address) throw std::length_error("A tree has more than 67,108,863 nodes.");
    tree.nodes.resize(tree.nodes.size() + 2);
    if (!tree.records.empty()) tree.records.resize(tree.nodes.size());
    return left;
}

// Appends the set of categories that go left. Returns its index in tree.sets.
inline std::uint32_t add_set(Tree& tree, std::uint32_t left, const std::vector<std::uint16_t>& codes) {
    auto& sets = tree.sets;
    const auto at = static_cast<std::uint32_t>(sets.size());
    const std::uint32_t first = codes.empty() ? 0 : std::ranges::min(codes) >> 5;
    const std::uint32_t n_words = codes.empty() ? 0 : (std::ranges::max(codes) >> 5) - first + 1;
    const bool is_list = codes.size() < n_words;
    sets.resize(sets.size() + 3 + (is_list ? codes.size() : n_words), 0);
    if (sets.size() > max_address)
        throw std::length_error("The category sets of a tree need more than 67,108,863 words.");
    sets[at] = left;
    sets[at + 1] = is_list ? lists_codes : first;
    sets[at + 2] = static_cast<std::uint32_t>(sets.size()) - at - 3;
    if (is_list) {
        std::ranges::copy(codes, sets.begin() + at + 3);
        std::ranges::sort(sets.begin() + at + 3, sets.end());
    } else {
        for (const std::uint16_t code : codes) sets[at + 3 + (code >> 5) - first] |= 1U << (code & 31);
    }
    return at;
}

}  // namespace committee
