// From the sums of a column's bins to its best split, by the gain of Chen and Guestrin 2016: with G and H the sums of
// gradients and hessians of a side, T soft thresholding by alpha,
//
//     gain = T(G_left)^2 / (H_left + lambda) + T(G_right)^2 / (H_right + lambda) - T(G)^2 / (H + lambda)
//
// All in units of the words' fields. Knows no rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/split_scan.h"

namespace committee {

struct BoostSplit {
    double score = -1;  // the two sides' scores together; the gain is what it exceeds the node's own by
    Word left = 0;      // the sum of the rows that go left
    std::uint32_t column = 0;
    std::uint32_t threshold = 0;  // of numbers: codes <= threshold go left
    bool is_category = false;
    bool missing_right = false;
    bool saw_missing = false;               // some row of the node misses the column
    std::vector<std::uint16_t> left_codes;  // of categories, missing left out

    bool is_found() const { return score >= 0; }
};

// The bins of one column at one node: that of missing first, then all or only those that have rows, with their codes.
struct BinSums {
    const Word* sums = nullptr;
    const std::uint32_t* counts = nullptr;  // rows by bin, or null if the words hold them or nobody knows
    const std::uint16_t* codes = nullptr;   // null: bin i has code i
    std::size_t size = 0;

    std::uint32_t code(std::size_t bin) const {
        return codes == nullptr ? static_cast<std::uint32_t>(bin) : codes[bin];
    }
};

// A node as its splits see it.
struct NodeSums {
    Word total = 0;
    std::size_t n_rows = 0;
};

// Finds the best split of a column after another. One per thread: it owns the scratch.
class BoostSearch {
  public:
    // Looks for a split of the column that is better than `best`.
    void find(const BinSums& bins, std::uint32_t column, bool is_category, const NodeSums& node,
              const WordFields& fields, const BoostLimits& limits, BoostSplit& best);

  private:
    void find_threshold(const BinSums& bins, bool missing_right, std::uint32_t column, const NodeSums& node,
                        const WordFields& fields, const BoostLimits& limits, BoostSplit& best);
    void find_categories(const BinSums& bins, std::uint32_t column, const NodeSums& node, const WordFields& fields,
                         const BoostLimits& limits, BoostSplit& best);

    std::vector<std::uint32_t> order_;  // of categories
    std::vector<Word> ordered_;         // their sums
    std::vector<std::uint32_t> ordered_counts_;
    std::vector<double> ratios_;
};

}  // namespace committee
