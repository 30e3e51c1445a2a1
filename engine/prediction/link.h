// Converts the scores of a row, the sums over its leaves, to the decision.
#pragma once
#include <cstddef>
#include <cstdint>

namespace committee {

// There are as many outputs as scores, except for logistic, which turns one score into two probabilities.
enum class Link : std::uint8_t {
    mean,                 // scores / trees
    identity,             // scores
    exponential,          // exp(scores)
    logistic,             // (1 - p, p) with p = 1 / (1 + exp(-score))
    softmax,              // exp(scores) / their sum
    share,                // scores / their sum; uniform if the sum is 0
    softmax_of_shares,    // share, then softmax
    shares_of_logistics,  // logistic of every score, then share
};
inline constexpr std::uint8_t n_links = 8;

// Whether the decision consists of probabilities for any scores.
constexpr bool gives_probabilities(Link link) { return link >= Link::logistic; }

// Whether the scores must be nonnegative.
constexpr bool needs_votes(Link link) { return link == Link::share || link == Link::softmax_of_shares; }

constexpr std::size_t count_outputs(Link link, std::size_t n_scores) { return link == Link::logistic ? 2 : n_scores; }

// Computes the decisions of n_rows rows. `scale` multiplies the scores before an exponential or logistic function.
void apply_link(Link link, double scale, std::size_t n_trees, std::size_t n_rows, std::size_t n_scores,
                const double* scores, double* out);

}  // namespace committee
