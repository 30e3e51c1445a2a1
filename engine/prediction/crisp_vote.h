// A vote for the most probable class only.
#pragma once
#include <algorithm>
#include <cstddef>

namespace committee {

// Adds the weight to the sum of the class with the largest value, the first one if tied. A negative weight counts for
// every other class, so sums stay nonnegative. The differences between classes are those of a negative vote.
inline void add_crisp_vote(double weight, const double* values, std::size_t n_classes, double* sums) {
    const auto voted = static_cast<std::size_t>(std::max_element(values, values + n_classes) - values);
    if (weight >= 0) {
        sums[voted] += weight;
        return;
    }
    for (std::size_t c = 0; c < n_classes; ++c) sums[c] -= c == voted ? 0 : weight;
}

}  // namespace committee
