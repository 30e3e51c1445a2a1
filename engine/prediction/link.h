// From the scores of a row, the sums of what its leaves hold, to the decision.
#pragma once
#include <cstddef>
#include <cstdint>

namespace committee {

// The number of outputs is that of the scores, but for logistic, which makes two probabilities of one score.
enum class Link : std::uint8_t {
    mean,                 // scores / trees
    identity,             // scores
    exponential,          // exp(scores)
    logistic,             // (1 - p, p) with p = 1 / (1 + exp(-score))
    softmax,              // exp(scores) / their total
    share,                // scores / their total; all the same if the total is 0
    softmax_of_shares,    // softmax, after share
    shares_of_logistics,  // logistic for every score, then share
};
inline constexpr std::uint8_t n_links = 8;

// Whether the decision is made of probabilities, whatever the scores.
constexpr bool gives_probabilities(Link link) { return link >= Link::logistic; }

// Whether the scores must not be negative.
constexpr bool needs_votes(Link link) { return link == Link::share || link == Link::softmax_of_shares; }

constexpr std::size_t count_outputs(Link link, std::size_t n_scores) { return link == Link::logistic ? 2 : n_scores; }

// Decides on n_rows rows. The scores are multiplied by `scale` where an exponential or a logistic function takes them.
void apply_link(Link link, double scale, std::size_t n_trees, std::size_t n_rows, std::size_t n_scores,
                const double* scores, double* out);

}  // namespace committee
