#include <algorithm>
#include <span>
#include <vector>

#include "adaboost/adaboost.h"
#include "prediction/crisp_vote.h"

namespace committee {

Forest weigh_votes(const Forest& members, std::span<const double> votes, bool are_crisp, Link link, double scale) {
    Forest weighed = members;
    weighed.link = link;
    weighed.scale = scale;
    const std::size_t n = members.n_outputs;
    std::vector<double> shares;
    for (std::size_t t = 0; t < weighed.trees.size(); ++t) {
        Tree& tree = weighed.trees[t];
        tree.records = {};
        for (auto value = tree.values.begin(); value != tree.values.end(); value += static_cast<std::ptrdiff_t>(n)) {
            const std::span<double> leaf(value, n);
            if (are_crisp) {
                shares.assign(leaf.begin(), leaf.end());
                std::ranges::fill(leaf, 0.0);
                add_crisp_vote(votes[t], shares.data(), n, leaf.data());
            } else {
                for (double& number : leaf) number *= votes[t];
            }
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
