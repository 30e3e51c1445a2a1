// Copies the codes of a small subtree into one block, so that all nodes below its root find them in the nearest caches.
// In: rows of a table. Out: their codes, and the position of each row's codes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.h"

namespace committee {

// Codes by column, of a whole table or of a subtree's block.
template <class Code>
struct CodeColumns {
    const Code* first = nullptr;
    std::size_t stride = 0;

    const Code* column(std::size_t j) const { return first + j * stride; }
};

template <class Code>
class LocalCodes {
  public:
    // The largest number of rows of a subtree that gets a block. The block fits in the second cache unless the table is
    // wide. In a long table it may be larger: its rows are so far apart that every code would need a separate cache
    // line without a block.
    static std::size_t most_rows(std::size_t n_rows, std::size_t n_columns) {
        constexpr std::size_t block_bytes = std::size_t{1} << 19, fewest = 4096, most = 8192, apart = 16, larger = 4;
        const std::size_t near =
            std::clamp(block_bytes / (CodeLine<Code>::stride(n_columns) * sizeof(Code)), fewest, most);
        return std::clamp(n_rows / apart, near, larger * near);
    }

    // Copies the codes of some rows, row-major. Replaces every row by the position of its codes in the block.
    void copy(const Codes<Code>& codes, std::span<std::uint32_t> rows) {
        constexpr std::size_t rows_ahead = 48;
        const std::size_t n = rows.size(), stride = CodeLine<Code>::stride(codes.n_columns);
        inverse_ = ((std::uint64_t{1} << 32) + stride - 1) / stride;
        lines_.resize(std::max(lines_.size(), CodeLine<Code>::n_lines(n * stride)));
        Code* block = lines_.data()->codes.data();
        for (std::size_t i = 0; i < n; ++i) {
            const Code* ahead = codes.row(rows[std::min(i + rows_ahead, n - 1)]);
            __builtin_prefetch(ahead);
            __builtin_prefetch(ahead + codes.n_columns - 1);
            std::copy_n(codes.row(rows[i]), codes.n_columns, block + i * stride);
            rows[i] = static_cast<std::uint32_t>(i * stride);
        }
    }

    // The index of the row whose codes begin there. A multiplication replaces the division.
    std::size_t place_of(std::uint32_t begin) const { return begin * inverse_ >> 32; }

    // Columns that are indexed by the positions from `copy`.
    CodeColumns<Code> columns() const { return {lines_.data()->codes.data(), 1}; }

  private:
    std::vector<CodeLine<Code>> lines_;
    std::uint64_t inverse_ = 0;  // of the stride, times 2^32
};

}  // namespace committee
