// The training weight of every leaf of a tree, in the order of the leaves among the nodes: the summed weight of the
// rows that the tree was grown on. The weight of an inner node is the sum of its leaves.
//
// A weight is an integer times `unit`. An integer below 128 takes one byte. A larger one takes two bytes with 15 bits
// of content after a leading 1: 5 bits e and 10 bits m, for m if e is 0, and (1024 + m) * 2^(e - 1) otherwise. So
// integers below 2048 are exact, and larger ones are rounded by at most 2^-11 of their size (0.05 %).
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

namespace committee {

struct LeafWeights {
    std::vector<std::uint8_t> codes;  // empty: unknown, for trees of files that do not contain weights
    double unit = 1;

    bool are_known() const { return !codes.empty(); }
};

// Appends the code of an integer weight.
inline void append_weight(std::vector<std::uint8_t>& codes, std::uint64_t weight) {
    if (weight < 128) {
        codes.push_back(static_cast<std::uint8_t>(weight));
        return;
    }
    std::uint64_t content = weight;
    if (weight >= 1024) {
        const int shift = std::bit_width(weight) - 11;
        const std::uint64_t rounded = (weight + ((std::uint64_t{1} << shift) >> 1)) >> shift;
        // Rounding up to 2048 carries over into the exponent.
        content = (static_cast<std::uint64_t>(shift) << 10) + rounded;
    }
    codes.push_back(static_cast<std::uint8_t>(0x80 | (content >> 8)));
    codes.push_back(static_cast<std::uint8_t>(content));
}

// The codes of weights that are multiples of a power of two, such as sums of C4.5. The largest is below 2^31 units.
LeafWeights encode_weights(std::span<const double> weights);

// The weights in units. nullopt if the codes do not contain exactly n_leaves weights.
std::optional<std::vector<double>> decode_weights(std::span<const std::uint8_t> codes, std::size_t n_leaves);

// The weights of all nodes. left_of(node) returns the left child, which comes after its parent and before its sibling,
// or 0 for a leaf. Throws std::invalid_argument if the weights are unknown.
template <class LeftOf>
std::vector<double> weigh_nodes(const LeafWeights& leaves, std::size_t n_nodes, LeftOf left_of) {
    if (!leaves.are_known()) {
        throw std::invalid_argument(
            "This tree has no training weights: it was saved by a version of committee that did not store them. Fit "
            "the model again.");
    }
    const std::vector<double> by_leaf = decode_weights(leaves.codes, n_nodes / 2 + 1).value();
    std::vector<double> weights(n_nodes);
    std::size_t leaf = by_leaf.size();
    for (std::size_t node = n_nodes; node-- > 0;) {
        const std::size_t left = left_of(node);
        weights[node] = left == 0 ? by_leaf[--leaf] * leaves.unit : weights[left] + weights[left + 1];
    }
    return weights;
}

}  // namespace committee
