#include "boosting/tree/split_scan.h"

#include <cstring>
#include <numeric>

#include "numbers/random.h"

namespace committee {
namespace {

constexpr std::size_t lanes = 4;
using Words [[gnu::vector_size(8 * lanes)]] = Word;
using Doubles [[gnu::vector_size(8 * lanes)]] = double;

// The minimum of a side of a split, as integers, which are compared with the fields of words.
struct Least {
    WordFields fields;
    std::int32_t hessian;
    std::int32_t n_rows;

    Least(const WordFields& of_words, const BoostLimits& limits, bool is_counted_apart)
        : fields(of_words),
          hessian(static_cast<std::int32_t>(std::min(limits.min_hessian, 0x1.fffffep30))),
          n_rows(fields.counts() || is_counted_apart ? static_cast<std::int32_t>(limits.min_rows) : 0) {}

    bool allows(Word side) const { return fields.hessian(side) >= hessian && fields.count(side) >= n_rows; }
    bool allows(Word side, std::uint32_t n) const {
        return fields.hessian(side) >= hessian && static_cast<std::int32_t>(n) >= n_rows;
    }
};

// The sums of the left side increase with the split. The splits with two large enough sides are therefore contiguous,
// in [begin, end). The range may contain a few other splits.
struct Range {
    std::size_t begin;
    std::size_t end;
    Word before;     // the sum of the left side before bin `begin`
    Word after;      // the sum of the right side from bin `end` on
    bool is_narrow;  // there are no other splits in the range
};

// Tests several bins at a time: if their sum is too small, each of them is too small.
Range roughly_allowed_splits(const SplitRow& row, const Least& least) {
    constexpr std::size_t step = 8;
    std::size_t begin = 0, end = row.size;
    Word left = row.before, right = Word{0} - row.before;
    for (; begin + step <= end; begin += step) {
        const Word further = std::accumulate(row.sums + begin, row.sums + begin + step, left);
        if (least.allows(further)) break;
        left = further;
    }
    // `before` may subtract the sum of bin 0. A side that contains both could exceed the sum of all rows and overflow.
    for (; begin + step <= end && end > step; end -= step) {
        const Word further = std::accumulate(row.sums + end - step, row.sums + end, right);
        if (least.allows(further)) break;
        right = further;
    }
    return {begin, end, left, right, false};
}

Range allowed_splits(const SplitRow& row, const Least& least) {
    const Word* sums = row.sums;
    if (row.counts == nullptr) {
        Range range = roughly_allowed_splits(row, least);
        for (; range.begin < range.end && !least.allows(range.before + sums[range.begin]); ++range.begin) {
            range.before += sums[range.begin];
        }
        while (range.end > range.begin && !least.allows(range.after)) range.after += sums[--range.end];
        range.is_narrow = true;
        return range;
    }
    const std::uint32_t* counts = row.counts;
    std::size_t begin = 0, end = row.size;
    Word left = row.before, right = Word{0} - row.before;
    std::uint32_t n_left = row.n_before, n_right = 0U - row.n_before;
    for (; begin < end && !least.allows(left + sums[begin], n_left + counts[begin]); ++begin) {
        left += sums[begin];
        n_left += counts[begin];
    }
    while (end > begin && !least.allows(right, n_right)) {
        right += sums[--end];
        n_right += counts[end];
    }
    return {begin, end, left, right, true};
}

// Converts fields below 2^52 to doubles by setting the exponent of 2^52 and subtracting 2^52. Half of its range is
// added to a signed field first.
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

// The scores of several splits, as fractions. (Vectors are passed by reference, because the calling convention for
// vectors passed by value depends on the machine.)
struct Fractions {
    Doubles numerator;
    Doubles denominator;
};

template <bool has_alpha>
struct Scores {
    FieldReader f;
    double g, h;  // of the node
    double lambda, alpha;

    [[gnu::always_inline]] Fractions operator()(const Words& left) const {
        const Doubles left_h =
            (Doubles)(((left >> f.hessian_shift) & f.hessian_mask) | FieldReader::exponent) - 0x1.0p52;
        Doubles left_g = (Doubles)((left >> f.gradient_shift) ^ f.gradient_lift) - f.gradient_offset;
        Doubles right_g = g - left_g;
        if constexpr (has_alpha) {
            left_g = (left_g < 0 ? -left_g : left_g) - alpha;
            right_g = (right_g < 0 ? -right_g : right_g) - alpha;
            left_g = left_g > 0 ? left_g : Doubles{};
            right_g = right_g > 0 ? right_g : Doubles{};
        }
        const Doubles a = left_h + lambda, b = (h - left_h) + lambda;
        return {left_g * left_g * b + right_g * right_g * a, a * b};
    }
};

// Computes the cumulative sums of several bins. `before` is the sum before them and is updated. Bins past the last
// count as 0.
[[gnu::always_inline]] inline void add_up(const SplitRow& row, std::size_t begin, Words& before, Words& left) {
    Words words = {};
    if (begin + lanes <= row.size) {
        std::memcpy(&words, row.sums + begin, sizeof words);
    } else {
        for (std::size_t i = begin; i < row.size; ++i) words[i - begin] = row.sums[i];
    }
    words += __builtin_shufflevector(Words{}, words, 0, 4, 5, 6);
    words += __builtin_shufflevector(Words{}, words, 0, 1, 4, 5);
    left = words + before;
    before += __builtin_shufflevector(words, words, 3, 3, 3, 3);
}

template <bool has_alpha>
[[gnu::always_inline]] inline ScoredSplit score_free(const SplitRow& row, const Range& range, const Least& least,
                                                     const BoostLimits& limits, double to_beat) {
    const WordFields& fields = least.fields;
    const Scores<has_alpha> scores{FieldReader(fields), static_cast<double>(fields.gradient(row.total)),
                                   static_cast<double>(fields.hessian(row.total)), limits.lambda, limits.alpha};
    ScoredSplit best{.score = to_beat};
    const auto look_at = [&](std::size_t first, const Words& left, const Fractions& of) {
        for (std::size_t lane = 0; lane < lanes && first + lane < range.end; ++lane) {
            const double score = of.numerator[lane] / of.denominator[lane];
            if (!(score > best.score)) continue;
            if (!range.is_narrow && !(least.allows(left[lane]) && least.allows(row.total - left[lane]))) continue;
            best = {score, first + lane};
        }
    };
    // Divisions are expensive. Only the few splits that may exceed the best score so far, by a multiplication and up to
    // rounding, are divided and compared.
    constexpr double nearly = 1 - 0x1.0p-48;
    Words before = Words{} + range.before;
    for (std::size_t begin = range.begin; begin < range.end; begin += 2 * lanes) {
        Words first, second;
        add_up(row, begin, before, first);
        add_up(row, begin + lanes, before, second);
        const Fractions of_first = scores(first), of_second = scores(second);
        const Doubles to_reach = Doubles{} + best.score * nearly;
        const Words reach = (Words)(of_first.numerator > to_reach * of_first.denominator) |
                            (Words)(of_second.numerator > to_reach * of_second.denominator);
        const Words halves = reach | __builtin_shufflevector(reach, reach, 2, 3, 0, 1);
        if ((halves[0] | halves[1]) == 0) continue;
        look_at(begin, first, of_first);
        look_at(begin + lanes, second, of_second);
    }
    return best.score > to_beat ? best : ScoredSplit{};
}

[[gnu::always_inline]] inline ScoredSplit score_any(const SplitRow& row, const Range& range, const Least& least,
                                                    const BoostLimits& limits, double to_beat) {
    return limits.alpha > 0 ? score_free<true>(row, range, least, limits, to_beat)
                            : score_free<false>(row, range, least, limits, to_beat);
}

ScoredSplit score_plain(const SplitRow& row, const Range& range, const Least& least, const BoostLimits& limits,
                        double to_beat) {
    return score_any(row, range, least, limits, to_beat);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] ScoredSplit score_wide(const SplitRow& row, const Range& range, const Least& least,
                                               const BoostLimits& limits, double to_beat) {
    return score_any(row, range, least, limits, to_beat);
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#else
ScoredSplit score_wide(const SplitRow& row, const Range& range, const Least& least, const BoostLimits& limits,
                       double to_beat) {
    return score_any(row, range, least, limits, to_beat);
}

bool has_wide_vectors() { return false; }
#endif

// The score of one split, or -1 if the values of its sides violate the monotonic constraint.
double score_of(Word left, Word total, const WordFields& fields, const BoostLimits& limits) {
    const double left_g = fields.gradient(left), left_h = fields.hessian(left);
    const double right_g = fields.gradient(total) - left_g, right_h = fields.hessian(total) - left_h;
    const double rise = limits.value(right_g, right_h) - limits.value(left_g, left_h);
    if (rise * limits.direction < 0) return -1;
    return limits.score(left_g, left_h) + limits.score(right_g, right_h);
}

// A random split, with equal probabilities.
ScoredSplit drawn_split(const SplitRow& row, const Range& range, const WordFields& fields, const BoostLimits& limits) {
    const std::size_t at = range.begin + static_cast<std::size_t>(scaled(limits.draw, range.end - range.begin));
    const Word left = std::accumulate(row.sums + range.begin, row.sums + at + 1, range.before);
    return {score_of(left, row.total, fields, limits), at};
}

}  // namespace

ScoredSplit best_split(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double to_beat) {
    const Least least(fields, limits, row.counts != nullptr);
    if (!limits.is_drawn && !limits.is_bounded) {
        const Range range = row.counts == nullptr ? roughly_allowed_splits(row, least) : allowed_splits(row, least);
        return has_wide_vectors() ? score_wide(row, range, least, limits, to_beat)
                                  : score_plain(row, range, least, limits, to_beat);
    }
    const Range range = allowed_splits(row, least);
    if (range.begin >= range.end) return {};
    if (limits.is_drawn) return drawn_split(row, range, fields, limits);
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
