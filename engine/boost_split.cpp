#include "boost_split.h"

#include <algorithm>

namespace committee {

void BoostSearch::find(const BinSums& bins, std::uint32_t column, bool is_category, Word total, std::size_t n_rows,
                       const WordFields& fields, const BoostLimits& limits, BoostSplit& best) {
    reserve(bins.size);
    if (is_category) return find_categories(bins, column, total, n_rows, fields, limits, best);
    const bool has_missing = bins.size > 0 && bins.code(0) == 0 && bins.sums[0] != 0;
    const std::size_t first = bins.size > 0 && bins.code(0) == 0 ? 1 : 0;
    find_threshold(bins, first, column, total, n_rows, fields, limits, has_missing, best);
    if (has_missing) find_threshold(bins, 0, column, total, n_rows, fields, limits, true, best);
}

// Bins [first, size) are walked; missing goes left if it is among them.
void BoostSearch::find_threshold(const BinSums& bins, std::size_t first, std::uint32_t column, Word total,
                                 std::size_t n_rows, const WordFields& fields, const BoostLimits& limits,
                                 bool saw_missing, BoostSplit& best) {
    if (bins.size <= first) return;
    Word sum = 0;
    for (std::size_t i = first; i < bins.size; ++i) left_[i - first] = sum += bins.sums[i];
    if (bins.counts != nullptr) {
        std::uint32_t count = 0;
        for (std::size_t i = first; i < bins.size; ++i) left_count_[i - first] = count += bins.counts[i];
    }
    if (!improves(bins.size - first, bins.counts != nullptr, total, n_rows, fields, limits, best)) return;
    // The threshold lies midway, in codes, to the next bin that has rows.
    const std::size_t at = first + found_;
    std::size_t next = at + 1;
    while (next < bins.size && bins.sums[next] == 0) ++next;
    const std::uint32_t code = bins.code(at);
    best.left = left_[found_];
    best.column = column;
    best.threshold = next < bins.size && code > 0 ? code + (bins.code(next) - code) / 2 : code;
    best.is_category = false;
    best.missing_right = first != 0 || bins.code(0) != 0;
    best.saw_missing = saw_missing;
}

// Missing is one more category. Few categories are tried one against the rest; many are put in order of G / H, which
// for sums of squares holds the best of all sets (Fisher 1958), smoothed so that rare ones come to the middle.
void BoostSearch::find_categories(const BinSums& bins, std::uint32_t column, Word total, std::size_t n_rows,
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
    Word sum = 0;
    std::uint32_t count = 0;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        const std::uint32_t bin = order_[k];
        sum = (one_by_one ? 0 : sum) + bins.sums[bin];
        left_[k] = sum;
        if (bins.counts == nullptr) continue;
        count = (one_by_one ? 0 : count) + bins.counts[bin];
        left_count_[k] = count;
    }
    if (!improves(order_.size(), bins.counts != nullptr, total, n_rows, fields, limits, best)) return;
    best.left = left_[found_];
    best.column = column;
    best.threshold = 0;
    best.is_category = true;
    best.missing_right = true;
    best.saw_missing = false;
    best.left_codes.clear();
    // Categories that the node has not seen go right, which is to be the heavier side.
    const bool swaps = 2.0 * fields.hessian(best.left) > fields.hessian(total);
    if (swaps) best.left = total - best.left;
    for (std::size_t k = 0; k < order_.size(); ++k) {
        const bool is_chosen = one_by_one ? k == found_ : k <= found_;
        const std::uint32_t code = bins.code(order_[k]);
        if (code == 0) best.saw_missing = true;
        if (is_chosen == swaps) continue;
        if (code == 0) {
            best.missing_right = false;
        } else {
            best.left_codes.push_back(static_cast<std::uint16_t>(code));
        }
    }
}

void BoostSearch::reserve(std::size_t size) {
    size += score_lanes;
    if (left_.size() >= size) return;
    left_.resize(size);
    left_count_.resize(size);
    scores_.resize(size);
}

bool BoostSearch::improves(std::size_t size, bool has_counts, Word total, std::size_t n_rows, const WordFields& fields,
                           const BoostLimits& limits, BoostSplit& best) {
    // Past the end all goes left, which is no split.
    std::fill_n(left_.begin() + static_cast<std::ptrdiff_t>(size), score_lanes, total);
    const SplitRow row{left_.data(), has_counts ? left_count_.data() : nullptr, size, total, n_rows};
    const double score = score_splits(row, fields, limits, scores_.data());
    if (score <= best.score) return false;
    best.score = score;
    found_ = static_cast<std::size_t>(std::find(scores_.begin(), scores_.end(), score) - scores_.begin());
    return true;
}

}  // namespace committee
