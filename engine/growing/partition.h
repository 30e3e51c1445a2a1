// Step three of growing: splits the rows of a node between its children. In: the rows of a node with their items, the
// codes of the split column, and the split. Out: the same rows, with those of the left child first. Each side keeps its
// order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "growing/histogram.h"
#include "growing/split.h"

namespace committee {

// The range of the codes on both sides of a split.
struct Divided {
    std::size_t n_left = 0;
    std::uint32_t below = 0;      // the highest code on the left
    std::uint32_t above = 65536;  // the lowest code on the right; 65536 if all rows there are missing
    bool has_missing = false;
};

// The threshold in the middle, in codes, of the gap between the two sides. Codes are ranks, so the scale of the column
// does not matter. If one side has only missing values, the threshold is the highest code on the left.
inline std::uint32_t centred_threshold(const Candidate& split, const Divided& divided) {
    if (split.threshold == 0) return 0;
    return divided.above == 65536 ? divided.below : divided.below + (divided.above - divided.below) / 2;
}

template <class Item>
class Partition {
  public:
    template <class Code>
    Divided divide(std::span<std::uint32_t> rows, std::span<Item> items, const Code* codes, bool may_miss,
                   const Candidate& split) {
        if (split.is_category) {
            mark(split, 1);
            const Divided divided =
                move<true>(rows, items, codes, [&](std::uint16_t code) { return goes_left_[code] == 0; });
            mark(split, 0);
            return divided;
        }
        if (!may_miss) {
            return move<false>(rows, items, codes,
                               [threshold = split.threshold](std::uint16_t code) { return code > threshold; });
        }
        // Subtracting 1 wraps missing around to the highest code.
        const std::uint16_t shift = split.missing_right ? 1 : 0;
        const auto threshold = static_cast<std::uint16_t>(split.threshold - shift);
        return move<true>(rows, items, codes,
                          [=](std::uint16_t code) { return static_cast<std::uint16_t>(code - shift) > threshold; });
    }

    // Sends the other categories left instead. Categories without rows in the node always go right, and the caller
    // wants the heavier side on the right.
    template <class Code>
    void swap_sides(std::span<const std::uint32_t> rows, const Code* codes, Candidate& split) {
        mark(split, 1);
        std::vector<std::uint16_t> others;
        for (const std::uint32_t row : rows) {
            const std::uint16_t code = codes[row];
            if (code == 0 || goes_left_[code] != 0) continue;
            goes_left_[code] = 1;
            others.push_back(code);
        }
        mark(split, 0);
        split.left_codes = std::move(others);
        split.missing_right = !split.missing_right;
        mark(split, 0);
    }

  private:
    // Writes every row to both sides and advances only one of them. This is branch-free arithmetic, because a branch
    // here would be unpredictable.
    template <bool may_miss, class Code, class GoesRight>
    Divided move(std::span<std::uint32_t> rows, std::span<Item> items, const Code* codes, GoesRight goes_right) {
        const std::size_t n = rows.size();
        if (spare_rows_.size() < n) {
            spare_rows_.resize(n);
            spare_items_.resize(n);
        }
        std::uint32_t* spare_rows = spare_rows_.data();
        Item* spare_items = spare_items_.data();
        std::size_t n_left = 0, n_right = 0;
        std::uint32_t below = 0, above = 65536, lowest = 65535;
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t row = rows[i];
            const Item item = items[i];
            const std::uint32_t code = codes[row];
            const std::uint32_t right = goes_right(static_cast<std::uint16_t>(code));
            rows[n_left] = row;
            items[n_left] = item;
            spare_rows[n_right] = row;
            spare_items[n_right] = item;
            n_right += right;
            n_left = i + 1 - n_right;
            below = std::max(below, code & (right - 1));
            const std::uint32_t has_value = may_miss ? code != 0 : 1;
            above = std::min(above, code | (((right & has_value) ^ 1) << 16));
            if constexpr (may_miss) lowest = std::min(lowest, code);
        }
        for (std::size_t i = 0; i < n_right; ++i) {
            rows[n_left + i] = spare_rows[i];
            items[n_left + i] = spare_items[i];
        }
        return {n_left, below, above, lowest == 0};
    }

    void mark(const Candidate& split, std::uint8_t left) {
        goes_left_.resize(65536, 0);
        goes_left_[0] = split.missing_right ? 0 : left;
        for (const std::uint16_t code : split.left_codes) goes_left_[code] = left;
    }

    std::vector<std::uint32_t> spare_rows_;
    std::vector<Item> spare_items_;
    std::vector<std::uint8_t> goes_left_;
};

}  // namespace committee
