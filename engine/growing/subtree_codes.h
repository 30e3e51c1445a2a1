// The codes of a subtree of few rows, in one small block, so that everything below its root is found in the nearest
// caches. Comes in: rows of a table. Goes out: their codes, and where those of each row begin.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.h"

namespace committee {

// Where codes lie by column: all of a table's, or a block of a subtree's own.
template <class Code>
struct CodeColumns {
    const Code* first = nullptr;
    std::size_t stride = 0;

    const Code* column(std::size_t j) const { return first + j * stride; }
};

template <class Code>
class LocalCodes {
  public:
    // Of a subtree that gets a block, which fits the second cache unless the table is wide. In a long table it may be
    // larger: rows that lie so far apart would have a line of the cache each for every one of their codes.
    static std::size_t most_rows(std::size_t n_rows, std::size_t n_columns) {
        constexpr std::size_t block_bytes = std::size_t{1} << 19, fewest = 4096, most = 8192, apart = 16, larger = 4;
        const std::size_t near =
            std::clamp(block_bytes / (CodeLine<Code>::stride(n_columns) * sizeof(Code)), fewest, most);
        return std::clamp(n_rows / apart, near, larger * near);
    }

    // Copies the codes of some rows, row by row. A row is then known by where its codes begin.
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

    // Which of the rows that were copied has codes that begin there: a division, by multiplication.
    std::size_t place_of(std::uint32_t begin) const { return begin * inverse_ >> 32; }

    // For rows that are known by where their codes begin.
    CodeColumns<Code> columns() const { return {lines_.data()->codes.data(), 1}; }

  private:
    std::vector<CodeLine<Code>> lines_;
    std::uint64_t inverse_ = 0;  // of the codes between two rows, times 2^32
};

}  // namespace committee
