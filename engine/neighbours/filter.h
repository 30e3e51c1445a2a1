// Lower bounds of squared distances in single precision, for sixteen points or boxes at a time. They rule points out
// before exact distances are computed. The callers allow for rounding errors, so only this file is compiled with fused
// multiply-add (CMakeLists.txt).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>

namespace committee {

// Sixteen points, one per lane. A chunk holds eight columns of them, one column after another.
constexpr std::size_t n_lanes = 16;
constexpr std::size_t chunk_columns = 8;

struct alignas(64) Chunk {
    std::array<std::array<float, n_lanes>, chunk_columns> columns;
};

// The number of queries in a block. A set of queries is an integer with one bit per query.
constexpr std::size_t most_queries = 32;
struct QueryBlock {
    const float* points;   // row-major, padded with zeros to whole chunks
    const float* columns;  // the same by column, most_queries values per column
    std::size_t n_columns;
    const float* limits;  // squared distances beyond which points are ruled out, by query
};

// Sets within[lane] for sixteen points to the set of queries, among `of`, whose limit the point may be within. The
// chunks of the points start at `points`, `stride` apart. Returns whether any set is not empty.
bool points_within(const Chunk* points, std::size_t n_chunks, std::size_t stride, const QueryBlock& queries,
                   std::uint32_t of, std::uint32_t* within);

// For each box and each query i, sets gaps[most_queries * box + i] to a lower bound of the squared distance from the
// query to any point in the box, and totals[box] to their sum. A box is stored as the lower ends of all columns,
// followed by the upper ends.
void gaps_to_boxes(const float* boxes, std::size_t n_boxes, std::size_t n_columns, const QueryBlock& queries,
                   float* gaps, float* totals);

// The set of queries whose gap does not exceed their limit.
std::uint32_t points_in_reach(const float* gaps, const float* limits);

}  // namespace committee
