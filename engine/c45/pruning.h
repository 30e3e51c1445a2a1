// Pruning a grown tree in place. Nodes that are cut off stay in the arrays; `pack` leaves them out.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/arithmetic.h"
#include "c45/c45.h"

namespace committee::c45 {

// A row and the part of its weight that reaches a node.
struct WeightedRow {
    std::uint32_t row;
    double weight;
};

// Cuts subtrees that make no fewer errors on the training rows than a leaf.
void collapse(C45Tree& tree);

// Replaces subtrees by a leaf or, with `subtree_raising`, by their largest branch where the pessimistic error estimate
// is no higher. `rows` are those that the tree was grown on.
void prune_pessimistically(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                           const Grid& grid, double confidence, bool subtree_raising, std::vector<WeightedRow> rows,
                           Polls& polls);

// Replaces subtrees by a leaf where that makes no more errors on `rows`, which the tree was not grown on.
void prune_by_errors(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                     const Grid& grid, std::vector<WeightedRow> rows, Polls& polls);

// The nodes that can be reached from the root, parents first.
C45Tree pack(const C45Tree& tree);

}  // namespace committee::c45
