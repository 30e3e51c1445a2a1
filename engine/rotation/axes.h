// The axes of a table of numbers and categories. A column of numbers is one axis, on which its range in the training
// rows lies between 0 and 1; a category is an axis too, 1 for its rows and 0 for all others, and of two categories the
// second says all. What does not vary in the training rows is no axis.
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
    std::uint32_t category = 0;  // 0: of numbers
    double low = 0;              // numbers only: where 0 lies, and how long the range is
    double range = 1;
};

struct Axes {
    std::vector<std::uint32_t> n_categories;  // per column; 0 for numbers
    std::vector<Axis> list;                   // by column, then by category

    std::size_t size() const { return list.size(); }
};

// Whoever is further away than this, as infinity is, lies there.
inline constexpr double furthest = 1024;

// Where rows lie. Neighbouring rows are row_stride apart in `out`, neighbouring axes axis_stride. NaN is missing.
struct AxisLayout {
    double* out = nullptr;
    std::size_t row_stride = 0;
    std::size_t axis_stride = 0;
};

// Writes rows [begin, begin + n_rows). True if something is missing.
bool read_axes(const Axes& axes, std::span<const ColumnView> columns, std::size_t begin, std::size_t n_rows,
               const AxisLayout& layout);

// The axes of the rows of positive weight; weights may be empty (all one).
Axes find_axes(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
               std::span<const std::uint32_t> weights, int n_threads, const Stop& stop = {});

// The rows that trees may learn from, by class and then by what they contain, not by where they stand: nothing that is
// drawn or summed along this order depends on the order of the caller's rows. Behind them lie those without weight.
struct AxisTable {
    std::size_t n_axes = 0;
    std::size_t n_rows = 0;                 // with weight
    std::vector<std::uint32_t> rows;        // all: where they stand in the caller's table
    std::vector<double> values;             // by axis, all rows; NaN is missing
    std::vector<char> has_missing;          // per axis
    Target target;                          // of all rows
    std::vector<std::uint32_t> weights;     // of the rows with weight; empty: all one
    std::vector<std::size_t> class_starts;  // the rows of class k begin here; in regression all are of one class

    std::size_t n_classes() const { return class_starts.size() - 1; }
    std::span<const double> axis(std::size_t a) const { return {values.data() + a * rows.size(), rows.size()}; }
};

// weights: fixed-point, or empty. Rows of weight 0 are left out unless they are asked for.
AxisTable make_axis_table(const Axes& axes, std::span<const ColumnView> columns, const Target& target,
                          std::span<const std::uint32_t> weights, bool with_weightless, int n_threads,
                          const Stop& stop = {});

}  // namespace committee
