// Converts named arrays of Python to vectors, and the columns of a forest or a table to named arrays.
#pragma once
#include <string>
#include <utility>

#include "python/arguments/arrays.h"
#include "table/state.h"
#include "tree/leaf_weight_arrays.h"

namespace committee {

// Arrays are not converted: a wrong type means that the data is damaged, just like a wrong length.
template <class Element>
std::vector<Element> read_vector(const nb::dict& arrays, const char* name, const char* thing) {
    Vector<Element> array;
    if (!arrays.contains(name) || !nb::try_cast(arrays[name], array, false)) {
        throw std::invalid_argument(std::string("This is not ") + thing + ": '" + name +
                                    "' is missing or is not a contiguous vector of its type.");
    }
    return {array.data(), array.data() + array.size()};
}

template <class Element>
Element read_scalar(const nb::dict& arrays, const char* name, const char* thing) {
    const auto values = read_vector<Element>(arrays, name, thing);
    if (values.size() != 1) {
        throw std::invalid_argument(std::string("This is not ") + thing + ": '" + name + "' must hold one number.");
    }
    return values[0];
}

inline void put_leaf_weights(nb::dict& result, LeafWeightArrays weights) {
    result["leaf_weights"] = to_numpy(std::move(weights.codes));
    result["leaf_weight_offsets"] = to_numpy(std::move(weights.offsets));
    result["weight_units"] = to_numpy(std::move(weights.units));
}

// Models from before trees had weights do not have these arrays.
inline LeafWeightArrays read_leaf_weights(const nb::dict& from, const char* thing) {
    if (!from.contains("leaf_weights") && !from.contains("leaf_weight_offsets") && !from.contains("weight_units")) {
        return {};
    }
    return {read_vector<std::uint8_t>(from, "leaf_weights", thing),
            read_vector<std::uint64_t>(from, "leaf_weight_offsets", thing),
            read_vector<double>(from, "weight_units", thing)};
}

inline void put_columns(nb::dict& result, ColumnArrays columns) {
    result["cuts"] = to_numpy(std::move(columns.cuts));
    result["cut_offsets"] = to_numpy(std::move(columns.cut_offsets));
    result["n_bins"] = to_numpy(std::move(columns.n_bins));
    result["is_category"] = to_numpy(std::move(columns.is_category));
    result["is_used"] = to_numpy(std::move(columns.is_used));
    result["lowest"] = to_numpy(std::move(columns.lowest));
    result["highest"] = to_numpy(std::move(columns.highest));
}

inline ColumnArrays read_columns(const nb::dict& from, const char* thing) {
    ColumnArrays columns;
    columns.cuts = read_vector<double>(from, "cuts", thing);
    columns.cut_offsets = read_vector<std::uint64_t>(from, "cut_offsets", thing);
    columns.n_bins = read_vector<std::uint32_t>(from, "n_bins", thing);
    columns.is_category = read_vector<std::uint8_t>(from, "is_category", thing);
    columns.is_used = read_vector<std::uint8_t>(from, "is_used", thing);
    columns.lowest = read_vector<double>(from, "lowest", thing);
    columns.highest = read_vector<double>(from, "highest", thing);
    return columns;
}

}  // namespace committee
