// Checks the arguments of C4.5. Columns are passed as a list of contiguous 1-D arrays: float64 numbers or int32
// category codes.
#pragma once
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

#include "c45/ensemble/grower.h"
#include "python/arguments/arrays.h"

namespace committee {

using ColumnArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// n_categories has one element per column, C45Column::is_number for numbers. The list must outlive the result.
inline std::vector<C45Column> view_columns(const nb::list& arrays, std::span<const std::int32_t> n_categories,
                                           std::size_t n_rows) {
    if (arrays.size() != n_categories.size()) throw std::invalid_argument("the number of columns has changed");
    std::vector<C45Column> columns;
    columns.reserve(n_categories.size());
    for (std::size_t j = 0; j < n_categories.size(); ++j) {
        ColumnArray array;
        if (!nb::try_cast<ColumnArray>(arrays[j], array, false)) {
            throw std::invalid_argument("a column must be a contiguous 1-D array");
        }
        if (array.size() != n_rows) throw std::invalid_argument("columns differ in length");
        C45Column column;
        column.n_categories = n_categories[j];
        if (column.n_categories == C45Column::is_number) {
            if (array.dtype() != nb::dtype<double>()) throw std::invalid_argument("numbers must be float64");
            column.numbers = {static_cast<const double*>(array.data()), n_rows};
        } else {
            if (array.dtype() != nb::dtype<std::int32_t>()) throw std::invalid_argument("codes must be int32");
            column.codes = {static_cast<const std::int32_t*>(array.data()), n_rows};
        }
        columns.push_back(column);
    }
    return columns;
}

inline void check_codes(std::span<const std::int32_t> codes, std::int32_t lowest, std::int32_t highest,
                        const char* message) {
    for (const std::int32_t code : codes) {
        if (code < lowest || code > highest) throw std::invalid_argument(message);
    }
}

inline void check_settings(const C45Settings& settings) {
    if (!(settings.confidence > 0 && settings.confidence <= 0.5)) {
        throw std::invalid_argument("confidence must be in (0, 0.5]");
    }
    if (!(settings.min_leaf_weight > 0)) throw std::invalid_argument("min_leaf_weight must be > 0");
    if (settings.n_folds < 2) throw std::invalid_argument("n_folds must be >= 2");
}

// The arrays must outlive the result.
inline C45Table read_c45_table(const nb::list& arrays, const Vector<std::int32_t>& n_categories,
                               std::span<const std::int32_t> classes, std::int32_t n_classes) {
    if (classes.size() >= max_c45_rows) throw std::invalid_argument("too many rows");
    check_codes(as_span(n_categories), C45Column::is_number, std::numeric_limits<std::int32_t>::max() - 1,
                "n_categories must be >= -1");
    const C45Table table{view_columns(arrays, as_span(n_categories), classes.size()), classes, n_classes};
    for (const C45Column& column : table.columns) {
        check_codes(column.codes, 0, column.n_categories, "a code has no category");
    }
    if (n_classes < 1) throw std::invalid_argument("n_classes must be >= 1");
    check_codes(classes, 0, n_classes - 1, "a class code is not below n_classes");
    return table;
}

}  // namespace committee
