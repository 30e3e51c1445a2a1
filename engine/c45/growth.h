// Growing the full tree, before any pruning. Columns of numbers are sorted once; a split then parts the sorted lists,
// in place. Only a split that sends parts of rows down several branches makes new lists for the nodes below it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "c45/sorted_columns.h"
#include "c45/split.h"

namespace committee::c45 {

// The weights of the rows are on `grid`. Of columns of numbers, nothing is asked but that they are such.
C45Tree grow_tree(std::span<const C45Column> columns, SortedTable sorted, std::span<const std::int32_t> classes,
                  std::int32_t n_classes, std::span<const double> weights, const Grid& grid, double min_leaf_weight,
                  Polls& polls);

}  // namespace committee::c45
