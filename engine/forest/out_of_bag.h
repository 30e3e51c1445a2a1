// The out-of-bag decision: for each row, what the trees say that have not seen it (Breiman 2001).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "growing/tree_growth.h"
#include "prediction/prediction.h"

namespace committee {

// Decisions of the trees that did not see a row.
struct OutOfBag {
    std::vector<double> sums;           // (n_rows, n_outputs)
    std::vector<std::uint32_t> counts;  // trees that voted for the row
    std::vector<double> curve;          // error after every tree: misclassified share or mean squared error
};

// Misclassified or not, or the squared error, of a decision for a row.
double row_loss(const Target& target, std::uint32_t row, const double* decision);

// Sums the votes of one tree after another. The target must outlive it.
class OutOfBagTally {
  public:
    // before: of the trees that were there, or empty. does_count: whether each row counts in the error; empty: all do.
    OutOfBagTally(const Target& target, std::size_t n_rows, Rule rule, OutOfBag before, std::vector<bool> does_count);

    // Adds the votes of a tree on some rows: value_of(i) points to what it says of rows[i].
    template <class ValueOf>
    void add(std::span<const std::uint32_t> rows, ValueOf value_of) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            add_vote(value_of(i), target_.n_outputs(), rule_, found_.sums.data() + rows[i] * target_.n_outputs());
            ++found_.counts[rows[i]];
        }
        add_to_curve();
    }

    // Flat: the mean error over the last `window` trees is no longer half a percent below that of the as many before,
    // or there is none, because every row is in every bag.
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
