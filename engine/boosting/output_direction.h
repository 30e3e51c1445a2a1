// Trees with many outputs. The splits of a tree fit the gradients along one random direction in the space of the
// scores, so they cost no more than for one score. The leaves hold a Newton step for every score. This is SketchBoost
// (Iosipoi and Vakhrushev 2022) with sketches of size one, and with second derivatives.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boosting/objective.h"
#include "boosting/tree/gradient_words.h"
#include "boosting/tree/split_scan.h"
#include "threads/thread_team.h"

namespace committee {

// A random direction of length one, biased towards the directions in which the gradients vary most.
std::vector<double> draw_direction(const Gradients& gradients, std::size_t n_scores, std::uint64_t key,
                                   ThreadTeam& team);

// The first and second derivatives along a direction, and their totals.
GradientTotals project(const Gradients& gradients, std::span<const double> direction, ThreadTeam& team,
                       Gradients& along);

// Sums of words by leaf, then by score.
class LeafSums {
  public:
    LeafSums(const Gradients& gradients, std::span<const GradientTotals> totals, std::size_t n_leaves);

    void add(std::size_t leaf, std::span<const std::uint32_t> rows);
    void add(const LeafSums& others);

    // A Newton step for every leaf and score.
    std::vector<double> steps(double reg_lambda, double reg_alpha) const;

  private:
    const Gradients& gradients_;
    std::size_t n_rows_;
    std::vector<WordScale> scales_;  // by score
    std::vector<Word> sums_;
};

}  // namespace committee
