// For tables in which most rows have the same code in a column, such as images with an empty background. Only the other
// codes are added to histograms, and the bin of the most frequent code gets the difference to the node's sum. This
// costs one addition per unusual code instead of one per code.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "table/table.h"

namespace committee {

struct UsualCode {
    std::uint8_t code = 0;
    std::size_t n_rows = 0;  // with this code
};

// The most frequent code of each column; the first one wins ties.
inline std::vector<UsualCode> usual_codes(const Codes<std::uint8_t>& codes) {
    std::vector<UsualCode> usual;
    for (std::size_t j = 0; j < codes.n_columns; ++j) {
        std::array<std::uint32_t, 256> counts{};
        for (std::size_t i = 0; i < codes.n_rows; ++i) ++counts[codes.column(j)[i]];
        const auto most = std::ranges::max_element(counts);
        usual.push_back({static_cast<std::uint8_t>(most - counts.begin()), *most});
    }
    return usual;
}

class UnusualCodes {
  public:
    UnusualCodes() = default;
    // Stays empty unless it saves a large share of the additions.
    UnusualCodes(const HistogramShape& shape, const Codes<std::uint8_t>& codes, std::span<const UsualCode> usual) {
        constexpr double most_unusual = 0.7;  // share of all codes
        constexpr std::size_t n_places = std::size_t{std::numeric_limits<std::uint16_t>::max()} + 1;
        if (shape.size > n_places || codes.n_rows == 0) return;
        std::size_t n_unusual = 0;
        for (const UsualCode& of_column : usual) {
            usual_.push_back(of_column.code);
            n_unusual += codes.n_rows - of_column.n_rows;
        }
        const auto n_codes = static_cast<double>(codes.n_rows * codes.n_columns);
        if (static_cast<double>(n_unusual) > most_unusual * n_codes) return;
        places_.reserve(n_unusual);
        begins_.reserve(codes.n_rows + 1);
        begins_.push_back(0);
        for (std::size_t i = 0; i < codes.n_rows; ++i) {
            const std::uint8_t* row = codes.row(i);
            for (std::size_t j = 0; j < codes.n_columns; ++j) {
                if (row[j] != usual_[j]) places_.push_back(static_cast<std::uint16_t>(shape.offsets[j] + row[j]));
            }
            begins_.push_back(places_.size());
        }
    }

    bool empty() const { return begins_.empty(); }

    // Adds value(i) to the unusual bins of row rows[i].
    template <class Value>
    void add_rows(std::span<const std::uint32_t> rows, Value value, Word* histogram) const {
        const std::uint16_t* places = places_.data();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const Word word = value(i);
            const std::size_t end = begins_[rows[i] + 1];
            for (std::size_t at = begins_[rows[i]]; at < end; ++at) histogram[places[at]] += word;
        }
    }

    // Computes the bins of the most frequent codes, so that every column sums to `total`.
    void complete(const HistogramShape& shape, Word total, Word* histogram) const {
        for (std::size_t j = 0; j < usual_.size(); ++j) {
            Word* bins = histogram + shape.offsets[j];
            bins[usual_[j]] = 0;
            bins[usual_[j]] = total - std::accumulate(bins, bins + shape.padded_width(j), Word{0});
        }
    }

    // The sum of a column's rows with unusual codes. One side of every split has at most this sum.
    Word unusual_sum(std::size_t column, const Word* bins, Word total) const { return total - bins[usual_[column]]; }

  private:
    std::vector<std::uint8_t> usual_;    // by column
    std::vector<std::size_t> begins_;    // by row, into places_
    std::vector<std::uint16_t> places_;  // positions in histograms
};

}  // namespace committee
