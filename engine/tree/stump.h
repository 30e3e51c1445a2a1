// A decision stump: one column, one split of its values into two, and missing as a branch of its own (Iba and Langley
// 1992). As a tree: the root asks whether the value is missing, its right child asks for the value.
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

// Grows stumps from one table, again and again; keeps its buffers from call to call.
// weights: fixed-point, one per row of the table, summing to less than 2^31; rows of weight 0 take no part.
// columns: those that may be asked about; empty for all.
using GrowStump = std::function<Tree(std::span<const std::uint32_t> weights, std::span<const std::uint32_t> columns)>;

// The column and the split that leave the least impurity in the three branches; ties go to the first column. A column
// of numbers is split at a threshold, one of categories into two sets; where its values are all the same, or all have
// the same target, missing against the rest is the split. Rows that all have the same target, or that no column tells
// apart, become a single leaf. The branch of missing rows has the value of all rows if there were none in training.
// criterion: gini, entropy or error for classes, squared_error for numbers; others throw std::invalid_argument.
// Table, target and team must outlive the result, which throws Stopped if a poll of the team's stop says so.
GrowStump make_stump_grower(const Table& table, const Target& target, Criterion criterion, bool keep_records,
                            ThreadTeam& team);

// Stumps as trees of a forest, each grown by the thread that asks for it. Criteria and lifetimes are those above.
GrowTree make_stumps(const Table& table, const Target& target, Criterion criterion, const Stop& stop);

// One stump. weights may be empty (all one).
Forest grow_stump(const Table& table, const Target& target, std::span<const std::uint32_t> weights, Criterion criterion,
                  const Stop& stop = {});

}  // namespace committee
