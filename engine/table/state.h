// Columns and codes as flat arrays, for files and pickles, and back. What comes back is hostile until proven otherwise.
#pragma once
#include <cstdint>
#include <variant>
#include <vector>

#include "table/table.h"

namespace committee {

// What binning learnt of the columns of a forest or a table. The cuts of all columns lie one behind the other: column j
// has cuts[cut_offsets[j]] .. cuts[cut_offsets[j + 1]].
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

// Throws std::invalid_argument, naming the thing that has the columns and the fault, unless they are sound.
Binning from_arrays(const ColumnArrays& arrays, const char* thing);

// Throws std::invalid_argument, naming the fault, unless every code has a bin.
Table from_arrays(TableArrays arrays);

}  // namespace committee
