#include "boosting/tree/split.h"

#include <algorithm>
#include <numeric>

namespace committee {

void BoostSearch::find(const BinSums& bins, std::uint32_t column, bool is_category, const NodeSums& node,
                       const WordFields& fields, const BoostLimits& limits, BoostSplit& best) {
    if (is_category) return find_categories(bins, column, node, fields, limits, best);
    find_threshold(bins, true, column, node, fields, limits, best);
    if (bins.sums[0] != 0) find_threshold(bins, false, column, node, fields, limits, best);
}

void BoostSearch::find_threshold(const BinSums& bins, bool missing_right, std::uint32_t column, const NodeSums& node,
                                 const WordFields& fields, const BoostLimits& limits, BoostSplit& best) {
    const SplitRow row{.sums = bins.sums,
                       .counts = bins.counts,
                       .size = bins.size,
                       .before = missing_right ? Word{0} - bins.sums[0] : Word{0},
                       .n_before = missing_right && bins.counts != nullptr ? 0U - bins.counts[0] : 0U,
                       .total = node.total,
                       .n_rows = node.n_rows};
    const ScoredSplit found = best_split(row, fields, limits, best.score);
    if (found.score <= best.score) return;
    best.score = found.score;
    best.left = std::accumulate(bins.sums, bins.sums + found.at + 1, row.before);
    // The threshold is midway, in codes, between this bin and the next one with rows.
    std::size_t next = found.at + 1;
    while (next < bins.size && bins.sums[next] == 0) ++next;
    const std::uint32_t code = bins.code(found.at);
    best.column = column;
    best.threshold = next < bins.size && code > 0 ? code + (bins.code(next) - code) / 2 : code;
    best.is_category = false;
    best.missing_right = missing_right;
    best.has_missing = bins.sums[0] != 0;
}

// Missing counts as one more category. Few categories are split one against the rest. Many are sorted by G / H, an
// order which contains the best of all sets for sums of squares (Fisher 1958). Smoothing moves rare categories to the
// middle.
void BoostSearch::find_categories(const BinSums& bins, std::uint32_t column, const NodeSums& node,
                                  const WordFields& fields, const BoostLimits& limits, BoostSplit& best) {
    order_.clear();
    for (std::size_t i = 0; i < bins.size; ++i) {
        if (bins.sums[i] != 0) order_.push_back(static_cast<std::uint32_t>(i));
    }
    if (order_.size() < 2) return;
    const bool one_by_one = order_.size() <= limits.max_cat_to_onehot;
    if (!one_by_one) {
        ratios_.resize(bins.size);
        for (const std::uint32_t i : order_) {
            ratios_[i] = fields.gradient(bins.sums[i]) / (fields.hessian(bins.sums[i]) + limits.cat_smooth);
        }
        std::ranges::stable_sort(order_, [&](std::uint32_t a, std::uint32_t b) { return ratios_[a] < ratios_[b]; });
    }
    ordered_.clear();
    ordered_counts_.clear();
    for (const std::uint32_t bin : order_) {
        ordered_.push_back(bins.sums[bin]);
        if (bins.counts != nullptr) ordered_counts_.push_back(bins.counts[bin]);
    }
    const SplitRow row{.sums = ordered_.data(),
                       .counts = bins.counts == nullptr ? nullptr : ordered_counts_.data(),
                       .size = order_.size(),
                       .total = node.total,
                       .n_rows = node.n_rows};
    const ScoredSplit found =
        one_by_one ? best_single(row, fields, limits) : best_split(row, fields, limits, best.score);
    if (found.score <= best.score) return;
    const std::size_t first = one_by_one ? found.at : 0;
    best.score = found.score;
    best.left = std::accumulate(ordered_.data() + first, ordered_.data() + found.at + 1, Word{0});
    best.column = column;
    best.threshold = 0;
    best.is_category = true;
    best.missing_right = true;
    best.has_missing = bins.sums[0] != 0 && bins.code(0) == 0;
    best.left_codes.clear();
    // Categories without rows in the node go right, so the heavier side must be on the right.
    const bool swaps = 2.0 * fields.hessian(best.left) > fields.hessian(node.total);
    if (swaps) best.left = node.total - best.left;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        if ((k >= first && k <= found.at) == swaps) continue;
        const std::uint32_t code = bins.code(order_[k]);
        if (code == 0) {
            best.missing_right = false;
        } else {
            best.left_codes.push_back(static_cast<std::uint16_t>(code));
        }
    }
}

}  // namespace committee
