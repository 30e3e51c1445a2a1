// Collects the non-empty bins of a node, column by column. Used for nodes of few rows, and for columns of many bins,
// most of which are empty in the node. Each thread has its own collector.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "boosting/tree/row_blocks.h"
#include "boosting/tree/split.h"
#include "table/table.h"

namespace committee {

template <class Code>
class BinCollector {
  public:
    // Gathers the words of a node's rows and, for byte codes, the codes of the columns in a share.
    void start(const Codes<Code>& codes, const ColumnShare& share, const RowParts& parts, std::uint32_t node,
               std::uint32_t depth) {
        rows_.clear();
        words_.clear();
        for (std::size_t part = 0; part < parts.n_parts(); ++part) {
            const auto rows = parts.rows(node, depth, part);
            const Word* words = parts.words(node, depth, part);
            rows_.insert(rows_.end(), rows.begin(), rows.end());
            words_.insert(words_.end(), words, words + rows.size());
        }
        if constexpr (std::is_same_v<Code, std::uint8_t>) {
            gathered_.resize(share.size() * rows_.size());
            for (std::size_t i = 0; i < rows_.size(); ++i) {
                const std::uint8_t* row = codes.row(rows_[i]);
                std::uint8_t* to = gathered_.data() + i;
                share.for_each([&](std::uint32_t j) {
                    *to = row[j];
                    to += rows_.size();
                });
            }
        }
    }

    // The non-empty bins of a column in increasing order. `place` is the column's position in the share.
    BinSums collect(const Codes<Code>& codes, std::uint32_t column, std::size_t place, std::size_t width) {
        // The bin of missing values comes first and may be empty.
        bins_.assign(1, 0);
        sums_.assign(1, 0);
        counts_.assign(1, 0);
        if constexpr (std::is_same_v<Code, std::uint8_t>) {
            collect_bytes(gathered_.data() + place * rows_.size());
        } else if (rows_.size() * 8 >= width) {
            collect_many(codes.column(column), width);
        } else {
            collect_few(codes.column(column));
        }
        return {sums_.data(), counts_.data(), bins_.data(), sums_.size()};
    }

  private:
    void push(std::size_t code, Word sum, std::uint32_t count) {
        bins_.push_back(static_cast<std::uint16_t>(code));
        sums_.push_back(sum);
        counts_.push_back(count);
    }

    // A bit set of 256 codes records which sums have rows. Those sums are reset to 0 for the next column.
    void collect_bytes(const std::uint8_t* codes) {
        dense_.resize(256, 0);
        dense_counts_.resize(256, 0);
        std::uint64_t seen[4] = {};
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const std::uint8_t code = codes[i];
            dense_[code] += words_[i];
            ++dense_counts_[code];
            seen[code >> 6] |= std::uint64_t{1} << (code & 63);
        }
        sums_[0] = std::exchange(dense_[0], 0);
        counts_[0] = std::exchange(dense_counts_[0], 0);
        seen[0] &= ~std::uint64_t{1};
        for (std::size_t part = 0; part < 4; ++part) {
            for (; seen[part] != 0; seen[part] &= seen[part] - 1) {
                const std::size_t code = 64 * part + static_cast<std::size_t>(std::countr_zero(seen[part]));
                push(code, std::exchange(dense_[code], 0), std::exchange(dense_counts_[code], 0));
            }
        }
    }

    void collect_many(const Code* codes, std::size_t width) {
        dense_.assign(width, 0);
        dense_counts_.assign(width, 0);
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            dense_[codes[rows_[i]]] += words_[i];
            ++dense_counts_[codes[rows_[i]]];
        }
        sums_[0] = dense_[0];
        counts_[0] = dense_counts_[0];
        for (std::size_t code = 1; code < width; ++code) {
            if (dense_counts_[code] != 0) push(code, dense_[code], dense_counts_[code]);
        }
    }

    void collect_few(const Code* codes) {
        entries_.clear();
        for (std::size_t i = 0; i < rows_.size(); ++i) entries_.emplace_back(codes[rows_[i]], words_[i]);
        std::ranges::sort(entries_, {}, &std::pair<Code, Word>::first);
        for (const auto& [code, word] : entries_) {
            if (bins_.back() != code) push(code, 0, 0);
            sums_.back() += word;
            ++counts_.back();
        }
    }

    std::vector<std::uint32_t> rows_;
    std::vector<Word> words_;
    std::vector<std::uint8_t> gathered_;  // codes by column, then by row
    std::vector<std::pair<Code, Word>> entries_;
    std::vector<Word> sums_, dense_;
    std::vector<std::uint32_t> counts_, dense_counts_;
    std::vector<std::uint16_t> bins_;
};

}  // namespace committee
