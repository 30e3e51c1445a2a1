// Element-wise operations on the units or parameters of a network. They give the same bits on every machine. Arrays of
// units are padded to whole vectors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

constexpr std::size_t unit_lanes = 16;

constexpr std::size_t whole_vectors(std::size_t n) { return (n + unit_lanes - 1) / unit_lanes * unit_lanes; }

// out[i][j] = rows[i][j] * factors[j].
void multiply_columns(const float* rows, const float* factors, std::size_t n_rows, std::size_t n_columns, float* out);

// rows[i][j] += values[j].
void add_to_rows(const float* values, std::size_t n_rows, std::size_t n_columns, float* rows);

// out[j] = the sum of rows[i][j] over i.
void sum_of_rows(const float* rows, std::size_t n_rows, std::size_t n_columns, float* out);

// Replaces sums by units, u = f(sum), and computes the slopes f'(sum).
void to_units(std::vector<float>& sums, std::vector<float>& slopes);

// Dropout: sets a share of the units to zero, rounded to 2^-16, and scales up the others.
void drop_units(double share, std::uint64_t key, std::vector<float>& units, std::vector<float>& slopes);

// A step of AdamW (Loshchilov and Hutter 2019).
struct AdamStep {
    float rate;        // with the bias corrections of both moments
    float decay;       // weight decay
    float smallest;    // epsilon, added to the root of the second moment
    float first_keep;  // the decay rates of the moments
    float second_keep;
};

void adam(const AdamStep& step, std::size_t n, const float* gradient, float* first, float* second, float* parameters);

}  // namespace committee
