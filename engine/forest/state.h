// A forest as flat arrays, for files and pickles. Arrays that are read back are not trusted until checked.
//
// The arrays of all trees are concatenated: tree t has nodes[node_offsets[t]] .. nodes[node_offsets[t + 1]], and so on.
#pragma once
#include <cstdint>
#include <vector>

#include "prediction/prediction.h"
#include "table/state.h"
#include "tree/leaf_weight_arrays.h"

namespace committee {

struct ForestArrays {
    std::uint64_t n_outputs = 1;
    bool is_classifier = false;
    std::uint64_t n_scores = 1;
    bool turns = false;
    std::vector<double> start = {0};
    std::uint8_t link = 0;
    double scale = 1;

    std::vector<std::uint64_t> nodes, node_offsets;
    std::vector<std::uint32_t> sets;
    std::vector<std::uint64_t> set_offsets;
    std::vector<double> values;
    std::vector<std::uint64_t> value_offsets;

    LeafWeightArrays leaf_weights;

    // Records of the nodes, for every tree or for none.
    std::vector<double> impurities, weights;
    std::vector<std::uint64_t> n_rows;

    ColumnArrays columns;
};

ForestArrays to_arrays(const Forest& forest);

// Throws std::invalid_argument, which describes the error, unless every tree leads every row of any table with these
// columns to a leaf with a value.
Forest from_arrays(const ForestArrays& arrays);

}  // namespace committee
