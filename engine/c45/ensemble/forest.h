// An ensemble of C4.5 trees, from bagging or AdaBoost.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "prediction/link.h"
#include "prediction/prediction.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

struct C45Forest {
    std::size_t n_classes = 1;
    std::vector<std::int32_t> n_categories;  // by column; C45Column::is_number for numbers
    std::vector<C45Tree> trees;              // all with these columns and classes

    std::vector<double> weights = {};  // of the trees' votes; empty: 1
    bool are_crisp = false;            // a tree votes for its most probable class only
    Link link = Link::mean;
    double scale = 1;  // multiplies the scores in the link

    std::size_t n_bytes() const;
};

// An empty forest with the same columns and classes, and unweighted votes.
C45Forest without_trees(const C45Forest& forest);

// All functions below throw Stopped if a poll requests it. Categorical columns must be 32-bit codes.

// The decisions, (n_rows, n_classes): the link of the scores of all trees. Rule::majority requires Link::mean.
void predict(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop = {});

// The sums of the weighted votes of trees [first, last), (n_rows, n_classes).
void predict_scores(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop = {});

// The class probabilities of every tree, (n_trees, n_rows, n_classes).
void predict_votes(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop = {});

}  // namespace committee
