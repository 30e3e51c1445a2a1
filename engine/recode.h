// Cuts change after growing: some are dropped, those of two forests are joined; thresholds follow.
#pragma once
#include "predict.h"

namespace committee {

// Drops the cuts that no tree asks about and renumbers the thresholds.
void drop_unused_cuts(Forest& forest, int n_threads);

// Puts the trees of `more` behind those of `forest`; the cuts of both are kept, and the start of the first.
void append_trees(Forest& forest, Forest more);

// The forest as it is on a table of some of its columns, in their order; its trees ask about no others.
Forest on_columns(Forest forest, std::span<const std::uint32_t> columns);

}  // namespace committee
