// What forests and bags of trees take from Python, checked, and what they give back: how rows are drawn, which columns
// a tree sees, the out-of-bag decision.
#pragma once
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <utility>
#include <vector>

#include "out_of_bag.h"
#include "python_arrays.h"
#include "sampling.h"

namespace committee {

// A drawing, and the arrays that it looks at.
class HeldDrawing {
  public:
    // given: units, ends, n_draws, weights or None, groups or None, replaces, keeps_weights.
    HeldDrawing(const nb::object& given, std::size_t n_rows) {
        using Optional = std::optional<Vector<std::uint32_t>>;
        std::tie(units_, ends_, n_draws_, weights_, groups_, drawing_.replaces, drawing_.keeps_weights) =
            nb::cast<std::tuple<Vector<std::uint32_t>, Vector<std::uint64_t>, Vector<std::uint64_t>, Optional, Optional,
                                bool, bool>>(given);
        drawing_.units = as_span(units_);
        drawing_.ends = as_span(ends_);
        drawing_.n_draws = as_span(n_draws_);
        if (weights_) drawing_.weights = as_span(*weights_);
        if (groups_) drawing_.groups = as_span(*groups_);
        if (!is_sound(n_rows)) throw std::invalid_argument("The drawing is not one of this table's rows.");
    }

    const Drawing& drawing() const { return drawing_; }

  private:
    bool is_sound(std::size_t n_rows) const {
        const std::size_t n_units = drawing_.units.size();
        if (drawing_.ends.size() != drawing_.n_draws.size() || (weights_ && drawing_.weights.size() != n_units) ||
            (groups_ && (drawing_.groups.size() != n_rows || n_rows == 0))) {
            return false;
        }
        const std::size_t below = groups_ ? std::ranges::max(drawing_.groups) + std::size_t{1} : n_rows;
        if (below > n_rows) return false;
        if (std::ranges::any_of(drawing_.units, [=](std::uint32_t unit) { return unit >= below; })) return false;
        // A stratum that something is drawn from has units, and weights above 0.
        std::uint64_t begin = 0, total = 0;
        for (std::size_t i = 0; i < drawing_.ends.size(); ++i) {
            const std::uint64_t end = drawing_.ends[i];
            if (end < begin || end > n_units || (end == begin && drawing_.n_draws[i] > 0)) return false;
            if (drawing_.n_draws[i] > most_draws || (total += drawing_.n_draws[i]) > most_draws) return false;
            begin = end;
        }
        return begin == n_units && std::ranges::find(drawing_.weights, 0U) == drawing_.weights.end();
    }

    // A count has 32 bits, and the weights of a tree's rows have a sum below 2^31.
    static constexpr std::uint64_t most_draws = (std::uint64_t{1} << 31) - 1;

    Vector<std::uint32_t> units_;
    Vector<std::uint64_t> ends_, n_draws_;
    std::optional<Vector<std::uint32_t>> weights_, groups_;
    Drawing drawing_;
};

inline void check_columns(const std::vector<std::vector<std::uint32_t>>& columns, std::size_t n_trees,
                          std::size_t n_columns) {
    if (columns.empty()) return;
    if (columns.size() != n_trees) throw std::invalid_argument("Every tree needs columns of its own.");
    for (const auto& seen : columns) {
        if (seen.empty() || std::ranges::max(seen) >= n_columns) {
            throw std::invalid_argument("The columns of a tree are none of the table.");
        }
    }
}

inline void check_class_weights(const std::vector<double>& class_weights, bool balance_bags, std::size_t n_classes) {
    if ((!class_weights.empty() && class_weights.size() != n_classes) || (balance_bags && n_classes == 0)) {
        throw std::invalid_argument("Every class needs a weight, and only classes have one.");
    }
}

// Sums, counts and curve of the trees that are there; empty if there are none.
inline OutOfBag read_out_of_bag(const nb::object& before, std::size_t n_rows, std::size_t n_outputs) {
    if (before.is_none()) return {};
    const auto [sums, counts, curve] =
        nb::cast<std::tuple<Vector<double>, Vector<std::uint32_t>, Vector<double>>>(before);
    if (sums.size() != n_rows * n_outputs || counts.size() != n_rows) {
        throw std::invalid_argument("The out-of-bag votes are those of other rows.");
    }
    const auto copied = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
    return {copied(sums), copied(counts), copied(curve)};
}

inline void put_out_of_bag(nb::dict& result, OutOfBag found, bool is_wanted, std::size_t n_outputs) {
    const std::size_t n_rows = found.counts.size();
    result["out_of_bag_sums"] = is_wanted ? to_numpy(std::move(found.sums), {n_rows, n_outputs}) : nb::none();
    result["out_of_bag_counts"] = to_numpy(std::move(found.counts));
    result["out_of_bag_curve"] = to_numpy(std::move(found.curve));
}

}  // namespace committee
