// Computes the histograms of the roots of all trees of a round together. All trees start with the same rows, so the
// rows of each bin are listed once, and the words of several trees are summed together in vectors. The root dominates
// the cost of small trees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "boosting/tree/row_blocks.h"
#include "table/table.h"
#include "threads/thread_team.h"

namespace committee {

class RootHistograms {
  public:
    RootHistograms(const Table& table, const Codes<std::uint8_t>& codes, std::size_t n_trees);

    // Whether this is faster for a table: the words of a few trees must stay in the cache, and all histograms must fit
    // in limited memory.
    static bool is_worthwhile(const Table& table, std::size_t n_trees);

    // Sums the rows of every tree.
    void fill(std::span<const BoostRows> rows, std::span<const WordScale> scales, ThreadTeam& team);

    const Word* of_tree(std::size_t tree) const { return histograms_.data() + tree * shape_.size; }

  private:
    static constexpr std::size_t lanes = 4;
    using Pair [[gnu::vector_size(16)]] = Word;

    // The words of several trees, in two vectors that every machine has. A sum of them stays in registers.
    struct Words {
        Pair pairs[2] = {};

        void add(const Words& more) {
            pairs[0] += more.pairs[0];
            pairs[1] += more.pairs[1];
        }
        void take(const Words& less) {
            pairs[0] -= less.pairs[0];
            pairs[1] -= less.pairs[1];
        }
        void set(std::size_t lane, Word word) { pairs[lane / 2][lane % 2] = word; }
        Word get(std::size_t lane) const { return pairs[lane / 2][lane % 2]; }
    };

    // A bin that is summed: its position in a histogram and its rows.
    struct Bin {
        std::uint32_t place;
        std::uint32_t begin, end;
    };
    // A column: the bins that are summed, and the most frequent bin, which gets the difference to the total.
    struct Column {
        std::uint32_t begin, end;
        std::uint32_t usual;
    };

    void sum_columns(std::size_t group, std::size_t begin, std::size_t end);

    HistogramShape shape_;
    std::size_t n_rows_ = 0;
    std::vector<Column> columns_;
    std::vector<Bin> bins_;
    std::vector<std::uint16_t> rows_;  // by column, then by bin
    std::vector<Words> words_;         // by group of trees, then by row; a group has as many trees as there are lanes
    std::vector<Words> totals_;        // by group
    std::vector<Word> histograms_;     // by tree
};

}  // namespace committee
