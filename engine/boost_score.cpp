#include "boost_score.h"

#include <cstring>
#include <numeric>

#include "random.h"

namespace committee {
namespace {

constexpr std::size_t lanes = 4;
using Words [[gnu::vector_size(8 * lanes)]] = Word;
using Doubles [[gnu::vector_size(8 * lanes)]] = double;

// What a side of a split must have, in whole units: both are compared with fields of words.
struct Least {
    WordFields fields;
    std::int32_t hessian;
    std::int32_t n_rows;

    Least(const WordFields& of_words, const BoostLimits& limits, bool is_counted_apart)
        : fields(of_words),
          hessian(static_cast<std::int32_t>(std::min(std::ceil(limits.min_hessian), 0x1.fffffep30))),
          n_rows(fields.counts() || is_counted_apart ? static_cast<std::int32_t>(limits.min_rows) : 0) {}

    bool allows(Word side) const { return fields.hessian(side) >= hessian && fields.count(side) >= n_rows; }
    bool allows(Word side, std::uint32_t n) const {
        return fields.hessian(side) >= hessian && static_cast<std::int32_t>(n) >= n_rows;
    }
};

// The more goes left, the heavier is the left side: splits whose sides are both enough lie side by side, [begin, end).
struct Range {
    std::size_t begin;
    std::size_t end;
    Word before;  // what goes left before bin `begin`
};

Range allowed_splits(const SplitRow& row, const WordFields& fields, const BoostLimits& limits) {
    const Least least(fields, limits, row.counts != nullptr);
    const Word* sums = row.sums;
    std::size_t begin = 0, end = row.size;
    Word left = row.before, right = Word{0} - row.before;
    if (row.counts == nullptr) {
        while (begin < end && !least.allows(left + sums[begin])) left += sums[begin++];
        while (end > begin && !least.allows(right)) right += sums[--end];
        return {begin, end, left};
    }
    const std::uint32_t* counts = row.counts;
    std::uint32_t n_left = row.n_before, n_right = 0U - row.n_before;
    for (; begin < end && !least.allows(left + sums[begin], n_left + counts[begin]); ++begin) {
        left += sums[begin];
        n_left += counts[begin];
    }
    while (end > begin && !least.allows(right, n_right)) {
        right += sums[--end];
        n_right += counts[end];
    }
    return {begin, end, left};
}

// Fields below 2^52 become doubles by setting the exponent of 2^52 above them and taking it off again. A signed field
// is first lifted by half its range.
struct FieldReader {
    static constexpr Word exponent = Word{0x433} << 52;
    int gradient_shift;
    Word gradient_lift;
    double gradient_offset;
    int hessian_shift;
    Word hessian_mask;

    explicit FieldReader(const WordFields& fields)
        : gradient_shift(64 - fields.gradient_bits),
          gradient_lift(exponent | (Word{1} << (fields.gradient_bits - 1))),
          gradient_offset(0x1.0p52 + static_cast<double>(Word{1} << (fields.gradient_bits - 1))),
          hessian_shift(fields.hessian_shift),
          hessian_mask(fields.hessian_mask) {}
};

template <bool has_alpha>
[[gnu::always_inline]] inline ScoredSplit score_free(const SplitRow& row, const Range& range, const WordFields& fields,
                                                     const BoostLimits& limits) {
    const FieldReader f(fields);
    const double g = fields.gradient(row.total), h = fields.hessian(row.total);
    const double lambda = limits.lambda, alpha = limits.alpha;
    // Scores are fractions, compared by cross-multiplication: a division costs more than all the rest.
    Doubles best_numerator = Doubles{} - 1.0, best_denominator = Doubles{} + 1.0;
    Words best_at = {}, at = Words{0, 1, 2, 3} + range.begin;
    Words before = Words{} + range.before;
    for (std::size_t begin = range.begin; begin < range.end; begin += lanes) {
        Words words = {};
        if (begin + lanes <= range.end) {
            std::memcpy(&words, row.sums + begin, sizeof words);
        } else {
            // Past the end, nothing goes left beside what already does, which is no better.
            for (std::size_t i = begin; i < range.end; ++i) words[i - begin] = row.sums[i];
        }
        words += __builtin_shufflevector(Words{}, words, 0, 4, 5, 6);
        words += __builtin_shufflevector(Words{}, words, 0, 1, 4, 5);
        words += before;
        before = __builtin_shufflevector(words, words, 3, 3, 3, 3);
        const Doubles left_h =
            (Doubles)(((words >> f.hessian_shift) & f.hessian_mask) | FieldReader::exponent) - 0x1.0p52;
        Doubles left_g = (Doubles)((words >> f.gradient_shift) ^ f.gradient_lift) - f.gradient_offset;
        Doubles right_g = g - left_g;
        if constexpr (has_alpha) {
            left_g = (left_g < 0 ? -left_g : left_g) - alpha;
            right_g = (right_g < 0 ? -right_g : right_g) - alpha;
            left_g = left_g > 0 ? left_g : Doubles{};
            right_g = right_g > 0 ? right_g : Doubles{};
        }
        const Doubles a = left_h + lambda, b = (h - left_h) + lambda;
        const Doubles numerator = left_g * left_g * b + right_g * right_g * a;
        const Doubles denominator = a * b;
        const auto is_better = numerator * best_denominator > best_numerator * denominator;
        best_numerator = is_better ? numerator : best_numerator;
        best_denominator = is_better ? denominator : best_denominator;
        best_at = is_better ? at : best_at;
        at += lanes;
    }
    ScoredSplit best;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
        const double score = best_numerator[lane] / best_denominator[lane];
        const std::size_t place = best_at[lane];
        if (score > best.score || (score == best.score && place < best.at)) best = {score, place};
    }
    return best;
}

[[gnu::always_inline]] inline ScoredSplit score_any(const SplitRow& row, const Range& range, const WordFields& fields,
                                                    const BoostLimits& limits) {
    return limits.alpha > 0 ? score_free<true>(row, range, fields, limits)
                            : score_free<false>(row, range, fields, limits);
}

ScoredSplit score_plain(const SplitRow& row, const Range& range, const WordFields& fields, const BoostLimits& limits) {
    return score_any(row, range, fields, limits);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] ScoredSplit score_wide(const SplitRow& row, const Range& range, const WordFields& fields,
                                               const BoostLimits& limits) {
    return score_any(row, range, fields, limits);
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#else
ScoredSplit score_wide(const SplitRow& row, const Range& range, const WordFields& fields, const BoostLimits& limits) {
    return score_any(row, range, fields, limits);
}

bool has_wide_vectors() { return false; }
#endif

// The score of one split; -1 if the values of its sides go against the column's direction.
double score_of(Word left, Word total, const WordFields& fields, const BoostLimits& limits) {
    const double left_g = fields.gradient(left), left_h = fields.hessian(left);
    const double right_g = fields.gradient(total) - left_g, right_h = fields.hessian(total) - left_h;
    const double rise = limits.value(right_g, right_h) - limits.value(left_g, left_h);
    if (rise * limits.direction < 0) return -1;
    return limits.score(left_g, left_h) + limits.score(right_g, right_h);
}

// One of the splits, all equally likely.
ScoredSplit drawn_split(const SplitRow& row, const Range& range, const WordFields& fields, const BoostLimits& limits) {
    const std::size_t at = range.begin + static_cast<std::size_t>(scaled(limits.draw, range.end - range.begin));
    const Word left = std::accumulate(row.sums + range.begin, row.sums + at + 1, range.before);
    return {score_of(left, row.total, fields, limits), at};
}

}  // namespace

ScoredSplit best_split(const SplitRow& row, const WordFields& fields, const BoostLimits& limits) {
    const Range range = allowed_splits(row, fields, limits);
    if (range.begin >= range.end) return {};
    if (limits.is_drawn) return drawn_split(row, range, fields, limits);
    if (!limits.is_bounded) {
        return has_wide_vectors() ? score_wide(row, range, fields, limits) : score_plain(row, range, fields, limits);
    }
    ScoredSplit best;
    Word left = range.before;
    for (std::size_t i = range.begin; i < range.end; ++i) {
        left += row.sums[i];
        const double score = score_of(left, row.total, fields, limits);
        if (score > best.score) best = {score, i};
    }
    return best;
}

ScoredSplit best_single(const SplitRow& row, const WordFields& fields, const BoostLimits& limits) {
    const Least least(fields, limits, row.counts != nullptr);
    ScoredSplit best;
    for (std::size_t i = 0; i < row.size; ++i) {
        const Word left = row.sums[i], right = row.total - left;
        if (row.counts == nullptr) {
            if (!least.allows(left) || !least.allows(right)) continue;
        } else {
            const auto n_right = static_cast<std::uint32_t>(row.n_rows) - row.counts[i];
            if (!least.allows(left, row.counts[i]) || !least.allows(right, n_right)) continue;
        }
        const double score = score_of(left, row.total, fields, limits);
        if (score > best.score) best = {score, i};
    }
    return best;
}

}  // namespace committee
