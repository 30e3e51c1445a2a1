// Tables made from binned tables: some of the rows, or other rows in the same bins.
#pragma once
#include <cstdint>
#include <span>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// The rows listed, in that order. Every row must be below table.n_rows().
Table take_rows(const Table& table, std::span<const std::uint32_t> rows, const Stop& stop = {});

// Columns of another table, in the bins of `like`.
Table encode_like(const Table& like, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                  const Stop& stop = {});

}  // namespace committee
