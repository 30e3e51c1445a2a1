// A fingerprint of a table. Tables that are equal in every value have the same fingerprint, and other tables almost
// never do. It detects accidental differences; it is not a cryptographic hash.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// 128 bits. The type of a column does not matter if the numbers are equal, and all NaNs are equal.
std::array<std::uint64_t, 2> fingerprint(std::span<const ColumnView> columns, std::size_t n_rows,
                                         const Stop& stop = {});

}  // namespace committee
