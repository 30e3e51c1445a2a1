// Steps one and two of growing for random thresholds: one is drawn for each of some columns, and the rows that go left
// are summed for all of these columns at once. Comes in: the codes and items of a node. Goes out: thresholds, and what
// lies on their left.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "histogram.h"
#include "knots.h"
#include "random.h"
#include "statistics.h"
#include "table.h"

namespace committee {

// The codes of up to eight columns lie side by side: a row is one vector.
template <class Code, class Stat>
class Draws {
  public:
    using Item = typename Stat::Item;
    static constexpr std::size_t most_columns = 8;

    // One threshold, uniform between the lowest and the highest value of the node (Geurts, Ernst and Wehenkel 2006).
    struct Draw {
        bool is_constant = false;  // then nothing was drawn
        bool missing_right = false;
        std::uint32_t threshold = 0;
    };

    struct Left {
        Item item{};
        std::uint32_t n_rows = 0;
    };

    explicit Draws(const Table& table) : table_(table) {
        for (const Column& column : table.binning->columns) knots_.emplace_back(column.is_category ? Column{} : column);
    }

    void start_tree(std::size_t n_rows, std::uint32_t heaviest) {
        codes_.resize(std::max(codes_.size(), n_rows * most_columns));
        rows_of_a_sum_ = 65535 / heaviest;
    }

    // A threshold of a column between two codes; of the column that is visited after so many others.
    std::uint32_t threshold(std::uint32_t column, CodeRange range, std::uint64_t visited, const Random& random) const {
        return knots_[column].code_between(range.lowest, range.highest, to_share(random.at(2 * visited)));
    }

    // Draws for some columns, the first of which is visited after so many others. codes: where each begins.
    void draw(std::span<const std::uint32_t> columns, const std::array<const Code*, most_columns>& codes,
              std::span<const std::uint32_t> rows, std::uint64_t visited, const Random& random) {
        n_rows_ = rows.size();
        [&]<std::size_t... k>(std::index_sequence<k...>) {
            ((columns.size() == k + 1 ? gather<k + 1>(codes, rows) : void()), ...);
        }(std::make_index_sequence<most_columns>());
        const Ranges ranges = find_ranges();
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const bool has_missing = ranges.lowest[k] == 0 && table_.has_missing[columns[k]];
            const CodeRange range{has_missing ? ranges.lowest_but_missing[k] + 1U : ranges.lowest[k], ranges.highest[k],
                                  has_missing};
            Draw& drawn = draws_[k];
            drawn.is_constant = range.is_constant();
            if (drawn.is_constant) continue;
            drawn.missing_right = has_missing && (random.at(2 * visited + 2 * k + 1) & 1) != 0;
            drawn.threshold = range.lowest == range.highest ? (drawn.missing_right ? range.highest : 0)
                                                            : threshold(columns[k], range, visited + k, random);
            // Code - 1 wraps missing round to the top.
            shifts_[k] = drawn.missing_right ? 1 : 0;
            lasts_[k] = static_cast<std::uint16_t>(drawn.threshold - shifts_[k]);
        }
    }

    const Draw& operator[](std::size_t k) const { return draws_[k]; }

    bool goes_left(std::size_t k, std::size_t i) const {
        return static_cast<std::uint16_t>(codes_[i * most_columns + k] - shifts_[k]) <= lasts_[k];
    }

    // What goes left in each of the columns that were drawn for.
    void sum_left(std::span<const Item> items) {
        if constexpr (std::is_same_v<Stat, TwoClasses>) {
            if (rows_of_a_sum_ >= fewest_rows_of_a_sum) return sum_left_side_by_side(items);
        }
        for (std::size_t k = 0; k < most_columns; ++k) {
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
    using Lanes [[gnu::vector_size(2 * most_columns)]] = std::uint16_t;
    struct Ranges {
        Lanes lowest, lowest_but_missing, highest;
    };
    static constexpr std::size_t fewest_rows_of_a_sum = 32;

    static double to_share(std::uint64_t number) { return static_cast<double>(number >> 11) * 0x1.0p-53; }

    Lanes lanes_of(std::size_t i) const {
        Lanes lanes;
        std::memcpy(&lanes, codes_.data() + i * most_columns, sizeof lanes);
        return lanes;
    }

    template <std::size_t n>
    void gather(const std::array<const Code*, most_columns>& columns, std::span<const std::uint32_t> rows) {
        std::uint16_t* to = codes_.data();
        for (const std::uint32_t row : rows) {
            for (std::size_t k = 0; k < n; ++k) to[k] = columns[k][row];
            to += most_columns;
        }
    }

    Ranges find_ranges() const {
        Ranges ranges{lanes_of(0), lanes_of(0) - 1, lanes_of(0)};
        for (std::size_t i = 1; i < n_rows_; ++i) {
            const Lanes codes = lanes_of(i);
            const Lanes but_missing = codes - 1;
            ranges.lowest = codes < ranges.lowest ? codes : ranges.lowest;
            ranges.lowest_but_missing =
                but_missing < ranges.lowest_but_missing ? but_missing : ranges.lowest_but_missing;
            ranges.highest = codes > ranges.highest ? codes : ranges.highest;
        }
        return ranges;
    }

    // As many rows at a time as 16 bits can count.
    void sum_left_side_by_side(std::span<const Item> items) {
        Lanes shift, last;
        std::memcpy(&shift, shifts_.data(), sizeof shift);
        std::memcpy(&last, lasts_.data(), sizeof last);
        left_.fill({});
        for (std::size_t begin = 0; begin < items.size(); begin += rows_of_a_sum_) {
            const std::size_t end = std::min(items.size(), begin + rows_of_a_sum_);
            const Lanes zeros{};
            Lanes weights{}, ones{}, counts{};
            for (std::size_t i = begin; i < end; ++i) {
                const auto goes = static_cast<Lanes>(lanes_of(i) - shift <= last);
                weights += goes & (zeros + static_cast<std::uint16_t>(items[i]));
                ones += goes & (zeros + static_cast<std::uint16_t>(items[i] >> 32));
                counts -= goes;
            }
            for (std::size_t k = 0; k < most_columns; ++k) {
                left_[k].item += (Item{ones[k]} << 32) | weights[k];
                left_[k].n_rows += counts[k];
            }
        }
    }

    const Table& table_;
    std::vector<Knots> knots_;
    std::vector<std::uint16_t> codes_;
    std::size_t n_rows_ = 0;
    std::size_t rows_of_a_sum_ = 0;
    std::array<Draw, most_columns> draws_{};
    std::array<std::uint16_t, most_columns> shifts_{}, lasts_{};
    std::array<Left, most_columns> left_{};
};

}  // namespace committee
