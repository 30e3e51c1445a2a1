// Finds exact nearest neighbours. A filter in single precision (neighbours/filter.h) rules out sixteen points at a
// time; exact distances to the others are computed in double precision.
//
// Points are passed twice: unchanged, and rotated, which means centred and transformed to orthogonal axes. The first
// axes are those along which the known points vary most. Rotation keeps distances, so the first few columns rule out
// most points. The rotation does not affect the result.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neighbours/filter.h"
#include "threads/stop.h"

namespace committee {

// For each query, neighbours by increasing distance; ties are broken by row.
struct Neighbours {
    std::vector<double> distances;
    std::vector<std::int64_t> rows;
};

class NeighbourSearch {
  public:
    // Row-major points, at least one.
    NeighbourSearch(std::span<const double> known, std::span<const float> rotated, std::size_t n_columns, int n_threads,
                    const Stop& stop = {});

    std::size_t n_known() const { return order_.size(); }
    std::size_t n_columns() const { return n_columns_; }

    // are_known: the queries are the known points, and no point is its own neighbour.
    Neighbours find(std::span<const double> queries, std::span<const float> rotated, std::size_t n_neighbours,
                    bool are_known, int n_threads, const Stop& stop) const;

  private:
    friend class BlockSearch;

    void make_boxes();
    std::size_t box_columns() const;
    float& in_panel(std::size_t place, std::size_t column);

    std::size_t n_columns_, n_chunks_, n_panels_;
    double largest_norm_ = 0;
    // Points that are close to each other are stored close together. Sixteen points form a panel, sixteen panels a node
    // of level 1, and sixteen nodes a node of the next level.
    std::vector<std::uint32_t> order_;       // the row at each position
    std::vector<double> known_;              // by position
    std::vector<Chunk> panels_;              // rotated; the first chunk of all panels, then the second, and so on
    std::vector<std::vector<float>> boxes_;  // by level, from 1: the bounding boxes of all children
};

}  // namespace committee
