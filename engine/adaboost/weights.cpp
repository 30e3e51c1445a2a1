#include <algorithm>
#include <span>

#include "adaboost/adaboost.h"

namespace committee {

Forest weigh_votes(const Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale) {
    Forest weighed = members;
    weighed.link = link;
    weighed.scale = scale;
    const std::size_t n = members.n_outputs;
    for (std::size_t t = 0; t < weighed.trees.size(); ++t) {
        Tree& tree = weighed.trees[t];
        tree.records = {};
        for (auto value = tree.values.begin(); value != tree.values.end(); value += static_cast<std::ptrdiff_t>(n)) {
            const std::span<double> leaf(value, n);
            if (are_crisp) {
                const auto largest = std::ranges::max_element(leaf);
                std::ranges::fill(leaf, 0.0);
                *largest = 1;
            }
            for (double& number : leaf) number *= votes[t];
        }
    }
    return weighed;
}

C45Forest weigh_votes(const C45Forest& members, std::span<const double> votes, bool are_crisp, Link link,
                      double scale) {
    C45Forest weighed = members;
    weighed.weights.assign(votes.begin(), votes.end());
    weighed.are_crisp = are_crisp;
    weighed.link = link;
    weighed.scale = scale;
    return weighed;
}

}  // namespace committee
