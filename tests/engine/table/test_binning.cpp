#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "check.h"
#include "small_tables.h"
#include "table/binning.h"

using namespace committee;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<int> codes_of(const Table& table, std::size_t column) {
    return std::visit(
        [&](const auto& codes) { return std::vector<int>(codes.column(column), codes.column(column) + codes.n_rows); },
        table.codes);
}

std::vector<std::uint16_t> codes_of(const Column& column, const std::vector<double>& values) {
    std::vector<std::uint16_t> codes(values.size());
    find_codes(column, values, codes);
    return codes;
}

void few_distinct_values_get_one_bin_each() {
    const SmallTable small({{3, 1, 2, 1, 3}});
    const Table table = small.bin();
    check(codes_of(table, 0) == std::vector<int>{3, 1, 2, 1, 3});
    check(table.binning->columns[0].cuts == std::vector<double>{1.5, 2.5});
    check(table.binning->columns[0].lowest == 1 && table.binning->columns[0].highest == 3);
}

void many_distinct_values_are_cut_at_quantiles() {
    std::vector<double> values(1000);
    std::iota(values.begin(), values.end(), 0.0);
    const SmallTable small({values});
    const Table table = small.bin({}, 10);
    check(table.binning->columns[0].n_bins == 10);
    std::vector<int> counts(11, 0);
    for (const int code : codes_of(table, 0)) ++counts[static_cast<std::size_t>(code)];
    for (int bin = 1; bin <= 10; ++bin) check(counts[static_cast<std::size_t>(bin)] == 100);
}

void a_heavy_value_gets_its_own_bin() {
    const SmallTable small({{0, 1, 2, 3, 4, 5, 6, 7}});
    const std::vector<std::uint32_t> weights{1, 1, 1, 1000, 1, 1, 1, 1};
    const auto codes = codes_of(small.bin(weights, 3), 0);
    check(codes[3] != codes[2] && codes[3] != codes[4]);
}

void infinities_missing_and_negative_zero_are_binned() {
    const SmallTable small({{-infinity, -0.0, 0.0, infinity, missing, 5}});
    const Table table = small.bin();
    check(codes_of(table, 0) == std::vector<int>{1, 2, 2, 4, 0, 3});
    check(table.has_missing[0]);
    const std::vector<double> others{-0.0, infinity, missing, -1e308};
    check(codes_of(table.binning->columns[0], others) == std::vector<std::uint16_t>{2, 4, 0, 2});
}

void a_column_without_values_is_all_missing() {
    const SmallTable small({{missing, missing}});
    const Table table = small.bin();
    check(codes_of(table, 0) == std::vector<int>{0, 0});
    check(table.binning->columns[0].n_bins == 0);
    check(codes_of(table.binning->columns[0], {1, missing}) == std::vector<std::uint16_t>{0, 0});
}

void rows_of_weight_zero_do_not_affect_bins_but_get_codes() {
    const SmallTable small({{1, 2, 3}});
    const std::vector<std::uint32_t> weights{1, 0, 1};
    const Table table = small.bin(weights);
    check(table.binning->columns[0].n_bins == 2);
    check(codes_of(table, 0) == std::vector<int>{1, 1, 2}, "2 does not exceed the cut between 1 and 3");
}

void adjacent_doubles_get_different_bins() {
    const double one = 1, next = std::nextafter(one, 2);
    const SmallTable small({{next, one}});
    check(codes_of(small.bin(), 0) == std::vector<int>{2, 1});
}

void new_values_get_the_codes_of_the_table() {
    const SmallTable small({random_numbers(3000, 1, true)});
    for (const std::uint32_t max_bins : {5U, 255U, 65535U}) {
        const Table table = small.bin({}, max_bins);
        const Column& column = table.binning->columns[0];
        const auto codes = codes_of(table, 0);
        const auto again = codes_of(column, small.numbers[0]);
        for (std::size_t i = 0; i < small.n_rows; ++i) {
            check(codes[i] == again[i] && again[i] == naive_code(column, small.numbers[0][i]));
        }
    }
}

void every_element_type_and_stride_is_read() {
    const std::int16_t shorts[] = {4, -1, 7, -1, 4, -1};
    const float floats[] = {4, -1, 7, -1, 4, -1};
    const std::uint8_t bytes[] = {4, 255, 7, 255, 4, 255};
    const ColumnView views[] = {
        {shorts, 4, ElementType::i16}, {floats, 8, ElementType::f32}, {bytes, 2, ElementType::u8}};
    const std::vector<std::uint32_t> n_categories(3, 0);
    const Table table = bin_table(views, n_categories, 3, {}, 65535, 1);
    for (std::size_t j = 0; j < 3; ++j) check(codes_of(table, j) == std::vector<int>{1, 2, 1});
}

void unseen_categories_are_missing() {
    const SmallTable small({}, {{1, 3, 0, 4, -2}}, 3);
    check(codes_of(small.bin(), 0) == std::vector<int>{1, 3, 0, 0, 0});
}

void codes_by_row_equal_codes_by_column_for_any_number_of_threads() {
    const SmallTable small({random_numbers(500, 1), random_numbers(500, 2, true)}, {random_codes(500, 9, 3)}, 9);
    const Table one = small.bin({}, 300, 1), many = small.bin({}, 300, 4);
    const auto& codes = std::get<Codes<std::uint16_t>>(one.codes);
    check(codes.by_column == std::get<Codes<std::uint16_t>>(many.codes).by_column);
    for (std::size_t i = 0; i < 500; ++i) {
        for (std::size_t j = 0; j < 3; ++j) check(codes.row(i)[j] == codes.column(j)[i]);
    }
    check(std::holds_alternative<Codes<std::uint8_t>>(small.bin({}, 255).codes), "255 bins fit a byte");
}

void cuts_that_were_not_kept_are_recomputed() {
    const SmallTable small({{-infinity, -0.0, 0.25, infinity, missing, 5, 6, 7, 1.0, std::nextafter(1.0, 2.0)}});
    for (const std::vector<std::uint32_t>& weights :
         {std::vector<std::uint32_t>{}, std::vector<std::uint32_t>{1, 2, 1, 1, 1, 0, 3, 0, 1, 1}}) {
        for (const std::uint32_t max_bins : {65535U, 3U}) {
            const Table kept = small.bin(weights, max_bins);
            const Column& column = kept.binning->columns[0];
            std::vector<std::uint16_t> bins(column.cuts.size());
            std::iota(bins.begin(), bins.end(), std::uint16_t{1});
            const Table bare =
                bin_table(small.views, small.n_categories, small.n_rows, weights, max_bins, 1, {}, false);
            check(bare.binning->columns[0].cuts.empty());
            check(codes_of(bare, 0) == codes_of(kept, 0));
            check(find_cuts(bare, 0, small.views[0], weights, bins) == column.cuts);
        }
    }
}

}  // namespace

int main() {
    few_distinct_values_get_one_bin_each();
    many_distinct_values_are_cut_at_quantiles();
    a_heavy_value_gets_its_own_bin();
    infinities_missing_and_negative_zero_are_binned();
    a_column_without_values_is_all_missing();
    rows_of_weight_zero_do_not_affect_bins_but_get_codes();
    adjacent_doubles_get_different_bins();
    new_values_get_the_codes_of_the_table();
    every_element_type_and_stride_is_read();
    unseen_categories_are_missing();
    codes_by_row_equal_codes_by_column_for_any_number_of_threads();
    cuts_that_were_not_kept_are_recomputed();
    return report();
}
