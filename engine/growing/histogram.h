// Step one of growing: summarises one column over the rows of a node. In: the codes of the column and the items of the
// rows. Out: entries, the sums by code in increasing order of code (code 0, missing, first). All sums are integers, so
// entries of some of the rows can be merged into the entries of all.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "table/table.h"
#include "tree/node_statistics.h"

namespace committee {

// Up to this many rows are sorted by rank: the number of rows below each.
inline constexpr std::size_t rank_sort_limit = 32;

// The largest number of bins in a node's histogram if splits need not be exact. The bins span the node's own range of
// codes, so they are fine in deep nodes even if the column has 65,535 bins.
inline constexpr int coarse_bits = 8;
inline constexpr std::uint32_t coarse_bins = 1 << coarse_bits;

struct CodeRange {
    std::uint32_t lowest = 0;  // of the values that are not missing
    std::uint32_t highest = 0;
    bool has_missing = false;

    bool is_constant() const { return has_missing ? highest == 0 : lowest == highest; }
};

// Copies the codes of a column for the rows of a node, and finds their range.
template <class Code>
CodeRange gather_codes(const Code* column, std::span<const std::uint32_t> rows, bool may_miss, std::uint16_t* out) {
    const std::size_t n = rows.size();
    for (std::size_t i = 0; i < n; ++i) out[i] = column[rows[i]];
    std::uint16_t lowest = 65535, highest = 0;
    for (std::size_t i = 0; i < n; ++i) {
        lowest = std::min(lowest, out[i]);
        highest = std::max(highest, out[i]);
    }
    if (!may_miss || lowest > 0) return {lowest, highest, false};
    lowest = 65535;
    for (std::size_t i = 0; i < n; ++i)
        lowest = std::min(lowest, static_cast<std::uint16_t>(out[i] - 1));  // missing wraps around
    return {lowest + 1U, highest, true};
}

// The entries of a column, some of which may be empty. Either entry e holds the codes of bin e, or every entry has one
// code, and several entries may have the same code.
template <class Stat>
struct Entries {
    bool are_bins = false;
    std::uint32_t lowest = 0;  // of bins: bin 0 is missing, bin b > 0 holds the codes lowest + [b - 1, b) << shift
    std::uint32_t highest = 0;
    int shift = 0;
    std::vector<std::uint16_t> codes;
    std::vector<typename Stat::Item> items;
    std::vector<std::uint32_t> counts;         // rows per entry; only filled if a limit needs them
    std::vector<std::uint32_t> class_weights;  // n_classes per bin, instead of items, for bins of many classes
    std::size_t size = 0;

    void reserve(std::size_t n) {
        if (codes.size() >= n) return;
        codes.resize(n);
        items.resize(n);
        counts.resize(n);
    }
    // A split after entry e sends all codes up to this one left.
    std::uint32_t last_code(std::size_t e) const {
        if (!are_bins) return codes[e];
        return e == 0 ? 0 : std::min(lowest + (static_cast<std::uint32_t>(e) << shift) - 1, highest);
    }
    const std::uint32_t* class_weights_of(std::size_t e) const {
        return class_weights.data() + e * (class_weights.size() / size);
    }
    void push(std::uint16_t code, const typename Stat::Item& item, std::uint32_t count) {
        codes[size] = code;
        items[size] = item;
        counts[size++] = count;
    }
};

// Turns rows into entries. Buffers are reused for every node.
template <class Stat>
class Histogram {
  public:
    using Item = typename Stat::Item;

    Histogram(std::size_t n_classes, bool exact, bool count_rows)
        : n_classes_(n_classes), exact_(exact), count_rows_(count_rows) {}

    // Sets the weight of a row that occurs once in the tree's sample.
    void start_tree(double row_weight) { row_weight_ = row_weight; }

    // Sets the weight of the next node's rows. If splits need not be exact, it determines the number of bins. It counts
    // weight instead of rows, so that a row of weight 2 equals two rows.
    void start_node(double weight) {
        if (exact_) return;
        const double n_rows = std::round(weight / row_weight_);
        most_bits_ = n_rows <= rank_sort_limit ? 16 : std::clamp(std::ilogb(n_rows), 6, coarse_bits);
    }

    // If is_category, every category gets a separate entry.
    void order(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range, bool is_category,
               Entries<Stat>& entries) {
        const std::size_t n = codes.size();
        const std::uint32_t last = range.highest - range.lowest;
        const int shift = is_category ? 0 : std::max(0, static_cast<int>(std::bit_width(last)) - most_bits_);
        if (n <= rank_sort_limit) return rank_sort(codes, items, range, shift, entries);
        // Bin 0 holds missing values.
        const std::size_t n_bins = (last >> shift) + 2;
        if (n_bins * n_cells() <= 2 * n + coarse_bins / 4) {
            count(codes, items, range, shift, n_bins, is_category, entries);
        } else if (n_bins <= coarse_bins + 1) {
            counting_sort(codes, items, range, shift, n_bins, entries);
        } else {
            radix_sort(codes, items, range, entries);
        }
    }

  private:
    static constexpr bool many = std::is_same_v<Stat, ManyClasses>;

    std::size_t n_cells() const { return many ? n_classes_ : 1; }

    void one_entry_each(std::size_t n_rows, Entries<Stat>& entries) const {
        entries.reserve(n_rows);
        entries.size = n_rows;
        entries.are_bins = false;
        if (count_rows_) std::fill_n(entries.counts.begin(), n_rows, 1);
    }

    // The rank of a row is the number of rows with a smaller (code, position). This is quadratic but free of branches.
    void rank_sort(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range, int shift,
                   Entries<Stat>& entries) {
        constexpr std::size_t lanes = 8;
        const std::size_t n = codes.size();
        const std::size_t n_padded = (n + lanes - 1) / lanes * lanes;
        std::array<std::int32_t, rank_sort_limit> keys;
        for (std::size_t i = 0; i < n; ++i) keys[i] = (std::int32_t{codes[i]} << 8) | static_cast<std::int32_t>(i);
        for (std::size_t i = n; i < n_padded; ++i) keys[i] = std::numeric_limits<std::int32_t>::max();
        one_entry_each(n, entries);
        for (std::size_t i = 0; i < n; ++i) {
            std::int32_t rank = 0;
            for (std::size_t j = 0; j < n_padded; j += lanes) {
                for (std::size_t lane = 0; lane < lanes; ++lane) rank += keys[j + lane] < keys[i] ? 1 : 0;
            }
            const auto at = static_cast<std::size_t>(rank);
            entries.codes[at] = codes[i];
            entries.items[at] = items[i];
        }
        if (shift > 0) widen(entries, range, shift);
    }

    // Replaces every code by the last code of its bin, without branching.
    static void widen(Entries<Stat>& entries, CodeRange range, int shift) {
        const auto lowest = static_cast<std::uint16_t>(range.lowest);
        const auto mask = static_cast<std::uint16_t>((1U << shift) - 1);
        const auto last = static_cast<std::uint16_t>(range.highest - range.lowest);
        std::uint16_t* codes = entries.codes.data();
        for (std::size_t i = 0; i < entries.size; ++i) {
            const auto place = static_cast<std::uint16_t>(static_cast<std::uint16_t>(codes[i] - lowest) | mask);
            const auto widened = static_cast<std::uint16_t>(lowest + std::min(place, last));
            codes[i] = codes[i] == 0 ? std::uint16_t{0} : widened;
        }
    }

    void counting_sort(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range, int shift,
                       std::size_t n_bins, Entries<Stat>& entries) {
        one_entry_each(codes.size(), entries);
        auto bin_of = [=](std::uint16_t code) -> std::size_t {
            return code == 0 ? 0 : 1 + ((code - range.lowest) >> shift);
        };
        std::array<std::uint32_t, coarse_bins + 2> starts{};
        for (const std::uint16_t code : codes) ++starts[bin_of(code) + 1];
        for (std::size_t bin = 1; bin < n_bins; ++bin) starts[bin] += starts[bin - 1];
        for (std::size_t i = 0; i < codes.size(); ++i) {
            const std::size_t bin = bin_of(codes[i]);
            const std::uint32_t at = starts[bin]++;
            entries.codes[at] = last_code(bin, range, shift);
            entries.items[at] = items[i];
        }
    }

    // Sorts by the least significant digit first. Each of the two digits has half of the bits of the node's range of
    // codes.
    void radix_sort(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range,
                    Entries<Stat>& entries) {
        const std::size_t n = codes.size();
        const std::uint32_t lowest = range.has_missing ? 0 : range.lowest;
        const int half = (std::bit_width(range.highest - lowest) + 1) / 2;
        const std::uint32_t mask = (1U << half) - 1;
        std::array<std::uint32_t, 256> low, high;
        std::fill_n(low.begin(), mask + 1, 0);
        std::fill_n(high.begin(), mask + 1, 0);
        for (const std::uint16_t code : codes) {
            ++low[(code - lowest) & mask];
            ++high[(code - lowest) >> half];
        }
        std::uint32_t low_start = 0, high_start = 0;
        for (std::size_t digit = 0; digit <= mask; ++digit) {
            low_start += std::exchange(low[digit], low_start);
            high_start += std::exchange(high[digit], high_start);
        }
        if (by_low_digit_.size() < n) by_low_digit_.resize(n);
        for (std::uint32_t i = 0; i < n; ++i) by_low_digit_[low[(codes[i] - lowest) & mask]++] = i;
        one_entry_each(n, entries);
        for (std::size_t k = 0; k < n; ++k) {
            const std::uint32_t i = by_low_digit_[k];
            const std::uint32_t at = high[(codes[i] - lowest) >> half]++;
            entries.codes[at] = codes[i];
            entries.items[at] = items[i];
        }
    }

    void count(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range, int shift,
               std::size_t n_bins, bool is_category, Entries<Stat>& entries) {
        auto bin_of = [=](std::uint16_t code) -> std::size_t {
            return code == 0 ? 0 : 1 + ((code - range.lowest) >> shift);
        };
        entries.reserve(n_bins);
        entries.size = n_bins;
        entries.are_bins = true;
        entries.lowest = range.lowest;
        entries.highest = range.highest;
        entries.shift = shift;
        if (count_rows_) {
            std::fill_n(entries.counts.begin(), n_bins, 0);
            for (const std::uint16_t code : codes) ++entries.counts[bin_of(code)];
        }
        if constexpr (many) {
            auto& weights = entries.class_weights;
            weights.assign(n_bins * n_classes_, 0);
            for (std::size_t i = 0; i < codes.size(); ++i)
                weights[bin_of(codes[i]) * n_classes_ + Stat::item_class(items[i])] += Stat::item_weight(items[i]);
            if (is_category) emit_classes(range, entries);
        } else {
            std::fill_n(entries.items.begin(), n_bins, Item{});
            if (range.has_missing) {
                for (std::size_t i = 0; i < codes.size(); ++i) entries.items[bin_of(codes[i])] += items[i];
            } else {
                Item* first = entries.items.data() + 1;
                const std::uint32_t lowest = range.lowest;
                for (std::size_t i = 0; i < codes.size(); ++i) first[(codes[i] - lowest) >> shift] += items[i];
            }
        }
    }

    static std::uint16_t last_code(std::size_t bin, CodeRange range, int shift) {
        return static_cast<std::uint16_t>(
            bin == 0 ? 0 : std::min<std::size_t>(range.lowest + (bin << shift) - 1, range.highest));
    }

    // Categories are sorted later, so every class of a category becomes an entry.
    void emit_classes(CodeRange range, Entries<Stat>& entries) {
        const std::size_t n_bins = entries.size;
        entries.are_bins = false;
        entries.size = 0;
        if (count_rows_)
            counts_.assign(entries.counts.begin(), entries.counts.begin() + static_cast<std::ptrdiff_t>(n_bins));
        entries.reserve(n_bins * n_classes_);
        for (std::size_t bin = 0; bin < n_bins; ++bin) {
            std::uint32_t rows = count_rows_ ? counts_[bin] : 0;
            for (std::uint32_t k = 0; k < n_classes_; ++k) {
                const std::uint32_t weight = entries.class_weights[bin * n_classes_ + k];
                if (weight > 0)
                    entries.push(last_code(bin, range, 0), ManyClasses::item(weight, k), std::exchange(rows, 0));
            }
        }
    }

    std::size_t n_classes_;
    bool exact_;
    int most_bits_ = 16;  // log2 of the largest number of bins
    double row_weight_ = 1;
    bool count_rows_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::uint32_t> by_low_digit_;
};

}  // namespace committee
