// Encodes columns as a matrix of numbers for models that take one: networks and linear models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// What an output column contains. v is the number of a row after a missing one is replaced by its fill.
enum class Encoding : std::uint8_t {
    scaled,      // (v - shift) / scale
    compressed,  // the same, compressed to absolute values below 3
    position,    // the position of v between shift and shift + scale, from -0.5 to 0.5
    indicator,   // 1 if v is the shift, else 0
    missing      // 1 if the number is missing, else 0
};

struct EncodedColumn {
    Encoding encoding;
    std::size_t column;
    double shift, scale;
};

struct TableEncoding {
    std::vector<double> fills;  // by column of the table
    std::vector<EncodedColumn> outputs;
};

// The rows as (n_rows, n_outputs), row-major. Numbers are clipped to +-1e140, and infinity is missing. The bits do not
// depend on the other rows.
template <class Value>
std::vector<Value> encode_table(const TableEncoding& encoding, std::span<const ColumnView> columns, std::size_t n_rows,
                                int n_threads, const Stop& stop = {});

}  // namespace committee
