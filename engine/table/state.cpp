#include "table/state.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "numbers/flat_arrays.h"
#include "table/binning.h"
#include "tree/tree.h"

namespace committee {
namespace {

void require(bool holds, const char* thing, const char* message) {
    if (!holds) throw std::invalid_argument(std::string("This is not ") + thing + ": " + message + ".");
}

Column read_column(const ColumnArrays& arrays, std::size_t j, const char* thing) {
    const std::size_t begin = arrays.cut_offsets[j];
    const std::span<const double> cuts(arrays.cuts.data() + begin, arrays.cut_offsets[j + 1] - begin);
    Column column;
    column.is_category = arrays.is_category[j] != 0;
    column.is_used = arrays.is_used[j] != 0;
    column.n_bins = arrays.n_bins[j];
    column.cuts.assign(cuts.begin(), cuts.end());
    column.lowest = arrays.lowest[j];
    column.highest = arrays.highest[j];
    require(column.n_bins <= 65535, thing, "a column has more than 65,535 bins");
    if (column.is_category) {
        require(column.n_bins > 0 && cuts.empty(), thing, "a column of categories has no categories, or has cuts");
    } else {
        require(column.n_bins == cuts.size() + 1 || (column.n_bins == 0 && cuts.empty()), thing,
                "a column's bins do not fit its cuts");
    }
    require(std::ranges::none_of(cuts, [](double cut) { return std::isnan(cut); }), thing, "a cut is not a number");
    require(std::ranges::adjacent_find(cuts, std::greater_equal()) == cuts.end(), thing, "cuts do not increase");
    require(!std::isnan(column.lowest) && !std::isnan(column.highest), thing, "a column's range is not a number");
    return column;
}

}  // namespace

ColumnArrays to_arrays(const Binning& binning) {
    ColumnArrays arrays;
    arrays.cut_offsets = {0};
    for (const Column& column : binning.columns) {
        arrays.cuts.insert(arrays.cuts.end(), column.cuts.begin(), column.cuts.end());
        arrays.cut_offsets.push_back(arrays.cuts.size());
        arrays.n_bins.push_back(column.n_bins);
        arrays.is_category.push_back(column.is_category ? 1 : 0);
        arrays.is_used.push_back(column.is_used ? 1 : 0);
        arrays.lowest.push_back(column.lowest);
        arrays.highest.push_back(column.highest);
    }
    return arrays;
}

TableArrays to_arrays(const Table& table) {
    TableArrays arrays;
    arrays.columns = to_arrays(*table.binning);
    arrays.n_rows = table.n_rows();
    std::visit([&](const auto& codes) { arrays.codes = codes.by_column; }, table.codes);
    return arrays;
}

Binning from_arrays(const ColumnArrays& arrays, const char* thing) {
    const std::size_t n_columns = arrays.n_bins.size();
    require(n_columns > 0 && n_columns <= max_columns, thing, "it has no columns, or more than 524,288");
    require(arrays.is_category.size() == n_columns && arrays.is_used.size() == n_columns &&
                arrays.lowest.size() == n_columns && arrays.highest.size() == n_columns,
            thing, "the arrays of the columns differ in length");
    require(are_offsets(arrays.cut_offsets, n_columns, arrays.cuts.size()), thing,
            "the offsets of the cuts are out of order");
    Binning binning;
    binning.columns.reserve(n_columns);
    for (std::size_t j = 0; j < n_columns; ++j) binning.columns.push_back(read_column(arrays, j, thing));
    return binning;
}

Table from_arrays(TableArrays arrays) {
    const char* thing = "a table";
    auto binning = std::make_shared<const Binning>(from_arrays(arrays.columns, thing));
    const std::size_t n_columns = binning->columns.size(), n_rows = arrays.n_rows;
    require(n_rows <= max_rows, thing, "it has more than 1,073,741,824 rows");
    return std::visit(
        [&]<class Code>(std::vector<Code>& codes) {
            require(binning->is_wide() == (sizeof(Code) > 1), thing, "its codes are of the wrong width");
            require(codes.size() == n_rows * n_columns, thing, "the number of codes does not fit the rows");
            for (std::size_t j = 0; j < n_columns; ++j) {
                const std::span<const Code> column(codes.data() + j * n_rows, n_rows);
                require(n_rows == 0 || *std::ranges::max_element(column) <= binning->columns[j].n_bins, thing,
                        "a code has no bin");
            }
            return table_of(std::move(binning), Codes<Code>{n_rows, n_columns, std::move(codes), {}}, 1);
        },
        arrays.codes);
}

}  // namespace committee
