// C4.5 for Python. Columns are passed as a list of contiguous 1-D arrays: float64 numbers or int32 category codes.
#include "python/arguments/c45.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "c45/c45.h"
#include "c45/ensemble/state.h"
#include "python/arguments/arrays.h"
#include "python/arguments/stop.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace committee {

namespace {

std::optional<std::string> name_of(C45Pruning pruning) {
    if (pruning == C45Pruning::none) return std::nullopt;
    return pruning == C45Pruning::pessimistic ? "pessimistic" : "reduced_error";
}

C45Pruning pruning_named(const std::optional<std::string>& name) {
    if (!name) return C45Pruning::none;
    if (*name == "pessimistic") return C45Pruning::pessimistic;
    if (*name == "reduced_error") return C45Pruning::reduced_error;
    throw std::invalid_argument("pruning must be 'pessimistic', 'reduced_error' or None");
}

C45Tree grow(const nb::list& arrays, const Vector<std::int32_t>& n_categories, const Vector<std::int32_t>& classes,
             std::int32_t n_classes, const Vector<double>& weights, const C45Settings& settings,
             const std::optional<Vector<std::uint8_t>>& held_out) {
    const std::size_t n_rows = classes.size();
    const C45Table table = read_c45_table(arrays, n_categories, as_span(classes), n_classes);
    if (weights.size() != n_rows) throw std::invalid_argument("weights and classes differ in length");
    check_settings(settings);
    if (held_out && held_out->size() != n_rows) throw std::invalid_argument("held_out and classes differ in length");
    if (held_out.has_value() != (settings.pruning == C45Pruning::reduced_error)) {
        throw std::invalid_argument("held_out must be passed if and only if pruning is 'reduced_error'");
    }
    double total = 0;
    double grown_on = 0;
    for (std::size_t i = 0; i < n_rows; ++i) {
        if (!(weights.data()[i] >= 0)) throw std::invalid_argument("a weight is negative or missing");
        total += weights.data()[i];
        if (!held_out || held_out->data()[i] == 0) grown_on += weights.data()[i];
    }
    // With larger weights, the sums of w log2 w would overflow.
    if (!(total < 1e300)) throw std::invalid_argument("the weights are too large");
    if (!(grown_on > 0)) throw std::invalid_argument("all weights are zero");
    const std::span<const std::uint8_t> mask = held_out ? as_span(*held_out) : std::span<const std::uint8_t>{};
    return Interruption().run([&, settings = settings](const Stop& stop) {
        return grow_c45(table.columns, as_span(classes), n_classes, as_span(weights), settings, mask, stop);
    });
}

nb::object predict_rows(const C45Tree& tree, const nb::list& arrays, std::size_t n_rows) {
    const std::vector<C45Column> columns = view_columns(arrays, tree.n_categories, n_rows);
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    std::vector<double> votes(n_rows * n_classes);
    Interruption().run([&](const Stop& stop) { predict_c45(tree, columns, 0, n_rows, votes.data(), stop); });
    return to_numpy(std::move(votes), {n_rows, n_classes});
}

nb::dict list_arrays(const C45Tree& tree) {
    nb::dict arrays;
    arrays["n_categories"] = to_numpy(tree.n_categories);
    arrays["column"] = to_numpy(tree.column);
    arrays["threshold"] = to_numpy(tree.threshold);
    arrays["first_branch"] = to_numpy(tree.first_branch);
    arrays["branch"] = to_numpy(tree.branch);
    arrays["distribution"] = to_numpy(tree.distribution, {tree.n_nodes(), static_cast<std::size_t>(tree.n_classes)});
    return arrays;
}

template <class Wanted>
Wanted read_array(const nb::dict& arrays, const char* name, const char* wanted) {
    Wanted array;
    if (!arrays.contains(name) || !nb::try_cast<Wanted>(arrays[name], array, false)) {
        throw std::invalid_argument(std::string("A C4.5 tree needs the array '") + name + "': " + wanted + ".");
    }
    return array;
}

template <class T>
std::vector<T> read_vector(const nb::dict& arrays, const char* name, const char* wanted) {
    const auto array = read_array<Vector<T>>(arrays, name, wanted);
    return {array.data(), array.data() + array.size()};
}

C45Tree read_arrays(const nb::dict& arrays) {
    C45Tree tree;
    tree.n_categories = read_vector<std::int32_t>(arrays, "n_categories", "1-D int32");
    tree.column = read_vector<std::int32_t>(arrays, "column", "1-D int32");
    tree.threshold = read_vector<double>(arrays, "threshold", "1-D float64");
    tree.first_branch = read_vector<std::int32_t>(arrays, "first_branch", "1-D int32");
    tree.branch = read_vector<std::int32_t>(arrays, "branch", "1-D int32");
    const auto distribution = read_array<Matrix<double>>(arrays, "distribution", "2-D float64");
    if (distribution.shape(1) > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
        throw std::invalid_argument("The arrays are not a C4.5 tree: too many classes.");
    }
    tree.n_classes = static_cast<std::int32_t>(distribution.shape(1));
    tree.distribution.assign(distribution.data(), distribution.data() + distribution.size());
    const std::string error = find_error(tree);
    if (!error.empty()) throw std::invalid_argument("The arrays are not a C4.5 tree: " + error + ".");
    return tree;
}

}  // namespace

void register_c45(nb::module_& m) {
    nb::class_<C45Settings>(m, "C45Settings", "Parameters of a C4.5 tree.")
        .def(nb::init<>())
        .def_prop_rw(
            "pruning", [](const C45Settings& settings) { return name_of(settings.pruning); },
            [](C45Settings& settings, const std::optional<std::string>& name) {
                settings.pruning = pruning_named(name);
            },
            nb::for_setter(nb::arg("name").none()))
        .def_rw("confidence", &C45Settings::confidence)
        .def_rw("subtree_raising", &C45Settings::subtree_raising)
        .def_rw("min_leaf_weight", &C45Settings::min_leaf_weight)
        .def_rw("n_folds", &C45Settings::n_folds);
    nb::class_<C45Tree>(m, "C45Tree", "A grown C4.5 tree.")
        .def_static("grow", &grow, "columns"_a, "n_categories"_a, "classes"_a, "n_classes"_a, "weights"_a, "settings"_a,
                    "held_out"_a.none())
        .def("predict", &predict_rows, "columns"_a, "n_rows"_a, "Class probabilities, (n_rows, n_classes).")
        .def("packed",
             [](const C45Tree& tree) {
                 const auto n_classes = static_cast<std::size_t>(tree.n_classes);
                 return to_numpy(to_bytes(to_arrays(C45Forest{n_classes, tree.n_categories, {tree}})));
             })
        .def_static(
            "from_packed",
            [](Vector<std::uint8_t> packed) {
                C45Forest forest = from_arrays(from_bytes<C45ForestArrays>(as_span(packed), require_c45_trees));
                if (forest.trees.size() != 1) throw std::invalid_argument("There must be one C4.5 tree.");
                return std::move(forest.trees[0]);
            },
            "packed"_a)
        .def("arrays", &list_arrays, "The complete tree as a dict of arrays.")
        .def_static("from_arrays", &read_arrays, "arrays"_a,
                    "The tree of `arrays()`. Raises ValueError if the arrays are not valid.")
        .def("node_weights", [](const C45Tree& tree) { return to_numpy(tree.node_weights()); })
        .def("depths", [](const C45Tree& tree) { return to_numpy(tree.depths()); })
        .def_prop_ro("n_nodes", &C45Tree::n_nodes)
        .def_prop_ro("n_leaves", &C45Tree::n_leaves)
        .def_prop_ro("n_classes", [](const C45Tree& tree) { return tree.n_classes; })
        .def_prop_ro("nbytes", &C45Tree::n_bytes)
        .def("__getstate__", &list_arrays)
        .def("__setstate__", [](C45Tree& tree, const nb::dict& arrays) { new (&tree) C45Tree(read_arrays(arrays)); });
}

}  // namespace committee
