// Changes the cuts of a forest after growing: drops unused ones, or merges those of two forests. The thresholds of the
// nodes are renumbered to match.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "prediction/prediction.h"

namespace committee {

// Returns the cuts above some bins of a column. Several threads call it.
using CutsOf = std::function<std::vector<double>(std::size_t column, std::span<const std::uint16_t> bins)>;

// Sets the cuts of a forest to those that its trees use, and renumbers the thresholds. The columns may have no cuts
// before.
void take_cuts(Forest& forest, const CutsOf& cuts_of, int n_threads);

// The cuts above some bins of a column that has kept its cuts.
std::vector<double> cuts_above(const Column& column, std::span<const std::uint16_t> bins);

// Drops the cuts that no tree uses and renumbers the thresholds.
void drop_unused_cuts(Forest& forest, int n_threads);

// Appends the trees of `more` to `forest`. The cuts of both are kept, and the start score of `forest`.
void append_trees(Forest& forest, Forest more);

// The same forest for a table that has only some of the columns, in that order. Its trees must not use any others.
Forest on_columns(Forest forest, std::span<const std::uint32_t> columns);

}  // namespace committee
