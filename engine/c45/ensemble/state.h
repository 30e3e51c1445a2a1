// C4.5 trees that decide together as flat arrays, for files and pickles, and back. What comes back is hostile until
// proven otherwise.
//
// Arrays of all trees lie one behind the other: tree t has nodes [node_offsets[t], node_offsets[t + 1]), and so on.
#pragma once
#include <cstdint>
#include <vector>

#include "c45/ensemble/forest.h"

namespace committee {

struct C45ForestArrays {
    std::uint64_t n_classes = 1;
    std::vector<std::int32_t> n_categories;
    std::vector<double> weights;
    bool are_crisp = false;
    std::uint8_t link = 0;
    double scale = 1;

    std::vector<std::int32_t> columns, first_branches;
    std::vector<double> thresholds, distributions;
    std::vector<std::uint64_t> node_offsets;
    std::vector<std::int32_t> branches;
    std::vector<std::uint64_t> branch_offsets;
};

C45ForestArrays to_arrays(const C45Forest& forest);

// Throws std::invalid_argument, naming the fault, unless they are C4.5 trees of one table whose votes can be summed.
C45Forest from_arrays(const C45ForestArrays& arrays);

}  // namespace committee
