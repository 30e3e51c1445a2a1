#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "boosting/tree/row_blocks.h"
#include "boosting/tree/split.h"
#include "boosting/tree/unusual_codes.h"
#include "check.h"
#include "numbers/random.h"
#include "small_tables.h"

using namespace committee;

namespace {

std::vector<float> random_floats(std::size_t n, std::uint64_t key, double from, double to) {
    Random random(key, Purpose::split);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(from + (to - from) * random.uniform());
    return values;
}

GradientTotals totals_of(const std::vector<float>& g, const std::vector<float>& h) {
    GradientTotals totals;
    for (const float value : g) totals.absolute_gradient += std::abs(static_cast<double>(value));
    for (const float value : h) {
        totals.hessian += static_cast<double>(value);
        totals.largest_hessian = std::max(totals.largest_hessian, static_cast<double>(value));
    }
    return totals;
}

void fields_of_a_sum_are_sums_of_the_fields() {
    for (const std::size_t n : {3U, 100U, 5000U, 40000U}) {
        for (const bool is_constant : {false, true}) {
            const auto g = random_floats(n, 1, -3, 2);
            const auto h = is_constant ? std::vector<float>(n, 1.0F) : random_floats(n, 2, 0, 0.25);
            const WordScale scale = scale_for(totals_of(g, h), n, is_constant);
            Word sum = 0;
            double gradient = 0, hessian = 0;
            for (std::size_t i = 0; i < n; ++i) {
                sum += scale.word(g[i], h[i]);
                gradient += static_cast<double>(g[i]);
                hessian += static_cast<double>(h[i]);
            }
            const double error = 1e-3 * static_cast<double>(n);
            check(std::abs(scale.fields.gradient(sum) / scale.gradient - gradient) < error);
            check(std::abs(scale.fields.hessian(sum) / scale.hessian - hessian) < error);
            if (scale.fields.counts()) check(scale.fields.count(sum) == static_cast<int>(n));
            check(scale.fields.counts() == (is_constant || n <= 32768));
        }
    }
}

void a_parents_histogram_is_the_sum_of_its_childrens() {
    const SmallTable small({random_numbers(3000, 1, true), random_numbers(3000, 2)}, {random_codes(3000, 9, 3)}, 9);
    const Table table = small.bin({}, 255);
    const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
    const HistogramShape shape(*table.binning);
    const auto g = random_floats(3000, 5, -1, 1), h = random_floats(3000, 6, 0, 1);
    const WordScale scale = scale_for(totals_of(g, h), 3000, false);
    ThreadTeam team(1);
    for (const std::size_t n_parts : {1U, 3U}) {
        RowParts parts(3000, n_parts);
        const auto [n_rows, sum] = parts.assign_all({g.data(), h.data(), {}}, scale, team);
        check(n_rows == 3000);
        const std::size_t n_left =
            parts.divide(0, 0, 1, 3000, codes.column(1), [](std::uint8_t code) { return code > 100; }, team);
        const auto histogram = [&](std::uint32_t node, std::uint32_t depth, const ColumnShare& share) {
            std::vector<Word> sums(shape.size, 0);
            for (std::size_t part = 0; part < n_parts; ++part) {
                const auto rows = parts.rows(node, depth, part);
                const Word* words = parts.words(node, depth, part);
                add_rows(
                    shape, codes, share, rows.data(), rows.size(), [=](std::size_t i) { return words[i]; },
                    sums.data());
            }
            return sums;
        };
        const ColumnShare all{0, 3, {}};
        const auto left = histogram(1, 1, all), right = histogram(2, 1, all);
        auto parent = histogram(0, 0, all);
        Word total = 0;
        for (std::uint32_t bin = 0; bin < shape.widths[0]; ++bin) total += parent[shape.offsets[0] + bin];
        check(total == sum);
        std::size_t counted = 0;
        for (const std::uint8_t code : std::vector(codes.column(1), codes.column(1) + 3000)) counted += code <= 100;
        check(counted == n_left);
        subtract(shape, all, left.data(), parent.data());
        check(parent == right);
        const std::vector<std::uint32_t> listed{0, 2};
        const auto some = histogram(1, 1, {0, 0, listed});
        for (std::uint32_t bin = 0; bin < shape.widths[2]; ++bin) {
            check(some[shape.offsets[2] + bin] == left[shape.offsets[2] + bin]);
        }
        check(std::all_of(some.begin() + shape.offsets[1], some.begin() + shape.offsets[2],
                          [](Word w) { return w == 0; }));
    }
}

// The best score of all thresholds, with missing values on either side, from the definition.
double naive_best(const std::vector<double>& x, const std::vector<float>& g, const std::vector<float>& h, double lambda,
                  double alpha, double min_hessian, std::size_t min_rows) {
    const auto score = [&](double gradient, double hessian) {
        const double t = std::max(std::abs(gradient) - alpha, 0.0);
        return t * t / (hessian + lambda);
    };
    double best = -1;
    auto cuts = x;
    cuts.push_back(-1);
    for (const double cut : cuts) {
        if (std::isnan(cut)) continue;
        for (const bool missing_left : {false, true}) {
            double sums[2][2] = {};
            std::size_t n[2] = {};
            for (std::size_t i = 0; i < x.size(); ++i) {
                const int side = std::isnan(x[i]) ? (missing_left ? 0 : 1) : x[i] <= cut ? 0 : 1;
                sums[side][0] += static_cast<double>(g[i]);
                sums[side][1] += static_cast<double>(h[i]);
                ++n[side];
            }
            if (std::min(n[0], n[1]) < min_rows || std::min(sums[0][1], sums[1][1]) < min_hessian) continue;
            best = std::max(best, score(sums[0][0], sums[0][1]) + score(sums[1][0], sums[1][1]));
        }
    }
    return best;
}

void a_histogram_of_unusual_codes_equals_that_of_all_codes() {
    constexpr std::size_t n = 40;
    std::vector<double> mostly(n, 3.0), rarely = random_numbers(n, 5, true);
    for (std::size_t i = 0; i < n; i += 7) mostly[i] = static_cast<double>(i);
    const SmallTable small({mostly, rarely, mostly, std::vector<double>(n, 1.0)});
    const Table table = small.bin();
    const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
    const HistogramShape shape(*table.binning);
    const UnusualCodes unusual(shape, codes, usual_codes(codes));
    check(!unusual.empty());
    std::vector<std::uint32_t> rows;
    std::vector<Word> words, all(shape.size), few(shape.size);
    Word total = 0;
    for (std::uint32_t i = 0; i < n; i += 3) {
        rows.push_back(i);
        words.push_back(1000 + i);
        total += words.back();
        for (std::size_t j = 0; j < codes.n_columns; ++j) all[shape.offsets[j] + codes.row(i)[j]] += words.back();
    }
    unusual.add_rows(rows, [&](std::size_t i) { return words[i]; }, few.data());
    unusual.complete(shape, total, few.data());
    check(few == all);
    const Table dense = SmallTable({rarely}).bin();
    const auto& dense_codes = std::get<Codes<std::uint8_t>>(dense.codes);
    check(UnusualCodes(shape, dense_codes, usual_codes(dense_codes)).empty());
}

void the_best_threshold_is_the_best_of_all() {
    for (std::uint64_t key = 0; key < 30; ++key) {
        const std::size_t n = 60;
        const auto x = random_numbers(n, 7 * key + 1, true);
        const auto g = random_floats(n, 7 * key + 2, -1, 1), h = random_floats(n, 7 * key + 3, 0.01, 0.25);
        const SmallTable small({x});
        const Table table = small.bin();
        const WordScale scale = scale_for(totals_of(g, h), n, false);
        const Column& column = table.binning->columns[0];
        std::vector<Word> sums(column.n_bins + 1, 0);
        Word total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            sums[naive_code(column, x[i])] += scale.word(g[i], h[i]);
            total += scale.word(g[i], h[i]);
        }
        const double lambda = key % 3, alpha = key % 2 == 0 ? 0 : 0.3, min_hessian = 0.5;
        BoostLimits limits{.lambda = lambda * scale.hessian,
                           .alpha = alpha * scale.gradient,
                           .min_hessian = min_hessian * scale.hessian,
                           .min_rows = 5};
        BoostSplit split;
        BoostSearch search;
        search.find({sums.data(), nullptr, nullptr, sums.size()}, 0, false, {total, n}, scale.fields, limits, split);
        const double found = split.score * scale.hessian / (scale.gradient * scale.gradient);
        check(std::abs(found - naive_best(x, g, h, lambda, alpha, min_hessian, 5)) < 1e-4);
    }
}

void the_best_set_of_categories_is_the_best_of_all() {
    for (std::uint64_t key = 0; key < 20; ++key) {
        constexpr std::size_t n_codes = 8;
        const auto g = random_floats(n_codes, key + 100, -1, 1), h = random_floats(n_codes, key + 200, 0.1, 1);
        const WordScale scale = scale_for(totals_of(g, h), n_codes, false);
        std::vector<Word> sums(n_codes);
        Word total = 0;
        for (std::size_t i = 0; i < n_codes; ++i) total += sums[i] = scale.word(g[i], h[i]);
        for (const std::uint32_t max_cat_to_onehot : {4U, 20U}) {
            BoostSplit split;
            BoostSearch search;
            const BoostLimits limits{.max_cat_to_onehot = max_cat_to_onehot};
            search.find({sums.data(), nullptr, nullptr, n_codes}, 3, true, {total, n_codes}, scale.fields, limits,
                        split);
            double best = -1;
            for (std::uint32_t set = 1; set + 1 < (1U << n_codes); ++set) {
                if (max_cat_to_onehot == 20 && std::popcount(set) != 1) continue;
                double left_g = 0, left_h = 0, right_g = 0, right_h = 0;
                for (std::size_t i = 0; i < n_codes; ++i) {
                    ((set >> i) & 1 ? left_g : right_g) += static_cast<double>(g[i]);
                    ((set >> i) & 1 ? left_h : right_h) += static_cast<double>(h[i]);
                }
                best = std::max(best, left_g * left_g / left_h + right_g * right_g / right_h);
            }
            check(split.is_category && split.column == 3);
            check(std::abs(split.score * scale.hessian / (scale.gradient * scale.gradient) - best) < 1e-4);
            Word left = split.missing_right ? 0 : sums[0];
            for (const std::uint16_t code : split.left_codes) left += sums[code];
            check(left == split.left);
            check(2.0 * scale.fields.hessian(left) <= scale.fields.hessian(total), "the heavier side is right");
        }
    }
}

void every_threshold_with_enough_rows_on_both_sides_can_be_drawn() {
    constexpr std::size_t n = 9;
    const auto g = random_floats(n, 1, -1, 1), h = std::vector<float>(n, 1.0F);
    const WordScale scale = scale_for(totals_of(g, h), n, true);
    std::vector<Word> sums(n + 1, 0);  // the first bin is missing
    Word total = 0;
    for (std::size_t i = 0; i < n; ++i) total += sums[i + 1] = scale.word(g[i], h[i]);
    std::map<std::uint32_t, int> seen;
    for (std::uint64_t key = 0; key < 200; ++key) {
        BoostLimits limits{.min_rows = 2, .is_drawn = true, .draw = Random(key, Purpose::threshold).next()};
        BoostSplit split;
        BoostSearch().find({sums.data(), nullptr, nullptr, sums.size()}, 0, false, {total, n}, scale.fields, limits,
                           split);
        ++seen[split.threshold];
        Word left = 0;
        for (std::size_t code = 1; code <= split.threshold; ++code) left += sums[code];
        check(left == split.left);
    }
    check(seen.size() == 6 && seen.begin()->first == 2 && seen.rbegin()->first == 7);
    for (const auto& [threshold, times] : seen) check(times > 15);
}

}  // namespace

int main() {
    fields_of_a_sum_are_sums_of_the_fields();
    a_parents_histogram_is_the_sum_of_its_childrens();
    a_histogram_of_unusual_codes_equals_that_of_all_codes();
    the_best_threshold_is_the_best_of_all();
    the_best_set_of_categories_is_the_best_of_all();
    every_threshold_with_enough_rows_on_both_sides_can_be_drawn();
    return report();
}
