#include <cmath>

#include "check.h"
#include "explaining/quadrature.h"

using namespace committee;

namespace {

void polynomials_of_degree_2n_minus_1_are_integrated_exactly() {
    for (std::size_t n = 1; n < 60; ++n) {
        const Quadrature rule = make_quadrature(n);
        for (std::size_t degree = 0; degree < 2 * n; ++degree) {
            double integral = 0;
            for (std::size_t q = 0; q < n; ++q) {
                integral += rule.weights[q] * std::pow(rule.points[q], static_cast<double>(degree));
            }
            check(std::abs(integral * static_cast<double>(degree + 1) - 1) < 1e-12);
        }
    }
}

void points_lie_inside_and_weights_are_positive() {
    const Quadrature rule = make_quadrature(200);
    for (std::size_t q = 0; q < rule.size(); ++q) {
        check(rule.points[q] > 0 && rule.points[q] < 1 && rule.weights[q] > 0);
    }
}

}  // namespace

int main() {
    polynomials_of_degree_2n_minus_1_are_integrated_exactly();
    points_lie_inside_and_weights_are_positive();
    return report();
}
