// The nearest of known points, exactly: those that cannot be among them are ruled out sixteen at a time in single
// precision (neighbours/filter.h), the others are measured in double.
//
// Points are given twice: as they are, and turned, that is centred and along other axes at right angles, the first of
// them those along which the known points differ most. Turning keeps distances, so the first few columns of turned
// points rule most points out. What is found does not depend on it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neighbours/filter.h"
#include "threads/stop.h"

namespace committee {

// For each asked point, the nearest first; of those equally near, the lower row.
struct Neighbours {
    std::vector<double> distances;
    std::vector<std::int64_t> rows;
};

class NeighbourSearch {
  public:
    // Points by row, at least one.
    NeighbourSearch(std::span<const double> known, std::span<const float> turned, std::size_t n_columns, int n_threads,
                    const Stop& stop = {});

    std::size_t n_known() const { return order_.size(); }
    std::size_t n_columns() const { return n_columns_; }

    // are_known: the asked points are the known ones, and no point is its own neighbour.
    Neighbours find(std::span<const double> asked, std::span<const float> turned, std::size_t n_neighbours,
                    bool are_known, int n_threads, const Stop& stop) const;

  private:
    friend class BlockSearch;

    void make_boxes();
    std::size_t box_columns() const;
    float& in_panel(std::size_t place, std::size_t column);

    std::size_t n_columns_, n_chunks_, n_panels_;
    double largest_norm_ = 0;
    // Points near each other are near each other here: sixteen make a panel, sixteen panels a node of level 1, sixteen
    // nodes one of the next level.
    std::vector<std::uint32_t> order_;       // the row of each place
    std::vector<double> known_;              // by place
    std::vector<Chunk> panels_;              // turned; the first chunk of all panels, then the second
    std::vector<std::vector<float>> boxes_;  // around the children of all nodes of each level, from level 1 on
};

}  // namespace committee
