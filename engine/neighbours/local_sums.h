// Sums over the neighbours of each row, which measure the quality of members near the row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// The neighbours of each row among the known rows, and their weights.
struct Neighbourhood {
    std::span<const std::int64_t> neighbours;
    std::span<const double> weights;
    std::size_t n_neighbours;
};

// For each row and member, the weighted sum of the member's facts over the row's neighbours, in their order. `facts` is
// ordered by known row, then by member. Facts of type uint8 must be 0 or 1.
template <class Fact>
std::vector<double> local_sums(std::span<const Fact> facts, std::size_t n_members, const Neighbourhood& near,
                               int n_threads, const Stop& stop);

}  // namespace committee
