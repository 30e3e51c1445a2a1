// Steps one and two of growing with random thresholds. Draws one threshold for each of several columns and sums the
// rows that go left for all of them at once. In: the codes and items of a node. Out: thresholds and the sums on their
// left.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "growing/histogram.h"
#include "growing/value_lines.h"
#include "numbers/random.h"
#include "table/table.h"
#include "tree/node_statistics.h"

namespace committee {

// The codes of up to eight columns are stored together, so that one vector holds a row.
template <class Code, class Stat>
class RandomSplits {
  public:
    using Item = typename Stat::Item;
    static constexpr std::size_t most_columns = 8;

    // A threshold drawn uniformly between the lowest and the highest value in the node (Geurts, Ernst and Wehenkel
    // 2006).
    struct Draw {
        bool is_constant = false;  // nothing was drawn
        bool missing_right = false;
        std::uint32_t threshold = 0;
    };

    struct Left {
        Item item{};
        std::uint32_t n_rows = 0;
    };

    explicit RandomSplits(const Table& table) : table_(table) {
        for (const Column& column : table.binning->columns) lines_.emplace_back(column.is_category ? Column{} : column);
    }

    void start_tree(std::size_t n_rows, std::uint32_t heaviest) {
        codes_.resize(std::max(codes_.size(), n_rows * most_columns));
        rows_of_a_sum_ = most_rows_of_a_sum / heaviest;
    }

    // Draws a threshold between two codes of the column visited after `visited` others.
    std::uint32_t threshold(std::uint32_t column, CodeRange range, std::uint64_t visited, const Random& random) const {
        return lines_[column].code_between(range.lowest, range.highest, to_share(random.at(2 * visited)));
    }

    // Draws thresholds for several columns, the first of which is visited after `visited` others. codes: the codes of
    // each column.
    void draw(std::span<const std::uint32_t> columns, const std::array<const Code*, most_columns>& codes,
              std::span<const std::uint32_t> rows, std::uint64_t visited, const Random& random) {
        n_columns_ = columns.size();
        Ranges ranges;
        [&]<std::size_t... k>(std::index_sequence<k...>) {
            ((columns.size() == k + 1 ? gather<k + 1>(codes, rows, ranges) : void()), ...);
        }(std::make_index_sequence<most_columns>());
        std::array<CodeRange, most_columns> found;
        std::array<double, most_columns> shares, values;
        std::array<std::uint32_t, most_columns> lines{};
        for (std::size_t k = 0; k < n_columns_; ++k) {
            found[k] = ranges.of(k, table_.has_missing[columns[k]]);
            shares[k] = to_share(random.at(2 * visited + 2 * k));
            values[k] = lines_[columns[k]].value_between(found[k].lowest, found[k].highest, shares[k]);
        }
        for (std::uint32_t step = ValueLines::most_lines / 2; step > 0; step /= 2) {
            for (std::size_t k = 0; k < n_columns_; ++k)
                lines[k] = lines_[columns[k]].step_on(lines[k], step, values[k]);
        }
        for (std::size_t k = 0; k < n_columns_; ++k) {
            const CodeRange& range = found[k];
            Draw& drawn = draws_[k];
            drawn.is_constant = range.is_constant();
            drawn.missing_right = range.has_missing && (random.at(2 * visited + 2 * k + 1) & 1) != 0;
            if (range.lowest < range.highest) {
                drawn.threshold =
                    lines_[columns[k]].code_on(lines[k], range.lowest, range.highest, shares[k], values[k]);
            } else {
                drawn.threshold = drawn.missing_right ? range.highest : 0;
            }
            // Subtracting 1 wraps missing around to the highest code.
            shifts_[k] = drawn.missing_right ? 1 : 0;
            lasts_[k] = to_signed(to_word(drawn.threshold - shifts_[k]));
        }
    }

    const Draw& operator[](std::size_t k) const { return draws_[k]; }

    bool goes_left(std::size_t k, std::size_t i) const {
        return to_signed(static_cast<std::uint16_t>(codes_[i * most_columns + k] - shifts_[k])) <= lasts_[k];
    }

    // Sums the rows that go left, for every column that was drawn.
    void sum_left(std::span<const Item> items) {
        if constexpr (std::is_same_v<Stat, TwoClasses>) {
            if (rows_of_a_sum_ == most_rows_of_a_sum) return sum_left_side_by_side<true>(items);
            if (rows_of_a_sum_ >= fewest_rows_of_a_sum) return sum_left_side_by_side<false>(items);
        }
        for (std::size_t k = 0; k < n_columns_; ++k) {
            Left left;
            for (std::size_t i = 0; i < items.size(); ++i) {
                const bool goes = goes_left(k, i);
                left.item = left.item + Stat::only_if(goes, items[i]);
                left.n_rows += goes ? 1 : 0;
            }
            left_[k] = left;
        }
    }

    const Left& left_of(std::size_t k) const { return left_[k]; }

  private:
    // Codes are stored minus 2^15, modulo 2^16, because vectors of signed numbers can be compared in one instruction.
    // Sums use unsigned words, which may wrap around.
    using Lanes [[gnu::vector_size(2 * most_columns)]] = std::int16_t;
    using Words [[gnu::vector_size(2 * most_columns)]] = std::uint16_t;
    static constexpr std::size_t fewest_rows_of_a_sum = 32, most_rows_of_a_sum = 65535;

    static std::uint16_t to_word(std::uint32_t code) { return static_cast<std::uint16_t>(code ^ 0x8000U); }
    static std::int16_t to_signed(std::uint16_t word) { return static_cast<std::int16_t>(word); }
    static std::uint32_t to_code(std::int16_t number) { return static_cast<std::uint16_t>(number) ^ 0x8000U; }

    struct Ranges {
        Lanes lowest, lowest_but_missing, highest;

        CodeRange of(std::size_t k, bool may_miss) const {
            const bool has_missing = may_miss && to_code(lowest[k]) == 0;
            return {has_missing ? to_code(lowest_but_missing[k]) + 1 : to_code(lowest[k]), to_code(highest[k]),
                    has_missing};
        }
    };

    Words words_of(std::size_t i) const {
        Words words;
        std::memcpy(&words, codes_.data() + i * most_columns, sizeof words);
        return words;
    }

    template <std::size_t n>
    void gather(const std::array<const Code*, most_columns>& columns, std::span<const std::uint32_t> rows,
                Ranges& ranges) {
        const Words zeros{}, one = zeros + std::uint16_t{1}, half = zeros + to_word(0);
        Lanes lowest = std::bit_cast<Lanes>(~half), lowest_but_missing = lowest, highest = std::bit_cast<Lanes>(half);
        std::uint16_t* to = codes_.data();
        std::array<const Code*, n> from;  // kept in registers
        std::copy_n(columns.begin(), n, from.begin());
        for (const std::uint32_t row : rows) {
            Words words{};
            for (std::size_t k = 0; k < n; ++k) words[k] = from[k][row];
            words ^= half;
            const auto lanes = std::bit_cast<Lanes>(words), but_missing = std::bit_cast<Lanes>(words - one);
            lowest = lanes < lowest ? lanes : lowest;
            lowest_but_missing = but_missing < lowest_but_missing ? but_missing : lowest_but_missing;
            highest = lanes > highest ? lanes : highest;
            std::memcpy(to, &words, sizeof words);
            to += most_columns;
        }
        ranges = {lowest, lowest_but_missing, highest};
    }

    // Processes at most as many rows at a time as a 16-bit sum allows.
    template <bool weigh_one>
    void sum_left_side_by_side(std::span<const Item> items) {
        Words shift;
        Lanes last;
        std::memcpy(&shift, shifts_.data(), sizeof shift);
        std::memcpy(&last, lasts_.data(), sizeof last);
        left_.fill({});
        for (std::size_t begin = 0; begin < items.size(); begin += rows_of_a_sum_) {
            const std::size_t end = std::min(items.size(), begin + rows_of_a_sum_);
            const Words zeros{};
            Words weights{}, ones{}, counts{};
            for (std::size_t i = begin; i < end; ++i) {
                const auto goes = std::bit_cast<Words>(std::bit_cast<Lanes>(words_of(i) - shift) <= last);
                if constexpr (!weigh_one) weights += goes & (zeros + static_cast<std::uint16_t>(items[i]));
                ones += goes & (zeros + static_cast<std::uint16_t>(items[i] >> 32));
                counts -= goes;
            }
            if constexpr (weigh_one) weights = counts;
            for (std::size_t k = 0; k < most_columns; ++k) {
                left_[k].item += (Item{ones[k]} << 32) | weights[k];
                left_[k].n_rows += counts[k];
            }
        }
    }

    const Table& table_;
    std::vector<ValueLines> lines_;
    std::vector<std::uint16_t> codes_;
    std::size_t n_columns_ = 0;
    std::size_t rows_of_a_sum_ = 0;
    std::array<Draw, most_columns> draws_{};
    std::array<std::uint16_t, most_columns> shifts_{};
    std::array<std::int16_t, most_columns> lasts_{};
    std::array<Left, most_columns> left_{};
};

}  // namespace committee
