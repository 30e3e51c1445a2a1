// The sums that a node needs of its rows. Weights and regression targets are fixed-point integers, so every sum has the
// same bits in any order. The item of a row holds its terms of these sums, and moves with the row from node to node.
//
// The gain of a split is the decrease of the weighted impurity. Splits of a node are compared by their merit, and the
// gain is the same linear function of the merit for all of them.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace committee {

enum class Criterion : std::uint8_t { gini, entropy, gain_ratio, error, squared_error, poisson, absolute_error };

inline std::int64_t rounded_xlogx(std::uint64_t x) {
    const auto value = static_cast<double>(x);
    return std::llround(value * std::log2(value) * 0x1.0p20);
}

// x log2(x) as a fixed-point integer with 20 fractional bits: sums of them do not depend on their order.
inline std::int64_t fixed_xlogx(std::uint64_t x) {
    constexpr std::size_t n_known = 4096;
    static const auto known = [] {
        std::array<std::int64_t, n_known> table{};
        for (std::size_t i = 2; i < n_known; ++i) table[i] = rounded_xlogx(i);
        return table;
    }();
    return x < n_known ? known[x] : rounded_xlogx(x);
}

// The largest error of a sum of n_terms rounded terms x log2(x).
constexpr double rounding_of(std::size_t n_terms) { return static_cast<double>(n_terms) * 0x1.0p-21; }

constexpr bool sums_logarithms(Criterion criterion) {
    return criterion == Criterion::entropy || criterion == Criterion::gain_ratio;
}

// Two classes. One word holds the weight of all rows and of the rows of class one, so one addition sums both.
struct TwoClasses {
    using Item = std::uint64_t;

    static Item item(std::uint32_t weight, std::uint32_t label) { return (Item{weight * label} << 32) | weight; }
    static double weight(Item item) { return static_cast<double>(static_cast<std::int32_t>(item)); }
    static double sum(Item item) { return static_cast<double>(static_cast<std::int32_t>(item >> 32)); }
    static double value(Item item) { return sum(item) / weight(item); }
    static Item only_if(bool keep, Item item) { return item & -static_cast<Item>(keep); }
    static bool is_pure(Item item) {
        const std::uint64_t one = item >> 32;
        return one == 0 || one == static_cast<std::uint32_t>(item);
    }

    // Minus the weighted impurity.
    template <Criterion criterion>
    static double score(Item item) {
        const auto all = static_cast<std::uint32_t>(item);
        const auto one = static_cast<std::uint32_t>(item >> 32);
        if constexpr (criterion == Criterion::gini) {
            return -2 * static_cast<double>(one) * static_cast<double>(all - one) / static_cast<double>(all);
        } else if constexpr (criterion == Criterion::error) {
            return -static_cast<double>(one < all - one ? one : all - one);
        } else {
            return static_cast<double>(fixed_xlogx(one) + fixed_xlogx(all - one) - fixed_xlogx(all)) * 0x1.0p-20;
        }
    }
};

// Many classes. The item of a row holds its class and weight; a set of rows is a list of class weights. For the
// absolute error, the class of a row is the rank of its target (absolute_error.h).
struct ManyClasses {
    using Item = std::uint64_t;  // low half weight, high half class

    static Item item(std::uint32_t weight, std::uint32_t label) { return (Item{label} << 32) | weight; }
    static std::uint32_t item_weight(Item item) { return static_cast<std::uint32_t>(item); }
    static std::uint32_t item_class(Item item) { return static_cast<std::uint32_t>(item >> 32); }
};

// A mean: the fixed-point sum of weight * target, and the weight.
struct Mean {
    struct Item {
        std::int64_t sum = 0;
        std::int64_t weight = 0;

        Item& operator+=(const Item& other) {
            sum += other.sum;
            weight += other.weight;
            return *this;
        }
        friend Item operator+(Item a, const Item& b) { return a += b; }
        friend Item operator-(const Item& a, const Item& b) { return {a.sum - b.sum, a.weight - b.weight}; }
    };

    static double weight(const Item& item) { return static_cast<double>(item.weight); }
    static double sum(const Item& item) { return static_cast<double>(item.sum); }
    static Item only_if(bool keep, const Item& item) {
        const auto mask = -static_cast<std::int64_t>(keep);
        return {item.sum & mask, item.weight & mask};
    }
    static double value(const Item& item) { return sum(item) / weight(item); }

    // Minus the weighted impurity, except for a term that is the same for every split.
    template <Criterion criterion>
    static double score(const Item& item) {
        const double total = sum(item);
        if constexpr (criterion == Criterion::poisson) {
            // A leaf whose targets are all 0 would predict a rate of 0, which is impossible, so no split may create
            // one.
            return item.sum <= 0 ? -std::numeric_limits<double>::infinity() : total * std::log(total / weight(item));
        } else {
            return total * total / weight(item);
        }
    }

    // The impurity of rows that sum to `total`, in the units of the target.
    template <Criterion criterion>
    static double impurity(std::span<const Item> items, const Item& total, double scale) {
        const double mean = value(total);
        double sum = 0;
        for (const Item& item : items) {
            const double y = value(item);
            if constexpr (criterion == Criterion::poisson) {
                sum += weight(item) * ((y > 0 ? y * std::log(y / mean) : 0) - y + mean) / scale;
            } else {
                sum += weight(item) * (y - mean) / scale * ((y - mean) / scale);
            }
        }
        return sum / weight(total);
    }
};

// Integer sums over classes from which the impurity of a set of rows follows: of squares for gini, of x log2 x for
// entropy. They are updated when the weight of a class changes.
template <Criterion criterion>
struct ClassSum {
    std::int64_t weight = 0;
    std::int64_t terms = 0;

    static std::int64_t term(std::uint32_t class_weight) {
        return criterion == Criterion::error ? 0 : fixed_xlogx(class_weight);
    }

    [[gnu::always_inline]] void change(std::uint32_t& class_weight, std::int64_t by) {
        if constexpr (criterion == Criterion::gini) {
            terms += by * (2 * std::int64_t{class_weight} + by);
            class_weight += static_cast<std::uint32_t>(by);
        } else {
            terms -= term(class_weight);
            class_weight += static_cast<std::uint32_t>(by);
            terms += term(class_weight);
        }
        weight += by;
    }

    // True only if all weight is known to belong to one class. The sums of the criterion `error` do not contain this
    // information.
    bool is_pure() const {
        if constexpr (criterion == Criterion::gini) {
            return terms == weight * weight;
        } else {
            return criterion != Criterion::error && terms == fixed_xlogx(static_cast<std::uint64_t>(weight));
        }
    }

    // Minus the weighted impurity.
    double score(std::span<const std::uint32_t> class_weights) const {
        if constexpr (criterion == Criterion::gini) {
            return weight == 0 ? 0 : -static_cast<double>(weight * weight - terms) / static_cast<double>(weight);
        } else if constexpr (criterion == Criterion::error) {
            return static_cast<double>(std::int64_t{std::ranges::max(class_weights)} - weight);
        } else {
            return static_cast<double>(terms - fixed_xlogx(static_cast<std::uint64_t>(weight))) * 0x1.0p-20;
        }
    }
};

}  // namespace committee
