// Checks the arguments of fit and predict: directions, targets, and the columns of a forest.
#pragma once
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "growing/row_sampling.h"
#include "growing/tree_growth.h"
#include "prediction/prediction.h"
#include "python/arguments/arrays.h"
#include "tree/node_statistics.h"

namespace committee {

inline void check_directions(const GrowParameters& grow, std::size_t n_columns) {
    if (!grow.monotonic.empty() && grow.monotonic.size() != n_columns) {
        throw std::invalid_argument("There must be one monotonic direction per column, or none.");
    }
}

// y: labels below n_classes, or doubles if n_classes is 0.
inline Target read_target(const AnyArray& y, std::uint32_t n_classes, std::span<const std::uint32_t> weights,
                          std::uint64_t total_weight, bool is_poisson) {
    const std::size_t n_rows = y.shape(0);
    if (n_classes == 0) {
        if (element_type(y.dtype()) != ElementType::f64 || y.stride(0) != 1) {
            throw std::invalid_argument("The target must be a contiguous vector of doubles.");
        }
        return fixed_target({static_cast<const double*>(y.data()), n_rows}, weights, total_weight, is_poisson);
    }
    if (element_type(y.dtype()) != ElementType::i32) throw std::invalid_argument("Labels must be 32-bit integers.");
    Target target;
    target.n_classes = n_classes;
    target.labels.resize(n_rows);
    const auto* labels = static_cast<const std::int32_t*>(y.data());
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::int32_t label = labels[static_cast<std::ptrdiff_t>(i) * y.stride(0)];
        if (label < 0 || static_cast<std::uint32_t>(label) >= n_classes) {
            throw std::invalid_argument("A label is out of range.");
        }
        target.labels[i] = static_cast<std::uint32_t>(label);
    }
    return target;
}

// Views of a model's n_columns columns. is_category(j) returns whether column j has category codes.
template <class IsCategory>
std::vector<ColumnView> typed_views(const std::vector<AnyArray>& columns, std::size_t n_rows, std::size_t n_columns,
                                    IsCategory is_category) {
    auto views = column_views(columns, n_rows);
    if (views.size() != n_columns) throw std::invalid_argument("The number of columns must be that of the forest.");
    for (std::size_t j = 0; j < views.size(); ++j) {
        if (is_category(j) && views[j].type != ElementType::i32) {
            throw std::invalid_argument("Categories must be 32-bit codes.");
        }
    }
    return views;
}

// The same for a matrix, in which all columns must be numeric.
template <class IsCategory>
std::vector<ColumnView> typed_views(const AnyArray& matrix, std::size_t n_columns, IsCategory is_category) {
    if (matrix.ndim() != 2 || matrix.shape(1) != n_columns) {
        throw std::invalid_argument("The matrix must have " + std::to_string(n_columns) + " columns.");
    }
    for (std::size_t j = 0; j < n_columns; ++j) {
        if (is_category(j)) throw std::invalid_argument("A matrix cannot hold categories. Pass a list of columns.");
    }
    return matrix_columns(matrix);
}

inline std::vector<ColumnView> checked_views(const Forest& forest, const std::vector<AnyArray>& columns,
                                             std::size_t n_rows) {
    const auto& known = forest.binning.columns;
    return typed_views(columns, n_rows, known.size(), [&](std::size_t j) { return known[j].is_category; });
}

// Throws std::invalid_argument unless [begin, end) is a range of the model's trees. The range may be empty.
template <class Model>
void check_range(const Model& forest, std::size_t begin, std::size_t end) {
    if (begin <= end && end <= forest.trees.size()) return;
    throw std::invalid_argument("Trees [" + std::to_string(begin) + ", " + std::to_string(end) +
                                ") are not among the " + std::to_string(forest.trees.size()) + " of the forest.");
}

// Throws std::invalid_argument unless the model has this tree.
template <class Model>
void check_tree(const Model& forest, std::size_t tree) {
    if (tree >= forest.trees.size()) throw std::invalid_argument("There is no tree " + std::to_string(tree) + ".");
}

}  // namespace committee
