// The rotation of one tree (Rodriguez, Kuncheva and Alonso 2006). The axes of a table are randomly divided into groups.
// Each group is rotated to the principal axes of its own sample, which is drawn from the rows of a few classes. All
// principal axes are kept. A sample without variance leaves its group unchanged.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rotation/axes.h"
#include "threads/stop.h"

namespace committee {

// A linear combination of the axes of a group. A tree splits on components instead of axes.
struct Component {
    std::uint32_t first = 0;  // the start of the group in Rotation::axes
    std::uint32_t size = 0;
    std::size_t coefficients = 0;  // the start in Rotation::coefficients
};

struct Rotation {
    std::vector<std::uint32_t> axes;  // all axes, those of a group contiguous
    std::vector<std::uint32_t> group_sizes;
    std::vector<double> coefficients;  // by component, as many as its group has axes
    std::vector<double> fill;          // by axis: replaces missing values

    // One component per axis.
    std::vector<Component> components() const;
};

// Rounds to multiples of 2^-35, so that rounding errors do not separate rows that are equal in a component.
inline double on_grid(double value) {
    constexpr double shift = 0x1.8p17;
    return (value + shift) - shift;
}

// The value of a component for a row that has a value on every axis.
inline double turned(const Rotation& rotation, const Component& component, const double* row) {
    const std::uint32_t* axes = rotation.axes.data() + component.first;
    const double* coefficients = rotation.coefficients.data() + component.coefficients;
    double sum = 0;
    for (std::uint32_t i = 0; i < component.size; ++i) sum += coefficients[i] * row[axes[i]];
    return on_grid(sum);
}

// The same for all rows of a table, in blocks. Missing values are filled.
void turn_table(const Rotation& rotation, const Component& component, const AxisTable& table, std::span<double> out);

struct RotationParameters {
    std::uint32_t min_group = 3;
    std::uint32_t max_group = 3;
    double remove_proportion = 0.5;
    bool weights_repeat =
        true;  // a row of weight 2 equals two rows; otherwise its weight is applied once if it is drawn
};

// The mean of the known values of each axis. weights: by row, or empty for 1.
std::vector<double> mean_axes(const AxisTable& table, std::span<const std::uint32_t> weights);

// weights: by row, 0 for rows that the tree does not use; or empty for 1.
Rotation draw_rotation(const AxisTable& table, std::span<const std::uint32_t> weights, std::vector<double> fill,
                       const RotationParameters& parameters, std::uint64_t key, const Stop& stop = {});

}  // namespace committee
