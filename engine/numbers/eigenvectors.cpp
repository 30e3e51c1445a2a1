#include "numbers/eigenvectors.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace committee {
namespace {

// Jacobi's method converges quadratically, so a few sweeps are enough for any matrix.
constexpr int most_sweeps = 64;

// The plane rotation that makes the entries at (p, q) and (q, p) zero: (cosine, sine) of its angle.
struct PlaneRotation {
    PlaneRotation(double pp, double pq, double qq) {
        const double theta = (qq - pp) / (2 * pq);
        const double tangent = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::sqrt(theta * theta + 1));
        cosine = 1 / std::sqrt(tangent * tangent + 1);
        sine = tangent * cosine;
    }

    void turn(double& p, double& q) const {
        const double before = p;
        p = cosine * before - sine * q;
        q = sine * before + cosine * q;
    }

    double cosine, sine;
};

double largest_coefficient(std::span<const double> axis) {
    return *std::ranges::max_element(axis, [](double a, double b) { return std::abs(a) < std::abs(b); });
}

}  // namespace

std::vector<double> principal_axes(std::vector<double> covariance, std::size_t size, const Stop& stop) {
    const auto at = [&](std::size_t i, std::size_t j) -> double& { return covariance[i * size + j]; };
    std::vector<double> axes(size * size, 0.0);  // row i is rotated together with row i of the matrix
    for (std::size_t i = 0; i < size; ++i) axes[i * size + i] = 1;

    double total = 0;
    for (std::size_t i = 0; i < size; ++i) total += std::abs(at(i, i));
    const double negligible = 1e-18 * total;
    bool is_diagonal = false;
    for (int sweep = 0; sweep < most_sweeps && !is_diagonal; ++sweep) {
        is_diagonal = true;
        for (std::size_t p = 0; p < size; ++p) {
            stop.poll();
            for (std::size_t q = p + 1; q < size; ++q) {
                if (std::abs(at(p, q)) <= negligible) continue;
                is_diagonal = false;
                const PlaneRotation rotation(at(p, p), at(p, q), at(q, q));
                for (std::size_t i = 0; i < size; ++i) rotation.turn(at(i, p), at(i, q));
                for (std::size_t i = 0; i < size; ++i) rotation.turn(at(p, i), at(q, i));
                at(p, q) = at(q, p) = 0;
                for (std::size_t i = 0; i < size; ++i) rotation.turn(axes[p * size + i], axes[q * size + i]);
            }
        }
    }

    std::vector<std::size_t> order(size);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t j) { return at(i, i) > at(j, j); });
    std::vector<double> sorted;
    sorted.reserve(axes.size());
    for (const std::size_t i : order) {
        const std::span<const double> axis(axes.data() + i * size, size);
        const double sign = largest_coefficient(axis) < 0 ? -1 : 1;
        for (const double coefficient : axis) sorted.push_back(sign * coefficient + 0.0);
    }
    return sorted;
}

}  // namespace committee
