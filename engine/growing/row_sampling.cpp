#include "growing/row_sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "numbers/exact_sum.h"
#include "numbers/random.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

template <class Code>
std::uint64_t hash_row(const Code* row, std::size_t n_columns, std::uint64_t target) {
    std::uint64_t hash = target;
    for (std::size_t j = 0; j < n_columns; ++j) hash = (hash ^ row[j]) * 0xff51afd7ed558ccdU + (hash >> 29);
    return mix(hash);
}

constexpr std::uint64_t draws_between_polls = 4096;

// Calls draw_one() n_draws times and polls in between.
template <class DrawOne>
void draw_all(std::uint64_t n_draws, const Stop& stop, DrawOne draw_one) {
    Polls polls(stop);
    for (std::uint64_t begin = 0; begin < n_draws; begin += draws_between_polls) {
        const std::uint64_t n = std::min(draws_between_polls, n_draws - begin);
        for (std::uint64_t i = 0; i < n; ++i) draw_one();
        // Every draw misses all caches.
        polls.after(16 * n);
    }
}

// The cumulative weights of n units, of which unit i weighs weight_of(i).
template <class WeightOf>
std::vector<std::uint64_t> cumulated(std::size_t n, WeightOf weight_of) {
    std::vector<std::uint64_t> cumulative(n);
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < n; ++i) cumulative[i] = total += weight_of(i);
    return cumulative;
}

// cumulative[i]: the total weight of rows[0] .. rows[i].
void draw_by_weight(Random& random, std::uint64_t n_draws, std::span<const std::uint64_t> cumulative,
                    std::span<const std::uint32_t> rows, const Stop& stop, std::span<std::uint32_t> counts) {
    draw_all(n_draws, stop, [&] {
        const std::uint64_t drawn = random.below(cumulative.back());
        const auto at = std::ranges::upper_bound(cumulative, drawn) - cumulative.begin();
        ++counts[rows[static_cast<std::size_t>(at)]];
    });
}

struct Hashed {
    std::uint64_t hash;
    std::uint32_t row;
};

// Sorts by hash, then by weight and row. Hashes are uniform, so a bucket sort by the highest bits comes first.
std::vector<Hashed> sorted_by_hash(const std::vector<Hashed>& hashed, std::span<const std::uint32_t> weights,
                                   int n_threads, const Stop& stop) {
    constexpr std::size_t rows_of_a_bucket = 8192;
    const int n_bits = std::bit_width(hashed.size() / rows_of_a_bucket);
    const auto bucket_of = [=](const Hashed& each) { return n_bits == 0 ? 0 : each.hash >> (64 - n_bits); };
    std::vector<std::size_t> ends((std::size_t{1} << n_bits) + 1, 0);
    for (const Hashed& each : hashed) ++ends[bucket_of(each) + 1];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    const auto is_before = [&](const Hashed& a, const Hashed& b) {
        if (a.hash != b.hash) return a.hash < b.hash;
        if (weights.empty() || weights[a.row] == weights[b.row]) return a.row < b.row;
        return weights[a.row] < weights[b.row];
    };
    std::vector<Hashed> sorted(hashed.size());
    for (const Hashed& each : hashed) sorted[ends[bucket_of(each)]++] = each;
    for_each_task(ends.size() - 1, n_threads, stop, [&](std::size_t bucket, int) {
        const auto begin = sorted.begin() + static_cast<std::ptrdiff_t>(bucket == 0 ? 0 : ends[bucket - 1]);
        std::sort(begin, sorted.begin() + static_cast<std::ptrdiff_t>(ends[bucket]), is_before);
    });
    return sorted;
}

}  // namespace

namespace {

// The fixed-point weights are the weights times two to this power.
int exponent_of(std::span<const double> weights) {
    const double total = sum_exactly(weights);
    const bool are_integers = std::ranges::all_of(weights, [](double weight) { return weight == std::floor(weight); });
    return are_integers && total < 0x1.0p31 ? 0 : 29 - std::ilogb(total);
}

}  // namespace

double unit_of(std::span<const double> weights) { return std::ldexp(1.0, -exponent_of(weights)); }

std::vector<std::uint32_t> fixed_weights(std::span<const double> weights) {
    const int exponent = exponent_of(weights);
    std::vector<std::uint32_t> fixed(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const long long rounded = std::llround(std::scalbn(weights[i], exponent));
        fixed[i] = weights[i] > 0 ? static_cast<std::uint32_t>(std::max(1LL, rounded)) : 0;
    }
    return fixed;
}

Target fixed_target(std::span<const double> y, std::span<const std::uint32_t> weights, std::uint64_t total_weight,
                    bool is_poisson) {
    Target target;
    auto weight_of = [&](std::size_t i) { return weights.empty() ? 1U : weights[i]; };
    target.numbers.assign(y.begin(), y.end());
    target.lowest = std::numeric_limits<double>::infinity();
    target.highest = -target.lowest;
    for (std::size_t i = 0; i < y.size(); ++i) {
        if (weight_of(i) == 0) continue;
        target.lowest = std::min(target.lowest, y[i]);
        target.highest = std::max(target.highest, y[i]);
    }
    if (!is_poisson) target.offset = target.lowest / 2 + target.highest / 2;
    const double reach = std::max(target.highest - target.offset, target.offset - target.lowest);
    // Sums of weight * target stay below 2^62, even after the shift to the mean, which may double the largest
    // magnitude.
    const int exponent = reach > 0 ? 59 - std::bit_width(total_weight) - std::ilogb(reach) : 0;
    target.scale = std::ldexp(1.0, std::clamp(exponent, -1000, 1000));
    target.fixed.resize(y.size());
    __int128 sum = 0;
    std::int64_t total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) {
        const std::int64_t weight = weight_of(i);
        // Rows of weight 0 are ignored, whatever their target.
        target.fixed[i] = weight == 0 ? 0 : std::llround((y[i] - target.offset) * target.scale);
        sum += static_cast<__int128>(target.fixed[i]) * weight;
        total += weight;
    }
    if (is_poisson) return target;
    const auto mean = static_cast<std::int64_t>(sum / total);
    for (std::int64_t& fixed : target.fixed) fixed -= mean;
    target.offset += static_cast<double>(mean) / target.scale;
    return target;
}

std::vector<std::uint64_t> hash_rows(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                     const Stop& stop) {
    const std::size_t n_rows = table.n_rows();
    std::vector<std::uint64_t> hashes(n_rows);
    constexpr std::size_t block = 8192;
    std::visit(
        [&](const auto& codes) {
            for_each_task((n_rows + block - 1) / block, n_threads, stop, [&](std::size_t task, int) {
                for (std::size_t i = task * block; i < std::min(n_rows, (task + 1) * block); ++i) {
                    hashes[i] = hash_row(codes.row(i), codes.n_columns, mix(targets.empty() ? 0 : targets[i]));
                }
            });
        },
        table.codes);
    return hashes;
}

std::vector<std::uint64_t> contents_of(const Target& target) {
    if (target.n_classes > 0) return {target.labels.begin(), target.labels.end()};
    return {target.fixed.begin(), target.fixed.end()};
}

std::vector<std::uint32_t> order_by_content(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                            const Stop& stop, std::span<const std::uint32_t> weights) {
    // Rows with the same hash and weight are interchangeable for every tree. Their order only has to be deterministic.
    return order_by_hash(hash_rows(table, targets, n_threads, stop), n_threads, stop, weights);
}

std::vector<std::uint32_t> order_by_hash(std::span<const std::uint64_t> hashes, int n_threads, const Stop& stop,
                                         std::span<const std::uint32_t> weights) {
    std::vector<Hashed> hashed(hashes.size());
    for (std::size_t i = 0; i < hashes.size(); ++i) hashed[i] = {hashes[i], static_cast<std::uint32_t>(i)};
    hashed = sorted_by_hash(hashed, weights, n_threads, stop);
    std::vector<std::uint32_t> rows(hashed.size());
    std::ranges::transform(hashed, rows.begin(), &Hashed::row);
    return rows;
}

std::vector<double> balancing_factors(std::span<const double> n_rows_by_class) {
    const double total = std::accumulate(n_rows_by_class.begin(), n_rows_by_class.end(), 0.0);
    const auto n_there =
        static_cast<double>(n_rows_by_class.size()) - static_cast<double>(std::ranges::count(n_rows_by_class, 0.0));
    std::vector<double> factors;
    for (const double n_rows : n_rows_by_class) factors.push_back(n_rows > 0 ? total / (n_there * n_rows) : 0);
    return factors;
}

void draw_bag(const Drawing& drawing, std::uint64_t key, std::span<std::uint32_t> counts, const Stop& stop) {
    std::vector<std::uint32_t> of_groups;
    if (!drawing.groups.empty()) of_groups.assign(std::ranges::max(drawing.groups) + std::size_t{1}, 0);
    const std::span<std::uint32_t> drawn = drawing.groups.empty() ? counts : std::span(of_groups);
    Random random(key, Purpose::bootstrap);
    std::size_t begin = 0;
    for (std::size_t stratum = 0; stratum < drawing.ends.size(); ++stratum) {
        const std::size_t n = drawing.ends[stratum] - begin;
        const auto units = drawing.units.subspan(begin, n);
        const std::uint64_t n_draws = drawing.n_draws[stratum];
        if (!drawing.replaces) {
            // Starts a Fisher-Yates shuffle and stops after n_draws rows.
            std::vector<std::uint32_t> left(units.begin(), units.end());
            std::size_t at = 0;
            draw_all(std::min<std::uint64_t>(n_draws, n), stop, [&] {
                std::swap(left[at], left[at + random.below(n - at)]);
                ++drawn[left[at++]];
            });
        } else if (!drawing.weights.empty()) {
            const auto weights = drawing.weights.subspan(begin, n);
            const auto cumulative = cumulated(n, [&](std::size_t i) { return weights[i]; });
            draw_by_weight(random, n_draws, cumulative, units, stop, drawn);
        } else {
            // Count the positions first, so that no draw waits for a memory access to `units`.
            std::vector<std::uint32_t> of_places(n, 0);
            draw_all(n_draws, stop, [&] { ++of_places[random.below(n)]; });
            for (std::size_t i = 0; i < n; ++i) drawn[units[i]] += of_places[i];
        }
        begin = drawing.ends[stratum];
    }
    for (std::size_t row = 0; row < drawing.groups.size(); ++row) counts[row] += of_groups[drawing.groups[row]];
}

}  // namespace committee
