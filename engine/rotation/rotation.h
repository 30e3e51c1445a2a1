// The rotation of one tree (Rodriguez, Kuncheva and Alonso 2006). The axes of a table are parted at random into groups,
// and each group is turned to the principal axes of a sample of its own: all rows of a few classes, without some of
// them. Nothing is left out by it; a sample without variance leaves its group as it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rotation/axes.h"
#include "threads/stop.h"

namespace committee {

// What a tree asks about in place of an axis: a sum of the axes of a group.
struct Component {
    std::uint32_t first = 0;  // of the group, in Rotation::axes
    std::uint32_t size = 0;
    std::size_t coefficients = 0;  // where they begin
};

struct Rotation {
    std::vector<std::uint32_t> axes;  // all of them, those of a group side by side
    std::vector<std::uint32_t> group_sizes;
    std::vector<double> coefficients;  // per component as many as its group has axes
    std::vector<double> fill;          // per axis: what stands where a value is missing

    // As many as axes.
    std::vector<Component> components() const;
};

// Rounds to multiples of 2^-35, so that rounding errors do not tell rows apart which are alike in a component.
inline double on_grid(double value) {
    constexpr double shift = 0x1.8p17;
    return (value + shift) - shift;
}

// The value of a component for a row, which has a value on every axis.
inline double turned(const Rotation& rotation, const Component& component, const double* row) {
    const std::uint32_t* axes = rotation.axes.data() + component.first;
    const double* coefficients = rotation.coefficients.data() + component.coefficients;
    double sum = 0;
    for (std::uint32_t i = 0; i < component.size; ++i) sum += coefficients[i] * row[axes[i]];
    return on_grid(sum);
}

// The same for all rows of a table, a block at a time. Missing values are filled.
void turn_table(const Rotation& rotation, const Component& component, const AxisTable& table, std::span<double> out);

struct RotationParameters {
    std::uint32_t min_group = 3;
    std::uint32_t max_group = 3;
    double remove_proportion = 0.5;
    bool weights_repeat = true;  // a row of weight 2 is the row twice; else it counts double if it is drawn
};

// The means of the axes over rows of the table: of those that are known. weights: per row, or empty (all one).
std::vector<double> mean_axes(const AxisTable& table, std::span<const std::uint32_t> weights);

// weights: of the rows that the tree sees, 0 for others; or empty (all one).
Rotation draw_rotation(const AxisTable& table, std::span<const std::uint32_t> weights, std::vector<double> fill,
                       const RotationParameters& parameters, std::uint64_t key, const Stop& stop = {});

}  // namespace committee
