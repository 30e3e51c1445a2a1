// Many rows go down a tree side by side, for machines with wide vectors (AVX-512). In turns, the nodes of all rows are
// read, the codes that they ask for are read, and vectors of rows take their step; who has arrived leaves the list.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/tree.h"

namespace committee {

// Whether this machine can lead rows of so many codes down this tree. descend_vectors() may be called only if it can.
bool can_descend_vectors(const Tree& tree, std::size_t n_columns);

// Leads the rows rows[k] of row-major codes (fewer than 2 to the power of 32), rows `stride` apart, from nodes[k] to
// their leaves. Afterwards they stand in another order, still with their nodes.
template <class Code>
void descend_vectors(const Tree& tree, const Code* codes, std::size_t stride, std::span<std::uint32_t> rows,
                     std::uint32_t* nodes);

}  // namespace committee
