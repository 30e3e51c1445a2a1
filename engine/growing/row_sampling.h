// Which rows a tree sees, and how often.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "growing/tree_growth.h"
#include "table/table.h"
#include "threads/stop.h"

namespace committee {

// Fixed-point weights: the weights themselves where they are integers of a small enough sum, else scaled to a sum of
// about 2^30.
std::vector<std::uint32_t> fixed_weights(std::span<const double> weights);

// Fixed-point targets around their weighted mean (around 0 for Poisson, whose score needs the sums themselves).
// total_weight: the most that the weights of a tree's rows can sum to.
Target fixed_target(std::span<const double> y, std::span<const std::uint32_t> weights, std::uint64_t total_weight,
                    bool is_poisson);

// What tells rows of different content apart. targets: a number per row that counts as content, or none.
std::vector<std::uint64_t> hash_rows(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                     const Stop& stop = {});

// A number per row, one for each different target.
std::vector<std::uint64_t> contents_of(const Target& target);

// The rows of a table, by what they contain and not by where they stand; equal ones by weight, if there are weights.
// What is drawn along this order is the same for any order of the table. targets: a number per row, one for each
// different target.
std::vector<std::uint32_t> order_by_content(const Table& table, std::span<const std::uint64_t> targets, int n_threads,
                                            const Stop& stop = {}, std::span<const std::uint32_t> weights = {});

// The rows by their hashes, where those are the same by weight, and else by where they stand.
std::vector<std::uint32_t> order_by_hash(std::span<const std::uint64_t> hashes, int n_threads, const Stop& stop = {},
                                         std::span<const std::uint32_t> weights = {});

// What classes weigh that are to weigh the same: inversely to how many rows each has, whatever these weigh, and 1 in
// the mean over the rows. A class without any weighs nothing.
std::vector<double> balancing_factors(std::span<const double> n_rows_by_class);

// How the rows of members are drawn. A unit is a row, or a group of rows that stay together. Units lie stratum after
// stratum, in the order that they are drawn along.
struct Drawing {
    std::span<const std::uint32_t> units;
    std::span<const std::uint64_t> ends;     // of each stratum in units
    std::span<const std::uint64_t> n_draws;  // from each stratum
    std::span<const std::uint32_t> weights;  // of units, which are drawn in proportion to them; empty: all alike
    std::span<const std::uint32_t> groups;   // of each row; empty if units are rows
    bool replaces = true;                    // else no unit is drawn more often than it stands there
    bool keeps_weights = false;              // what is drawn weighs what its row does, and else one
};

// Adds to counts[row] how often each row was drawn. Along an order of the rows by what they contain, neither the order
// of the table nor whether a row has weight 2 or stands there twice changes what is drawn.
void draw_bag(const Drawing& drawing, std::uint64_t key, std::span<std::uint32_t> counts, const Stop& stop = {});

}  // namespace committee
