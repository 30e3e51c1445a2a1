#include "numbers/matrix_product.h"

#include <algorithm>
#include <cstring>

namespace committee {
namespace {

constexpr std::size_t n_lanes = 8;
constexpr std::size_t panel_width = 2 * n_lanes;
constexpr std::size_t tile_height = 4;
using Lanes [[gnu::vector_size(4 * n_lanes)]] = float;

// Copies a panel of columns of `right` into contiguous memory and fills the last panel up with zeros.
void pack(const MatrixView& right, std::size_t n_inner, std::size_t first, std::size_t n_columns, float* panel) {
    for (std::size_t k = 0; k < n_inner; ++k) {
        const float* from = right.values + k * right.row_step + first * right.column_step;
        float* to = panel + k * panel_width;
        for (std::size_t j = 0; j < n_columns; ++j) to[j] = from[j * right.column_step];
        std::fill(to + n_columns, to + panel_width, 0.0F);
    }
}

// Computes a tile of the product. Its sums stay in registers.
template <std::size_t height>
[[gnu::always_inline]] inline void multiply_tile(const MatrixView& left, const float* panel, std::size_t n_inner,
                                                 float* out, std::size_t out_step, std::size_t n_columns) {
    Lanes sums[height][2] = {};
    for (std::size_t k = 0; k < n_inner; ++k) {
        Lanes low, high;
        std::memcpy(&low, panel + k * panel_width, sizeof low);
        std::memcpy(&high, panel + k * panel_width + n_lanes, sizeof high);
        for (std::size_t i = 0; i < height; ++i) {
            const float value = left.values[i * left.row_step + k * left.column_step];
            sums[i][0] += value * low;
            sums[i][1] += value * high;
        }
    }
    for (std::size_t i = 0; i < height; ++i) std::memcpy(out + i * out_step, sums[i], n_columns * sizeof(float));
}

[[gnu::always_inline]] inline void multiply_any(const MatrixView& left, const MatrixView& right,
                                                const ProductSize& size, float* panel, float* out) {
    for (std::size_t j = 0; j < size.n_columns; j += panel_width) {
        const std::size_t width = std::min(panel_width, size.n_columns - j);
        pack(right, size.n_inner, j, width, panel);
        std::size_t i = 0;
        const auto rows_from = [&](std::size_t row) {
            return MatrixView{left.values + row * left.row_step, left.row_step, left.column_step};
        };
        for (; i + tile_height <= size.n_rows; i += tile_height) {
            multiply_tile<tile_height>(rows_from(i), panel, size.n_inner, out + i * size.n_columns + j, size.n_columns,
                                       width);
        }
        for (; i < size.n_rows; ++i) {
            multiply_tile<1>(rows_from(i), panel, size.n_inner, out + i * size.n_columns + j, size.n_columns, width);
        }
    }
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void multiply_wide(const MatrixView& left, const MatrixView& right, const ProductSize& size,
                                           float* panel, float* out) {
    multiply_any(left, right, size, panel, out);
}

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#else
void multiply_wide(const MatrixView& left, const MatrixView& right, const ProductSize& size, float* panel, float* out) {
    multiply_any(left, right, size, panel, out);
}

bool has_wide_vectors() { return false; }
#endif

}  // namespace

void multiply(const MatrixView& left, const MatrixView& right, const ProductSize& size, std::vector<float>& panel,
              float* out) {
    panel.resize(std::max(panel.size(), size.n_inner * panel_width));
    if (has_wide_vectors()) return multiply_wide(left, right, size, panel.data(), out);
    multiply_any(left, right, size, panel.data(), out);
}

}  // namespace committee
