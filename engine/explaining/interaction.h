// Attributes the scores of trees to pairs of columns: the Shapley interaction index of Lundberg et al. (2020),
// exactly. With the terms of attribution.h, the interaction of columns i and j in a leaf is
//
//     value / 2 * (o_i - z_i) * (o_j - z_j) * integral of prod_{k != i, j} (z_k + t (o_k - z_k)).
#pragma once
#include <vector>

#include "c45/ensemble/forest.h"
#include "explaining/players.h"
#include "prediction/prediction.h"
#include "threads/stop.h"

namespace committee {

// The interactions, (n_rows, n_players, n_players, n_scores), symmetric and 0 on the diagonal. The other arguments are
// those of attribute().
std::vector<double> interactions(const Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                                 const TableRows& background, int n_threads, const Stop& stop = {});
std::vector<double> interactions(const C45Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                                 const TableRows& background, int n_threads, const Stop& stop = {});

}  // namespace committee
