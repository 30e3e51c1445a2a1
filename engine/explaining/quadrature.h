// Points and weights of Gauss-Legendre quadrature on (0, 1).
#pragma once
#include <cstddef>
#include <vector>

namespace committee {

// Integrates polynomials of degree 2 n - 1 exactly, where n is the number of points. All points lie inside (0, 1).
struct Quadrature {
    std::vector<double> points, weights;

    std::size_t size() const { return points.size(); }
};

Quadrature make_quadrature(std::size_t n_points);

}  // namespace committee
