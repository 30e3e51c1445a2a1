// The sorted numeric columns that C4.5 grows on. They are sorted for one tree, or once for many trees that each use
// some of the rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/split.h"
#include "table/row_order.h"

namespace committee::c45 {

// The distinct values of a numeric column, and its rows in sorted order, with missing values last.
struct SortedColumn {
    Values values;
    std::vector<Entry> entries;  // `instance` is the row
};
class ColumnSorter {
  public:
    SortedColumn sort(std::span<const double> numbers, std::span<const std::uint32_t> rows, Polls& polls);

  private:
    RowSorter sorter_;
    std::vector<std::uint32_t> known_;  // the rows without missing values
};

// As in J48, a threshold is a value of the table: the largest one up to the midpoint between both sides.
double choose_threshold(std::span<const double> values, std::uint32_t rank_below, std::uint32_t rank_above);

// The numeric columns of a table, added one after another.
class SortedTable {
  public:
    // Trees are grown on `rows`, which are sorted by class. Thresholds are chosen among the values of `all_rows`.
    SortedTable(std::size_t n_columns, std::size_t n_rows, std::span<const std::uint32_t> all_rows,
                std::span<const std::uint32_t> rows);

    // Sorts a column. `numbers` is not used afterwards.
    void add(std::size_t column, std::span<const double> numbers, Polls& polls);

    // The same for a column that has been sorted with all its rows.
    void add(std::size_t column, const SortedColumn& whole, Polls& polls);

    std::span<const std::uint32_t> all_rows;
    std::span<const std::uint32_t> rows;
    std::vector<Values> values;               // by column; empty for categories, like `entries`
    std::vector<std::vector<Entry>> entries;  // `instance` is an index into `rows`

  private:
    SortedColumn part_of(const SortedColumn& whole) const;
    void keep(std::size_t column, SortedColumn sorted);

    std::vector<std::uint32_t> instance_of_;  // by row; is_absent, or is_only_known for rows that are not grown on
    ColumnSorter sorter_;
};

}  // namespace committee::c45
