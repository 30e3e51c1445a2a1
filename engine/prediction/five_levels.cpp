#include "prediction/five_levels.h"

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace committee {
namespace {

#if defined(__x86_64__)
// Reads the codes of a row that are selected by the mask, as 16 bits each. The others become 0, and their memory is not
// read.
[[gnu::target("avx512bw,avx512vl")]] inline __m512i read_codes(const std::uint16_t* row, __mmask32 which) {
    return _mm512_maskz_loadu_epi16(which, row);
}

[[gnu::target("avx512bw,avx512vl")]] inline __m512i read_codes(const std::uint8_t* row, __mmask32 which) {
    return _mm512_cvtepu8_epi16(_mm256_maskz_loadu_epi8(which, row));
}

// Finds the end node of each row, sixteen rows at a time. Bit i of right[k] says whether row k goes right at node i.
template <std::size_t some_rows>
[[gnu::target("avx512bw,avx512vl"), gnu::always_inline]] inline void follow(
    const FiveLevels& levels, const std::array<std::uint32_t, some_rows>& right, std::size_t n, std::uint32_t* nodes) {
    using Lanes [[gnu::vector_size(64)]] = std::uint32_t;
    constexpr std::size_t n_lanes = 16;
    const __m512i left_ends = _mm512_load_si512(levels.ends.data());
    const __m512i right_ends = _mm512_load_si512(levels.ends.data() + n_lanes);
    for (std::size_t k = 0; k < n; k += n_lanes) {
        const auto there = static_cast<__mmask16>((1U << std::min(n - k, n_lanes)) - 1);
        const auto answers = reinterpret_cast<Lanes>(_mm512_load_si512(right.data() + k));
        Lanes place = Lanes{} + 1;
        for (std::size_t width = 1; width < FiveLevels::n_ends; width *= 2)
            place = 2 * place + ((answers >> place) & 1);
        // Ends are numbered from 32; the permutation only reads the low five bits.
        _mm512_mask_storeu_epi32(nodes + k, there,
                                 _mm512_permutex2var_epi32(left_ends, reinterpret_cast<__m512i>(place), right_ends));
    }
}

template <class Code>
[[gnu::target("avx512bw,avx512vl")]] void descend_with_avx512(const FiveLevels& levels, const Code* codes,
                                                              std::size_t stride, std::size_t n_columns,
                                                              std::span<const std::uint32_t> rows,
                                                              std::uint32_t* nodes) {
    constexpr std::size_t n_lanes = 32, rows_ahead = 16, some_rows = 64;
    const std::uint64_t which = ~std::uint64_t{0} >> (2 * n_lanes - n_columns);
    const auto first = static_cast<__mmask32>(which), second = static_cast<__mmask32>(which >> n_lanes);
    const __m512i columns = _mm512_load_si512(levels.columns.data());
    const __m512i thresholds = _mm512_load_si512(levels.thresholds.data());
    const std::size_t n = rows.size();
    alignas(64) std::array<std::uint32_t, some_rows> right;
    for (std::size_t begin = 0; begin < n; begin += some_rows) {
        const std::size_t end = std::min(begin + some_rows, n);
        for (std::size_t k = begin; k < end; ++k) {
            const Code* ahead = codes + rows[std::min(k + rows_ahead, n - 1)] * stride;
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + n_columns - 1);
            const Code* row = codes + rows[k] * stride;
            const __m512i selected =
                _mm512_permutex2var_epi16(read_codes(row, first), columns, read_codes(row + n_lanes, second));
            right[k - begin] = _mm512_cmpgt_epu16_mask(selected, thresholds) |
                               (_mm512_testn_epi16_mask(selected, selected) & levels.missing_right);
        }
        follow(levels, right, end - begin, nodes + begin);
    }
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512vl") != 0; }
#else
template <class Code>
void descend_with_avx512(const FiveLevels&, const Code*, std::size_t, std::size_t, std::span<const std::uint32_t>,
                         std::uint32_t*) {}

bool has_wide_vectors() { return false; }
#endif

}  // namespace

bool can_descend_five_levels(std::size_t n_columns) {
    constexpr std::size_t most_columns = 64;
    return n_columns <= most_columns && has_wide_vectors();
}

FiveLevels make_five_levels(const Tree& tree, std::uint32_t root) {
    FiveLevels levels;
    std::array<std::uint32_t, 2 * FiveLevels::n_ends> nodes;
    nodes[1] = root;
    for (std::size_t i = 1; i < FiveLevels::n_ends; ++i) {
        const NodeWord word = tree.nodes[nodes[i]];
        if (is_leaf(word) || is_category(word)) {
            nodes[2 * i] = nodes[2 * i + 1] = nodes[i];
            continue;
        }
        levels.columns[i] = static_cast<std::uint16_t>(column_of(word));
        levels.thresholds[i] = static_cast<std::uint16_t>(threshold_of(word));
        levels.missing_right |= static_cast<std::uint32_t>(missing_goes_right(word)) << i;
        nodes[2 * i] = address_of(word);
        nodes[2 * i + 1] = address_of(word) + 1;
    }
    std::copy_n(nodes.begin() + FiveLevels::n_ends, FiveLevels::n_ends, levels.ends.begin());
    return levels;
}

template <class Code>
void descend_five_levels(const FiveLevels& levels, const Code* codes, std::size_t stride, std::size_t n_columns,
                         std::span<const std::uint32_t> rows, std::uint32_t* nodes) {
    descend_with_avx512(levels, codes, stride, n_columns, rows, nodes);
}

template void descend_five_levels(const FiveLevels&, const std::uint8_t*, std::size_t, std::size_t,
                                  std::span<const std::uint32_t>, std::uint32_t*);
template void descend_five_levels(const FiveLevels&, const std::uint16_t*, std::size_t, std::size_t,
                                  std::span<const std::uint32_t>, std::uint32_t*);

}  // namespace committee
