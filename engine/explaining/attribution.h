// Attributes the scores of trees to columns by Shapley values, exactly.
//
// A leaf is a game: a coalition S of the columns on its path gets v(S) = value * prod_{S} o_j * prod_{not S} z_j. The
// row gives o_j: 1 if it takes all branches of column j, else 0. For columns outside of S, z_j is the fraction of the
// training weight that takes these branches (path-dependent TreeSHAP, Lundberg et al. 2020), or a background row gives
// it like o_j (interventional TreeSHAP). The Shapley value of column d is
//
//     value * (o_d - z_d) * integral over t in (0, 1) of prod_{j != d} (z_j + t (o_j - z_j)),
//
// because the weight of a coalition, s! (n - s - 1)! / n!, is the integral of t^s (1 - t)^(n - s - 1). The integrand is
// a polynomial, so quadrature at half as many points as there are columns on a path is exact. All leaves of a tree
// share one traversal, as in Linear TreeSHAP (Yu et al. 2022): the products are updated on the way down and summed over
// leaves on the way up. All factors are positive, so the products are accurate. Eight rows are processed at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c45/ensemble/forest.h"
#include "explaining/players.h"
#include "prediction/prediction.h"
#include "threads/stop.h"

namespace committee {

struct Attributions {
    std::vector<double> by_player;  // (n_rows, n_players, n_scores)
    std::vector<double> base;       // (n_scores): the score without any attribution
};

// The attributions of the sum of the trees' scores. Without background rows, fractions of the training weights are
// used; throws std::invalid_argument if a tree does not have them. Throws Stopped if a poll requests it.
Attributions attribute(const Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                       const TableRows& background, int n_threads, const Stop& stop = {});
Attributions attribute(const C45Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                       const TableRows& background, int n_threads, const Stop& stop = {});

}  // namespace committee
