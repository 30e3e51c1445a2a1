// Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3): which inner nodes of a recorded tree become leaves,
// and at what price per leaf saved.
#pragma once
#include <cstddef>
#include <vector>

#include "tree/tree.h"

namespace committee {

// What is left of the tree as the price of a leaf, alpha, goes up. Step 0 is the whole tree at alpha 0, every further
// step prunes one more node, the last one the root. As in scikit-learn, the impurity is the sum over the leaves of
// impurity times share of the tree's weight; where two nodes are due at the same alpha, the ancestor goes first.
struct PruningPath {
    std::vector<double> alphas;
    std::vector<double> impurities;
};

PruningPath pruning_path(const Tree& tree);

// The tree with every node pruned that is due at an alpha up to ccp_alpha. The values and records of the nodes that
// stay are kept; the importances, which a caller can sum from the records, are not.
Tree prune(const Tree& tree, double ccp_alpha, std::size_t n_outputs);

// The same, with the importances of the columns.
Tree prune_grown(const Tree& tree, double ccp_alpha, std::size_t n_outputs, std::size_t n_columns);

}  // namespace committee
