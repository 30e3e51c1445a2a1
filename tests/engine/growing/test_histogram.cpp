#include <map>

#include "check.h"
#include "growing/histogram.h"
#include "small_tables.h"

using namespace committee;

namespace {

struct Rows {
    std::vector<std::uint16_t> codes;
    CodeRange range;
};

// Codes 0 (missing) or lowest .. lowest + span - 1.
Rows random_rows(std::size_t n, std::uint32_t lowest, std::uint32_t span, bool some_missing) {
    Random random(n + span, Purpose::split);
    Rows rows{{}, {65535, 0, false}};
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_missing = some_missing && random.below(5) == 0;
        const auto code = is_missing ? 0U : lowest + static_cast<std::uint32_t>(random.below(span));
        rows.codes.push_back(static_cast<std::uint16_t>(code));
        rows.range.has_missing = rows.range.has_missing || is_missing;
        if (is_missing) continue;
        rows.range.lowest = std::min(rows.range.lowest, code);
        rows.range.highest = std::max(rows.range.highest, code);
    }
    return rows;
}

// By code: the weight, and the weight of class one or of each class.
using Sums = std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>;

template <class Stat>
void add_to(Sums& sums, std::uint32_t code, const typename Stat::Item& item) {
    if constexpr (std::is_same_v<Stat, Mean>) {
        sums[{code, 0}] += static_cast<std::uint64_t>(item.weight);
        sums[{code, 1}] += static_cast<std::uint64_t>(item.sum);
    } else if constexpr (std::is_same_v<Stat, TwoClasses>) {
        sums[{code, 0}] += static_cast<std::uint32_t>(item);
        sums[{code, 1}] += item >> 32;
    } else {
        sums[{code, ManyClasses::item_class(item)}] += ManyClasses::item_weight(item);
    }
}

template <class Stat>
typename Stat::Item some_item(std::size_t i, std::uint32_t n_classes) {
    const auto weight = static_cast<std::uint32_t>(1 + i % 3);
    if constexpr (std::is_same_v<Stat, Mean>) {
        return {static_cast<std::int64_t>(i) * weight, weight};
    } else {
        return Stat::item(weight, static_cast<std::uint32_t>(i) % n_classes);
    }
}

// Exact entries hold the sums of the rows by code, whether they are sorted, counted in bins or sorted in wide bins.
template <class Stat>
void add_entry_to(Sums& sums, const Entries<Stat>& entries, std::size_t e, std::uint32_t n_classes) {
    if constexpr (std::is_same_v<Stat, ManyClasses>) {
        for (std::uint32_t k = 0; entries.are_bins && k < n_classes; ++k)
            sums[{entries.last_code(e), k}] += entries.class_weights_of(e)[k];
        if (entries.are_bins) return;
    }
    add_to<Stat>(sums, entries.last_code(e), entries.items[e]);
}

template <class Stat>
void entries_sum_to_the_rows(std::uint32_t n_classes, bool is_category) {
    Histogram<Stat> histogram(n_classes, true, true);
    Entries<Stat> entries;
    for (const std::size_t n : {2, 31, 32, 33, 100, 1000, 5000}) {
        for (const std::uint32_t span : {2U, 40U, 300U, 60000U}) {
            for (const bool some_missing : {false, true}) {
                const Rows rows = random_rows(n, 17, span, some_missing);
                if (rows.range.highest == 0) continue;
                std::vector<typename Stat::Item> items;
                Sums expected, found;
                for (std::size_t i = 0; i < n; ++i) {
                    items.push_back(some_item<Stat>(i, n_classes));
                    add_to<Stat>(expected, rows.codes[i], items[i]);
                }
                histogram.order(rows.codes, items, rows.range, is_category, entries);
                std::size_t n_rows = 0;
                for (std::size_t e = 0; e < entries.size; ++e) {
                    check(e == 0 || entries.last_code(e - 1) <= entries.last_code(e), "entries are sorted by code");
                    add_entry_to(found, entries, e, n_classes);
                    n_rows += entries.counts[e];
                }
                std::erase_if(expected, [](const auto& sum) { return sum.second == 0; });
                std::erase_if(found, [](const auto& sum) { return sum.second == 0; });
                check(found == expected);
                check(n_rows == n);
            }
        }
    }
}

void coarse_entries_are_few_and_have_the_right_sum() {
    Histogram<TwoClasses> histogram(2, false, false);
    Entries<TwoClasses> entries;
    const Rows rows = random_rows(50000, 1, 60000, true);
    const std::vector<TwoClasses::Item> items(rows.codes.size(), TwoClasses::item(1, 1));
    histogram.start_node(50000);
    histogram.order(rows.codes, items, rows.range, false, entries);
    check(entries.size <= coarse_bins + 2);
    std::uint64_t total = 0, missing = 0;
    for (std::size_t e = 0; e < entries.size; ++e) {
        total += entries.items[e];
        missing += entries.last_code(e) == 0 ? entries.items[e] : 0;
    }
    check(total == 50000 * TwoClasses::item(1, 1));
    check(missing == static_cast<std::uint64_t>(std::ranges::count(rows.codes, 0)) * TwoClasses::item(1, 1));
}

// The boundaries between bins are the same.
void a_row_of_weight_two_gets_the_bins_of_two_rows() {
    Histogram<TwoClasses> histogram(2, false, false);
    for (const std::size_t n : {10, 20, 30, 50, 90, 200, 1000}) {
        const Rows once = random_rows(n, 5, 60000, true);
        Rows twice = once;
        twice.codes.insert(twice.codes.end(), once.codes.begin(), once.codes.end());
        const std::vector<TwoClasses::Item> light(2 * n, TwoClasses::item(1, 1)), heavy(n, TwoClasses::item(2, 1));
        histogram.start_node(static_cast<double>(2 * n));
        Sums a, b;
        Entries<TwoClasses> entries;
        histogram.order(once.codes, heavy, once.range, false, entries);
        for (std::size_t e = 0; e < entries.size; ++e) add_to<TwoClasses>(a, entries.last_code(e), entries.items[e]);
        histogram.order(twice.codes, light, twice.range, false, entries);
        for (std::size_t e = 0; e < entries.size; ++e) add_to<TwoClasses>(b, entries.last_code(e), entries.items[e]);
        std::erase_if(a, [](const auto& sum) { return sum.second == 0; });
        std::erase_if(b, [](const auto& sum) { return sum.second == 0; });
        check(a == b);
    }
}

void categories_are_never_merged() {
    Histogram<TwoClasses> histogram(2, false, false);
    Entries<TwoClasses> entries;
    Rows rows{{}, {1, 3000, false}};
    for (std::uint16_t code = 1; code <= 3000; ++code) rows.codes.insert(rows.codes.end(), 5, code);
    const std::vector<TwoClasses::Item> items(rows.codes.size(), TwoClasses::item(1, 0));
    histogram.start_node(15000);
    histogram.order(rows.codes, items, rows.range, true, entries);
    Sums sums;
    for (std::size_t e = 0; e < entries.size; ++e) add_to<TwoClasses>(sums, entries.last_code(e), entries.items[e]);
    for (std::uint32_t code = 1; code <= 3000; ++code) check(sums[{code, 0}] == 5);
}

}  // namespace

int main() {
    for (const bool is_category : {false, true}) {
        entries_sum_to_the_rows<TwoClasses>(2, is_category);
        entries_sum_to_the_rows<ManyClasses>(7, is_category);
        entries_sum_to_the_rows<Mean>(0, is_category);
    }
    coarse_entries_are_few_and_have_the_right_sum();
    a_row_of_weight_two_gets_the_bins_of_two_rows();
    categories_are_never_merged();
    return report();
}
