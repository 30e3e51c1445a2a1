// An ensemble of C4.5 trees as flat arrays, for files and pickles. Arrays that are read back are not trusted until
// checked.
//
// The arrays of all trees are concatenated: tree t has nodes [node_offsets[t], node_offsets[t + 1]), and so on.
#pragma once
#include <cstdint>
#include <vector>

#include "c45/ensemble/forest.h"
#include "numbers/packed_bytes.h"

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

    template <class Stream>
    void visit(Stream& stream) {
        visit_parts(stream, n_classes, Indices{n_categories}, weights, are_crisp, link, scale, Offsets{node_offsets},
                    Indices{columns}, Indices{first_branches}, thresholds, distributions, Offsets{branch_offsets},
                    Indices{branches});
    }
};

inline constexpr Requirement require_c45_trees{"These are not C4.5 trees"};

C45ForestArrays to_arrays(const C45Forest& forest);

// Throws std::invalid_argument, which describes the error, unless the arrays are C4.5 trees of one table whose votes
// can be summed.
C45Forest from_arrays(const C45ForestArrays& arrays);

}  // namespace committee
