// The eigenvectors of small symmetric matrices.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// The principal axes of a covariance matrix (size x size, row by row): unit eigenvectors, one behind the other, by
// falling eigenvalue. There are always as many as columns, and a matrix of zeros has the columns themselves. The
// largest coefficient of each is positive, the first of equal ones. By Jacobi's method of plane rotations.
std::vector<double> principal_axes(std::vector<double> covariance, std::size_t size, const Stop& stop = {});

}  // namespace committee
