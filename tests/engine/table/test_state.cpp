#include <functional>
#include <limits>
#include <stdexcept>
#include <utility>

#include "check.h"
#include "small_tables.h"
#include "table/state.h"

using namespace committee;

namespace {

Table some_table(std::size_t n_rows) {
    const SmallTable small({random_numbers(n_rows, 1, true), random_numbers(n_rows, 2)},
                           {random_codes(n_rows, 70, 3, true)}, 70);
    return small.bin();
}

void a_table_survives_a_round_trip() {
    for (const std::size_t n_rows : {1, 200, 700}) {
        const Table table = some_table(n_rows);
        const Table back = from_arrays(to_arrays(table));
        check(back.has_missing == table.has_missing);
        check(back.codes.index() == table.codes.index());
        std::visit(
            [&]<class Code>(const Codes<Code>& codes) {
                const auto& again = std::get<Codes<Code>>(back.codes);
                check(again.by_column == codes.by_column && again.by_row == codes.by_row);
                check(again.n_rows == codes.n_rows && again.n_columns == codes.n_columns);
            },
            table.codes);
        for (std::size_t j = 0; j < 3; ++j) {
            const Column &column = table.binning->columns[j], &again = back.binning->columns[j];
            check(again.cuts == column.cuts && again.n_bins == column.n_bins);
            check(again.is_category == column.is_category);
            check(again.lowest == column.lowest && again.highest == column.highest);
        }
    }
}

void arrays_that_are_not_a_table_are_refused() {
    using Change = std::function<void(TableArrays&)>;
    const std::vector<std::pair<const char*, Change>> changes = {
        {"one row too many", [](auto& a) { ++a.n_rows; }},
        {"rows whose product with the columns wraps around", [](auto& a) { a.n_rows += std::uint64_t{1} << 62; }},
        {"one code too few", [](auto& a) { std::get<0>(a.codes).pop_back(); }},
        {"a code without a bin", [](auto& a) { std::get<0>(a.codes).back() = 71; }},
        {"codes of another width",
         [](auto& a) {
             const auto narrow = std::get<0>(a.codes);
             a.codes = std::vector<std::uint16_t>(narrow.begin(), narrow.end());
         }},
        {"a wide column in narrow codes", [](auto& a) { a.columns.n_bins[2] = 300; }},
        {"no columns", [](auto& a) { a.columns = {}; }},
        {"decreasing offsets", [](auto& a) { a.columns.cut_offsets[1] = a.columns.cut_offsets.back() + 1; }},
        {"cuts out of order", [](auto& a) { std::swap(a.columns.cuts[0], a.columns.cuts[1]); }},
        {"a range that is not a number",
         [](auto& a) { a.columns.highest[0] = std::numeric_limits<double>::quiet_NaN(); }},
    };
    for (const auto& [what, change] : changes) {
        TableArrays arrays = to_arrays(some_table(200));
        change(arrays);
        bool is_refused = false;
        try {
            from_arrays(std::move(arrays));
        } catch (const std::invalid_argument&) {
            is_refused = true;
        }
        check(is_refused, what);
    }
}

}  // namespace

int main() {
    a_table_survives_a_round_trip();
    arrays_that_are_not_a_table_are_refused();
    return report();
}
