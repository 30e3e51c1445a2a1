// Makes tables from binned tables: with some of the rows, or with new rows in the same bins.
#pragma once
#include <cstdint>
#include <span>

#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// The listed rows, in that order. Every row must be below table.n_rows().
Table take_rows(const Table& table, std::span<const std::uint32_t> rows, const Stop& stop = {});

// Bins new columns by the cuts and categories of `like`.
Table encode_like(const Table& like, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                  const Stop& stop = {});

}  // namespace committee
