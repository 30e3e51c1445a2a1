#include "check.h"
#include "growing/bin_narrowing.h"
#include "small_tables.h"

using namespace committee;

namespace {

struct Column {
    std::vector<std::uint16_t> codes;
    CodeRange range;
};

// Higher powers give more codes near the low end. Fractions are cut off, so there are ties.
Column random_column(std::size_t n, std::uint32_t span, int power, std::uint64_t seed) {
    Random random(seed, Purpose::split);
    Column column{{}, {65535, 0, false}};
    for (std::size_t i = 0; i < n; ++i) {
        const auto code = 3 + static_cast<std::uint32_t>(std::pow(random.uniform(), power) * span);
        column.codes.push_back(static_cast<std::uint16_t>(code));
        column.range.lowest = std::min(column.range.lowest, code);
        column.range.highest = std::max(column.range.highest, code);
    }
    return column;
}

// A target that depends on the code in proportion to `signal`, with a mean far from 0.
template <class Stat>
std::vector<typename Stat::Item> random_items(const Column& column, double signal, std::uint64_t seed) {
    Random random(seed, Purpose::bootstrap);
    std::vector<typename Stat::Item> items;
    for (const std::uint16_t code : column.codes) {
        const auto weight = static_cast<std::uint32_t>(1 + random.below(3));
        const double place = static_cast<double>(code) / column.range.highest;
        const double noise = random.uniform();
        if constexpr (std::is_same_v<Stat, Mean>) {
            const auto target = std::llround(1e6 * (5 + signal * std::sin(6 * place) + noise));
            items.push_back({target * weight, weight});
        } else {
            items.push_back(Stat::item(weight, noise < 0.5 + signal * (place - 0.5) ? 1 : 0));
        }
    }
    return items;
}

template <class Stat, Criterion criterion>
void the_split_equals_that_of_all_rows_sorted(std::size_t n, std::uint32_t span, int power, double signal,
                                              std::uint64_t seed) {
    const Column column = random_column(n, span, power, seed);
    const auto items = random_items<Stat>(column, signal, seed);
    typename Stat::Item total{};
    for (const auto& item : items) total = total + item;
    Sides<Stat, criterion> sides(total);
    Histogram<Stat> histogram(2, true, false);
    Entries<Stat> all, narrow;
    histogram.order(column.codes, items, column.range, false, all);
    Narrowing<Stat> narrowing;
    narrowing.start_node(items, total);
    Candidate expected, found;
    find_threshold<Stat, criterion>(all, false, static_cast<std::uint32_t>(n), {}, sides, expected);
    narrowing.order(column.codes, items, column.range, found.merit, histogram, narrow);
    find_threshold<Stat, criterion>(narrow, false, static_cast<std::uint32_t>(n), {}, sides, found);
    // The threshold may be anywhere in the gap between both sides; growing moves it to the middle.
    check(found.merit == expected.merit && found.left_weight == expected.left_weight, "the same split");

    narrowing.order(column.codes, items, column.range, 2 * expected.merit, histogram, narrow);
    check(narrow.size <= 256 + n / 2, "few rows are sorted if no split can be better");
}

}  // namespace

int main() {
    std::uint64_t seed = 0;
    for (const std::size_t n : {512U, 700U, 5000U}) {
        for (const std::uint32_t span : {600U, 9000U, 65000U}) {
            for (const int power : {1, 4}) {
                for (const double signal : {0.0, 0.3, 1.0}) {
                    ++seed;
                    the_split_equals_that_of_all_rows_sorted<Mean, Criterion::squared_error>(n, span, power, signal,
                                                                                             seed);
                    the_split_equals_that_of_all_rows_sorted<TwoClasses, Criterion::gini>(n, span, power, signal, seed);
                }
            }
        }
    }
    return report();
}
