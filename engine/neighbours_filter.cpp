#include "neighbours_filter.h"

#include <bit>
#include <cstring>

namespace committee {
namespace {

// Sixteen numbers as vectors of the width that the machine has.
template <std::size_t width>
struct Lanes {
    using Floats [[gnu::vector_size(4 * width)]] = float;
    using Bytes [[gnu::vector_size(width)]] = signed char;
    static constexpr std::size_t n_parts = n_lanes / width;
};

// A bit for each byte that is 0.
[[gnu::always_inline]] inline std::uint16_t lowest_bits(const std::uint64_t* halves) {
    constexpr std::uint64_t lowest = 0x0101010101010101, gather = 0x0102040810204080;
    const auto low = ((~halves[0] & lowest) * gather) >> 56, high = ((~halves[1] & lowest) * gather) >> 56;
    return static_cast<std::uint16_t>(low | (high << 8));
}

// Two asked points at a time share what is read of the others.
template <std::size_t width>
[[gnu::always_inline]] inline void points_within_two(const float* points, std::size_t n_chunks, std::size_t stride,
                                                     const AskedBlock& asked, std::size_t one, std::size_t other,
                                                     std::uint16_t* within) {
    using Here = Lanes<width>;
    const float* at[2] = {asked.points + one * asked.n_columns, asked.points + other * asked.n_columns};
    const float limits[2] = {asked.limits[one], asked.limits[other]};
    typename Here::Floats sums[2][Here::n_parts]{};
    std::uint64_t halves[2][2]{};
    for (std::size_t chunk = 0; chunk < n_chunks; ++chunk, points += stride) {
        for (std::size_t j = 0; j < chunk_columns; ++j) {
            for (std::size_t part = 0; part < Here::n_parts; ++part) {
                typename Here::Floats there;
                std::memcpy(&there, points + j * n_lanes + part * width, sizeof there);
                for (std::size_t i = 0; i < 2; ++i) {
                    const typename Here::Floats apart = there - at[i][chunk * chunk_columns + j];
                    sums[i][part] += apart * apart;
                }
            }
        }
        for (std::size_t i = 0; i < 2; ++i) {
            typename Here::Bytes are_out[Here::n_parts];
            for (std::size_t part = 0; part < Here::n_parts; ++part) {
                // What is not a number has not been ruled out.
                are_out[part] = __builtin_convertvector(sums[i][part] > limits[i], typename Here::Bytes);
            }
            std::memcpy(halves[i], are_out, sizeof are_out);
        }
        if ((halves[0][0] & halves[0][1] & halves[1][0] & halves[1][1]) == ~std::uint64_t{0}) break;
    }
    within[one] = lowest_bits(halves[0]);
    within[other] = lowest_bits(halves[1]);
}

template <std::size_t width>
[[gnu::always_inline]] inline void points_within_any(const float* points, std::size_t n_chunks, std::size_t stride,
                                                     const AskedBlock& asked, std::uint32_t of, std::uint16_t* within) {
    while (of != 0) {
        const auto one = static_cast<std::size_t>(std::countr_zero(of));
        of &= of - 1;
        const auto other = of == 0 ? one : static_cast<std::size_t>(std::countr_zero(of));
        of &= of - 1;
        points_within_two<width>(points, n_chunks, stride, asked, one, other, within);
    }
}

template <std::size_t width>
[[gnu::always_inline]] inline void gaps_to_boxes_any(const float* boxes, std::size_t n_chunks, const AskedBlock& asked,
                                                     std::uint32_t of, float* gaps) {
    using Here = Lanes<width>;
    for (std::uint32_t left = of; left != 0; left &= left - 1) {
        const auto i = static_cast<std::size_t>(std::countr_zero(left));
        const float* point = asked.points + i * asked.n_columns;
        typename Here::Floats sums[Here::n_parts]{};
        for (std::size_t chunk = 0; chunk < n_chunks; ++chunk) {
            const float* lower = boxes + 2 * chunk * chunk_size;
            for (std::size_t j = 0; j < chunk_columns; ++j) {
                const float at = point[chunk * chunk_columns + j];
                for (std::size_t part = 0; part < Here::n_parts; ++part) {
                    typename Here::Floats low, high;
                    std::memcpy(&low, lower + j * n_lanes + part * width, sizeof low);
                    std::memcpy(&high, lower + chunk_size + j * n_lanes + part * width, sizeof high);
                    const typename Here::Floats below = low - at, above = at - high;
                    typename Here::Floats gap = below > above ? below : above;
                    gap = gap > 0 ? gap : typename Here::Floats{};
                    sums[part] += gap * gap;
                }
            }
        }
        std::memcpy(gaps + i * n_lanes, sums, sizeof sums);
    }
}

using PointsWithin = void (*)(const float*, std::size_t, std::size_t, const AskedBlock&, std::uint32_t, std::uint16_t*);
using GapsToBoxes = void (*)(const float*, std::size_t, const AskedBlock&, std::uint32_t, float*);

void points_within_plain(const float* points, std::size_t n_chunks, std::size_t stride, const AskedBlock& asked,
                         std::uint32_t of, std::uint16_t* within) {
    points_within_any<4>(points, n_chunks, stride, asked, of, within);
}

void gaps_to_boxes_plain(const float* boxes, std::size_t n_chunks, const AskedBlock& asked, std::uint32_t of,
                         float* gaps) {
    gaps_to_boxes_any<4>(boxes, n_chunks, asked, of, gaps);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void points_within_wide(const float* points, std::size_t n_chunks, std::size_t stride,
                                                    const AskedBlock& asked, std::uint32_t of, std::uint16_t* within) {
    points_within_any<8>(points, n_chunks, stride, asked, of, within);
}

[[gnu::target("avx2,fma")]] void gaps_to_boxes_wide(const float* boxes, std::size_t n_chunks, const AskedBlock& asked,
                                                    std::uint32_t of, float* gaps) {
    gaps_to_boxes_any<8>(boxes, n_chunks, asked, of, gaps);
}

[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]] void points_within_widest(
    const float* points, std::size_t n_chunks, std::size_t stride, const AskedBlock& asked, std::uint32_t of,
    std::uint16_t* within) {
    points_within_any<16>(points, n_chunks, stride, asked, of, within);
}

[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]] void gaps_to_boxes_widest(const float* boxes,
                                                                                    std::size_t n_chunks,
                                                                                    const AskedBlock& asked,
                                                                                    std::uint32_t of, float* gaps) {
    gaps_to_boxes_any<16>(boxes, n_chunks, asked, of, gaps);
}

bool has_wide() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

bool has_widest() {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
}

PointsWithin points_within_here() {
    return has_widest() ? points_within_widest : has_wide() ? points_within_wide : points_within_plain;
}

GapsToBoxes gaps_to_boxes_here() {
    return has_widest() ? gaps_to_boxes_widest : has_wide() ? gaps_to_boxes_wide : gaps_to_boxes_plain;
}
#else
PointsWithin points_within_here() { return points_within_plain; }
GapsToBoxes gaps_to_boxes_here() { return gaps_to_boxes_plain; }
#endif

}  // namespace

void points_within(const float* points, std::size_t n_chunks, std::size_t stride, const AskedBlock& asked,
                   std::uint32_t of, std::uint16_t* within) {
    static const PointsWithin here = points_within_here();
    here(points, n_chunks, stride, asked, of, within);
}

void gaps_to_boxes(const float* boxes, std::size_t n_chunks, const AskedBlock& asked, std::uint32_t of, float* gaps) {
    static const GapsToBoxes here = gaps_to_boxes_here();
    here(boxes, n_chunks, asked, of, gaps);
}

}  // namespace committee
