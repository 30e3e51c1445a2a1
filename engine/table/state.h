// Columns and codes as flat arrays, for files and pickles. Arrays that are read back are not trusted until checked.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "table/table.h"

namespace committee {

// The bins of the columns of a forest or a table. The cuts of all columns are concatenated: those of column j are
// cuts[cut_offsets[j]] .. cuts[cut_offsets[j + 1]].
struct ColumnArrays {
    std::vector<double> cuts;
    std::vector<std::uint64_t> cut_offsets;
    std::vector<std::uint32_t> n_bins;
    std::vector<std::uint8_t> is_category, is_used;
    std::vector<double> lowest, highest;
};

struct TableArrays {
    ColumnArrays columns;
    std::variant<std::vector<std::uint8_t>, std::vector<std::uint16_t>> codes;  // by column
    std::uint64_t n_rows = 0;
};

ColumnArrays to_arrays(const Binning& binning);

TableArrays to_arrays(const Table& table);

// Throws std::invalid_argument if the arrays are inconsistent. The message names `thing`, the owner of the columns, and
// the error.
Binning from_arrays(const ColumnArrays& arrays, const char* thing);

// Throws std::invalid_argument, which describes the error, if a code has no bin.
Table from_arrays(TableArrays arrays);

}  // namespace committee
