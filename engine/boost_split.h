// From the sums of a column's bins to its best split, by the gain of Chen and Guestrin 2016: with G and H the sums of
// gradients and hessians of a side, T soft thresholding by alpha,
//
//     gain = T(G_left)^2 / (H_left + lambda) + T(G_right)^2 / (H_right + lambda) - T(G)^2 / (H + lambda)
//
// All in units of the words' fields. Knows no rows.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "boost_words.h"

namespace committee {

// What a split of a node must keep, in units.
struct BoostLimits {
    double lambda = 0;
    double alpha = 0;
    double min_hessian = 1;
    double min_rows = 1;
    double cat_smooth = 0;
    std::uint32_t max_cat_to_onehot = 4;
    bool is_bounded = false;  // some column of the tree is monotonic: values stay between the bounds
    int direction = 0;        // of this column
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    double shrunk(double gradient) const {
        return gradient > alpha ? gradient - alpha : gradient < -alpha ? gradient + alpha : 0.0;
    }
    double value(double gradient, double hessian) const {
        return std::clamp(-shrunk(gradient) / (hessian + lambda), lower, upper);
    }
    // Twice what the value takes off the loss; T(G)^2 / (H + lambda) at the best value.
    double score(double gradient, double hessian) const {
        const double shrunken = shrunk(gradient);
        if (!is_bounded) return shrunken * shrunken / (hessian + lambda);
        const double at = value(gradient, hessian);
        return -(2 * shrunken + (hessian + lambda) * at) * at;
    }
};

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

// The bins of one column at one node, empty ones too, or only those that have rows, with their codes.
struct BinSums {
    const Word* sums = nullptr;
    const std::uint32_t* counts = nullptr;  // rows by bin, or null if the words hold them or nobody knows
    const std::uint16_t* codes = nullptr;   // null: bin i has code i
    std::size_t size = 0;

    std::uint32_t code(std::size_t bin) const {
        return codes == nullptr ? static_cast<std::uint32_t>(bin) : codes[bin];
    }
};

// Finds the best split of a column after another. One per thread: it owns the scratch.
class BoostSearch {
  public:
    // Looks for a split of the column that is better than `best`. total and n_rows are the node's.
    void find(const BinSums& bins, std::uint32_t column, bool is_category, Word total, std::size_t n_rows,
              const WordFields& fields, const BoostLimits& limits, BoostSplit& best);

  private:
    struct Place {
        double score;
        std::size_t at;
    };

    void find_threshold(const BinSums& bins, std::size_t first, std::uint32_t column, Word total, std::size_t n_rows,
                        const WordFields& fields, const BoostLimits& limits, bool saw_missing, BoostSplit& best);
    void find_categories(const BinSums& bins, std::uint32_t column, Word total, std::size_t n_rows,
                         const WordFields& fields, const BoostLimits& limits, BoostSplit& best);
    void reserve(std::size_t size);
    void add_up(const BinSums& bins, std::size_t first);
    Place best_place(std::size_t size, bool has_counts, Word total, std::size_t n_rows, const WordFields& fields,
                     const BoostLimits& limits);

    std::vector<Word> left_;  // sums of what would go left
    std::vector<std::uint32_t> left_count_;
    std::vector<double> scores_;
    std::vector<std::uint32_t> order_;  // of categories
    std::vector<double> ratios_;
};

}  // namespace committee
