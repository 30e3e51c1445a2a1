// Quantile regression forests (Meinshausen 2006). A row shares its leaves with training rows. Their weights are the
// mean over the trees of (weight in the leaf / total weight of the leaf). The quantile q is the smallest target at
// which the cumulative weight, in order of target, reaches q.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "prediction/prediction.h"
#include "table/table.h"

namespace committee {

// Like LeafRows (forest/forest.h), in the caller's memory: leaf value i holds rows[offsets[i]] .. rows[offsets[i + 1]],
// with weights.
struct LeafRowsView {
    std::span<const std::uint32_t> offsets;
    std::span<const std::uint32_t> rows;
    std::span<const std::uint32_t> weights;
};

// Throws std::invalid_argument unless the forest is a regression forest, every leaf holds training rows of positive
// weight, and all targets are finite.
void check_leaf_rows(const Forest& forest, std::span<const LeafRowsView> leaf_rows, std::span<const double> y);

// out: (n_rows, n_quantiles). The leaf rows must have passed check_leaf_rows(), and the quantiles must be in [0, 1].
// Throws Stopped if a poll requests it.
void predict_quantiles(const Forest& forest, std::span<const LeafRowsView> leaf_rows, std::span<const double> y,
                       std::span<const ColumnView> columns, std::size_t n_rows, std::span<const double> quantiles,
                       int n_threads, double* out, const Stop& stop = {});

}  // namespace committee
