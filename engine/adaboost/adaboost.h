// AdaBoost: grows members one after another, each on weights that are larger for rows that the members before it
// predict badly. In: a binned table, the target, and a distribution over the rows. Out: the members with their errors
// and votes, and the distribution for the next member. All rounds run in one call.
//
// In each round, a member is grown on the weights. Its error is the weight of the rows it predicts wrongly, and its
// vote is log(right / wrong). Then the weights of its correct rows are reduced, so that correct and wrong rows have the
// same total weight.
//
// Sums over rows are integers in units of 2^-60 of the total weight, so neither the order of the rows nor the number of
// threads changes a bit.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "adaboost/member.h"
#include "growing/tree_growth.h"
#include "prediction/prediction.h"
#include "table/table.h"

namespace committee {

// m1, m2: Freund and Schapire 1997, sections 4.1 and 4.2. samme: Zhu, Zou, Rosset and Hastie 2009. r2: Drucker 1997.
enum class Scheme : std::uint8_t { m1, samme, m2, r2 };

// The loss of a row in [0, 1], given its error as a share of the largest error: the share, its square, or 1 -
// exp(-share).
enum class RowLoss : std::uint8_t { linear, square, exponential };

// The weight of a row is counts * units, so a row of weight 2 gives the same bits as two rows. m2 has n_classes - 1
// units per row, one for each wrong label, in the order of the labels; the other schemes have one. All weights sum to
// 1.
struct Distribution {
    std::vector<std::uint32_t> counts;  // how often each row occurs; 0: the row is ignored
    std::vector<double> units;
};

struct AdaBoostParameters {
    Scheme scheme = Scheme::m1;
    RowLoss loss = RowLoss::linear;  // for r2
    double learning_rate = 1;        // for samme and r2
    bool negative_votes = false;     // for samme: a member that is worse than chance gets a negative vote
    MemberParameters member;
    std::uint32_t first_round = 0;  // the number of earlier rounds, if a run continues
    std::uint32_t n_rounds = 50;
    std::uint64_t seed = 0;
    bool keep_weights = false;
};

struct AdaBoosted {
    Forest members;         // as grown, before their votes are weighted
    C45Forest c45_members;  // used instead if the members are C4.5 trees
    std::vector<double> errors, votes;
    std::vector<double> importances;  // (n_members, n_columns)
    std::vector<double> weights;      // (n_members, n_rows), the weights of each member, if kept
    std::vector<double> units;        // the distribution after the last member
    bool is_over = false;             // a perfect member, or one that is no better than chance, has ended the run
    bool stopped = false;             // early; the members so far are complete, and the distribution belongs to them
};

// A perfect member ends the run. Its vote would be infinite. In samme and r2 it is 1, as in scikit-learn. In m1 and m2
// it is the vote of a member that gets half of one additional row wrong. A member that is no better than chance also
// ends the run and is dropped, except the first one, which is kept with a vote of 1 so that there is a member. With
// negative votes, only a member that is exactly at chance does so, and one that gets every row wrong ends the run with
// a vote of -1.
//
// y: the numbers for r2, otherwise empty. target: labels, or these numbers in fixed point. after_round is called on the
// calling thread with the number of finished rounds. If it returns true, or `stop` is requested, the run ends with the
// members so far.
AdaBoosted boost_adaptively(const Table& table, const Target& target, std::span<const double> y,
                            Distribution distribution, const AdaBoostParameters& parameters, int n_threads,
                            const std::function<bool(std::size_t)>& after_round, const Stop& stop = {});

// The members as one additive model. A leaf holds the vote of its tree times its values, or, with crisp votes, times a
// 1 for its largest value. The leaves of a C4.5 tree may share a row, so its votes are weighted at prediction.
Forest weigh_votes(const Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale);
C45Forest weigh_votes(const C45Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale);

}  // namespace committee
