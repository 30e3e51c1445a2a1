// From rows to leaves, values and votes. Rows go in blocks that fit the cache beside one tree; a single row goes
// through all trees at once, several side by side, so that their cache misses overlap.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "table.h"
#include "tree.h"

namespace committee {

enum class Rule : std::uint8_t { mean, majority };

struct Forest {
    Binning binning;
    std::size_t n_outputs = 1;
    bool is_classifier = false;
    std::vector<Tree> trees;

    std::size_t nbytes() const;
};

// Some rows of row-major codes: those listed, or the first n_rows if none are.
template <class Code>
struct CodeBlock {
    const Code* codes = nullptr;
    std::size_t n_columns = 0;
    std::size_t n_rows = 0;
    const std::uint32_t* rows = nullptr;
    bool has_missing = true;  // false: no code is 0

    const Code* row(std::size_t i) const { return codes + (rows == nullptr ? i : rows[i]) * n_columns; }
};

// leaves[i] = the node that row i of the block ends in.
template <class Code>
void find_leaves(const Tree& tree, CodeBlock<Code> block, std::uint32_t* leaves);

// Adds the vote of a leaf to sums (n_outputs).
inline void add_vote(const Tree& tree, std::uint32_t leaf, std::size_t n_outputs, Rule rule, double* sums) {
    const double* value = tree.values.data() + address_of(tree.nodes[leaf]) * n_outputs;
    if (rule == Rule::majority) {
        sums[std::max_element(value, value + n_outputs) - value] += 1;
    } else {
        for (std::size_t k = 0; k < n_outputs; ++k) sums[k] += value[k];
    }
}

// The committee's decision, (n_rows, n_outputs): the mean of the votes.
void predict(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out);

// Every member's vote, (n_trees, n_rows, n_outputs).
void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out);

// The leaf of every row in every tree, (n_rows, n_trees).
void apply(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out);

// Drops the cuts that no tree asks about and renumbers the thresholds.
void drop_unused_cuts(Forest& forest, int n_threads);

// Puts the trees of `more` behind those of `forest`; the cuts of both are kept.
void append_trees(Forest& forest, Forest more);

}  // namespace committee
