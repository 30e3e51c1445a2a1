// Bins columns. In: column views and row weights. Out: cuts and codes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// Reads rows [begin, begin + out.size()) as doubles and turns -0.0 into 0.0.
void read_values(const ColumnView& column, std::size_t begin, std::span<double> out);

// Reads category codes. A code below 0 or above n_bins (a category unseen during fit) is read as missing.
void read_categories(const ColumnView& column, std::size_t begin, std::uint32_t n_bins, std::span<std::uint16_t> out);

// Finds the codes of some values of a numeric column.
void find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out);

// A numeric column with at most max_bins distinct values of positive weight gets one bin per value. One with more
// distinct values gets cuts at its weighted quantiles. n_categories[j] is 0 for a numeric column. Empty weights mean 1
// for every row. Throws Stopped if a poll requests it.
Table bin_table(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
                std::span<const std::uint32_t> weights, std::uint32_t max_bins, int n_threads, const Stop& stop = {},
                bool keep_cuts = true);

// Recomputes the cuts above some bins of column j, for tables binned without keeping their cuts. If all values are
// distinct, storing all cuts takes as much memory as the values, and trees use few of them.
std::vector<double> find_cuts(const Table& table, std::size_t j, const ColumnView& values,
                              std::span<const std::uint32_t> weights, std::span<const std::uint16_t> bins);

// Makes a table from codes by column. The codes by row are computed from them.
template <class Code>
Table table_of(std::shared_ptr<const Binning> binning, Codes<Code> codes, int n_threads, const Stop& stop = {});

}  // namespace committee
