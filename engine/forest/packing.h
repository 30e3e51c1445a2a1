// A forest as bytes, for files: half to a third of the size of its flat arrays (state.h). Of a node, only its column,
// its threshold and the side of missing values are stored. The addresses of the children follow from the order in which
// trees are grown, and are stored only for trees that were grown in another order.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "forest/state.h"

namespace committee {

std::vector<std::uint8_t> pack(ForestArrays arrays);

// Throws std::invalid_argument if the bytes are damaged. The arrays are as unchecked as those of a file.
ForestArrays unpack_forest(std::span<const std::uint8_t> bytes);

}  // namespace committee
