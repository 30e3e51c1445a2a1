// Grows the full tree without pruning. Numeric columns are sorted once, and splits partition the sorted lists in place.
// Only a split that sends fractions of rows down several branches makes new lists for its children.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "c45/sorted_columns.h"
#include "c45/split.h"

namespace committee::c45 {

// The weights of the rows are on `grid`. The contents of numeric columns are not read, only their type.
C45Tree grow_tree(std::span<const C45Column> columns, SortedTable sorted, std::span<const std::int32_t> classes,
                  std::int32_t n_classes, std::span<const double> weights, const Grid& grid, double min_leaf_weight,
                  Polls& polls);

}  // namespace committee::c45
