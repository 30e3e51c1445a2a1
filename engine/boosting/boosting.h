// Gradient boosting: round after round, gradients of the loss, a tree that fits them, a step. Comes in: a binned table
// and what was observed. Goes out: an additive model, its loss after every round, what the columns were worth.
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
    std::uint32_t first_round = 0;  // rounds [first_round, first_round + n_rounds): a warm start goes on
    std::uint32_t n_rounds = 100;
    double learning_rate = 0.1;
    double subsample = 1;
    bool is_multi_output = false;  // a round is one tree of all scores, not one tree per score
    std::uint64_t seed = 0;
    std::uint32_t n_iter_no_change = 0;  // 0: no early stopping
    double tol = 0;
};

// Rows with what was observed of them. Scores are by score, then by row.
struct BoostSample {
    const Table* table = nullptr;
    Observed observed;
    std::vector<double> scores;
};

// Fills the gradients and hessians of a custom loss, by score, then by row, for scores of the same shape. May throw
// Stopped: then the rounds so far are kept.
using CustomGradients = std::function<void(std::span<const double> scores, Gradients& out)>;

// What splits were worth, by column.
struct SplitTotals {
    std::vector<double> gain;
    std::vector<double> n_splits;
};

struct Boosted {
    std::vector<Tree> trees;              // of the rounds that are kept: one per score, or one of all scores
    std::vector<double> train_loss;       // before the first round and after every round
    std::vector<double> validation_loss;  // the same, or empty
    std::uint32_t n_rounds = 0;           // kept: with early stopping, up to the best
    SplitTotals totals;                   // of the rounds that are kept
    std::vector<double> scores;           // of the training rows, after the rounds that are kept; empty if a poll of
                                          // `stop` has ended a round
    bool stopped = false;                 // before its time; the rounds so far are whole
};

// Asked on the calling thread after every round, with the number of rounds that are done and their trees: whether to
// stop.
using AfterRound = std::function<bool(std::size_t, std::span<const Tree>)>;

Boosted boost(BoostSample training, std::optional<BoostSample> validation, const BoostParameters& parameters,
              const CustomGradients& custom, int n_threads, const AfterRound& after_round, const Stop& stop = {});

// How the scores of an objective become a decision.
Link link_of(const Objective& objective);

}  // namespace committee
