// e^x for many x at a time, from operations that are the same on every machine: the same bits everywhere.
#pragma once
#include <cstddef>

namespace committee {

// To 13 digits. Beyond +-700, the value at +-700.
double exponential(double x);

// values[i] = e^values[i].
void to_exponentials(double* values, std::size_t n);

}  // namespace committee
