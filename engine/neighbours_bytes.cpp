#include "neighbours_bytes.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace committee {
namespace {

constexpr float largest_byte = 127;
constexpr int asked_shift = 128;
// So many points may lie outside of what bytes reach, so that a few far ones do not make them coarse.
constexpr std::size_t one_outside_of = 4096;
constexpr std::int32_t always = std::numeric_limits<std::int32_t>::max() / 2;
constexpr std::int32_t never = std::numeric_limits<std::int32_t>::min() / 2;

float reach_of(std::span<const float> point) {
    float reach = 0;
    for (const float value : point) reach = std::max(reach, std::abs(value));
    return reach;
}

// The largest number that all but a few points keep within.
float usual_reach(std::vector<float> reaches) {
    const auto place = reaches.end() - 1 - static_cast<std::ptrdiff_t>(reaches.size() / one_outside_of);
    std::nth_element(reaches.begin(), place, reaches.end());
    return *place;
}

std::int32_t to_byte(float value, float steps_of_one) {
    return static_cast<std::int32_t>(std::lrintf(std::clamp(value * steps_of_one, -largest_byte, largest_byte)));
}

double square_of(double value) { return value * value; }

#if defined(__x86_64__)
// A sum for each lane: where it starts, and the products of all groups. Four asked points share what is read.
[[gnu::target("avx512f,avx512vnni")]] std::uint32_t within_by_bytes(const ByteGroup* groups, std::size_t n_groups,
                                                                    const ByteStarts& starts, const AskedBytes& asked,
                                                                    std::uint32_t of, ByteLanes& lanes) {
    constexpr std::size_t n_together = 4;
    const __m512i start = _mm512_load_si512(starts.of_lanes.data());
    std::uint32_t left = 0;
    while (of != 0) {
        std::size_t who[n_together];
        __m512i sums[n_together];
        for (std::size_t i = 0; i < n_together; ++i) {
            // The last may be alone, and is then looked at again.
            who[i] = of == 0 ? who[i - 1] : static_cast<std::size_t>(std::countr_zero(of));
            of &= of - 1;
            sums[i] = start;
        }
        for (std::size_t group = 0; group < n_groups; ++group) {
            const __m512i there = _mm512_load_si512(groups + group);
            for (std::size_t i = 0; i < n_together; ++i) {
                std::int32_t four;
                std::memcpy(&four, asked.points[who[i]].data() + group * group_columns, sizeof four);
                sums[i] = _mm512_dpbusd_epi32(sums[i], _mm512_set1_epi32(four), there);
            }
        }
        for (std::size_t i = 0; i < n_together; ++i) {
            const std::uint16_t within = _mm512_cmpge_epi32_mask(sums[i], _mm512_set1_epi32(asked.least[who[i]]));
            lanes[who[i]] = within;
            left |= (within != 0 ? 1U : 0U) << who[i];
        }
    }
    return left;
}

bool has_byte_products() { return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vnni"); }
#else
std::uint32_t within_by_bytes(const ByteGroup*, std::size_t, const ByteStarts&, const AskedBytes&, std::uint32_t of,
                              ByteLanes&) {
    return of;
}

bool has_byte_products() { return false; }
#endif

}  // namespace

// With the bytes a of an asked point and b of a known one, |a - b|² = |a|² + |b|² - 2ab. The machine multiplies bytes
// with a sign by bytes without one, so it is told a + 128, and the sum of (a + 128) b starts at what makes ab - |b|²/2
// of it.
ByteLook::ByteLook(std::span<const float> points, std::size_t n_columns, std::span<const std::uint32_t> order)
    : n_columns_(n_columns),
      n_used_(std::min(n_columns, most_byte_columns)),
      n_groups_((n_used_ + group_columns - 1) / group_columns) {
    if (!has_byte_products()) return;
    const auto used = [&](std::size_t row) { return points.subspan(row * n_columns, n_used_); };
    std::vector<float> reaches(order.size());
    for (std::size_t row = 0; row < order.size(); ++row) reaches[row] = reach_of(used(row));
    const float reach = usual_reach(reaches);
    // Smaller numbers are all 0 in bytes: their steps would be too many for single precision.
    if (reach > largest_byte * FLT_MIN) step_ = double{reach} / largest_byte;
    steps_of_one_ = static_cast<float>(1 / step_);

    const std::size_t n_panels = (order.size() + n_lanes - 1) / n_lanes;
    groups_.resize(n_panels * n_groups_);
    starts_.resize(n_panels);
    for (ByteStarts& starts : starts_) starts.of_lanes.fill(never);
    for (std::size_t place = 0; place < order.size(); ++place) {
        const std::size_t panel = place / n_lanes, lane = place % n_lanes;
        std::int32_t& start = starts_[panel].of_lanes[lane];
        if (reaches[order[place]] > reach) {
            start = always;
            continue;
        }
        const std::span<const float> point = used(order[place]);
        std::int32_t square = 0, sum = 0;
        double rounding = 0;
        for (std::size_t j = 0; j < n_used_; ++j) {
            const std::int32_t byte = to_byte(point[j], steps_of_one_);
            groups_[panel * n_groups_ + j / group_columns].points[lane][j % group_columns] =
                static_cast<std::int8_t>(byte);
            square += byte * byte;
            sum += byte;
            rounding += square_of(point[j] - byte * step_);
        }
        start = -((square + 2 * asked_shift * sum) >> 1);
        rounding_ = std::max(rounding_, std::sqrt(rounding));
    }
}

void ByteLook::set_point(AskedBytes& asked, std::size_t i, const float* point) const {
    asked.points[i].fill(asked_shift);
    double square = 0, rounding = 0;
    for (std::size_t j = 0; j < n_used_; ++j) {
        const std::int32_t byte = to_byte(point[j], steps_of_one_);
        asked.points[i][j] = static_cast<std::uint8_t>(byte + asked_shift);
        square += byte * byte;
        rounding += square_of(point[j] - byte * step_);
    }
    asked.squares[i] = square;
    asked.roundings[i] = std::sqrt(rounding);
}

void ByteLook::set_limit(AskedBytes& asked, std::size_t i, float limit) const {
    // A little more, for the rounding of this sum.
    const double reach = (std::sqrt(double{limit}) + asked.roundings[i] + rounding_) / step_ * (1 + 1e-9);
    const double least = (asked.squares[i] - reach * reach) / 2 - 1;
    asked.least[i] = least > never + 1 ? static_cast<std::int32_t>(least) - 1 : never + 1;
}

std::uint32_t ByteLook::points_within(std::size_t panel, const AskedBytes& asked, std::uint32_t of,
                                      ByteLanes& lanes) const {
    return within_by_bytes(&groups_[panel * n_groups_], n_groups_, starts_[panel], asked, of, lanes);
}

}  // namespace committee
