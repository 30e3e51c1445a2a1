// A first look at points in bytes, on machines that multiply bytes four at a time (AVX-512 VNNI; others do without):
// lower bounds of distances to sixteen points from thirty-two columns in eight products. What is too far by more than
// the rounding to bytes is ruled out; the rest is looked at in single precision (neighbours_filter.h).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "neighbours_filter.h"

namespace committee {

constexpr std::size_t group_columns = 4;
constexpr std::size_t most_byte_columns = 32;

// Four columns of sixteen points.
struct alignas(64) ByteGroup {
    std::array<std::array<std::int8_t, group_columns>, n_lanes> points;
};

struct alignas(64) ByteStarts {
    std::array<std::int32_t, n_lanes> of_lanes;
};

// Points that neighbours are looked for at the same time.
struct AskedBytes {
    std::array<std::array<std::uint8_t, most_byte_columns>, most_asked> points;
    std::array<std::int32_t, most_asked> least;  // a product below it rules out
    std::array<double, most_asked> roundings;
    std::array<double, most_asked> squares;  // of the rounded points
};

using ByteLanes = std::array<std::uint16_t, most_asked>;

class ByteLook {
  public:
    // Points by row, all finite, and the row of each place.
    ByteLook(std::span<const float> points, std::size_t n_columns, std::span<const std::uint32_t> order);

    // Whether the machine is one of those; if not, nothing else here may be asked.
    bool is_possible() const { return !groups_.empty(); }

    void set_point(AskedBytes& asked, std::size_t i, const float* point) const;
    // What is farther from the asked point than the root of the limit is of no use.
    void set_limit(AskedBytes& asked, std::size_t i, float limit) const;

    // Whether there is nothing in the other columns of points.
    bool sees_all() const { return n_used_ == n_columns_; }

    // Those of `of` that a point of the panel may be within the limit of; lanes[i] is the set of such points for asked
    // point i of those.
    std::uint32_t points_within(std::size_t panel, const AskedBytes& asked, std::uint32_t of, ByteLanes& lanes) const;

  private:
    std::size_t n_columns_, n_used_, n_groups_;
    double step_ = 1;  // what 1 is in bytes
    float steps_of_one_ = 1;
    double rounding_ = 0;  // the farthest that a known point is from its rounding, but for those that are always left
    std::vector<ByteGroup> groups_;  // of the first panel, then of the second
    std::vector<ByteStarts> starts_;
};

}  // namespace committee
