#include "prediction/vector_descent.h"

#include <algorithm>
#include <array>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace committee {
namespace {

#if defined(__x86_64__)
constexpr std::size_t n_lanes = 16;
// Enough rows to hide the latency of memory, few enough for the near caches.
constexpr std::size_t group_rows = 512;

// The rows that are not at leaves yet, with the data that each needs for its next step.
struct Walkers {
    // The extra lanes allow a full vector to be stored at the last row.
    template <class Item>
    using Each = std::array<Item, group_rows + n_lanes>;

    alignas(64) Each<std::uint32_t> rows, at, places, codes;
    alignas(64) Each<NodeWord> words;
};

using Lanes [[gnu::vector_size(64)]] = std::uint32_t;

// The words of sixteen nodes, split into halves.
struct Halves {
    Lanes low, high;
};

[[gnu::target("avx512f"), gnu::always_inline]] inline Halves read_words(const NodeWord* words) {
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const __m512i first = _mm512_load_si512(words), second = _mm512_load_si512(words + n_lanes / 2);
    return {reinterpret_cast<Lanes>(_mm512_permutex2var_epi32(first, even, second)),
            reinterpret_cast<Lanes>(_mm512_permutex2var_epi32(first, odd, second))};
}

// Computes the positions of the codes to compare. Leaves compare the first code of their row.
[[gnu::target("avx512f"), gnu::always_inline]] inline void find_places(Walkers& walkers, std::size_t n,
                                                                       std::uint32_t stride) {
    for (std::size_t k = 0; k < n; k += n_lanes) {
        const auto rows = reinterpret_cast<Lanes>(_mm512_load_si512(walkers.rows.data() + k));
        const Lanes places = rows * stride + (read_words(walkers.words.data() + k).low >> 16);
        _mm512_store_si512(walkers.places.data() + k, reinterpret_cast<__m512i>(places));
    }
}

[[gnu::target("avx512f"), gnu::always_inline]] inline __mmask16 first_lanes(std::size_t n) {
    return static_cast<__mmask16>((1U << n) - 1);
}

// Moves every row one level down. Appends rows at leaves to `rows` and `leaves`, which advance. Returns the number of
// rows not at leaves.
[[gnu::target("avx512f"), gnu::always_inline]] inline std::size_t step(Walkers& walkers, std::size_t n,
                                                                       std::uint32_t*& rows, std::uint32_t*& leaves) {
    const __m512i missing_right = _mm512_set1_epi32(static_cast<int>(missing_right_bit >> 32));
    const __m512i one = _mm512_set1_epi32(1);
    std::size_t n_still = 0;
    for (std::size_t k = 0; k < n; k += n_lanes) {
        const __mmask16 there = first_lanes(std::min(n - k, n_lanes));
        const __m512i row = _mm512_load_si512(walkers.rows.data() + k);
        const __m512i node = _mm512_load_si512(walkers.at.data() + k);
        const __m512i code = _mm512_load_si512(walkers.codes.data() + k);
        const Halves word = read_words(walkers.words.data() + k);
        const auto high = reinterpret_cast<__m512i>(word.high);
        const __mmask16 is_missing = _mm512_testn_epi32_mask(code, code);
        const auto right =
            static_cast<__mmask16>(_mm512_cmpgt_epu32_mask(code, reinterpret_cast<__m512i>(word.low & 0xffffU)) |
                                   _mm512_mask_test_epi32_mask(is_missing, high, missing_right));
        const auto left = reinterpret_cast<__m512i>(word.high >> (address_shift - 32));
        const __m512i next = _mm512_mask_add_epi32(left, right, left, one);
        const __mmask16 arrived = _mm512_mask_cmplt_epi32_mask(there, high, _mm512_setzero_si512());
        const auto n_arrived = static_cast<std::size_t>(std::popcount(arrived));
        _mm512_mask_storeu_epi32(rows, first_lanes(n_arrived), _mm512_maskz_compress_epi32(arrived, row));
        _mm512_mask_storeu_epi32(leaves, first_lanes(n_arrived), _mm512_maskz_compress_epi32(arrived, node));
        rows += n_arrived;
        leaves += n_arrived;
        const auto goes_on = static_cast<__mmask16>(there & ~arrived);
        _mm512_storeu_si512(walkers.rows.data() + n_still, _mm512_maskz_compress_epi32(goes_on, row));
        _mm512_storeu_si512(walkers.at.data() + n_still, _mm512_maskz_compress_epi32(goes_on, next));
        n_still += static_cast<std::size_t>(std::popcount(goes_on));
    }
    return n_still;
}

// Words and codes are read one by one, because a gather instruction is slower.
template <class Code>
[[gnu::target("avx512f")]] void descend_group(const NodeWord* nodes, const Code* codes, std::uint32_t stride,
                                              std::size_t n, std::uint32_t* rows, std::uint32_t* leaves) {
    Walkers walkers;
    std::copy_n(rows, n, walkers.rows.begin());
    std::copy_n(leaves, n, walkers.at.begin());
    while (n > 0) {
        for (std::size_t k = 0; k < n; ++k) walkers.words[k] = nodes[walkers.at[k]];
        find_places(walkers, n, stride);
        for (std::size_t k = 0; k < n; ++k) walkers.codes[k] = codes[walkers.places[k]];
        n = step(walkers, n, rows, leaves);
    }
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx512f") != 0; }
#else
constexpr std::size_t group_rows = 1;

template <class Code>
void descend_group(const NodeWord*, const Code*, std::uint32_t, std::size_t, std::uint32_t*, std::uint32_t*) {}

bool has_wide_vectors() { return false; }
#endif

}  // namespace

bool can_descend_vectors(const Tree& tree, std::size_t n_columns) {
    // The column is read from the low half of a node's word.
    constexpr std::size_t most_columns = std::size_t{1} << 16;
    return tree.sets.empty() && n_columns <= most_columns && has_wide_vectors();
}

template <class Code>
void descend_vectors(const Tree& tree, const Code* codes, std::size_t stride, std::span<std::uint32_t> rows,
                     std::uint32_t* nodes) {
    for (std::size_t begin = 0; begin < rows.size(); begin += group_rows) {
        descend_group(tree.nodes.data(), codes, static_cast<std::uint32_t>(stride),
                      std::min(group_rows, rows.size() - begin), rows.data() + begin, nodes + begin);
    }
}

template void descend_vectors(const Tree&, const std::uint8_t*, std::size_t, std::span<std::uint32_t>, std::uint32_t*);
template void descend_vectors(const Tree&, const std::uint16_t*, std::size_t, std::span<std::uint32_t>, std::uint32_t*);

}  // namespace committee
