// Gradients as integers. The gradient, the hessian and a count of 1 for each row are packed into one 64-bit word.
// Summing rows then means summing words: one addition per row and histogram bin, with the same bits in any order. The
// scales are chosen once per tree from the totals, so that no field can overflow into the next:
//
//     gradient (signed, in the highest bits) | hessian | count
//
// For large tables, no bits are left for the count. If the hessian is constant, the count serves as the hessian.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace committee {

using Word = std::uint64_t;

// The bits of a word that hold each field.
struct WordFields {
    int gradient_bits = 32;
    int hessian_shift = 0;
    std::uint32_t hessian_mask = 0x7fffffffU;
    std::uint32_t count_mask = 0;  // 0: rows are not counted

    bool counts() const { return count_mask != 0; }
    // Whether the count has its own field.
    bool counts_apart() const { return hessian_shift > 0; }
    std::int32_t gradient(Word word) const { return static_cast<std::int32_t>(word >> 32) >> (32 - gradient_bits); }
    std::int32_t hessian(Word word) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(word >> hessian_shift) & hessian_mask);
    }
    std::int32_t count(Word word) const {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(word) & count_mask);
    }
};

inline WordFields fields_for(std::size_t n_rows, bool has_constant_hessian) {
    constexpr std::size_t most_counted_rows = std::size_t{1} << 15;
    if (has_constant_hessian) return {.count_mask = 0x7fffffffU};
    if (n_rows > most_counted_rows) return {};
    const int count_bits = std::bit_width(n_rows);
    const int gradient_bits = (64 - count_bits) / 2 + 1;
    const int hessian_bits = 64 - count_bits - gradient_bits;
    return {.gradient_bits = gradient_bits,
            .hessian_shift = count_bits,
            .hessian_mask = (1U << hessian_bits) - 1,
            .count_mask = (1U << count_bits) - 1};
}

// Converts gradients to words and back.
struct WordScale {
    WordFields fields;
    double gradient = 1;  // a field's unit is 1 / scale
    double hessian = 1;
    std::int32_t largest_hessian = 1;  // of one row, in units

    // The nearest integer of a number below 2^51: adding 1.5 * 2^52 leaves it in the low bits.
    static Word nearest(double value) { return std::bit_cast<Word>(value + 0x1.8p52) - std::bit_cast<Word>(0x1.8p52); }

    // The hessian of a row is at least one unit, so a word is 0 only if there are no rows.
    Word word(float g, float h) const {
        const Word fixed_gradient = nearest(static_cast<double>(g) * gradient) << (64 - fields.gradient_bits);
        const Word fixed_hessian = nearest(std::max(static_cast<double>(h) * hessian, 1.0));
        return fixed_gradient + (fixed_hessian << fields.hessian_shift) + (fields.counts_apart() ? 1 : 0);
    }
};

// The totals over the rows that a scale must represent.
struct GradientTotals {
    double absolute_gradient = 0;
    double hessian = 0;
    double largest_hessian = 0;

    void add(const GradientTotals& more) {
        absolute_gradient += more.absolute_gradient;
        hessian += more.hessian;
        largest_hessian = std::max(largest_hessian, more.largest_hessian);
    }
};

// Scales are powers of two, so gradients that are short binary fractions stay exact.
inline WordScale scale_for(const GradientTotals& totals, std::size_t n_rows, bool has_constant_hessian) {
    WordScale scale{.fields = fields_for(n_rows, has_constant_hessian)};
    const auto fitting = [&](double most, double total) {
        const double room = most - static_cast<double>(n_rows) - 1;
        return total > 0 ? std::exp2(std::clamp(std::floor(std::log2(room / total)), -500.0, 500.0)) : 1.0;
    };
    scale.gradient = fitting(std::exp2(scale.fields.gradient_bits - 1), totals.absolute_gradient);
    if (has_constant_hessian) return scale;
    scale.hessian = fitting(scale.fields.hessian_mask, totals.hessian);
    scale.largest_hessian =
        static_cast<std::int32_t>(std::max(std::nearbyint(totals.largest_hessian * scale.hessian), 1.0));
    return scale;
}

}  // namespace committee
