// Bagging of C4.5 trees: who sees which rows, growing in parallel, the out-of-bag decision along the way.
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
    std::uint32_t first_tree = 0;  // members [first_tree, n_trees) are grown; a warm start goes on where it stopped
    std::uint32_t n_trees = 10;
    std::uint64_t seed = 0;
    Drawing drawing;
    std::vector<std::vector<std::uint32_t>> columns;  // what each of the trees that are grown sees; empty: all
    std::vector<double> class_weights;                // per class, or empty
    bool balance_bags = false;  // class weights from each bag's own class frequencies, 1 in the mean
    bool out_of_bag = false;
    Rule rule = Rule::mean;
    std::uint32_t flat_trees = 0;  // 0, or stop when the out-of-bag error has not improved over this many trees
};

struct GrownC45 {
    C45Forest forest;
    OutOfBag out_of_bag;
    std::vector<double> importances;  // (n_trees, n_columns): the entropy that is removed, summed over rows
    bool stopped = false;             // before its time; the trees so far are whole, and the first that were wanted
};

// weights: what a row weighs each time that it is drawn, empty for all one. Rows without any get an out-of-bag decision
// that is not judged. before, after_tree and stop are as in grow_forest.
GrownC45 grow_c45_bags(const C45Table& table, std::span<const double> weights, const C45BagParameters& parameters,
                       std::vector<bool> does_count, OutOfBag before, int n_threads,
                       const std::function<bool(std::size_t)>& after_tree, const Stop& stop = {});

}  // namespace committee
