// Finds the leaves of rows of codes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prediction/five_levels.h"
#include "prediction/top_levels.h"
#include "threads/stop.h"
#include "tree/tree.h"

namespace committee {

// Rows of row-major codes: the listed ones, or the first n_rows if no list is given.
template <class Code>
struct CodeBlock {
    const Code* codes = nullptr;
    std::size_t row_stride = 0;  // from one row to the next
    std::size_t n_rows = 0;
    const std::uint32_t* rows = nullptr;
    bool has_missing = true;          // false: no code is 0
    const Code* by_column = nullptr;  // the same codes by column, or nullptr; only without a list
    std::size_t stride = 0;           // from one column to the next

    const Code* row(std::size_t i) const { return codes + (rows == nullptr ? i : rows[i]) * row_stride; }
};

// leaves[i] = the leaf of row i of the block.
template <class Code>
void find_leaves(const Tree& tree, CodeBlock<Code> block, std::uint32_t* leaves);

// leaves[t] = the leaf of one row in tree t. Several trees are descended together, so that their cache misses overlap.
template <class Code>
void descend_trees(std::span<const TreeView> trees, const Code* row, bool has_missing, std::uint32_t* leaves);

// leaves[k] is the leaf of row rows[k] of a block, or of row k if rows is nullptr.
struct Reached {
    const std::uint32_t* rows;
    const std::uint32_t* leaves;

    std::size_t row(std::size_t k) const { return rows == nullptr ? k : rows[k]; }
};

// Some trees, with precomputed levels if n_rows is large enough to make up for their cost.
template <class Code>
class Descent {
  public:
    // Buffers that a thread reuses for every tree.
    struct Scratch {
        std::vector<std::uint32_t> leaves, rows;
        std::vector<std::uint8_t> exits;
    };

    // For trees [first, last).
    Descent(std::span<const Tree> trees, std::size_t first, std::size_t last, std::size_t n_rows, std::size_t n_columns,
            int n_threads, const Stop& stop);

    // The leaves of a block in tree t. They are valid until the scratch is used again.
    Reached reach(std::size_t t, CodeBlock<Code> block, Scratch& scratch) const;

  private:
    struct Top {
        TopLevels<Code> levels;
        std::vector<FiveLevels> below_exits;  // by exit; empty for few rows, and without AVX-512
    };

    // Finds the leaves of rows that are sorted by exit of the top levels. Those of an exit end at ends[exit].
    void leave_top_levels(const Tree& tree, std::span<const FiveLevels> below_exits, const CodeBlock<Code>& block,
                          std::span<const std::uint32_t> ends, Scratch& scratch) const;

    std::span<const Tree> trees_;
    std::size_t first_, n_columns_;
    std::vector<Top> tops_;  // empty for few rows
};

}  // namespace committee
