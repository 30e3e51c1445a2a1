// Rows in the order of their numbers.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// Sorts one column after another. It keeps its memory from one to the next: fresh memory costs more than sorting.
class RowSorter {
  public:
    // Puts rows, none of whose numbers is missing, into increasing order of these; equal ones into any order.
    void sort(std::span<const double> numbers, std::span<std::uint32_t> rows, Polls& polls);

  private:
    // Where the leading bits of a row's number stand above the row itself.
    std::vector<std::uint64_t> words_, spare_;
};

}  // namespace committee
