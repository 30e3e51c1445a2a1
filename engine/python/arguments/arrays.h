// Conversions between numpy and the engine: arrays become views, and vectors become arrays that own their memory.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "table/table.h"

namespace committee {

namespace nb = nanobind;

using AnyArray = nb::ndarray<nb::ro, nb::device::cpu>;
template <class Element>
using Vector = nb::ndarray<const Element, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class Element>
using Matrix = nb::ndarray<const Element, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Element>
std::span<const Element> as_span(const Vector<Element>& array) {
    return {array.data(), array.size()};
}

// Moves the vector to the heap. It lives as long as the array.
template <class Element>
nb::object to_numpy(std::vector<Element> values, std::initializer_list<std::size_t> shape) {
    auto owned = std::make_unique<std::vector<Element>>(std::move(values));
    Element* data = owned->data();
    nb::capsule owner(owned.get(), [](void* vector) noexcept { delete static_cast<std::vector<Element>*>(vector); });
    owned.release();
    return nb::cast(nb::ndarray<nb::numpy, Element>(data, shape.size(), shape.begin(), owner));
}

template <class Element>
nb::object to_numpy(std::vector<Element> values) {
    const std::size_t size = values.size();
    return to_numpy(std::move(values), {size});
}

inline ElementType element_type(nb::dlpack::dtype type) {
    using Code = nb::dlpack::dtype_code;
    const auto code = static_cast<Code>(type.code);
    if (code == Code::Float && type.bits == 64) return ElementType::f64;
    if (code == Code::Float && type.bits == 32) return ElementType::f32;
    if (code == Code::Int && type.bits == 64) return ElementType::i64;
    if (code == Code::Int && type.bits == 32) return ElementType::i32;
    if (code == Code::Int && type.bits == 16) return ElementType::i16;
    if (code == Code::Int && type.bits == 8) return ElementType::i8;
    if (code == Code::UInt && type.bits == 64) return ElementType::u64;
    if (code == Code::UInt && type.bits == 32) return ElementType::u32;
    if (code == Code::UInt && type.bits == 16) return ElementType::u16;
    if ((code == Code::UInt || code == Code::Bool) && type.bits == 8) return ElementType::u8;
    throw std::invalid_argument("A column must hold native floats of 32 or 64 bits, integers or booleans.");
}

// The columns of a table, passed as a list of vectors.
inline std::vector<ColumnView> column_views(const std::vector<AnyArray>& columns, std::size_t n_rows) {
    std::vector<ColumnView> views;
    views.reserve(columns.size());
    for (const AnyArray& column : columns) {
        if (column.ndim() != 1 || column.shape(0) != n_rows) {
            throw std::invalid_argument("Every column must be a vector of " + std::to_string(n_rows) + " rows.");
        }
        const auto stride = column.stride(0) * static_cast<std::int64_t>(column.itemsize());
        views.push_back({column.data(), static_cast<std::ptrdiff_t>(stride), element_type(column.dtype())});
    }
    return views;
}

// The columns of a matrix.
inline std::vector<ColumnView> matrix_columns(const AnyArray& matrix) {
    const ElementType type = element_type(matrix.dtype());
    const auto item = static_cast<std::ptrdiff_t>(matrix.itemsize());
    std::vector<ColumnView> views(matrix.shape(1));
    for (std::size_t j = 0; j < views.size(); ++j) {
        const char* data = static_cast<const char*>(matrix.data());
        views[j] = {data + static_cast<std::ptrdiff_t>(j) * matrix.stride(1) * item, matrix.stride(0) * item, type};
    }
    return views;
}

}  // namespace committee
