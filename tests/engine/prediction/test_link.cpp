#include <cmath>
#include <vector>

#include "check.h"
#include "prediction/link.h"

using namespace committee;

namespace {

std::vector<double> decide(Link link, const std::vector<double>& scores, double scale = 1, std::size_t n_trees = 1) {
    std::vector<double> out(count_outputs(link, scores.size()));
    apply_link(link, scale, n_trees, 1, scores.size(), scores.data(), out.data());
    return out;
}

bool are_close(const std::vector<double>& a, const std::vector<double>& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(std::abs(a[i] - b[i]) <= 1e-15)) return false;
    }
    return true;
}

void links_follow_their_formulas() {
    const double e = std::exp(1.0);
    check(decide(Link::mean, {3, 6}, 1, 3) == std::vector<double>{1, 2});
    check(decide(Link::identity, {3, -6}) == std::vector<double>{3, -6});
    check(decide(Link::exponential, {1, 0}) == std::vector<double>{e, 1});
    check(are_close(decide(Link::logistic, {1}), {1 / (1 + e), e / (1 + e)}));
    check(are_close(decide(Link::logistic, {0.5}, 2), {1 / (1 + e), e / (1 + e)}), "the scale multiplies the score");
    check(are_close(decide(Link::softmax, {2, 1}), {e / (1 + e), 1 / (1 + e)}));
    check(decide(Link::share, {1, 3}) == std::vector<double>{0.25, 0.75});
    check(decide(Link::share, {0, 0}) == std::vector<double>{0.5, 0.5});
    check(are_close(decide(Link::softmax_of_shares, {1, 3}, 2), decide(Link::softmax, {0.25, 0.75}, 2)));
    const double half = 0.5, high = e / (1 + e);
    check(are_close(decide(Link::shares_of_logistics, {0, 1}), {half / (half + high), high / (half + high)}));
}

void extreme_scores_give_finite_decisions() {
    for (const Link link : {Link::exponential, Link::logistic, Link::softmax, Link::shares_of_logistics}) {
        for (const double score : {-1e300, -800.0, 800.0, 1e300}) {
            for (const double value : decide(link, {score})) check(std::isfinite(value) && value >= 0);
        }
    }
    check(decide(Link::softmax, {1e300, -1e300, 0}) == std::vector<double>{1, 0, 0});
    check(are_close(decide(Link::shares_of_logistics, {-1e300, -1e300}), {0.5, 0.5}));
}

void links_can_be_applied_in_place() {
    std::vector<double> scores{1, 3, 2, 2};
    apply_link(Link::share, 1, 1, 2, 2, scores.data(), scores.data());
    check(scores == std::vector<double>{0.25, 0.75, 0.5, 0.5});
}

}  // namespace

int main() {
    links_follow_their_formulas();
    extreme_scores_give_finite_decisions();
    links_can_be_applied_in_place();
    return report();
}
