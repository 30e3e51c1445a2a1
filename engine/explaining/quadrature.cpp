#include "explaining/quadrature.h"

#include <cmath>
#include <numbers>

namespace committee {

Quadrature make_quadrature(std::size_t n_points) {
    constexpr int n_steps = 100;  // Newton's method needs about five
    const auto n = static_cast<double>(n_points);
    Quadrature rule{std::vector<double>(n_points), std::vector<double>(n_points)};
    for (std::size_t i = 0; i < (n_points + 1) / 2; ++i) {
        // The roots of the Legendre polynomial lie symmetrically around 0.
        double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (n + 0.5));
        double slope = 1;
        for (int step = 0; step < n_steps; ++step) {
            double value = x, before = 1;
            for (std::size_t k = 2; k <= n_points; ++k) {
                const auto degree = static_cast<double>(k);
                const double next = ((2 * degree - 1) * x * value - (degree - 1) * before) / degree;
                before = value;
                value = next;
            }
            slope = n * (x * value - before) / (x * x - 1);
            const double change = value / slope;
            x -= change;
            if (std::abs(change) < 1e-16) break;
        }
        const double weight = 1 / ((1 - x * x) * slope * slope);
        rule.points[i] = (1 - x) / 2;
        rule.points[n_points - 1 - i] = (1 + x) / 2;
        rule.weights[i] = rule.weights[n_points - 1 - i] = weight;
    }
    return rule;
}

}  // namespace committee
