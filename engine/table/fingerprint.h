// A fingerprint of a table: two that are alike in every value of every row have the same, others hardly ever. It tells
// tables apart that differ by accident, not by design: it is no cryptographic hash.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// 128 bits. Columns of any type that hold the same numbers are alike; every NaN is the same.
std::array<std::uint64_t, 2> fingerprint(std::span<const ColumnView> columns, std::size_t n_rows,
                                         const Stop& stop = {});

}  // namespace committee
