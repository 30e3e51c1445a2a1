// Five levels of a tree below an exit of its crown, for machines that can look up 32 codes of a row at once (AVX-512):
// all questions are asked of a row together, and the answers, bits of one word, lead it down the five levels.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree.h"

namespace committee {

// Node i has the children 2 i and 2 i + 1; the root is 1. Below a leaf, or a node that asks for categories, all ends
// are that node.
struct alignas(64) Bough {
    static constexpr std::size_t n_ends = 32;

    std::array<std::uint16_t, n_ends> columns{}, thresholds{};  // a code above the threshold goes right
    std::array<std::uint32_t, n_ends> ends{};                   // nodes of the tree, from left to right
    std::uint32_t missing_right = 0;                            // bit i: where missing goes at node i
};

// Whether this machine can take rows of so many codes down a bough. climb() may be called only if it can.
bool can_climb(std::size_t n_columns);

Bough make_bough(const Tree& tree, std::uint32_t root);

// nodes[k] = where the row rows[k] of row-major codes, rows `stride` apart, gets from the bough's root.
template <class Code>
void climb(const Bough& bough, const Code* codes, std::size_t stride, std::size_t n_columns,
           std::span<const std::uint32_t> rows, std::uint32_t* nodes);

}  // namespace committee
