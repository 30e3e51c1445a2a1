// A binned table. A numeric or categorical column is stored as codes: 0 is missing, and 1 .. n_bins are bins in
// increasing order (numeric) or categories in no order. The codes are stored twice. Large nodes read them by column,
// one column per histogram. Prediction and small subtrees, which copy them into a separate block, read them by row.
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

// Dropout reads random words as bytes, and saved models contain the bytes of arrays. Both must be the same on all
// machines.
static_assert(std::endian::native == std::endian::little, "committee needs a little-endian machine.");

// The largest number of rows: their fixed-point weights, each at least 1, sum to less than 2^31.
inline constexpr std::size_t max_rows = std::size_t{1} << 30;

enum class ElementType : std::uint8_t { f64, f32, i64, i32, i16, i8, u64, u32, u16, u8 };

// One column in the caller's memory, of any native type and any stride. Category codes are i32.
struct ColumnView {
    const void* data = nullptr;
    std::ptrdiff_t stride = 0;  // in bytes
    ElementType type = ElementType::f64;
};

// The bins of a column. The code of a number v is 1 + (the number of cuts < v). `cuts` is empty for categories, and in
// a table whose cuts are computed after growing (`find_cuts`).
struct Column {
    bool is_category = false;
    std::uint32_t n_bins = 0;
    std::vector<double> cuts;
    double lowest = 0;
    double highest = 0;
    bool is_used = true;  // false if no tree splits on it
};

struct Binning {
    std::vector<Column> columns;

    // True if at least one column needs 16-bit codes.
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

// Memory for rows of codes in whole cache lines. Rows are `stride` codes apart, so that each touches as few lines as
// possible.
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
