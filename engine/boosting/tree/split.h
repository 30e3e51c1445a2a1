// Finds the best split of a column from the sums of its bins, by the gain of Chen and Guestrin 2016. With G and H the
// sums of gradients and hessians of a side, and T soft thresholding by alpha,
//
//     gain = T(G_left)^2 / (H_left + lambda) + T(G_right)^2 / (H_right + lambda) - T(G)^2 / (H + lambda)
//
// All sums are in units of the words' fields. The rows are not read.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/split_scan.h"

namespace committee {

struct BoostSplit {
    double score = -1;  // the sum of the scores of both sides; the gain is its excess over the node's own score
    Word left = 0;      // the sum of the rows that go left
    std::uint32_t column = 0;
    std::uint32_t threshold = 0;  // of a numeric column: codes <= threshold go left
    bool is_category = false;
    bool missing_right = false;
    bool has_missing = false;               // whether a row of the node has a missing value
    std::vector<std::uint16_t> left_codes;  // of a categorical column, without missing

    bool is_found() const { return score >= 0; }
};

// The bins of one column in one node: the bin of missing values first, then either all bins, or only those with rows,
// together with their codes.
struct BinSums {
    const Word* sums = nullptr;
    const std::uint32_t* counts = nullptr;  // rows by bin; null if the words contain the counts or they are unknown
    const std::uint16_t* codes = nullptr;   // null: bin i has code i
    std::size_t size = 0;

    std::uint32_t code(std::size_t bin) const {
        return codes == nullptr ? static_cast<std::uint32_t>(bin) : codes[bin];
    }
};

// The sums of a node.
struct NodeSums {
    Word total = 0;
    std::size_t n_rows = 0;
};

// Finds the best split over several columns, one at a time. Each thread has its own, because it owns buffers.
class BoostSearch {
  public:
    // Replaces `best` if the column has a better split.
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
