// The arguments of explanations: rows, and the columns that share the credit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "table/table.h"

namespace committee {

struct TableRows {
    std::span<const ColumnView> columns;
    std::size_t n_rows = 0;
};

// The columns of a forest as players. Columns of the same number are one player.
struct Players {
    std::span<const std::uint32_t> of_column;
    std::size_t count = 0;
};

}  // namespace committee
