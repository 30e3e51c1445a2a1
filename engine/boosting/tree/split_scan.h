// The innermost loops of the split search, several bins at a time. They are compiled for the vectors of every machine,
// and again for wider ones, which are used if available. Both compute the same bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "boosting/tree/gradient_words.h"

namespace committee {

// The limits on a split of a node, in units of the fields.
struct BoostLimits {
    double lambda = 0;
    double alpha = 0;
    double min_hessian = 1;  // an integer
    double min_rows = 1;
    double cat_smooth = 0;
    std::uint32_t max_cat_to_onehot = 4;
    bool is_bounded = false;  // a column of the tree is monotonic, so values must stay between the bounds
    int direction = 0;        // of this column
    bool is_drawn = false;    // take a random split, given by `draw`, instead of the best
    std::uint64_t draw = 0;   // a random number for this column and node
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();

    double shrunk(double gradient) const {
        return gradient > alpha ? gradient - alpha : gradient < -alpha ? gradient + alpha : 0.0;
    }
    double value(double gradient, double hessian) const {
        return std::clamp(-shrunk(gradient) / (hessian + lambda), lower, upper);
    }
    // Twice the decrease of the loss; T(G)^2 / (H + lambda) at the optimal value.
    double score(double gradient, double hessian) const {
        const double shrunken = shrunk(gradient);
        if (!is_bounded) return shrunken * shrunken / (hessian + lambda);
        const double at = value(gradient, hessian);
        return -(2 * shrunken + (hessian + lambda) * at) * at;
    }
};

// The splits of a node: split i sends before + sums[0] + ... + sums[i] left. The rows of a side are counted by the
// words, by `counts`, or not at all.
struct SplitRow {
    const Word* sums = nullptr;
    const std::uint32_t* counts = nullptr;  // rows by bin
    std::size_t size = 0;
    Word before = 0;
    std::uint32_t n_before = 0;
    Word total = 0;
    std::size_t n_rows = 0;
};

struct ScoredSplit {
    double score = -1;  // -1: no split, because one side is always too small
    std::size_t at = 0;
};

// The best split, the first one among ties, if its score exceeds to_beat; or the random split.
ScoredSplit best_split(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double to_beat);

// The best of the splits that send only sums[i] left.
ScoredSplit best_single(const SplitRow& row, const WordFields& fields, const BoostLimits& limits);

}  // namespace committee
