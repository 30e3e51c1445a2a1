// What a tree that grows is made of, piece by piece.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "tree/tree.h"

namespace committee {

// Two more nodes, and their records if the others have some. The first of them, which is to be the left child.
inline std::uint32_t add_children(Tree& tree) {
    const auto left = static_cast<std::uint32_t>(tree.nodes.size());
    if (left + 1 > max_address) throw std::length_error("A tree outgrew the 67,108,863 nodes that a node can address.");
    tree.nodes.resize(tree.nodes.size() + 2);
    if (!tree.records.empty()) tree.records.resize(tree.nodes.size());
    return left;
}

// The set of categories that go left, and where it lies.
inline std::uint32_t add_set(Tree& tree, std::uint32_t left, const std::vector<std::uint16_t>& codes) {
    auto& sets = tree.sets;
    const auto at = static_cast<std::uint32_t>(sets.size());
    const std::uint32_t first = codes.empty() ? 0 : std::ranges::min(codes) >> 5;
    const std::uint32_t n_words = codes.empty() ? 0 : (std::ranges::max(codes) >> 5) - first + 1;
    const bool is_list = codes.size() < n_words;
    sets.resize(sets.size() + 3 + (is_list ? codes.size() : n_words), 0);
    if (sets.size() > max_address)
        throw std::length_error("A tree outgrew the 67,108,863 words that hold its categories.");
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
