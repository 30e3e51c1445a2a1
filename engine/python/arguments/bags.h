// Checks the parameters that forests and bagging share, and converts their results: the drawing of rows, the columns of
// each tree, and the out-of-bag decision.
#pragma once
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "forest/out_of_bag.h"
#include "growing/row_sampling.h"
#include "python/arguments/arrays.h"

namespace committee {

// A drawing of the rows of a table, with the arrays that it refers to.
class HeldDrawing {
  public:
    using Optional = std::optional<Vector<std::uint32_t>>;

    HeldDrawing(std::size_t n_rows, Vector<std::uint32_t> units, Vector<std::uint64_t> ends,
                Vector<std::uint64_t> n_draws, Optional weights, Optional groups, bool replaces, bool keeps_weights)
        : n_rows_(n_rows),
          units_(std::move(units)),
          ends_(std::move(ends)),
          n_draws_(std::move(n_draws)),
          weights_(std::move(weights)),
          groups_(std::move(groups)) {
        drawing_ = {.units = as_span(units_),
                    .ends = as_span(ends_),
                    .n_draws = as_span(n_draws_),
                    .replaces = replaces,
                    .keeps_weights = keeps_weights};
        if (weights_) drawing_.weights = as_span(*weights_);
        if (groups_) drawing_.groups = as_span(*groups_);
        if (!is_valid()) throw std::invalid_argument("The drawing does not fit the rows of the table.");
    }

    std::size_t n_rows() const { return n_rows_; }
    const Drawing& drawing() const { return drawing_; }

  private:
    bool is_valid() const {
        const std::size_t n_units = drawing_.units.size();
        if (drawing_.ends.size() != drawing_.n_draws.size() || (weights_ && drawing_.weights.size() != n_units) ||
            (groups_ && (drawing_.groups.size() != n_rows_ || n_rows_ == 0))) {
            return false;
        }
        const std::size_t below = groups_ ? std::ranges::max(drawing_.groups) + std::size_t{1} : n_rows_;
        if (below > n_rows_) return false;
        if (std::ranges::any_of(drawing_.units, [=](std::uint32_t unit) { return unit >= below; })) return false;
        // A stratum from which units are drawn must have units, and positive weights.
        std::uint64_t begin = 0, total = 0;
        for (std::size_t i = 0; i < drawing_.ends.size(); ++i) {
            const std::uint64_t end = drawing_.ends[i];
            if (end < begin || end > n_units || (end == begin && drawing_.n_draws[i] > 0)) return false;
            if (drawing_.n_draws[i] > most_draws || (total += drawing_.n_draws[i]) > most_draws) return false;
            begin = end;
        }
        return begin == n_units && std::ranges::find(drawing_.weights, 0U) == drawing_.weights.end();
    }

    // Counts have 32 bits, and the weights of a tree's rows must sum to less than 2^31.
    static constexpr std::uint64_t most_draws = (std::uint64_t{1} << 31) - 1;

    std::size_t n_rows_;
    Vector<std::uint32_t> units_;
    Vector<std::uint64_t> ends_, n_draws_;
    Optional weights_, groups_;
    Drawing drawing_;
};

inline void check_columns(const std::vector<std::vector<std::uint32_t>>& columns, std::size_t n_trees,
                          std::size_t n_columns) {
    if (columns.empty()) return;
    if (columns.size() != n_trees) throw std::invalid_argument("There must be one list of columns per tree.");
    for (const auto& seen : columns) {
        if (seen.empty() || std::ranges::max(seen) >= n_columns) {
            throw std::invalid_argument("The columns of a tree must be columns of the table.");
        }
    }
}

inline void check_class_weights(const std::vector<double>& class_weights, bool balance_bags, std::size_t n_classes) {
    if ((!class_weights.empty() && class_weights.size() != n_classes) || (balance_bags && n_classes == 0)) {
        throw std::invalid_argument("There must be one weight per class, and only classification has class weights.");
    }
}

inline void check_drawing(const HeldDrawing& drawing, std::size_t n_rows) {
    if (drawing.n_rows() != n_rows) throw std::invalid_argument("The drawing belongs to another table.");
}

// The out-of-bag decision for Python: arrays of float64, uint32 and float64.
struct OutOfBagArrays {
    nb::object sums, counts, curve;
};

// The votes of earlier trees; empty if there are none.
inline OutOfBag read_out_of_bag(const OutOfBagArrays* before, std::size_t n_rows, std::size_t n_outputs) {
    if (before == nullptr) return {};
    const auto sums = nb::cast<Matrix<double>>(before->sums);
    const auto counts = nb::cast<Vector<std::uint32_t>>(before->counts);
    const auto curve = nb::cast<Vector<double>>(before->curve);
    if (sums.shape(0) != n_rows || sums.shape(1) != n_outputs || counts.size() != n_rows) {
        throw std::invalid_argument("The out-of-bag votes do not fit the rows of the table.");
    }
    const auto copied = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
    return {copied(sums), copied(counts), copied(curve)};
}

// None unless is_wanted.
inline nb::object out_of_bag_arrays(OutOfBag found, bool is_wanted, std::size_t n_outputs) {
    if (!is_wanted) return nb::none();
    const std::size_t n_rows = found.counts.size();
    return nb::cast(OutOfBagArrays{to_numpy(std::move(found.sums), {n_rows, n_outputs}),
                                   to_numpy(std::move(found.counts)), to_numpy(std::move(found.curve))});
}

}  // namespace committee
