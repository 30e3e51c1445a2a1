#include "table/row_order.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>

namespace committee {
namespace {

// Maps doubles to unsigned integers of the same order. Adding zero makes -0 and 0 equal.
std::uint64_t order_key(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits >> 63 != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}

std::uint32_t row_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }

// Two digits of 11 bits and one of 10.
constexpr std::array<int, 3> shifts{32, 43, 54};
constexpr std::size_t n_digits = 2048;

std::size_t digit_of(std::uint64_t word, std::size_t digit) { return (word >> shifts[digit]) % n_digits; }

// Fewer rows are sorted by comparison only.
constexpr std::size_t few = 256;

}  // namespace

// A radix sort by three digits, after skipping the leading bits that all keys share. Rows with equal digits are then
// sorted by comparison.
void RowSorter::sort(std::span<const double> numbers, std::span<std::uint32_t> rows, Polls& polls) {
    if (rows.size() < few) {
        std::ranges::sort(rows, {}, [&](std::uint32_t row) { return numbers[row]; });
        return;
    }
    words_.resize(rows.size());
    spare_.resize(rows.size());
    std::uint64_t differing = 0;
    const std::uint64_t first = order_key(numbers[rows[0]]);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        words_[i] = order_key(numbers[rows[i]]);
        differing |= words_[i] ^ first;
    }
    const int n_shared = differing == 0 ? 0 : std::countl_zero(differing);
    std::array<std::array<std::uint32_t, n_digits>, 3> starts{};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        words_[i] = (words_[i] << n_shared >> 32 << 32) | rows[i];
        for (std::size_t digit = 0; digit < 3; ++digit) ++starts[digit][digit_of(words_[i], digit)];
    }
    for (std::size_t digit = 0; digit < 3; ++digit) {
        auto& start = starts[digit];
        if (start[digit_of(words_[0], digit)] == rows.size()) continue;
        polls.after(rows.size());
        std::exclusive_scan(start.begin(), start.end(), start.begin(), std::uint32_t{0});
        for (const std::uint64_t word : words_) spare_[start[digit_of(word, digit)]++] = word;
        words_.swap(spare_);
    }
    const auto by_number = [&](std::uint64_t a, std::uint64_t b) { return numbers[row_of(a)] < numbers[row_of(b)]; };
    for (auto run = words_.begin(); run != words_.end();) {
        auto end = run + 1;
        bool is_sorted = true;
        for (; end != words_.end() && *end >> 32 == *run >> 32; ++end) {
            is_sorted = is_sorted && !by_number(*end, *(end - 1));
        }
        if (!is_sorted) std::sort(run, end, by_number);
        run = end;
    }
    std::ranges::transform(words_, rows.begin(), row_of);
}

}  // namespace committee
