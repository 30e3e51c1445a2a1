#include "numbers/matrix_product.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace committee {
namespace {

constexpr std::size_t tile_height = 4;
// The columns of the widest panel.
constexpr std::size_t most_columns = 32;

template <std::size_t n_lanes>
using Lanes [[gnu::vector_size(4 * n_lanes)]] = float;

// Copies a panel of columns of `right` into contiguous memory and fills the last panel up with zeros.
void pack(const MatrixView& right, std::size_t n_inner, std::size_t first, std::size_t n_columns, std::size_t width,
          float* panel) {
    for (std::size_t k = 0; k < n_inner; ++k) {
        const float* from = right.values + k * right.row_step + first * right.column_step;
        float* to = panel + k * width;
        for (std::size_t j = 0; j < n_columns; ++j) to[j] = from[j * right.column_step];
        std::fill(to + n_columns, to + width, 0.0F);
    }
}

// Computes a tile of the product. Its sums stay in registers.
template <std::size_t n_lanes, std::size_t n_vectors, std::size_t height>
[[gnu::always_inline]] inline void multiply_tile(const MatrixView& left, const float* panel, std::size_t n_inner,
                                                 float* out, std::size_t out_step, std::size_t n_columns) {
    // The loops over rows and vectors are unrolled, or the compiler would keep the sums in memory.
    Lanes<n_lanes> sums[height][n_vectors] = {};
    for (std::size_t k = 0; k < n_inner; ++k) {
        Lanes<n_lanes> right[n_vectors];
#pragma GCC unroll 2
        for (std::size_t v = 0; v < n_vectors; ++v) {
            std::memcpy(&right[v], panel + (k * n_vectors + v) * n_lanes, sizeof right[v]);
        }
#pragma GCC unroll 8
        for (std::size_t i = 0; i < height; ++i) {
            const float value = left.values[i * left.row_step + k * left.column_step];
#pragma GCC unroll 2
            for (std::size_t v = 0; v < n_vectors; ++v) sums[i][v] += value * right[v];
        }
    }
    std::array<float, n_vectors * n_lanes> row;
#pragma GCC unroll 8
    for (std::size_t i = 0; i < height; ++i) {
#pragma GCC unroll 2
        for (std::size_t v = 0; v < n_vectors; ++v) {
            std::memcpy(row.data() + v * n_lanes, &sums[i][v], sizeof sums[i][v]);
        }
        std::copy_n(row.data(), n_columns, out + i * out_step);
    }
}

// Computes a panel of columns of the product.
template <std::size_t n_lanes, std::size_t n_vectors>
[[gnu::always_inline]] inline void multiply_panel(const MatrixView& left, const MatrixView& right,
                                                  const ProductSize& size, std::size_t first, float* panel,
                                                  float* out) {
    constexpr std::size_t panel_width = n_vectors * n_lanes;
    const std::size_t width = std::min(panel_width, size.n_columns - first);
    pack(right, size.n_inner, first, width, panel_width, panel);
    const auto rows_from = [&](std::size_t row) {
        return MatrixView{left.values + row * left.row_step, left.row_step, left.column_step};
    };
    std::size_t i = 0;
    for (; i + tile_height <= size.n_rows; i += tile_height) {
        multiply_tile<n_lanes, n_vectors, tile_height>(rows_from(i), panel, size.n_inner,
                                                       out + i * size.n_columns + first, size.n_columns, width);
    }
    for (; i < size.n_rows; ++i) {
        multiply_tile<n_lanes, n_vectors, 1>(rows_from(i), panel, size.n_inner, out + i * size.n_columns + first,
                                             size.n_columns, width);
    }
}

template <std::size_t n_lanes>
[[gnu::always_inline]] inline void multiply_any(const MatrixView& left, const MatrixView& right,
                                                const ProductSize& size, float* panel, float* out) {
    for (std::size_t first = 0; first < size.n_columns;) {
        if (size.n_columns - first > n_lanes) {
            multiply_panel<n_lanes, 2>(left, right, size, first, panel, out);
            first += 2 * n_lanes;
        } else {
            multiply_panel<n_lanes, 1>(left, right, size, first, panel, out);
            first += n_lanes;
        }
    }
}

using Multiply = void (*)(const MatrixView&, const MatrixView&, const ProductSize&, float*, float*);

void multiply_narrow(const MatrixView& left, const MatrixView& right, const ProductSize& size, float* panel,
                     float* out) {
    multiply_any<8>(left, right, size, panel, out);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void multiply_wide(const MatrixView& left, const MatrixView& right, const ProductSize& size,
                                           float* panel, float* out) {
    multiply_any<8>(left, right, size, panel, out);
}

[[gnu::target("avx512f")]] void multiply_widest(const MatrixView& left, const MatrixView& right,
                                                const ProductSize& size, float* panel, float* out) {
    multiply_any<16>(left, right, size, panel, out);
}

Multiply fastest() {
    if (__builtin_cpu_supports("avx512f") != 0) return multiply_widest;
    return __builtin_cpu_supports("avx2") != 0 ? multiply_wide : multiply_narrow;
}
#else
Multiply fastest() { return multiply_narrow; }
#endif

}  // namespace

void multiply(const MatrixView& left, const MatrixView& right, const ProductSize& size, std::vector<float>& panel,
              float* out) {
    static const Multiply multiply_fastest = fastest();
    panel.resize(std::max(panel.size(), size.n_inner * most_columns));
    multiply_fastest(left, right, size, panel.data(), out);
}

}  // namespace committee
