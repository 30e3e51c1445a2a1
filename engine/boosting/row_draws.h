// The rows that a tree of a boosted model is trained on: those of positive weight, or a random share of them per tree.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "boosting/objective.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// The sample of a tree. Empty: all rows are used.
struct DrawnRows {
    std::vector<std::uint8_t> takes_part;  // by row
    std::vector<std::uint32_t> absent;     // rows that are not used
};

class RowDraws {
  public:
    RowDraws(const Table& table, const Observed& observed, double share, int n_threads, const Stop& stop);

    // False if every tree uses all rows.
    bool are_needed() const { return has_weightless_ || share_ < 1; }

    void draw(std::uint64_t key, DrawnRows& rows) const;

  private:
    const Observed& observed_;
    double share_;
    bool has_weightless_;
    // The position of each row in the order by content, if a share is drawn. Rows are drawn by position.
    std::vector<std::uint32_t> places_;
};

}  // namespace committee
