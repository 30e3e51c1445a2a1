// What rules points out before they are measured: lower bounds of squared distances, in single precision, for sixteen
// points or boxes at a time. A bound may round as it likes, as its users leave room for that; so this file alone is
// compiled with fused multiplications (CMakeLists.txt).
#pragma once
#include <cstddef>
#include <cstdint>

namespace committee {

// Sixteen of a kind lie side by side: eight columns of them make a chunk, the columns one after the other.
constexpr std::size_t n_lanes = 16;
constexpr std::size_t chunk_columns = 8;
constexpr std::size_t chunk_size = n_lanes * chunk_columns;

// Up to sixteen points that neighbours are looked for at the same time. A set of them is a number, a bit for each.
struct AskedBlock {
    const float* points;  // by row, padded with zeros to whole chunks
    std::size_t n_columns;
    const float* limits;  // what is farther from each is of no use
};

// Sets within[i] for every asked point of `of`: a bit for each of sixteen points that may be within its limit. Their
// chunks start at `points`, `stride` floats apart; the last are not looked at where the first have ruled all out.
void points_within(const float* points, std::size_t n_chunks, std::size_t stride, const AskedBlock& asked,
                   std::uint32_t of, std::uint16_t* within);

// Sets gaps[16 i + j] for every asked point i of `of` and all boxes j: not above the squared distance from the point
// to anything in the box. A chunk of lower ends and a chunk of upper ends follow each other from `boxes` on.
void gaps_to_boxes(const float* boxes, std::size_t n_chunks, const AskedBlock& asked, std::uint32_t of, float* gaps);

}  // namespace committee
