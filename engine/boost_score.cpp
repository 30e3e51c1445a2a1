#include "boost_score.h"

#include <cstring>

namespace committee {
namespace {

enum class Counts : std::uint8_t { none, in_words, apart };

using Words [[gnu::vector_size(8 * score_lanes)]] = Word;
using Doubles [[gnu::vector_size(8 * score_lanes)]] = double;

// Fields below 2^52 become doubles by setting the exponent of 2^52 above them and taking it off again. A signed field
// is first lifted by half its range.
struct FieldReader {
    static constexpr Word exponent = Word{0x433} << 52;
    int gradient_shift;
    Word gradient_lift;
    double gradient_offset;
    int hessian_shift;
    Word hessian_mask, count_mask;

    explicit FieldReader(const WordFields& fields)
        : gradient_shift(64 - fields.gradient_bits),
          gradient_lift(exponent | (Word{1} << (fields.gradient_bits - 1))),
          gradient_offset(0x1.0p52 + static_cast<double>(Word{1} << (fields.gradient_bits - 1))),
          hessian_shift(fields.hessian_shift),
          hessian_mask(fields.hessian_mask),
          count_mask(fields.count_mask) {}
};

template <Counts counts, bool has_alpha>
[[gnu::always_inline]] inline double score_free(const SplitRow& row, const WordFields& fields,
                                                const BoostLimits& limits, double* scores) {
    const FieldReader f(fields);
    const double g = fields.gradient(row.total), h = fields.hessian(row.total), rows = static_cast<double>(row.n_rows);
    const double lambda = limits.lambda, alpha = limits.alpha;
    const double min_hessian = limits.min_hessian, min_rows = limits.min_rows;
    const Doubles none = Doubles{} - 1.0;
    Doubles best = none;
    for (std::size_t begin = 0; begin < row.size; begin += score_lanes) {
        Words words;
        std::memcpy(&words, row.left + begin, sizeof words);
        const Doubles left_h =
            (Doubles)(((words >> f.hessian_shift) & f.hessian_mask) | FieldReader::exponent) - 0x1.0p52;
        Doubles left_g = (Doubles)((words >> f.gradient_shift) ^ f.gradient_lift) - f.gradient_offset;
        const Doubles right_h = h - left_h;
        Doubles right_g = g - left_g;
        if constexpr (has_alpha) {
            left_g = (left_g < 0 ? -left_g : left_g) - alpha;
            right_g = (right_g < 0 ? -right_g : right_g) - alpha;
            left_g = left_g > 0 ? left_g : Doubles{};
            right_g = right_g > 0 ? right_g : Doubles{};
        }
        Doubles spare = (left_h < right_h ? left_h : right_h) - min_hessian;
        if constexpr (counts != Counts::none) {
            Doubles n_left;
            if constexpr (counts == Counts::in_words) {
                n_left = (Doubles)((words & f.count_mask) | FieldReader::exponent) - 0x1.0p52;
            } else {
                for (std::size_t lane = 0; lane < score_lanes; ++lane) n_left[lane] = row.counts[begin + lane];
            }
            const Doubles n_right = rows - n_left;
            const Doubles spare_rows = (n_left < n_right ? n_left : n_right) - min_rows;
            spare = spare < spare_rows ? spare : spare_rows;
        }
        const Doubles a = left_h + lambda, b = right_h + lambda;
        const Doubles found = (left_g * left_g * b + right_g * right_g * a) / (a * b);
        const Doubles score = spare >= 0 ? found : none;
        best = score > best ? score : best;
        std::memcpy(scores + begin, &score, sizeof score);
    }
    double largest = -1;
    for (std::size_t lane = 0; lane < score_lanes; ++lane) largest = std::max(largest, best[lane]);
    return largest;
}

template <Counts counts>
[[gnu::always_inline]] inline double score_counted(const SplitRow& row, const WordFields& fields,
                                                   const BoostLimits& limits, double* scores) {
    return limits.alpha > 0 ? score_free<counts, true>(row, fields, limits, scores)
                            : score_free<counts, false>(row, fields, limits, scores);
}

[[gnu::always_inline]] inline double score_any(const SplitRow& row, const WordFields& fields, const BoostLimits& limits,
                                               double* scores) {
    if (row.counts != nullptr) return score_counted<Counts::apart>(row, fields, limits, scores);
    return fields.counts() ? score_counted<Counts::in_words>(row, fields, limits, scores)
                           : score_counted<Counts::none>(row, fields, limits, scores);
}

double score_bounded(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double* scores) {
    const double g = fields.gradient(row.total), h = fields.hessian(row.total), rows = static_cast<double>(row.n_rows);
    const bool is_counted = row.counts != nullptr || fields.counts();
    double best = -1;
    for (std::size_t i = 0; i < row.size; ++i) {
        const double left_g = fields.gradient(row.left[i]), left_h = fields.hessian(row.left[i]);
        const double right_g = g - left_g, right_h = h - left_h;
        const double n_left = row.counts != nullptr ? row.counts[i] : fields.count(row.left[i]);
        scores[i] = -1;
        if (std::min(left_h, right_h) < limits.min_hessian) continue;
        if (is_counted && std::min(n_left, rows - n_left) < limits.min_rows) continue;
        const double rise = limits.value(right_g, right_h) - limits.value(left_g, left_h);
        if (rise * limits.direction < 0) continue;
        scores[i] = limits.score(left_g, left_h) + limits.score(right_g, right_h);
        best = std::max(best, scores[i]);
    }
    return best;
}

double score_plain(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double* scores) {
    return score_any(row, fields, limits, scores);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] double score_wide(const SplitRow& row, const WordFields& fields, const BoostLimits& limits,
                                          double* scores) {
    return score_any(row, fields, limits, scores);
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#else
double score_wide(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double* scores) {
    return score_any(row, fields, limits, scores);
}

bool has_wide_vectors() { return false; }
#endif

}  // namespace

double score_splits(const SplitRow& row, const WordFields& fields, const BoostLimits& limits, double* scores) {
    if (limits.is_bounded) return score_bounded(row, fields, limits, scores);
    return has_wide_vectors() ? score_wide(row, fields, limits, scores) : score_plain(row, fields, limits, scores);
}

}  // namespace committee
