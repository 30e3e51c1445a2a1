// The leaf weights of the trees of a forest as flat arrays, for files and pickles.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "numbers/flat_arrays.h"
#include "numbers/packed_bytes.h"
#include "tree/leaf_weights.h"

namespace committee {

// The codes of tree t are codes[offsets[t]] .. codes[offsets[t + 1]]. Without offsets, all weights are unknown.
struct LeafWeightArrays {
    std::vector<std::uint8_t> codes;
    std::vector<std::uint64_t> offsets;
    std::vector<double> units;  // by tree

    template <class Stream>
    void visit(Stream& stream) {
        visit_parts(stream, codes, Offsets{offsets}, units);
    }
};

// Appends the weights of one more tree.
void append(LeafWeightArrays& arrays, const LeafWeights& weights);

// The weights of tree t of n_trees. Throws std::invalid_argument by `require` if the arrays do not fit.
LeafWeights read_weights(const LeafWeightArrays& arrays, std::size_t t, std::size_t n_trees, std::size_t n_leaves,
                         const Requirement& require);

}  // namespace committee
