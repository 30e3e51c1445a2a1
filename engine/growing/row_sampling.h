// Draws the rows of a tree, with repetitions, and converts weights and targets to fixed point.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "growing/tree_growth.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// Fixed-point weights. Integers with a sum below 2^31 are kept; other weights are scaled to a sum of about 2^30.
std::vector<std::uint32_t> fixed_weights(std::span<const double> weights);

// The weight of a row whose fixed-point weight is 1: a power of two.
double unit_of(std::span<const double> weights);

// Fixed-point targets, relative to their weighted mean (to 0 for Poisson, whose score needs the sums themselves).
// total_weight: the largest possible sum of the weights of a tree's rows.
Target fixed_target(std::span<const double> y, std::span<const std::uint32_t> weights, std::uint64_t total_weight,
                    bool is_poisson);

// Hashes the contents of the rows. targets: a number per row that belongs to its content, or empty.
std::vector<std::uint64_t> hash_rows(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                     const Stop& stop = {});

// A number per row that identifies its target.
std::vector<std::uint64_t> contents_of(const Target& target);

// The rows of a table sorted by content, and rows of equal content by weight, if weights are given. A sample drawn
// along this order does not depend on the order of the table. targets: a number per row that identifies its target.
std::vector<std::uint32_t> order_by_content(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                            const Stop& stop = {}, std::span<const std::uint32_t> weights = {});

// The rows sorted by hash, then by weight, then by position.
std::vector<std::uint32_t> order_by_hash(std::span<const std::uint64_t> hashes, int n_threads, const Stop& stop = {},
                                         std::span<const std::uint32_t> weights = {});

// Class weights that balance the classes: inversely proportional to the number of rows of each class, with a mean of 1
// over the rows. A class without rows has weight 0.
std::vector<double> balancing_factors(std::span<const double> n_rows_by_class);

// How the rows of members are drawn. A unit is a row, or a group of rows that stay together. The units of each stratum
// follow one another, in the order along which they are drawn.
struct Drawing {
    std::span<const std::uint32_t> units;
    std::span<const std::uint64_t> ends;     // of each stratum, in units
    std::span<const std::uint64_t> n_draws;  // from each stratum
    std::span<const std::uint32_t> weights;  // of units, the probabilities being proportional; empty: all equal
    std::span<const std::uint32_t> groups;   // of each row; empty if units are rows
    bool replaces = true;                    // otherwise every unit is drawn at most once
    bool keeps_weights = false;              // a drawn row keeps its weight; otherwise it weighs 1
};

// Adds to counts[row] how often each row is drawn. If the units are sorted by content, the sample depends neither on
// the order of the table nor on whether a row occurs twice or has weight 2.
void draw_bag(const Drawing& drawing, std::uint64_t key, std::span<std::uint32_t> counts, const Stop& stop = {});

}  // namespace committee
