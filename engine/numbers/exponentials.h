// e^x for many x at a time. All machines use the same operations, so they compute the same bits.
#pragma once
#include <cstddef>

namespace committee {

// Accurate to 13 digits. An x outside [-700, 700] is clipped.
double exponential(double x);

// values[i] = e^values[i].
void to_exponentials(double* values, std::size_t n);

}  // namespace committee
