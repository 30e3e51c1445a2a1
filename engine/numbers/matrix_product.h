// Products of matrices in single precision. Each number is the sum of its terms in their order, without fused
// operations: the same bits on every machine, for one row and for many.
#pragma once
#include <cstddef>
#include <vector>

namespace committee {

// A matrix that is read: value (i, j) is values[i * row_step + j * column_step].
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

// out = left * right, by rows. `panel` is working memory.
void multiply(const MatrixView& left, const MatrixView& right, const ProductSize& size, std::vector<float>& panel,
              float* out);

}  // namespace committee
