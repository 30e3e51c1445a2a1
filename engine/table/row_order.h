// Sorts rows by value.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// Sorts one column after another. It reuses its buffers, because allocating fresh memory takes longer than sorting.
class RowSorter {
  public:
    // Sorts rows by increasing number. No number may be missing. The order of rows with equal numbers is unspecified.
    void sort(std::span<const double> numbers, std::span<std::uint32_t> rows, Polls& polls);

  private:
    // Leading bits of a row's number in the upper half, the row in the lower half.
    std::vector<std::uint64_t> words_, spare_;
};

}  // namespace committee
