// The out-of-bag decision: for each row, the votes of the trees that were not trained on it (Breiman 2001).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "growing/tree_growth.h"
#include "prediction/prediction.h"

namespace committee {

// Sums over the trees that were not trained on a row.
struct OutOfBag {
    std::vector<double> sums;           // (n_rows, n_outputs)
    std::vector<std::uint32_t> counts;  // the number of trees that voted
    std::vector<double> curve;          // error after every tree: error rate or mean squared error
};

// The loss of a decision for a row: 0 or 1 for a class, the squared error for a number.
double row_loss(const Target& target, std::uint32_t row, const double* decision);

// Sums the votes of one tree after another. The target must outlive the tally.
class OutOfBagTally {
  public:
    // before: the sums of earlier trees, or empty. does_count: whether each row counts in the error; empty if all do.
    OutOfBagTally(const Target& target, std::size_t n_rows, Rule rule, OutOfBag before, std::vector<bool> does_count);

    // Adds the votes of a tree on some rows: value_of(i) points to the tree's vote for rows[i].
    template <class ValueOf>
    void add(std::span<const std::uint32_t> rows, ValueOf value_of) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            add_vote(value_of(i), target_.n_outputs(), rule_, found_.sums.data() + rows[i] * target_.n_outputs());
            ++found_.counts[rows[i]];
        }
        add_to_curve();
    }

    // Whether the curve is flat: the mean error over the last `window` trees is not at least 0.5 % lower than over the
    // `window` trees before. Also true if the error is undefined because every row is in every bag.
    bool is_flat(std::size_t window) const;

    OutOfBag& found() { return found_; }

  private:
    bool counts_in_error(std::uint32_t row) const { return does_count_.empty() || does_count_[row]; }
    double loss_of(std::uint32_t row) const;
    void add_to_curve();

    const Target& target_;
    Rule rule_;
    OutOfBag found_;
    std::vector<bool> does_count_;
};

}  // namespace committee
