// Products of matrices in single precision. Each element adds its terms in a fixed order, without fused multiply-add,
// so the bits are the same on every machine and for any number of rows.
#pragma once
#include <cstddef>
#include <vector>

namespace committee {

// A read-only matrix: element (i, j) is values[i * row_step + j * column_step].
struct MatrixView {
    const float* values;
    std::size_t row_step;
    std::size_t column_step;

    static MatrixView by_rows(const float* values, std::size_t n_columns) { return {values, n_columns, 1}; }
    MatrixView transposed() const { return {values, column_step, row_step}; }
};

struct ProductSize {
    std::size_t n_rows;
    std::size_t n_inner;
    std::size_t n_columns;
};

// out = left * right, row-major. `panel` is scratch memory.
void multiply(const MatrixView& left, const MatrixView& right, const ProductSize& size, std::vector<float>& panel,
              float* out);

}  // namespace committee
