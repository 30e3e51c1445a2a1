#include "tree/leaf_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace committee {

void append_weight(std::vector<std::uint8_t>& codes, std::uint64_t weight) {
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

LeafWeights encode_weights(std::span<const double> weights) {
    const double largest = weights.empty() ? 0 : std::ranges::max(weights);
    const bool are_integers = std::ranges::all_of(weights, [](double weight) { return weight == std::floor(weight); });
    LeafWeights encoded;
    if (largest > 0 && !(are_integers && largest < 0x1.0p31)) encoded.unit = std::ldexp(1.0, std::ilogb(largest) - 30);
    for (const double weight : weights) {
        const auto rounded = static_cast<std::uint64_t>(std::llround(weight / encoded.unit));
        append_weight(encoded.codes, weight > 0 ? std::max<std::uint64_t>(rounded, 1) : 0);
    }
    return encoded;
}

std::optional<std::vector<double>> decode_weights(std::span<const std::uint8_t> codes, std::size_t n_leaves) {
    std::vector<double> weights;
    if (codes.size() < n_leaves || codes.size() > 2 * n_leaves) return std::nullopt;
    weights.reserve(n_leaves);
    for (std::size_t i = 0; i < codes.size(); ++i) {
        std::uint32_t content = codes[i];
        if (content < 128) {
            weights.push_back(content);
            continue;
        }
        if (++i == codes.size()) return std::nullopt;
        content = ((content & 0x7f) << 8) | codes[i];
        const auto exponent = static_cast<int>(content >> 10);
        const std::uint32_t mantissa = content & 1023;
        weights.push_back(exponent == 0 ? mantissa : std::ldexp(1024.0 + mantissa, exponent - 1));
    }
    if (weights.size() != n_leaves) return std::nullopt;
    return weights;
}

}  // namespace committee
