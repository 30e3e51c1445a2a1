// The axes of a table. A numeric column is one axis, scaled so that its training rows are in [0, 1]. Every category is
// an axis, 1 for its rows and 0 for others; a column with two categories only gets an axis for the second. Columns that
// are constant in the training rows have no axis.
#pragma once
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "growing/tree_growth.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

struct Axis {
    std::uint32_t column = 0;
    std::uint32_t category = 0;  // 0: numeric
    double low = 0;              // numeric only: the value at 0, and the length of the range
    double range = 1;
};

struct Axes {
    std::vector<std::uint32_t> n_categories;  // by column; 0 for numbers
    std::vector<Axis> list;                   // by column, then by category

    std::size_t size() const { return list.size(); }
};

// Values are clipped to this distance from 0. It also replaces infinities.
inline constexpr double furthest = 1024;

// A layout of rows: adjacent rows are row_stride apart in `out`, adjacent axes axis_stride. NaN is missing.
struct AxisLayout {
    double* out = nullptr;
    std::size_t row_stride = 0;
    std::size_t axis_stride = 0;
};

// Writes rows [begin, begin + n_rows). Returns whether any value is missing.
bool read_axes(const Axes& axes, std::span<const ColumnView> columns, std::size_t begin, std::size_t n_rows,
               const AxisLayout& layout);

// Finds the axes of the rows of positive weight. Empty weights mean 1 for every row.
Axes find_axes(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
               std::span<const std::uint32_t> weights, int n_threads, const Stop& stop = {});

// The training rows, sorted by class and then by content. Samples and sums in this order therefore do not depend on the
// order of the caller's rows. Rows of weight 0 come last.
struct AxisTable {
    std::size_t n_axes = 0;
    std::size_t n_rows = 0;                 // of positive weight
    std::vector<std::uint32_t> rows;        // of all: their positions in the caller's table
    std::vector<double> values;             // by axis, all rows; NaN is missing
    std::vector<char> has_missing;          // by axis
    Target target;                          // of all rows
    std::vector<std::uint32_t> weights;     // of the rows of positive weight; empty: all 1
    std::vector<std::size_t> class_starts;  // the first row of each class; in regression there is one class

    std::size_t n_classes() const { return class_starts.size() - 1; }
    std::span<const double> axis(std::size_t a) const { return {values.data() + a * rows.size(), rows.size()}; }
};

// weights: fixed-point, or empty. Rows of weight 0 are included if with_weightless is set.
AxisTable make_axis_table(const Axes& axes, std::span<const ColumnView> columns, const Target& target,
                          std::span<const std::uint32_t> weights, bool with_weightless, int n_threads,
                          const Stop& stop = {});

}  // namespace committee
