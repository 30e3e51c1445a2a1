// Moves many rows down a tree together on machines with wide vectors (AVX-512). Every step reads the nodes of all rows,
// then the codes that these nodes compare, and then moves vectors of rows. Rows at leaves are removed from the list.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "tree/tree.h"

namespace committee {

// Whether this machine supports descend_vectors() for this tree and rows of n_columns codes. Do not call it otherwise.
bool can_descend_vectors(const Tree& tree, std::size_t n_columns);

// Moves rows rows[k] of row-major codes (fewer than 2^32), `stride` apart, from nodes[k] down to their leaves. Reorders
// rows and nodes together.
template <class Code>
void descend_vectors(const Tree& tree, const Code* codes, std::size_t stride, std::span<std::uint32_t> rows,
                     std::uint32_t* nodes);

}  // namespace committee
