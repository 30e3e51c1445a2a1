// Many C4.5 trees from one table: its columns of numbers are sorted once, and every tree takes its own rows of them.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "c45/sorted_columns.h"

namespace committee {

// What the trees learn from. The arrays behind it must outlive whoever uses it.
struct C45Table {
    std::vector<C45Column> columns;
    std::span<const std::int32_t> classes;
    std::int32_t n_classes = 0;
};

class C45Grower {
  public:
    // The table and the stop must outlive it.
    C45Grower(const C45Table& table, const C45Settings& settings, int n_threads, const Stop& stop);

    // A tree from the rows of positive weight, as if there were no others. seen: the columns that it may ask about, all
    // if there are none; it knows them by their numbers in the table. The key decides which rows are kept back for
    // reduced-error pruning. Any number of threads may grow trees at the same time.
    C45Tree grow(std::span<const double> weights, std::uint64_t key, std::span<const std::uint32_t> seen = {}) const;

  private:
    void hash_rows();
    std::vector<std::uint8_t> hold_out(std::span<const double> weights, std::uint64_t key) const;

    const C45Table& table_;
    C45Settings settings_;
    const Stop& stop_;
    std::vector<c45::SortedColumn> sorted_;  // per column, empty for categories
    std::vector<std::uint64_t> hashes_;      // of what each row contains, if rows are to be kept back
};

}  // namespace committee
