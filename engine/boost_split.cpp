#include "boost_split.h"

#include <cmath>
#include <numeric>

namespace committee {
namespace {

// The scores of the splits that send left[i] left; -1 where a side is too light. Counts: of the words, given, or none.
// Written for the compiler to do several at a time.
template <bool has_alpha, class LeftCount>
void score_splits(const Word* left, std::size_t n, double g, double h, double rows, const WordFields& fields,
                  const BoostLimits& limits, LeftCount left_count, double* scores) {
    const double lambda = limits.lambda, alpha = limits.alpha;
    const double min_hessian = limits.min_hessian, min_rows = limits.min_rows;
    const WordFields f = fields;
    for (std::size_t i = 0; i < n; ++i) {
        double left_g = f.gradient(left[i]);
        const double left_h = f.hessian(left[i]), right_h = h - left_h;
        double right_g = g - left_g;
        if constexpr (has_alpha) {
            left_g = std::max(std::abs(left_g) - alpha, 0.0);
            right_g = std::max(std::abs(right_g) - alpha, 0.0);
        }
        const double a = left_h + lambda, b = right_h + lambda;
        const double score = (left_g * left_g * b + right_g * right_g * a) / (a * b);
        const double rows_left = left_count(i), rows_right = rows - rows_left;
        const double lightest = std::min(left_h, right_h) - min_hessian;
        const double fewest = std::min(rows_left, rows_right) - min_rows;
        scores[i] = std::min(lightest, fewest) >= 0 ? score : -1.0;
    }
}

template <class LeftCount>
void score_bounded_splits(const Word* left, std::size_t n, double g, double h, double rows, const WordFields& fields,
                          const BoostLimits& limits, LeftCount left_count, double* scores) {
    for (std::size_t i = 0; i < n; ++i) {
        const double left_g = fields.gradient(left[i]), left_h = fields.hessian(left[i]);
        const double right_g = g - left_g, right_h = h - left_h;
        const double rows_left = left_count(i);
        scores[i] = -1;
        if (std::min(left_h, right_h) < limits.min_hessian) continue;
        if (std::min(rows_left, rows - rows_left) < limits.min_rows) continue;
        const double rise = limits.value(right_g, right_h) - limits.value(left_g, left_h);
        if (rise * limits.direction < 0) continue;
        scores[i] = limits.score(left_g, left_h) + limits.score(right_g, right_h);
    }
}

}  // namespace

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
    add_up(bins, first);
    const Place place = best_place(bins.size - first, bins.counts != nullptr, total, n_rows, fields, limits);
    if (place.score <= best.score) return;
    // The threshold lies midway, in codes, to the next bin that has rows.
    const std::size_t at = first + place.at;
    std::size_t next = at + 1;
    while (next < bins.size && bins.sums[next] == 0) ++next;
    const std::uint32_t code = bins.code(at);
    best.score = place.score;
    best.left = left_[place.at];
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
    const Place place = best_place(order_.size(), bins.counts != nullptr, total, n_rows, fields, limits);
    if (place.score <= best.score) return;
    best.score = place.score;
    best.left = left_[place.at];
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
        const bool is_chosen = one_by_one ? k == place.at : k <= place.at;
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
    if (left_.size() >= size) return;
    left_.resize(size);
    left_count_.resize(size);
    scores_.resize(size);
}

void BoostSearch::add_up(const BinSums& bins, std::size_t first) {
    Word sum = 0;
    for (std::size_t i = first; i < bins.size; ++i) left_[i - first] = sum += bins.sums[i];
    if (bins.counts == nullptr) return;
    std::uint32_t count = 0;
    for (std::size_t i = first; i < bins.size; ++i) left_count_[i - first] = count += bins.counts[i];
}

BoostSearch::Place BoostSearch::best_place(std::size_t size, bool has_counts, Word total, std::size_t n_rows,
                                           const WordFields& fields, const BoostLimits& limits) {
    const double g = fields.gradient(total), h = fields.hessian(total);
    const Word* left = left_.data();
    double* scores = scores_.data();
    const auto score = [&](double rows, auto left_count) {
        if (limits.is_bounded) {
            score_bounded_splits(left, size, g, h, rows, fields, limits, left_count, scores);
        } else if (limits.alpha > 0) {
            score_splits<true>(left, size, g, h, rows, fields, limits, left_count, scores);
        } else {
            score_splits<false>(left, size, g, h, rows, fields, limits, left_count, scores);
        }
    };
    if (has_counts) {
        score(static_cast<double>(n_rows), [counts = left_count_.data()](std::size_t i) {
            return static_cast<double>(static_cast<int>(counts[i]));
        });
    } else if (fields.counts()) {
        score(static_cast<double>(n_rows), [=](std::size_t i) { return static_cast<double>(fields.count(left[i])); });
    } else {
        score(2 * limits.min_rows, [=](std::size_t) { return limits.min_rows; });
    }
    const double* found = std::max_element(scores, scores + size);
    return {*found, static_cast<std::size_t>(found - scores)};
}

}  // namespace committee
