// The rows that a tree of a boosted model sees: those that have weight, or a share of them, drawn anew for each tree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boosting/objective.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// What is drawn for a tree. Empty: all rows take part.
struct DrawnRows {
    std::vector<std::uint8_t> takes_part;  // by row
    std::vector<std::uint32_t> absent;     // rows that the tree does not see
};

class RowDraws {
  public:
    RowDraws(const Table& table, const Observed& observed, double share, int n_threads, const Stop& stop);

    // False: every tree sees all rows.
    bool are_needed() const { return has_weightless_ || share_ < 1; }

    void draw(std::uint64_t key, DrawnRows& rows) const;

  private:
    const Observed& observed_;
    double share_;
    bool has_weightless_;
    // By row, if a share is drawn: where it stands in the order by content. Rows are drawn by that.
    std::vector<std::uint32_t> places_;
};

}  // namespace committee
