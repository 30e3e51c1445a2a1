// What is known of members near some rows: sums over the neighbours of each row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// The known rows that are the neighbours of each row, and the weight of each of them there.
struct Neighbourhood {
    std::span<const std::int64_t> neighbours;
    std::span<const double> weights;
    std::size_t n_neighbours;
};

// For each row and member, the sum of the facts about the member on the neighbours, each times its weight, the first
// neighbour first. Facts are by known row, then by member; bytes are 0 or 1.
template <class Fact>
std::vector<double> local_sums(std::span<const Fact> facts, std::size_t n_members, const Neighbourhood& near,
                               int n_threads, const Stop& stop);

}  // namespace committee
