#include "neighbours/filter.h"

#include <bit>
#include <cstring>

namespace committee {
namespace {

constexpr std::array<std::int32_t, most_queries> sets_of_one = [] {
    std::array<std::int32_t, most_queries> sets{};
    for (std::size_t i = 0; i < most_queries; ++i) sets[i] = static_cast<std::int32_t>(1U << i);
    return sets;
}();

// Sixteen numbers, as vectors of the machine's width.
template <std::size_t width>
struct Vectors {
    using Floats [[gnu::vector_size(4 * width)]] = float;
    using Sets [[gnu::vector_size(4 * width)]] = std::int32_t;
    static constexpr std::size_t n_parts = n_lanes / width;
    // The number of queries processed together, so that the points are read once for all of them. Limited by the number
    // of registers.
    static constexpr std::size_t n_together = width == 4 ? 2 : 4;
};

template <std::size_t width>
[[gnu::always_inline]] inline bool points_within_any(const Chunk* points, std::size_t n_chunks, std::size_t stride,
                                                     const QueryBlock& queries, std::uint32_t of,
                                                     std::uint32_t* within) {
    using Here = Vectors<width>;
    typename Here::Floats all_sums[most_queries][Here::n_parts];
    typename Here::Sets sets[Here::n_parts];
    for (std::size_t chunk = 0; chunk < n_chunks && of != 0; ++chunk, points += stride) {
        for (auto& set : sets) set = typename Here::Sets{};
        while (of != 0) {
            std::size_t who[Here::n_together];
            const float* at[Here::n_together];
            typename Here::Floats sums[Here::n_together][Here::n_parts];
            for (std::size_t i = 0; i < Here::n_together; ++i) {
                // A single last query is processed twice.
                who[i] = of == 0 ? who[i - 1] : static_cast<std::size_t>(std::countr_zero(of));
                of &= of - 1;
                at[i] = queries.points + who[i] * queries.n_columns + chunk * chunk_columns;
                for (std::size_t part = 0; part < Here::n_parts; ++part) {
                    sums[i][part] = chunk > 0 ? all_sums[who[i]][part] : typename Here::Floats{};
                }
            }
            for (std::size_t j = 0; j < chunk_columns; ++j) {
                for (std::size_t part = 0; part < Here::n_parts; ++part) {
                    typename Here::Floats there;
                    std::memcpy(&there, &points->columns[j][part * width], sizeof there);
                    for (std::size_t i = 0; i < Here::n_together; ++i) {
                        const typename Here::Floats apart = there - at[i][j];
                        sums[i][part] += apart * apart;
                    }
                }
            }
            for (std::size_t i = 0; i < Here::n_together; ++i) {
                for (std::size_t part = 0; part < Here::n_parts; ++part) {
                    all_sums[who[i]][part] = sums[i][part];
                    // A NaN is not ruled out.
                    sets[part] |= ~(sums[i][part] > queries.limits[who[i]]) & sets_of_one[who[i]];
                }
            }
        }
        std::memcpy(within, sets, sizeof sets);
        for (std::size_t lane = 0; lane < n_lanes; ++lane) of |= within[lane];
    }
    return of != 0;
}

template <std::size_t width>
[[gnu::always_inline]] inline void gaps_to_boxes_any(const float* boxes, std::size_t n_boxes, std::size_t n_columns,
                                                     const QueryBlock& queries, float* gaps, float* totals) {
    using Here = Vectors<width>;
    constexpr std::size_t n_parts = most_queries / width;
    for (std::size_t box = 0; box < n_boxes; ++box, boxes += 2 * n_columns, gaps += most_queries) {
        typename Here::Floats sums[n_parts]{};
        for (std::size_t j = 0; j < n_columns; ++j) {
            for (std::size_t part = 0; part < n_parts; ++part) {
                typename Here::Floats at;
                std::memcpy(&at, queries.columns + j * most_queries + part * width, sizeof at);
                const typename Here::Floats below = boxes[j] - at, above = at - boxes[n_columns + j];
                typename Here::Floats gap = below > above ? below : above;
                gap = gap > 0 ? gap : typename Here::Floats{};
                sums[part] += gap * gap;
            }
        }
        std::memcpy(gaps, sums, sizeof sums);
        for (std::size_t part = 1; part < n_parts; ++part) sums[0] += sums[part];
        totals[box] = 0;
        for (std::size_t lane = 0; lane < width; ++lane) totals[box] += sums[0][lane];
    }
}

template <std::size_t width>
[[gnu::always_inline]] inline std::uint32_t points_in_reach_any(const float* gaps, const float* limits) {
    using Here = Vectors<width>;
    typename Here::Sets set{};
    for (std::size_t first = 0; first < most_queries; first += width) {
        typename Here::Floats gap, limit;
        typename Here::Sets bits;
        std::memcpy(&gap, gaps + first, sizeof gap);
        std::memcpy(&limit, limits + first, sizeof limit);
        std::memcpy(&bits, &sets_of_one[first], sizeof bits);
        set |= ~(gap > limit) & bits;
    }
    std::uint32_t all = 0;
    for (std::size_t lane = 0; lane < width; ++lane) all |= static_cast<std::uint32_t>(set[lane]);
    return all;
}

using PointsWithin = bool (*)(const Chunk*, std::size_t, std::size_t, const QueryBlock&, std::uint32_t, std::uint32_t*);
using GapsToBoxes = void (*)(const float*, std::size_t, std::size_t, const QueryBlock&, float*, float*);
using PointsInReach = std::uint32_t (*)(const float*, const float*);

bool points_within_plain(const Chunk* points, std::size_t n_chunks, std::size_t stride, const QueryBlock& queries,
                         std::uint32_t of, std::uint32_t* within) {
    return points_within_any<4>(points, n_chunks, stride, queries, of, within);
}

void gaps_to_boxes_plain(const float* boxes, std::size_t n_boxes, std::size_t n_columns, const QueryBlock& queries,
                         float* gaps, float* totals) {
    gaps_to_boxes_any<4>(boxes, n_boxes, n_columns, queries, gaps, totals);
}

std::uint32_t points_in_reach_plain(const float* gaps, const float* limits) {
    return points_in_reach_any<4>(gaps, limits);
}

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] bool points_within_wide(const Chunk* points, std::size_t n_chunks, std::size_t stride,
                                                    const QueryBlock& queries, std::uint32_t of,
                                                    std::uint32_t* within) {
    return points_within_any<8>(points, n_chunks, stride, queries, of, within);
}

[[gnu::target("avx2,fma")]] void gaps_to_boxes_wide(const float* boxes, std::size_t n_boxes, std::size_t n_columns,
                                                    const QueryBlock& queries, float* gaps, float* totals) {
    gaps_to_boxes_any<8>(boxes, n_boxes, n_columns, queries, gaps, totals);
}

[[gnu::target("avx2,fma")]] std::uint32_t points_in_reach_wide(const float* gaps, const float* limits) {
    return points_in_reach_any<8>(gaps, limits);
}

[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]] bool points_within_widest(
    const Chunk* points, std::size_t n_chunks, std::size_t stride, const QueryBlock& queries, std::uint32_t of,
    std::uint32_t* within) {
    return points_within_any<16>(points, n_chunks, stride, queries, of, within);
}

[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]] void gaps_to_boxes_widest(const float* boxes,
                                                                                    std::size_t n_boxes,
                                                                                    std::size_t n_columns,
                                                                                    const QueryBlock& queries,
                                                                                    float* gaps, float* totals) {
    gaps_to_boxes_any<16>(boxes, n_boxes, n_columns, queries, gaps, totals);
}

[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,fma")]] std::uint32_t points_in_reach_widest(const float* gaps,
                                                                                               const float* limits) {
    return points_in_reach_any<16>(gaps, limits);
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

PointsInReach points_in_reach_here() {
    return has_widest() ? points_in_reach_widest : has_wide() ? points_in_reach_wide : points_in_reach_plain;
}
#else
PointsWithin points_within_here() { return points_within_plain; }
GapsToBoxes gaps_to_boxes_here() { return gaps_to_boxes_plain; }
PointsInReach points_in_reach_here() { return points_in_reach_plain; }
#endif

}  // namespace

bool points_within(const Chunk* points, std::size_t n_chunks, std::size_t stride, const QueryBlock& queries,
                   std::uint32_t of, std::uint32_t* within) {
    static const PointsWithin here = points_within_here();
    return here(points, n_chunks, stride, queries, of, within);
}

void gaps_to_boxes(const float* boxes, std::size_t n_boxes, std::size_t n_columns, const QueryBlock& queries,
                   float* gaps, float* totals) {
    static const GapsToBoxes here = gaps_to_boxes_here();
    here(boxes, n_boxes, n_columns, queries, gaps, totals);
}

std::uint32_t points_in_reach(const float* gaps, const float* limits) {
    static const PointsInReach here = points_in_reach_here();
    return here(gaps, limits);
}

}  // namespace committee
