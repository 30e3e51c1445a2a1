// A table as the engine sees it. A column of numbers or categories becomes codes: 0 is missing, 1 .. n_bins are values
// in increasing order (numbers) or categories in no order. The codes lie in memory twice: by column for nodes of many
// rows, whose histograms stream one column, and by row for whatever needs all columns of a row: subtrees of few rows,
// which copy them into a block of their own, and prediction.
#pragma once
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace committee {

// Dropout reads random words as bytes, and saved models are the bytes of arrays: both are the same on all machines.
static_assert(std::endian::native == std::endian::little, "committee needs a little-endian machine.");

// The most rows of a table: what they weigh in fixed point, each at least 1, sums to less than 2^31.
inline constexpr std::size_t max_rows = std::size_t{1} << 30;

enum class ElementType : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };

// One column of the caller's memory, any native type, any stride. Codes of a category column are i32.
struct ColumnView {
    const void* data = nullptr;
    std::ptrdiff_t stride = 0;  // in bytes
    ElementType type = ElementType::f64;
};

// What binning learnt of a column. A number v has code 1 + (how many cuts are < v); `cuts` is empty for categories, and
// in a table whose cuts are found when trees have asked about them (`find_cuts`).
struct Column {
    bool is_category = false;
    std::uint32_t n_bins = 0;
    std::vector<double> cuts;
    double lowest = 0;
    double highest = 0;
    bool is_used = true;  // false if no tree asks about it
};

struct Binning {
    std::vector<Column> columns;

    // True if 16-bit codes are needed by some column.
    bool is_wide() const {
        for (const Column& column : columns) {
            if (column.n_bins > 255) return true;
        }
        return false;
    }
};

template <class Code>
struct Codes {
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
    std::vector<Code> by_column;
    std::vector<Code> by_row;

    const Code* column(std::size_t j) const { return by_column.data() + j * n_rows; }
    const Code* row(std::size_t i) const { return by_row.data() + i * n_columns; }
};

// Memory for rows of codes in whole lines of the cache. Rows lie `stride` apart, so that none lies in more lines than
// it must.
template <class Code>
struct alignas(64) CodeLine {
    static constexpr std::size_t size = 64 / sizeof(Code);
    std::array<Code, size> codes;

    static std::size_t stride(std::size_t n_columns) {
        return n_columns < size ? std::bit_ceil(n_columns) : (n_columns + size - 1) / size * size;
    }
    static std::size_t n_lines(std::size_t n_codes) { return (n_codes + size - 1) / size; }
};

struct Table {
    std::shared_ptr<const Binning> binning;
    std::variant<Codes<std::uint8_t>, Codes<std::uint16_t>> codes;
    std::vector<bool> has_missing;  // per column

    std::size_t n_rows() const {
        return std::visit([](const auto& c) { return c.n_rows; }, codes);
    }
    std::size_t n_columns() const { return binning->columns.size(); }
};

}  // namespace committee
