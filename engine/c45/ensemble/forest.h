// C4.5 trees that decide together: of a bagging, or of AdaBoost.
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
    std::vector<std::int32_t> n_categories;  // per column; C45Column::is_number for numbers
    std::vector<C45Tree> trees;              // all of these columns and classes

    std::vector<double> weights;  // what the vote of each tree counts; empty: 1
    bool are_crisp = false;       // a tree votes for its likeliest class alone
    Link link = Link::mean;
    double scale = 1;  // by which the link multiplies the scores

    std::size_t n_bytes() const;
};

// The same model without trees, which vote as they are.
C45Forest without_trees(const C45Forest& forest);

// Whatever follows throws Stopped if a poll says so. Columns of categories are codes of 32 bits.

// The decision, (n_rows, n_classes): the scores of all trees after the link. The majority is for link mean only.
void predict(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop = {});

// The sums of the weighted votes of trees [first, last), (n_rows, n_classes).
void predict_scores(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop = {});

// The class probabilities of every tree, (n_trees, n_rows, n_classes).
void predict_votes(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop = {});

}  // namespace committee
