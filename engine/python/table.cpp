#include <nanobind/stl/optional.h>

#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "growing/row_sampling.h"
#include "python/arguments/arrays.h"
#include "python/arguments/named_arrays.h"
#include "python/arguments/stop.h"
#include "table/binning.h"
#include "table/encoding.h"
#include "table/fingerprint.h"
#include "tree/tree.h"

namespace committee {
namespace {

nb::dict state_of(const Table& table) {
    TableArrays arrays;
    {
        const nb::gil_scoped_release release;
        arrays = to_arrays(table);
    }
    nb::dict state;
    state["n_rows"] = nb::int_(arrays.n_rows);
    put_columns(state, std::move(arrays.columns));
    std::visit([&](auto& codes) { state["codes"] = to_numpy(std::move(codes)); }, arrays.codes);
    return state;
}

Table table_of(const nb::dict& state) {
    TableArrays arrays;
    if (!state.contains("n_rows") || !nb::try_cast(state["n_rows"], arrays.n_rows, false)) {
        throw std::invalid_argument("This is not a table: 'n_rows' is missing or is not a number.");
    }
    arrays.columns = read_columns(state, "a table");
    Vector<std::uint16_t> wide;
    if (state.contains("codes") && nb::try_cast(state["codes"], wide, false)) {
        arrays.codes = std::vector<std::uint16_t>(wide.data(), wide.data() + wide.size());
    } else {
        arrays.codes = read_vector<std::uint8_t>(state, "codes", "a table");
    }
    const nb::gil_scoped_release release;
    return from_arrays(std::move(arrays));
}

TableEncoding encoding_of(const Vector<double>& fills, const Vector<std::uint8_t>& kinds,
                          const Vector<std::int64_t>& columns, const Vector<double>& shifts,
                          const Vector<double>& scales) {
    const std::size_t n = kinds.size();
    bool fits = columns.size() == n && shifts.size() == n && scales.size() == n;
    TableEncoding encoding;
    for (const double fill : as_span(fills)) {
        fits &= std::isfinite(fill);
        encoding.fills.push_back(fill);
    }
    for (std::size_t j = 0; fits && j < n; ++j) {
        const std::int64_t column = columns.data()[j];
        fits = kinds.data()[j] <= static_cast<std::uint8_t>(Encoding::missing) && column >= 0 &&
               std::cmp_less(column, fills.size());
        encoding.outputs.push_back({static_cast<Encoding>(kinds.data()[j]), static_cast<std::size_t>(column),
                                    shifts.data()[j], scales.data()[j]});
    }
    if (!fits) throw std::invalid_argument("The columns of an encoding do not fit the table.");
    return encoding;
}

}  // namespace

void register_table(nb::module_& m) {
    nb::class_<Table>(m, "BinnedTable", "The codes of a table, computed once and shared by all models fitted on it.")
        .def_prop_ro("n_rows", &Table::n_rows)
        .def_prop_ro("n_columns", &Table::n_columns)
        .def_prop_ro("nbytes",
                     [](const Table& table) {
                         return std::visit(
                             [](const auto& codes) {
                                 return (codes.by_column.size() + codes.by_row.size()) * sizeof(codes.by_row[0]);
                             },
                             table.codes);
                     })
        .def_prop_ro(
            "has_missing",
            [](const Table& table) {
                return to_numpy(std::vector<std::uint8_t>(table.has_missing.begin(), table.has_missing.end()));
            },
            "1 for every column with a missing value.")
        .def("__getstate__", &state_of)
        .def("__setstate__", [](Table& table, const nb::dict& state) { std::construct_at(&table, table_of(state)); });

    m.def(
        "bin_table",
        [](const std::vector<AnyArray>& columns, Vector<std::uint32_t> n_categories, std::size_t n_rows,
           std::optional<Vector<std::uint32_t>> weights, std::uint32_t max_bins, int n_threads, bool keep_cuts) {
            const auto views = column_views(columns, n_rows);
            const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
            if (n_categories.size() != views.size() || (weights && fixed.size() != n_rows)) {
                throw std::invalid_argument("Columns, categories and weights do not fit each other.");
            }
            if (n_rows > max_rows) throw std::invalid_argument("A table may have at most 1,073,741,824 rows.");
            if (views.size() > max_columns) throw std::invalid_argument("A table may have at most 524,288 columns.");
            return Interruption().run([&](const Stop& stop) {
                return bin_table(views, as_span(n_categories), n_rows, fixed, max_bins, n_threads, stop, keep_cuts);
            });
        },
        nb::arg("columns"), nb::arg("n_categories"), nb::arg("n_rows"), nb::arg("weights").none(), nb::arg("max_bins"),
        nb::arg("n_threads"), nb::arg("keep_cuts") = true);

    nb::class_<TableEncoding>(m, "TableEncoding", "Encodes columns as a matrix of numbers.")
        .def("__init__",
             [](TableEncoding* made, Vector<double> fills, Vector<std::uint8_t> kinds, Vector<std::int64_t> columns,
                Vector<double> shifts,
                Vector<double> scales) { std::construct_at(made, encoding_of(fills, kinds, columns, shifts, scales)); })
        .def(
            "encode",
            [](const TableEncoding& encoding, const std::vector<AnyArray>& columns, std::size_t n_rows, bool is_single,
               int n_threads) {
                const auto views = column_views(columns, n_rows);
                if (views.size() != encoding.fills.size()) {
                    throw std::invalid_argument("The table has another number of columns than the encoding.");
                }
                const auto encode = [&]<class Value>(Value) {
                    return to_numpy(Interruption().run([&](const Stop& stop) {
                        return encode_table<Value>(encoding, views, n_rows, n_threads, stop);
                    }),
                                    {n_rows, encoding.outputs.size()});
                };
                return is_single ? encode(float{}) : encode(double{});
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("is_single"), nb::arg("n_threads"),
            "The rows as a matrix of float32 or float64.");

    m.def(
        "fingerprint",
        [](const std::vector<AnyArray>& columns, std::size_t n_rows) {
            const auto views = column_views(columns, n_rows);
            const auto found = Interruption().run([&](const Stop& stop) { return fingerprint(views, n_rows, stop); });
            return nb::make_tuple(found[0], found[1]);
        },
        nb::arg("columns"), nb::arg("n_rows"), "A hash of 128 bits of the contents of a table.");

    m.def(
        "hash_rows",
        [](const Table& table, int n_threads) {
            return to_numpy(
                Interruption().run([&](const Stop& stop) { return hash_rows(table, {}, n_threads, stop); }));
        },
        nb::arg("table"), nb::arg("n_threads"));

    m.def(
        "order_by_content",
        [](const Table& table, Vector<std::uint64_t> targets, std::optional<Vector<std::uint32_t>> weights,
           int n_threads) {
            const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
            if (targets.size() != table.n_rows() || (weights && fixed.size() != table.n_rows())) {
                throw std::invalid_argument("There must be one target and one weight per row.");
            }
            return to_numpy(Interruption().run(
                [&](const Stop& stop) { return order_by_content(table, as_span(targets), n_threads, stop, fixed); }));
        },
        nb::arg("table"), nb::arg("targets"), nb::arg("weights").none(), nb::arg("n_threads"));

    m.def(
        "fixed_weights", [](Vector<double> weights) { return to_numpy(fixed_weights(as_span(weights))); },
        nb::arg("weights"));
}

}  // namespace committee
