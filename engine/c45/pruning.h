// Prunes a grown tree in place. Nodes that are cut off stay in the arrays until `pack` removes them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/arithmetic.h"
#include "c45/c45.h"

namespace committee::c45 {

// A row and the fraction of its weight that reaches a node.
struct WeightedRow {
    std::uint32_t row;
    double weight;
};

// Replaces subtrees by a leaf if they make as many errors on the training rows.
void collapse(C45Tree& tree);

// Replaces subtrees by a leaf or, with subtree_raising, by their largest branch, if the pessimistic error estimate does
// not increase. `rows` are the rows that the tree was grown on.
void prune_pessimistically(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                           const Grid& grid, double confidence, bool subtree_raising, std::vector<WeightedRow> rows,
                           Polls& polls);

// Replaces subtrees by a leaf if this does not increase the errors on `rows`, which must not be rows that the tree was
// grown on.
void prune_by_errors(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                     const Grid& grid, std::vector<WeightedRow> rows, Polls& polls);

// The nodes reachable from the root, with parents first.
C45Tree pack(const C45Tree& tree);

}  // namespace committee::c45
