// What is done to every unit or parameter of a network by itself: single operations, the same bits on every machine.
// Arrays of units have room for whole vectors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace committee {

constexpr std::size_t unit_lanes = 8;

constexpr std::size_t whole_vectors(std::size_t n) { return (n + unit_lanes - 1) / unit_lanes * unit_lanes; }

// out[i][j] = rows[i][j] * factors[j].
void multiply_columns(const float* rows, const float* factors, std::size_t n_rows, std::size_t n_columns, float* out);

// rows[i][j] += values[j].
void add_to_rows(const float* values, std::size_t n_rows, std::size_t n_columns, float* rows);

// out[j] = the sum of rows[i][j] over i.
void sum_of_rows(const float* rows, std::size_t n_rows, std::size_t n_columns, float* out);

// Sums become units, u = f(sum), and slopes f'(sum).
void to_units(std::vector<float>& sums, std::vector<float>& slopes);

// Leaves out about a share of the units, to the nearest 2^-16, and makes the others larger by as much.
void drop_units(double share, std::uint64_t key, std::vector<float>& units, std::vector<float>& slopes);

// A step of AdamW (Loshchilov and Hutter 2019).
struct AdamStep {
    float rate;        // with the corrections of both moments
    float decay;       // what a parameter loses of itself
    float smallest;    // what is added to the root of the second moment
    float first_keep;  // what is kept of the moments
    float second_keep;
};

void adam(const AdamStep& step, std::size_t n, const float* gradient, float* first, float* second, float* parameters);

}  // namespace committee
