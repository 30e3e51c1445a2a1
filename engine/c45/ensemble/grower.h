// Grows many C4.5 trees from one table. Its numeric columns are sorted once, and every tree selects its rows from them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "c45/sorted_columns.h"

namespace committee {

// The training data of C4.5 trees. The arrays it refers to must outlive it.
struct C45Table {
    std::vector<C45Column> columns;
    std::span<const std::int32_t> classes;
    std::int32_t n_classes = 0;
};

class C45Grower {
  public:
    // Table and stop must outlive the grower.
    C45Grower(const C45Table& table, const C45Settings& settings, int n_threads, const Stop& stop);

    // Grows a tree from the rows of positive weight and ignores all others. used: the columns that the tree may use, or
    // empty for all; the tree keeps their numbers in the table. The key determines which rows are held out for
    // reduced-error pruning. Any number of threads may call this at the same time.
    C45Tree grow(std::span<const double> weights, std::uint64_t key, std::span<const std::uint32_t> used = {}) const;

  private:
    void hash_rows();
    std::vector<std::uint8_t> hold_out(std::span<const double> weights, std::uint64_t key) const;

    const C45Table& table_;
    C45Settings settings_;
    const Stop& stop_;
    std::vector<c45::SortedColumn> sorted_;  // by column; empty for categories
    std::vector<std::uint64_t> hashes_;      // of the contents of the rows, for reduced-error pruning
};

}  // namespace committee
