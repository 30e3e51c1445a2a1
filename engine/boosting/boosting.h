// Gradient boosting: every round computes the gradients of the loss, fits trees to them and takes a step. In: a binned
// table and the target. Out: an additive model, its loss after every round, and the gains of the columns.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "boosting/objective.h"
#include "boosting/tree/boosted_tree.h"
#include "prediction/prediction.h"
#include "table/table.h"

namespace committee {

struct BoostParameters {
    Objective objective;
    BoostTreeParameters tree;
    std::uint32_t first_round = 0;  // rounds [first_round, first_round + n_rounds); a warm start continues
    std::uint32_t n_rounds = 100;
    double learning_rate = 0.1;
    double subsample = 1;
    bool is_multi_output = false;  // one tree for all scores per round, instead of one tree per score
    std::uint64_t seed = 0;
    std::uint32_t n_iter_no_change = 0;  // 0: no early stopping
    double tol = 0;
};

// Rows with their target. Scores are ordered by score, then by row.
struct BoostSample {
    const Table* table = nullptr;
    Observed observed;
    std::vector<double> scores;
};

// Total gain and number of splits by column.
struct SplitTotals {
    std::vector<double> gain;
    std::vector<double> n_splits;
};

struct Boosted {
    std::vector<Tree> trees;              // of the rounds kept: one per score, or one for all scores
    std::vector<double> train_loss;       // before the first round and after every round
    std::vector<double> validation_loss;  // the same, or empty
    std::uint32_t n_rounds = 0;           // kept; with early stopping, up to the best round
    SplitTotals totals;                   // of the rounds kept
    std::vector<double> scores;  // of the training rows after the rounds kept; empty if a poll ended a round early
    bool stopped = false;        // early; the rounds so far are complete
};

// Called on the calling thread after every round with the number of finished rounds and their trees. Returning true
// stops.
using AfterRound = std::function<bool(std::size_t, std::span<const Tree>)>;

Boosted boost(BoostSample training, std::optional<BoostSample> validation, const BoostParameters& parameters,
              const CustomGradients& custom, int n_threads, const AfterRound& after_round, const Stop& stop = {});

// The link from the scores of an objective to the decision.
Link link_of(const Objective& objective);

}  // namespace committee
