// Growing the full tree, before any pruning. Columns of numbers are sorted once; a split then parts the sorted lists,
// in place. Only a split that sends parts of rows down several branches makes new lists for the nodes below it.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45.h"
#include "c45_split.h"
#include "sort_rows.h"

namespace committee::c45 {

// The distinct values of a column of numbers, and the rows in their order, missing last.
struct SortedColumn {
    Values values;
    std::vector<Entry> entries;  // `instance` is the row
};
class ColumnSorter {
  public:
    SortedColumn sort(std::span<const double> numbers, std::span<const std::uint32_t> rows, Polls& polls);

  private:
    RowSorter sorter_;
    std::vector<std::uint32_t> known_;  // the rows that are not missing
};

// J48's thresholds are values of the table: the largest at most half way between the two sides.
double choose_threshold(std::span<const double> values, std::uint32_t rank_below, std::uint32_t rank_above);

// The columns of numbers of a table, sorted one after another.
class SortedTable {
  public:
    // Trees grow on `rows`, which come by class; thresholds are chosen among the values of `all_rows`.
    SortedTable(std::size_t n_columns, std::size_t n_rows, std::span<const std::uint32_t> all_rows,
                std::span<const std::uint32_t> rows);

    // The numbers may go afterwards.
    void add(std::size_t column, std::span<const double> numbers, Polls& polls);

    std::span<const std::uint32_t> all_rows;
    std::span<const std::uint32_t> rows;
    std::vector<Values> values;               // per column, empty for categories, as is the next
    std::vector<std::vector<Entry>> entries;  // `instance` is a position in `rows`

  private:
    std::vector<std::uint32_t> instance_of_;
    ColumnSorter sorter_;
};

// The weights of the rows are on `grid`. Of columns of numbers, nothing is asked but that they are such.
C45Tree grow_tree(std::span<const C45Column> columns, SortedTable sorted, std::span<const std::int32_t> classes,
                  std::int32_t n_classes, std::span<const double> weights, const Grid& grid, double min_leaf_weight,
                  Polls& polls);

}  // namespace committee::c45
