#include <functional>

#include "check.h"
#include "growing/category_split.h"
#include "growing/split.h"
#include "small_tables.h"

using namespace committee;

namespace {

// The rows of one column with their targets: a class, or a number if n_classes is 0.
struct Rows {
    std::vector<std::uint16_t> codes;
    std::vector<std::uint32_t> targets, weights;
    std::uint32_t n_classes = 2;
};

Rows random_rows(std::size_t n, std::uint32_t n_codes, std::uint32_t n_classes, bool some_missing, std::uint64_t key) {
    Random random(key, Purpose::split);
    Rows rows{{}, {}, {}, n_classes};
    for (std::size_t i = 0; i < n; ++i) {
        const auto code = some_missing ? random.below(n_codes + 1) : 1 + random.below(n_codes);
        rows.codes.push_back(static_cast<std::uint16_t>(code));
        rows.targets.push_back(static_cast<std::uint32_t>(random.below(n_classes == 0 ? 100 : n_classes)));
        rows.weights.push_back(static_cast<std::uint32_t>(1 + random.below(3)));
    }
    return rows;
}

// The weighted impurity of the rows of one side, as defined in textbooks.
template <Criterion criterion>
double impurity(const Rows& rows, const std::function<bool(std::size_t)>& is_member) {
    double total = 0, sum = 0, squares = 0;
    std::vector<double> by_class(std::max(rows.n_classes, 1U), 0.0);
    for (std::size_t i = 0; i < rows.codes.size(); ++i) {
        if (!is_member(i)) continue;
        const double weight = rows.weights[i], y = rows.targets[i];
        total += weight;
        sum += weight * y;
        squares += weight * y * y;
        if (rows.n_classes > 0) by_class[rows.targets[i]] += weight;
    }
    if (total == 0) return 0;
    if (criterion == Criterion::squared_error) return squares - sum * sum / total;
    double result = 0, most = 0;
    for (const double weight : by_class) {
        const double share = weight / total;
        most = std::max(most, share);
        if (criterion == Criterion::gini) result += total * share * (1 - share);
        if (criterion == Criterion::entropy && share > 0) result -= total * share * std::log2(share);
    }
    return criterion == Criterion::error ? total * (1 - most) : result;
}

using GoesLeft = std::function<bool(std::uint32_t code)>;

template <Criterion criterion>
double gain(const Rows& rows, const GoesLeft& goes_left) {
    return impurity<criterion>(rows, [](std::size_t) { return true; }) -
           impurity<criterion>(rows, [&](std::size_t i) { return goes_left(rows.codes[i]); }) -
           impurity<criterion>(rows, [&](std::size_t i) { return !goes_left(rows.codes[i]); });
}

template <Criterion criterion>
double gain_of(const Rows& rows, const Candidate& split) {
    return gain<criterion>(rows, [&](std::uint32_t code) {
        if (code == 0) return !split.missing_right;
        return split.is_category ? std::ranges::count(split.left_codes, code) > 0 : code <= split.threshold;
    });
}

template <class Stat>
std::vector<typename Stat::Item> items_of(const Rows& rows) {
    std::vector<typename Stat::Item> items;
    for (std::size_t i = 0; i < rows.codes.size(); ++i) {
        if constexpr (std::is_same_v<Stat, Mean>) {
            items.push_back({std::int64_t{rows.targets[i]} * rows.weights[i], rows.weights[i]});
        } else {
            items.push_back(Stat::item(rows.weights[i], rows.targets[i]));
        }
    }
    return items;
}

template <class Stat, Criterion criterion>
Sides<Stat, criterion> sides_of(const Rows& rows) {
    const auto items = items_of<Stat>(rows);
    if constexpr (std::is_same_v<Stat, ManyClasses>) {
        Sides<Stat, criterion> sides(rows.n_classes);
        sides.reset(items);
        return sides;
    } else {
        typename Stat::Item total{};
        for (const auto& item : items) total = total + item;
        return Sides<Stat, criterion>(total);
    }
}

CodeRange range_of(const Rows& rows) {
    CodeRange range{65535, 0, false};
    for (const std::uint16_t code : rows.codes) {
        if (code == 0) range.has_missing = true;
        if (code == 0) continue;
        range.lowest = std::min<std::uint32_t>(range.lowest, code);
        range.highest = std::max<std::uint32_t>(range.highest, code);
    }
    return range;
}

template <class Stat, Criterion criterion>
Candidate find(const Rows& rows, bool is_category, const Limits& limits = {}) {
    Histogram<Stat> histogram(rows.n_classes, true, true);
    Entries<Stat> entries;
    const CodeRange range = range_of(rows);
    const auto items = items_of<Stat>(rows);
    histogram.order(rows.codes, items, range, is_category, entries);
    auto sides = sides_of<Stat, criterion>(rows);
    Candidate best;
    const auto n_rows = static_cast<std::uint32_t>(rows.codes.size());
    if (is_category) {
        CategorySearch<Stat, criterion>().find(entries, n_rows, limits, rows.n_classes, sides, best);
    } else {
        find_threshold<Stat, criterion>(entries, range.has_missing, n_rows, limits, sides, best);
    }
    best.is_category = is_category;
    return best;
}

template <class Stat, Criterion criterion>
void no_threshold_is_better_than_the_one_found(std::uint32_t n_classes) {
    for (std::uint64_t key = 0; key < 20; ++key) {
        const Rows rows = random_rows(key % 2 == 0 ? 20 : 300, 12, n_classes, key % 4 < 2, key);
        const double found = gain_of<criterion>(rows, find<Stat, criterion>(rows, false));
        for (std::uint32_t threshold = 0; threshold <= 12; ++threshold) {
            for (const bool missing_right : {false, true}) {
                const double other = gain<criterion>(
                    rows, [=](std::uint32_t code) { return code == 0 ? !missing_right : code <= threshold; });
                check(found >= other - 1e-3, "find_threshold");
            }
        }
    }
}

template <class Stat, Criterion criterion>
void no_set_of_categories_is_better_than_the_one_found(std::uint32_t n_classes) {
    for (std::uint64_t key = 0; key < 20; ++key) {
        const Rows rows = random_rows(key % 2 == 0 ? 20 : 300, 6, n_classes, key % 4 < 2, key);
        const double found = gain_of<criterion>(rows, find<Stat, criterion>(rows, true));
        for (std::uint32_t set = 0; set < 128; ++set) {
            const double other = gain<criterion>(rows, [=](std::uint32_t code) { return ((set >> code) & 1) != 0; });
            check(found >= other - 1e-3, "CategorySearch");
        }
    }
}

void splits_respect_the_limits() {
    for (std::uint64_t key = 0; key < 20; ++key) {
        const Rows rows = random_rows(60, 12, 2, false, key);
        Limits limits;
        limits.min_rows = 20;
        limits.min_weight = 50;
        const Candidate found = find<TwoClasses, Criterion::gini>(rows, false, limits);
        if (!found.is_found()) continue;
        std::uint64_t n_left = 0, left = 0, all = 0;
        for (std::size_t i = 0; i < 60; ++i) {
            all += rows.weights[i];
            if (rows.codes[i] > found.threshold) continue;
            ++n_left;
            left += rows.weights[i];
        }
        check(n_left >= 20 && n_left <= 40 && left >= 50 && all - left >= 50);
    }
}

void a_direction_keeps_the_order_of_the_means() {
    Rows rows{{1, 1, 2, 2}, {9, 9, 1, 1}, {1, 1, 1, 1}, 0};
    Limits limits;
    limits.direction = 1;
    check(!find<Mean, Criterion::squared_error>(rows, false, limits).is_found());
    limits.direction = -1;
    check(find<Mean, Criterion::squared_error>(rows, false, limits).is_found());
    limits.lower = 2;
    check(!find<Mean, Criterion::squared_error>(rows, false, limits).is_found(),
          "the value 1 violates the lower bound");
}

void a_constant_column_has_no_split() {
    const Rows rows{{4, 4, 4}, {0, 1, 0}, {1, 1, 1}, 2};
    check(!find<TwoClasses, Criterion::gini>(rows, false).is_found());
}

}  // namespace

int main() {
    no_threshold_is_better_than_the_one_found<TwoClasses, Criterion::gini>(2);
    no_threshold_is_better_than_the_one_found<TwoClasses, Criterion::entropy>(2);
    no_threshold_is_better_than_the_one_found<TwoClasses, Criterion::error>(2);
    no_threshold_is_better_than_the_one_found<ManyClasses, Criterion::gini>(4);
    no_threshold_is_better_than_the_one_found<ManyClasses, Criterion::entropy>(4);
    no_threshold_is_better_than_the_one_found<ManyClasses, Criterion::error>(4);
    no_threshold_is_better_than_the_one_found<Mean, Criterion::squared_error>(0);
    no_set_of_categories_is_better_than_the_one_found<TwoClasses, Criterion::gini>(2);
    no_set_of_categories_is_better_than_the_one_found<TwoClasses, Criterion::entropy>(2);
    no_set_of_categories_is_better_than_the_one_found<Mean, Criterion::squared_error>(0);
    splits_respect_the_limits();
    a_direction_keeps_the_order_of_the_means();
    a_constant_column_has_no_split();
    return report();
}
