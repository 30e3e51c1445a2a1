#include "boosting/output_direction.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "numbers/random.h"

namespace committee {
namespace {

std::size_t count_blocks(std::size_t n_rows) { return (n_rows + block_rows - 1) / block_rows; }

// The gradients of rows [begin, end) along a direction.
void project_block(const Gradients& gradients, std::span<const double> direction, std::size_t n_rows, std::size_t begin,
                   std::size_t end, float* out) {
    std::fill(out, out + (end - begin), 0.0F);
    for (std::size_t k = 0; k < direction.size(); ++k) {
        const float* gradient = gradients.gradient.data() + k * n_rows + begin;
        const auto share = static_cast<float>(direction[k]);
        for (std::size_t i = 0; i < end - begin; ++i) out[i] += share * gradient[i];
    }
}

// Eight partial sums, one per lane.
double dot(const float* a, const float* b, std::size_t n) {
    constexpr std::size_t lanes = 8;
    std::array<double, lanes> sums{};
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) {
        for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += static_cast<double>(a[i + lane] * b[i + lane]);
    }
    for (; i < n; ++i) sums[0] += static_cast<double>(a[i] * b[i]);
    double sum = 0;
    for (const double of_lane : sums) sum += of_lane;
    return sum;
}

// Returns false for the zero vector.
bool to_unit_length(std::vector<double>& direction) {
    const double largest = std::abs(*std::ranges::max_element(direction, {}, [](double x) { return std::abs(x); }));
    if (!(largest > 0)) return false;
    double squares = 0;
    for (double& x : direction) {
        x /= largest;
        squares += x * x;
    }
    for (double& x : direction) x /= std::sqrt(squares);
    return true;
}

}  // namespace

// One step of power iteration from a random vector towards the first principal component of the gradients. More steps
// would converge to that component and make all trees similar.
std::vector<double> draw_direction(const Gradients& gradients, std::size_t n_scores, std::uint64_t key,
                                   ThreadTeam& team) {
    const std::size_t n_rows = gradients.gradient.size() / n_scores;
    Random random(key, Purpose::direction);
    std::vector<double> drawn(n_scores);
    for (double& x : drawn) x = 2 * random.uniform() - 1;
    if (!to_unit_length(drawn)) drawn[0] = 1;
    std::vector<double> by_block(count_blocks(n_rows) * n_scores);
    run_in_blocks(team, n_rows, block_rows, [&](std::size_t block, std::size_t begin, std::size_t end) {
        std::array<float, block_rows> along;
        project_block(gradients, drawn, n_rows, begin, end, along.data());
        for (std::size_t k = 0; k < n_scores; ++k) {
            by_block[block * n_scores + k] =
                dot(along.data(), gradients.gradient.data() + k * n_rows + begin, end - begin);
        }
    });
    std::vector<double> direction(n_scores, 0.0);
    for (std::size_t i = 0; i < by_block.size(); ++i) direction[i % n_scores] += by_block[i];
    return to_unit_length(direction) ? direction : drawn;
}

GradientTotals project(const Gradients& gradients, std::span<const double> direction, ThreadTeam& team,
                       Gradients& along) {
    const std::size_t n_rows = gradients.gradient.size() / direction.size();
    along.gradient.resize(n_rows);
    along.hessian.resize(n_rows);
    std::vector<GradientTotals> by_block(count_blocks(n_rows));
    run_in_blocks(team, n_rows, block_rows, [&](std::size_t block, std::size_t begin, std::size_t end) {
        float *gradient = along.gradient.data() + begin, *hessian = along.hessian.data() + begin;
        project_block(gradients, direction, n_rows, begin, end, gradient);
        std::fill(hessian, hessian + (end - begin), 0.0F);
        for (std::size_t k = 0; k < direction.size(); ++k) {
            const float* of_score = gradients.hessian.data() + k * n_rows + begin;
            const auto square = static_cast<float>(direction[k] * direction[k]);
            for (std::size_t i = 0; i < end - begin; ++i) hessian[i] += square * of_score[i];
        }
        by_block[block] = totals_of(gradient, hessian, end - begin);
    });
    GradientTotals totals;
    for (const GradientTotals& of_block : by_block) totals.add(of_block);
    return totals;
}

LeafSums::LeafSums(const Gradients& gradients, std::span<const GradientTotals> totals, std::size_t n_leaves)
    : gradients_(gradients), n_rows_(gradients.gradient.size() / totals.size()), sums_(n_leaves * totals.size(), 0) {
    for (const GradientTotals& of_score : totals) scales_.push_back(scale_for(of_score, n_rows_, false));
}

void LeafSums::add(std::size_t leaf, std::span<const std::uint32_t> rows) {
    for (std::size_t k = 0; k < scales_.size(); ++k) {
        const float* gradient = gradients_.gradient.data() + k * n_rows_;
        const float* hessian = gradients_.hessian.data() + k * n_rows_;
        const WordScale scale = scales_[k];
        Word sum = 0;
        for (const std::uint32_t row : rows) sum += scale.word(gradient[row], hessian[row]);
        sums_[leaf * scales_.size() + k] += sum;
    }
}

void LeafSums::add(const LeafSums& others) {
    for (std::size_t i = 0; i < sums_.size(); ++i) sums_[i] += others.sums_[i];
}

std::vector<double> LeafSums::steps(double reg_lambda, double reg_alpha) const {
    std::vector<double> steps;
    steps.reserve(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const WordScale& scale = scales_[i % scales_.size()];
        const BoostLimits limits{.lambda = reg_lambda * scale.hessian, .alpha = reg_alpha * scale.gradient};
        const double hessian = scale.fields.hessian(sums_[i]);
        const double step = hessian > 0 ? limits.value(scale.fields.gradient(sums_[i]), hessian) : 0.0;
        steps.push_back(step * scale.hessian / scale.gradient);
    }
    return steps;
}

}  // namespace committee
