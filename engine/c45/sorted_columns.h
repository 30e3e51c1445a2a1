// The columns of numbers that C4.5 grows on, in order: sorted for one tree, or once for many, each of which takes its
// own rows.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/split.h"
#include "table/row_order.h"

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

    // The same from a column that is sorted already, with all its rows.
    void add(std::size_t column, const SortedColumn& whole, Polls& polls);

    std::span<const std::uint32_t> all_rows;
    std::span<const std::uint32_t> rows;
    std::vector<Values> values;               // per column, empty for categories, as is the next
    std::vector<std::vector<Entry>> entries;  // `instance` is a position in `rows`

  private:
    SortedColumn part_of(const SortedColumn& whole) const;
    void keep(std::size_t column, SortedColumn sorted);

    std::vector<std::uint32_t> instance_of_;  // per row; is_absent, or is_only_known if it is not one to grow on
    ColumnSorter sorter_;
};

}  // namespace committee::c45
