#include "network/units.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "numbers/random.h"

namespace committee {
namespace {

template <std::size_t n_lanes>
using Lanes [[gnu::vector_size(4 * n_lanes)]] = float;
template <std::size_t n_lanes>
using Words [[gnu::vector_size(4 * n_lanes)]] = std::uint32_t;

// As in numbers/exponentials.cpp, but accurate to 7 digits.
template <std::size_t n_lanes>
[[gnu::always_inline]] inline void to_exponentials(Lanes<n_lanes>& x) {
    using Lanes = Lanes<n_lanes>;
    using Words = Words<n_lanes>;
    constexpr float to_integer = 0x1.8p23F;
    x = x < 80.0F ? x : Lanes{} + 80.0F;
    x = x > -80.0F ? x : Lanes{} - 80.0F;
    const Lanes shifted = x * 1.44269504F + to_integer;
    const Lanes whole = shifted - to_integer;
    const Lanes r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
    Lanes sum = Lanes{} + 1.0F / 720;
    sum = sum * r + 1.0F / 120;
    sum = sum * r + 1.0F / 24;
    sum = sum * r + 1.0F / 6;
    sum = sum * r + 0.5F;
    sum = sum * r + 1.0F;
    sum = sum * r + 1.0F;
    x = sum * (Lanes)(((Words)shifted + 127) << 23);
}

// SiLU, x / (1 + e^-x), also known as swish.
template <std::size_t n_lanes>
[[gnu::always_inline]] inline void to_units_any(float* sums, float* slopes, std::size_t n) {
    using Lanes = Lanes<n_lanes>;
    for (std::size_t i = 0; i < n; i += n_lanes) {
        Lanes x;
        std::memcpy(&x, sums + i, sizeof x);
        Lanes e = -x;
        to_exponentials<n_lanes>(e);
        const Lanes share = 1.0F / (1.0F + e);
        const Lanes units = x * share;
        const Lanes derivatives = share * (1.0F + x - units);
        std::memcpy(sums + i, &units, sizeof units);
        std::memcpy(slopes + i, &derivatives, sizeof derivatives);
    }
}

[[gnu::always_inline]] inline void drop_any(double share, std::uint64_t key, float* units, float* slopes,
                                            std::size_t n) {
    constexpr std::size_t n_lanes = 8;
    using Lanes = Lanes<n_lanes>;
    using Words = Words<n_lanes>;
    using Halves [[gnu::vector_size(2 * n_lanes)]] = std::uint16_t;
    constexpr std::uint32_t whole = 1U << 16;
    const Random random(key, Purpose::dropout);
    const auto limit = std::min(static_cast<std::uint32_t>(std::lround(share * whole)), whole - 1);
    const float factor = static_cast<float>(whole) / static_cast<float>(whole - limit);
    for (std::size_t i = 0; i < n; i += n_lanes) {
        const std::array<std::uint64_t, 2> bits = {random.at(i), random.at(i + 1)};
        Halves halves;
        static_assert(sizeof halves == sizeof bits);
        std::memcpy(&halves, bits.data(), sizeof halves);
        const Lanes keep = __builtin_convertvector(halves, Words) >= limit ? Lanes{} + factor : Lanes{};
        for (float* values : {units + i, slopes + i}) {
            Lanes each;
            std::memcpy(&each, values, sizeof each);
            each *= keep;
            std::memcpy(values, &each, sizeof each);
        }
    }
}

[[gnu::always_inline]] inline void adam_any(const AdamStep& step, std::size_t n, const float* gradient, float* first,
                                            float* second, float* parameters) {
    for (std::size_t i = 0; i < n; ++i) {
        first[i] = step.first_keep * first[i] + (1 - step.first_keep) * gradient[i];
        second[i] = step.second_keep * second[i] + (1 - step.second_keep) * gradient[i] * gradient[i];
        const float direction = first[i] / (std::sqrt(second[i]) + step.smallest);
        parameters[i] -= step.rate * direction + step.decay * parameters[i];
    }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void to_units_wide(float* sums, float* slopes, std::size_t n) {
    to_units_any<8>(sums, slopes, n);
}

[[gnu::target("avx512f")]] void to_units_widest(float* sums, float* slopes, std::size_t n) {
    to_units_any<16>(sums, slopes, n);
}

[[gnu::target("avx2")]] void drop_wide(double share, std::uint64_t key, float* units, float* slopes, std::size_t n) {
    drop_any(share, key, units, slopes, n);
}

[[gnu::target("avx2")]] void adam_wide(const AdamStep& step, std::size_t n, const float* gradient, float* first,
                                       float* second, float* parameters) {
    adam_any(step, n, gradient, first, second, parameters);
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
bool has_widest_vectors() { return __builtin_cpu_supports("avx512f") != 0; }
#else
void to_units_wide(float* sums, float* slopes, std::size_t n) { to_units_any<8>(sums, slopes, n); }

void to_units_widest(float* sums, float* slopes, std::size_t n) { to_units_any<8>(sums, slopes, n); }

void drop_wide(double share, std::uint64_t key, float* units, float* slopes, std::size_t n) {
    drop_any(share, key, units, slopes, n);
}

void adam_wide(const AdamStep& step, std::size_t n, const float* gradient, float* first, float* second,
               float* parameters) {
    adam_any(step, n, gradient, first, second, parameters);
}

bool has_wide_vectors() { return false; }
bool has_widest_vectors() { return false; }
#endif

}  // namespace

void multiply_columns(const float* rows, const float* factors, std::size_t n_rows, std::size_t n_columns, float* out) {
    for (std::size_t i = 0; i < n_rows * n_columns; i += n_columns) {
        for (std::size_t j = 0; j < n_columns; ++j) out[i + j] = rows[i + j] * factors[j];
    }
}

void add_to_rows(const float* values, std::size_t n_rows, std::size_t n_columns, float* rows) {
    for (std::size_t i = 0; i < n_rows * n_columns; i += n_columns) {
        for (std::size_t j = 0; j < n_columns; ++j) rows[i + j] += values[j];
    }
}

void sum_of_rows(const float* rows, std::size_t n_rows, std::size_t n_columns, float* out) {
    std::fill_n(out, n_columns, 0.0F);
    for (std::size_t i = 0; i < n_rows * n_columns; i += n_columns) {
        for (std::size_t j = 0; j < n_columns; ++j) out[j] += rows[i + j];
    }
}

void to_units(std::vector<float>& sums, std::vector<float>& slopes) {
    if (has_widest_vectors()) return to_units_widest(sums.data(), slopes.data(), sums.size());
    if (has_wide_vectors()) return to_units_wide(sums.data(), slopes.data(), sums.size());
    to_units_any<8>(sums.data(), slopes.data(), sums.size());
}

void drop_units(double share, std::uint64_t key, std::vector<float>& units, std::vector<float>& slopes) {
    if (has_wide_vectors()) return drop_wide(share, key, units.data(), slopes.data(), units.size());
    drop_any(share, key, units.data(), slopes.data(), units.size());
}

void adam(const AdamStep& step, std::size_t n, const float* gradient, float* first, float* second, float* parameters) {
    if (has_wide_vectors()) return adam_wide(step, n, gradient, first, second, parameters);
    adam_any(step, n, gradient, first, second, parameters);
}

}  // namespace committee
