// Eigenvectors of small symmetric matrices.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// The eigenvectors of a covariance matrix (size x size, row-major), by Jacobi's method of plane rotations. They have
// unit length, follow one another in the result, and are sorted by decreasing eigenvalue. A matrix of zeros yields the
// unit vectors. The coefficient of largest magnitude (the first one among ties) of each eigenvector is positive.
std::vector<double> principal_axes(std::vector<double> covariance, std::size_t size, const Stop& stop = {});

}  // namespace committee
