// Bagging of C4.5 trees: draws the rows of each tree, grows trees in parallel, and computes the out-of-bag decision.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "c45/ensemble/forest.h"
#include "c45/ensemble/grower.h"
#include "forest/out_of_bag.h"
#include "growing/row_sampling.h"
#include "threads/stop.h"

namespace committee {

struct C45BagParameters {
    C45Settings tree;
    std::uint32_t first_tree =
        0;  // trees [first_tree, n_trees) are grown; a warm start continues where the last fit ended
    std::uint32_t n_trees = 10;
    std::uint64_t seed = 0;
    Drawing drawing;
    std::vector<std::vector<std::uint32_t>> columns;  // of each of these trees; empty: all
    std::vector<double> class_weights;                // by class, or empty
    bool balance_bags = false;  // compute class weights from the class frequencies of each bag, with a mean of 1
    bool out_of_bag = false;
    Rule rule = Rule::mean;
    std::uint32_t flat_trees = 0;  // 0, or stop once the out-of-bag error has not improved over this many trees
};

struct GrownC45 {
    C45Forest forest;
    OutOfBag out_of_bag;
    std::vector<double> importances;  // (n_trees, n_columns): the decrease in entropy, summed over rows
    bool stopped = false;             // early; the trees so far are complete, and are the first of those requested
};

// weights: the weight of a row each time it is drawn; empty for 1. Rows of weight 0 get an out-of-bag decision, but it
// does not count in the error. before, after_tree and stop are as in grow_forest.
GrownC45 grow_c45_bags(const C45Table& table, std::span<const double> weights, const C45BagParameters& parameters,
                       std::vector<bool> does_count, OutOfBag before, int n_threads,
                       const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
