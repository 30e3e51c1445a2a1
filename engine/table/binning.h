// From columns of numbers to codes. Comes in: column views and row weights. Goes out: cuts and codes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// Reads rows [begin, begin + out.size()) as doubles; -0.0 becomes 0.0.
void read_values(const ColumnView& column, std::size_t begin, std::span<double> out);

// Reads category codes; a code above n_bins (a category unseen at fit) or below 0 is missing.
void read_categories(const ColumnView& column, std::size_t begin, std::uint32_t n_bins, std::span<std::uint16_t> out);

// The codes of some values of a column of numbers.
void find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out);

// A column with at most max_bins distinct values of positive weight gets a bin for each; one with more gets cuts at the
// quantiles of the weighted values. n_categories[j] is 0 for a column of numbers. weights may be empty (all one).
// Throws Stopped if a poll says so.
Table bin_table(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
                std::span<const std::uint32_t> weights, std::uint32_t max_bins, int n_threads, const Stop& stop = {},
                bool keep_cuts = true);

// The cuts above some bins of column j, which were not kept: as they were between the values that were binned. Where
// all values are different, all cuts together are as large as the values, and trees ask about few of them.
std::vector<double> find_cuts(const Table& table, std::size_t j, const ColumnView& values,
                              std::span<const std::uint32_t> weights, std::span<const std::uint16_t> bins);

// A table from codes by column: those by row follow from them.
template <class Code>
Table table_of(std::shared_ptr<const Binning> binning, Codes<Code> codes, int n_threads, const Stop& stop = {});

}  // namespace committee
