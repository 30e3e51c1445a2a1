#include "tree/leaf_weights.h"

#include <algorithm>
#include <cmath>

namespace committee {

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
