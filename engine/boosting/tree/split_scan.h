// The innermost loops of the search for splits, several bins at a time: compiled for the vectors of every machine, and
// once more for wider ones, which are used where the machine has them. Both give the same bits.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "boosting/tree/gradient_words.h"

namespace committee {

// What a split of a node must keep, in units.
struct BoostLimits {
    double lambda = 0;
    double alpha = 0;
    double min_hessian = 1;  // a whole number
    double min_rows = 1;
    double cat_smooth = 0;
    std::uint32_t max_cat_to_onehot = 4;
    bool is_bounded = false;  // some column of the tree is monotonic: values stay between the bounds
    int direction = 0;        // of this column
    bool is_drawn = false;    // the split is not the best, but one that `draw` chooses
    std::uint64_t draw = 0;   // of this column at this node, any number
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

// Splits of a node: split i sends left before + sums[0] + ... + sums[i]. A side's rows are counted by the words, by
// counts, or not at all.
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
    double score = -1;  // none: some side is always too light
    std::size_t at = 0;
};

// The best of the splits, the first of equals, unless it does not beat a score; or the one that is drawn.
ScoredSplit best_split(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double to_beat);

// The best of the splits that send sums[i] alone left.
ScoredSplit best_single(const SplitRow& row, const WordFields& fields, const BoostLimits& limits);

}  // namespace committee
