#include "numbers/exponentials.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace committee {
namespace {

constexpr std::size_t lanes = 4;
using Doubles [[gnu::vector_size(8 * lanes)]] = double;
using Words [[gnu::vector_size(8 * lanes)]] = std::uint64_t;

// With x = n log 2 + r, e^x is 2^n times a polynomial in r, and 2^n is written directly into the exponent bits.
[[gnu::always_inline]] inline void replace(double* values) {
    constexpr double to_integer = 0x1.8p52;  // adding it leaves the integer in the low bits
    Doubles x;
    std::memcpy(&x, values, sizeof x);
    x = x < 700.0 ? x : Doubles{} + 700.0;
    x = x > -700.0 ? x : Doubles{} - 700.0;
    const Doubles shifted = x * 1.4426950408889634 + to_integer;
    const Doubles whole = shifted - to_integer;
    const Doubles r = (x - whole * 0.6931471803691238) - whole * 1.9082149292705877e-10;
    Doubles sum = Doubles{} + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 0.5;
    sum = sum * r + 1.0;
    sum = sum * r + 1.0;
    sum *= (Doubles)(((Words)shifted + 1023) << 52);
    std::memcpy(values, &sum, sizeof sum);
}

[[gnu::always_inline]] inline void replace_all(double* values, std::size_t n) {
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes) replace(values + i);
    double rest[lanes] = {};
    std::copy(values + i, values + n, rest);
    replace(rest);
    std::copy(rest, rest + (n - i), values + i);
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void replace_all_wide(double* values, std::size_t n) { replace_all(values, n); }

bool has_wide_vectors() { return __builtin_cpu_supports("avx2") != 0; }
#else
void replace_all_wide(double* values, std::size_t n) { replace_all(values, n); }

bool has_wide_vectors() { return false; }
#endif

}  // namespace

double exponential(double x) {
    double values[lanes] = {x};
    replace(values);
    return values[0];
}

void to_exponentials(double* values, std::size_t n) {
    if (has_wide_vectors()) return replace_all_wide(values, n);
    replace_all(values, n);
}

}  // namespace committee
