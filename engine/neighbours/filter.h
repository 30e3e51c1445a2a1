// What rules points out before they are measured: lower bounds of squared distances, in single precision, for sixteen
// points or boxes at a time. A bound may round as it likes, as its users leave room for that; so this file alone is
// compiled with fused multiplications (CMakeLists.txt).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace committee {

// Sixteen points lie side by side: eight columns of them make a chunk, the columns one after the other.
constexpr std::size_t n_lanes = 16;
constexpr std::size_t chunk_columns = 8;

struct alignas(64) Chunk {
    std::array<std::array<float, n_lanes>, chunk_columns> columns;
};

// Points that neighbours are looked for at the same time. A set of them is a number, a bit for each.
constexpr std::size_t most_asked = 32;
struct AskedBlock {
    const float* points;   // by row, padded with zeros to whole chunks
    const float* columns;  // the same by column, most_asked to a column
    std::size_t n_columns;
    const float* limits;  // what is farther from each is of no use
};

// Sets within[lane] for sixteen points: those of `of` that the point may be within the limit of. The chunks of the
// sixteen start at `points`, `stride` apart. Whether there is anybody.
bool points_within(const Chunk* points, std::size_t n_chunks, std::size_t stride, const AskedBlock& asked,
                   std::uint32_t of, std::uint32_t* within);

// Sets gaps[most_asked box + i] for some boxes and all asked points i: not above the squared distance from the point to
// anything in the box; and totals[box], their sum. The lower ends of the columns of a box are followed by the upper
// ends, and those by the next box.
void gaps_to_boxes(const float* boxes, std::size_t n_boxes, std::size_t n_columns, const AskedBlock& asked, float* gaps,
                   float* totals);

// The asked points whose limits the gaps are not above.
std::uint32_t points_in_reach(const float* gaps, const float* limits);

}  // namespace committee
