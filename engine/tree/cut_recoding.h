// Cuts change after growing: some are dropped, those of two forests are joined; thresholds follow.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "prediction/prediction.h"

namespace committee {

// The cuts above some bins of a column. Called by several threads.
using CutsOf = std::function<std::vector<double>(std::size_t column, std::span<const std::uint16_t> bins)>;

// Gives a forest the cuts that its trees ask about, and renumbers the thresholds. Its columns need have none before.
void take_cuts(Forest& forest, const CutsOf& cuts_of, int n_threads);

// From a column that has them.
std::vector<double> cuts_above(const Column& column, std::span<const std::uint16_t> bins);

// Drops the cuts that no tree asks about and renumbers the thresholds.
void drop_unused_cuts(Forest& forest, int n_threads);

// Puts the trees of `more` behind those of `forest`; the cuts of both are kept, and the start of the first.
void append_trees(Forest& forest, Forest more);

// The forest as it is on a table of some of its columns, in their order; its trees ask about no others.
Forest on_columns(Forest forest, std::span<const std::uint32_t> columns);

}  // namespace committee
