// The top levels of a tree, with at most 32 exits: leaves, or roots of the subtrees below. All their nodes are compared
// with many rows at once, without following a path. A row that goes right at a node crosses out the exits of the left
// subtree, and the first exit that remains is the row's. This is QuickScorer (Lucchese et al. 2015). As in RapidScorer
// (Ye et al. 2018), the set of exits is stored in parts as wide as a code, so that vectors of codes and of exits have
// the same number of lanes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/tree.h"

namespace committee {

template <class Code>
struct TopLevels {
    using Lanes [[gnu::vector_size(16)]] = Code;
    static constexpr std::size_t most_exits = 32;
    static constexpr std::size_t part_bits = 8 * sizeof(Code);
    static constexpr std::size_t n_parts = most_exits / part_bits;
    // Rows are processed this many at a time.
    static constexpr std::size_t n_rows = 4 * 16 / sizeof(Code);

    // A code above the threshold crosses out these exits of a part. Before, the shift is subtracted from both: a code
    // below the shift wraps around to a high code. For numbers, the shift is 1 if missing goes right; see
    // next_number_node. A categorical node asks a question for each interval [low, high] of codes that go right: the
    // shift is high + 1 and the threshold low - 1.
    struct Question {
        Lanes threshold, shift, crossed_out;
        std::size_t column;
    };

    // The questions of part p: part_begins[p] .. part_begins[p + 1]. Those from category_begins[p] are of categories.
    std::vector<Question> questions;
    std::array<std::size_t, n_parts + 1> part_begins{};
    std::array<std::size_t, n_parts> category_begins{};
    std::array<std::uint32_t, most_exits> exits{};  // nodes of the tree, from left to right
    std::size_t n_exits = 0;
    bool is_whole = false;  // every exit is a leaf

    // With few exits, this saves little of the descent.
    bool is_worth_evaluating() const { return is_whole || n_exits > most_exits / 4; }
};

// Categorical nodes with many intervals of codes become exits.
template <class Code>
TopLevels<Code> make_top_levels(const Tree& tree);

// out[i] = the exit of row i. Codes are by column, with columns `stride` apart. n_rows must be a multiple of
// TopLevels::n_rows.
template <class Code>
void find_exits(const TopLevels<Code>& levels, const Code* codes, std::size_t stride, std::size_t n_rows,
                bool has_missing, std::uint8_t* out);

}  // namespace committee
