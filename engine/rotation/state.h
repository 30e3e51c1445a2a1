// A rotation forest as flat arrays, for files and pickles. Arrays that are read back are not trusted until checked.
//
// The arrays of all trees are concatenated: tree t has nodes [node_offsets[t], node_offsets[t + 1]), and so on.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "rotation/rotated_tree.h"
#include "tree/leaf_weight_arrays.h"

namespace committee {

struct RotationForestArrays {
    std::uint64_t n_outputs = 1;
    bool is_classifier = false;
    std::vector<std::uint32_t> n_categories;  // by column
    std::vector<std::uint32_t> axis_columns, axis_categories;
    std::vector<double> axis_lows, axis_ranges;

    std::vector<std::uint32_t> turned_axes;  // (n_trees, n_axes), like `fill`
    std::vector<std::uint32_t> group_sizes;
    std::vector<double> fill;
    std::vector<std::uint64_t> group_offsets;
    std::vector<double> coefficients;
    std::vector<std::uint64_t> coefficient_offsets;

    std::vector<double> thresholds;
    std::vector<std::uint32_t> components, addresses;
    std::vector<std::uint64_t> node_offsets;
    std::vector<double> values;
    std::vector<std::uint64_t> value_offsets;
    LeafWeightArrays leaf_weights;
};

RotationForestArrays to_arrays(const RotationForest& forest);

// Throws std::invalid_argument, which describes the error, unless every tree leads every row of any table with these
// columns to a leaf with a value.
RotationForest from_arrays(const RotationForestArrays& arrays);

// The arrays as bytes, for files. Throws std::invalid_argument if the bytes are damaged; the arrays are not checked.
std::vector<std::uint8_t> pack(RotationForestArrays arrays);
RotationForestArrays unpack_rotation_forest(std::span<const std::uint8_t> bytes);

}  // namespace committee
