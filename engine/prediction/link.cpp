#include "prediction/link.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace committee {
namespace {

double logistic(double score) {
    const double small = std::exp(-std::abs(score));
    return (score < 0 ? small : 1) / (1 + small);
}

void share(std::span<double> row) {
    double total = 0;
    for (const double score : row) total += score;
    for (double& score : row) score = total > 0 ? score / total : 1 / static_cast<double>(row.size());
}

// Subtracts the largest score first, so the exponential does not overflow.
void softmax(double scale, std::span<double> row) {
    for (double& score : row) score *= scale;
    const double largest = *std::ranges::max_element(row);
    for (double& score : row) score = std::exp(score - largest);
    share(row);
}

void decide(Link link, double scale, double n_trees, std::span<double> row) {
    switch (link) {
        case Link::mean:
            for (double& score : row) score /= n_trees;
            return;
        case Link::identity:
        case Link::logistic:
            return;
        case Link::exponential:
            for (double& score : row) {
                score = std::min(std::exp(scale * score), std::numeric_limits<double>::max());
            }
            return;
        case Link::softmax:
            return softmax(scale, row);
        case Link::share:
            return share(row);
        case Link::softmax_of_shares:
            share(row);
            return softmax(scale, row);
        case Link::shares_of_logistics:
            for (double& score : row) score = logistic(scale * score);
            return share(row);
    }
}

}  // namespace

void apply_link(Link link, double scale, std::size_t n_trees, std::size_t n_rows, std::size_t n_scores,
                const double* scores, double* out) {
    if (link == Link::logistic) {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double score = scale * scores[i];
            out[2 * i] = logistic(-score);
            out[2 * i + 1] = logistic(score);
        }
        return;
    }
    if (out != scores) std::copy_n(scores, n_rows * n_scores, out);
    for (std::size_t i = 0; i < n_rows; ++i) {
        decide(link, scale, static_cast<double>(n_trees), {out + i * n_scores, n_scores});
    }
}

}  // namespace committee
