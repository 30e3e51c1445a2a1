// A rotation forest as flat arrays, for files and pickles. Arrays that are read back are not trusted until checked.
//
// The arrays of all trees are concatenated: tree t has nodes [node_offsets[t], node_offsets[t + 1]), and so on.
#pragma once
#include <cstdint>
#include <vector>

#include "numbers/packed_bytes.h"
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

    template <class Stream>
    void visit(Stream& stream) {
        visit_parts(stream, n_outputs, is_classifier, n_categories, axis_columns, axis_categories, axis_lows,
                    axis_ranges, turned_axes, group_sizes, fill, Offsets{group_offsets}, coefficients,
                    Offsets{coefficient_offsets}, thresholds, Indices{components}, addresses, Offsets{node_offsets},
                    values, Offsets{value_offsets}, leaf_weights);
    }
};

inline constexpr Requirement require_rotation_forest{"This is not a rotation forest"};

RotationForestArrays to_arrays(const RotationForest& forest);

// Throws std::invalid_argument, which describes the error, unless every tree leads every row of any table with these
// columns to a leaf with a value.
RotationForest from_arrays(const RotationForestArrays& arrays);

}  // namespace committee
