// Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3): finds which inner nodes of a tree with records
// become leaves, and at which alpha.
#pragma once
#include <cstddef>
#include <vector>

#include "tree/tree.h"

namespace committee {

// The sequence of pruned trees as alpha, the cost of a leaf, increases. Step 0 is the whole tree at alpha 0. Every
// further step prunes one more node, and the last one prunes the root. As in scikit-learn, the impurity is the sum over
// the leaves of impurity times share of the tree's weight. If two nodes are pruned at the same alpha, the ancestor
// comes first.
struct PruningPath {
    std::vector<double> alphas;
    std::vector<double> impurities;
};

PruningPath pruning_path(const Tree& tree);

// The tree after all pruning steps with alpha <= ccp_alpha. The remaining nodes keep their values and records. The
// importances are dropped; a caller can compute them from the records.
Tree prune(const Tree& tree, double ccp_alpha, std::size_t n_outputs);

// The same, with the importances of the columns.
Tree prune_grown(const Tree& tree, double ccp_alpha, std::size_t n_outputs, std::size_t n_columns);

}  // namespace committee
