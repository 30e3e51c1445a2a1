// Five levels of a tree below an exit of its top levels, for machines that can look up 32 codes of a row at once
// (AVX-512). All nodes are compared with the row's codes at once; the results, as bits of one word, give the path.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/tree.h"

namespace committee {

// Node i has the children 2 i and 2 i + 1; the root is 1. If a path ends early, at a leaf or a categorical node, all
// ends below are that node.
struct alignas(64) FiveLevels {
    static constexpr std::size_t n_ends = 32;

    std::array<std::uint16_t, n_ends> columns{}, thresholds{};  // a code above the threshold goes right
    std::array<std::uint32_t, n_ends> ends{};                   // nodes of the tree, from left to right
    std::uint32_t missing_right = 0;                            // bit i: whether missing goes right at node i
};

// Whether this machine supports descend_five_levels() for rows of n_columns codes. Do not call it otherwise.
bool can_descend_five_levels(std::size_t n_columns);

FiveLevels make_five_levels(const Tree& tree, std::uint32_t root);

// nodes[k] = the node that row rows[k] reaches from the root of the five levels. Codes are row-major, `stride` apart.
template <class Code>
void descend_five_levels(const FiveLevels& levels, const Code* codes, std::size_t stride, std::size_t n_columns,
                         std::span<const std::uint32_t> rows, std::uint32_t* nodes);

}  // namespace committee
