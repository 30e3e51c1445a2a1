// A decision stump: one split of one column, with a third branch for missing values (Iba and Langley 1992). It is
// stored as a tree whose root separates missing values and whose right child splits the others.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "growing/tree_growth.h"
#include "prediction/prediction.h"
#include "table/table.h"
#include "threads/thread_team.h"
#include "tree/node_statistics.h"

namespace committee {

// Grows stumps from one table repeatedly and reuses its buffers. weights: fixed-point, one per row of the table, with a
// sum below 2^31. Rows of weight 0 are ignored. columns: the columns that may be split on; empty for all.
using GrowStump = std::function<Tree(std::span<const std::uint32_t> weights, std::span<const std::uint32_t> columns)>;

// Finds the column and the split that minimise the impurity of the three branches; ties go to the first column. A
// numeric column is split at a threshold, a categorical one into two sets. If the values of a column are all equal, or
// all have the same target, the split separates only missing from present values. If all rows have the same target, or
// no column separates them, the stump is a single leaf. If no training row is missing, the branch of missing values
// predicts the value of all rows.
//
// criterion: gini, entropy or error for classes, squared_error for numbers; others throw std::invalid_argument. Table,
// target and team must outlive the result. The result throws Stopped if a poll of the team's stop requests it.
GrowStump make_stump_grower(const Table& table, const Target& target, Criterion criterion, bool keep_records,
                            ThreadTeam& team);

// Stumps as trees of a forest. Each is grown by the calling thread. Criteria and lifetimes are as above.
GrowTree make_stumps(const Table& table, const Target& target, Criterion criterion, const Stop& stop);

// One stump. Empty weights mean 1 for every row.
Forest grow_stump(const Table& table, const Target& target, std::span<const std::uint32_t> weights, Criterion criterion,
                  const Stop& stop = {});

}  // namespace committee
