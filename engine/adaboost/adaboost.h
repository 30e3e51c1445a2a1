// AdaBoost: members that are grown one after the other, each from rows that weigh more the worse those before it did.
// Comes in: a binned table, the target, a distribution over the rows. Goes out: the members with their errors and
// votes, and the distribution that the next member would see. All rounds are one call.
//
// A round: grow a member from the weights; its error is the weight that it gets wrong; its vote is log(right / wrong);
// what it gets right becomes lighter, so that right and wrong weigh the same for the next member.
//
// Sums over rows are integers (a unit of 2^-60 of all weight), so neither the order of the rows nor the number of
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

// How wrong a number is, in [0, 1], by its share of the largest error: the share, its square, or 1 - exp(-share).
enum class RowLoss : std::uint8_t { linear, square, exponential };

// What a row weighs is counts * units: a row of weight 2 is the row twice, to the last bit. m2 has n_classes - 1 units
// per row, one for each wrong label in the order of the labels; the others have one. All weights sum to one.
struct Distribution {
    std::vector<std::uint32_t> counts;  // how often each row stands there; 0: it takes no part
    std::vector<double> units;
};

struct AdaBoostParameters {
    Scheme scheme = Scheme::m1;
    RowLoss loss = RowLoss::linear;  // r2
    double learning_rate = 1;        // samme, r2
    MemberParameters member;
    std::uint32_t first_round = 0;  // rounds before, of a run that goes on
    std::uint32_t n_rounds = 50;
    std::uint64_t seed = 0;
    bool keep_weights = false;
};

struct AdaBoosted {
    Forest members;         // as they were grown: they vote, and nobody weighs their votes yet
    C45Forest c45_members;  // the same, if they are C4.5 trees
    std::vector<double> errors, votes;
    std::vector<double> importances;  // (n_members, n_columns)
    std::vector<double> weights;      // (n_members, n_rows), what each member saw, if kept
    std::vector<double> units;        // the distribution after the last member
    bool is_over = false;             // a perfect member, or one that is no better than chance, has ended the run
    bool stopped = false;             // before its time; the members so far are whole, and the distribution is theirs
};

// A perfect member ends the run. Its vote would be infinite: it gets 1 in samme and r2, as in scikit-learn, and in m1
// and m2 the vote of half an error in one row more than there are. A member that is no better than chance ends the run
// too, and is dropped; if it is the first, it is kept with a vote of 1, for there must be one. y: the numbers of r2,
// else empty. Target: labels, or those numbers in fixed point. after_round is asked on the calling thread with the
// number of rounds done; true ends the run, as `stop` does, with the members so far.
AdaBoosted boost_adaptively(const Table& table, const Target& target, std::span<const double> y,
                            Distribution distribution, const AdaBoostParameters& parameters, int n_threads,
                            const std::function<bool(std::size_t)>& after_round, const Stop& stop = {});

// The members as one additive model: a leaf holds the vote of its tree times its values or, if votes are crisp, times a
// one for its largest value. C4.5 trees, whose leaves share a row, are weighed when they vote.
Forest weigh_votes(const Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale);
C45Forest weigh_votes(const C45Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale);

}  // namespace committee
