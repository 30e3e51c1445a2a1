#include "check.h"
#include "small_tables.h"
#include "table/cut_codes.h"

using namespace committee;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

Column column_of_cuts(std::vector<double> cuts) {
    Column column;
    column.n_bins = static_cast<std::uint32_t>(cuts.size()) + 1;
    column.cuts = std::move(cuts);
    return column;
}

// Tests the cuts themselves, values next to them, and extreme values.
void codes_follow_the_definition(const Column& column) {
    std::vector<double> values{missing, -infinity, infinity, 0, 1e308, -1e308, 5e-324};
    for (const double cut : column.cuts) {
        values.push_back(cut);
        values.push_back(std::nextafter(cut, infinity));
        values.push_back(std::nextafter(cut, -infinity));
    }
    const CutBuckets buckets(column);
    if (buckets.empty()) return;
    std::vector<std::uint16_t> codes(values.size());
    buckets.find_codes(column, values, codes);
    for (std::size_t i = 0; i < values.size(); ++i) check(codes[i] == naive_code(column, values[i]));
}

void buckets_find_the_codes() {
    std::vector<double> even, powers, crowded;
    for (int i = 0; i < 400; ++i) {
        even.push_back(i - 100);
        powers.push_back(std::ldexp(1.0, i - 200));
        crowded.push_back(i == 0 ? -1e300 : i == 399 ? 1e300 : i * 1e-9);
    }
    for (const auto& cuts : {even, powers, crowded}) {
        const Column column = column_of_cuts(cuts);
        check(!CutBuckets(column).empty());
        codes_follow_the_definition(column);
    }
    std::vector<double> random = random_numbers(3000, 1);
    std::ranges::sort(random);
    codes_follow_the_definition(column_of_cuts(random));
}

void cuts_with_an_infinite_range_get_no_buckets() {
    std::vector<double> cuts;
    for (int i = 0; i < 400; ++i) cuts.push_back(i);
    check(CutBuckets(column_of_cuts({1, 2, 3})).empty(), "too few");
    cuts.front() = -infinity;
    check(CutBuckets(column_of_cuts(cuts)).empty());
    cuts.front() = -1.7e308;
    cuts.back() = 1.7e308;
    check(CutBuckets(column_of_cuts(cuts)).empty());
}

void encoding_many_rows_equals_encoding_one_row() {
    constexpr std::size_t n_rows = 1500, n_columns = 11;
    std::vector<std::vector<double>> numbers;
    for (std::size_t j = 0; j + 1 < n_columns; ++j) numbers.push_back(random_numbers(n_rows, j + 1, j % 2 == 0));
    const SmallTable small(numbers, {random_codes(n_rows, 9, 30, true)}, 9);
    const Table table = small.bin();
    std::vector<std::uint16_t> by_row(16 * n_rows), by_column(n_columns * n_rows), one(n_columns);
    const Encoder encoder(*table.binning, n_rows, 2), for_one(*table.binning, 1, 1);
    check(encoder.encode(small.views, 0, n_rows, by_row.data(), 16, by_column.data()));
    for (std::size_t i = 0; i < n_rows; ++i) {
        const bool has_missing = (i % 2 == 0 ? encoder : for_one).encode_row(small.views, i, one.data());
        check(has_missing == (std::ranges::count(one, 0) > 0));
        for (std::size_t j = 0; j < n_columns; ++j) {
            check(one[j] == by_row[16 * i + j] && one[j] == by_column[n_rows * j + i]);
            check(one[j] == std::get<Codes<std::uint16_t>>(table.codes).row(i)[j]);
        }
    }
}

}  // namespace

int main() {
    buckets_find_the_codes();
    cuts_with_an_infinite_range_get_no_buckets();
    encoding_many_rows_equals_encoding_one_row();
    return report();
}
