#include "tree/leaf_weight_arrays.h"

#include <cmath>

namespace committee {

void append(LeafWeightArrays& arrays, const LeafWeights& weights) {
    if (arrays.offsets.empty()) arrays.offsets.push_back(0);
    append(arrays.codes, arrays.offsets, weights.codes);
    arrays.units.push_back(weights.unit);
}

LeafWeights read_weights(const LeafWeightArrays& arrays, std::size_t t, std::size_t n_trees, std::size_t n_leaves,
                         const Requirement& require) {
    if (arrays.offsets.empty()) return {};
    require(are_offsets(arrays.offsets, n_trees, arrays.codes.size()) && arrays.units.size() == n_trees,
            "the offsets of the leaf weights are out of order");
    LeafWeights weights{copied(part(arrays.codes, arrays.offsets, t)), arrays.units[t]};
    require(!weights.are_known() || decode_weights(weights.codes, n_leaves).has_value(),
            "the weights do not fit the leaves");
    require(std::isfinite(weights.unit) && weights.unit > 0, "the unit of the leaf weights is not a positive number");
    return weights;
}

}  // namespace committee
