// Rotation forests for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "python/arguments/arrays.h"
#include "python/arguments/bags.h"
#include "python/arguments/named_arrays.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"
#include "rotation/forest.h"
#include "rotation/state.h"

namespace committee {
namespace {

constexpr const char* thing = "a rotation forest";

std::vector<ColumnView> views_of(const std::vector<std::uint32_t>& n_categories, const std::vector<AnyArray>& columns,
                                 std::size_t n_rows) {
    return typed_views(columns, n_rows, n_categories.size(), [&](std::size_t j) { return n_categories[j] > 0; });
}

std::vector<ColumnView> matrix_views(const std::vector<std::uint32_t>& n_categories, const AnyArray& matrix) {
    return typed_views(matrix, n_categories.size(), [&](std::size_t j) { return n_categories[j] > 0; });
}

nb::object predict_views(const RotationForest& forest, const std::vector<ColumnView>& views, std::size_t n_rows,
                         const std::string& rule, int n_threads) {
    const Rule chosen = rules.value(rule);
    std::vector<double> out(n_rows * forest.n_outputs);
    Interruption().run([&](const Stop& stop) { predict(forest, views, n_rows, chosen, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {n_rows, forest.n_outputs});
}

nb::object votes_of(const RotationForest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                    int n_threads) {
    const auto views = views_of(forest.axes.n_categories, columns, n_rows);
    std::vector<double> out(forest.trees.size() * n_rows * forest.n_outputs);
    Interruption().run([&](const Stop& stop) { predict_votes(forest, views, n_rows, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {forest.trees.size(), n_rows, forest.n_outputs});
}

nb::object leaves_of(const RotationForest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                     int n_threads) {
    const auto views = views_of(forest.axes.n_categories, columns, n_rows);
    std::vector<std::uint32_t> out(n_rows * forest.trees.size());
    Interruption().run([&](const Stop& stop) { apply(forest, views, n_rows, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {n_rows, forest.trees.size()});
}

RotationForest take_trees(const RotationForest& forest, std::size_t begin, std::size_t end) {
    check_range(forest, begin, end);
    if (begin == end) throw std::invalid_argument("The range of trees is empty.");
    RotationForest taken{forest.axes, forest.n_outputs, forest.is_classifier, {}};
    const auto first = forest.trees.begin();
    taken.trees.assign(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    return taken;
}

struct RotationObjects {
    nb::object forest, importances, out_of_bag, outside, interruption;
};

void check_rotation(const RotationParameters& rotation) {
    if (rotation.min_group < 1 || rotation.max_group < rotation.min_group || !(rotation.remove_proportion >= 0) ||
        !(rotation.remove_proportion < 1)) {
        throw std::invalid_argument("Groups need 1 <= min_group <= max_group, and 0 <= remove_proportion < 1.");
    }
}

RotationObjects grow(const std::vector<AnyArray>& columns, const std::vector<std::uint32_t>& n_categories, AnyArray y,
                     std::uint32_t n_classes, std::optional<Vector<std::uint32_t>> weights, std::uint64_t total_weight,
                     RotationForestParameters parameters, nb::object progress, int n_threads) {
    if (y.ndim() != 1) throw std::invalid_argument("The target must be a vector.");
    const std::size_t n_rows = y.shape(0);
    const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
    if (weights && fixed.size() != n_rows) throw std::invalid_argument("The weights must have a value per row.");
    if (weights && std::ranges::all_of(fixed, [](std::uint32_t weight) { return weight == 0; })) {
        throw std::invalid_argument("All weights are zero.");
    }
    if (n_rows == 0 || n_rows >= max_c45_rows) throw std::invalid_argument("The table has no rows or too many rows.");
    check_rotation(parameters.rotation);
    parameters.min_leaf_rows = std::max(parameters.min_leaf_rows, 1U);
    if (parameters.is_c45 && n_classes == 0) throw std::invalid_argument("C4.5 does not support regression.");
    parameters.cart.criterion = n_classes == 0 ? Criterion::squared_error : Criterion::gini;
    parameters.cart.exact = n_classes == 0;
    const auto views = views_of(n_categories, columns, n_rows);
    const Target target = read_target(y, n_classes, fixed, total_weight, false);

    Interruption interruption;
    const auto after_tree = counting_hook(interruption, progress);
    GrownRotations grown = interruption.run([&](const Stop& stop) {
        return grow_rotation_forest(views, n_categories, target, fixed, parameters, n_threads, after_tree, stop);
    });
    const std::size_t n_trees = grown.forest.trees.size();
    return {.forest = nb::cast(std::move(grown.forest)),
            .importances = to_numpy(std::move(grown.importances), {n_trees, n_categories.size()}),
            .out_of_bag = out_of_bag_arrays(std::move(grown.out_of_bag), parameters.out_of_bag, target.n_outputs()),
            .outside = parameters.returns_outside ? to_numpy(std::move(grown.outside), {n_trees, n_rows}) : nb::none(),
            .interruption = interruption.error()};
}

nb::dict arrays_of(const RotationForest& forest) {
    RotationForestArrays arrays;
    {
        const nb::gil_scoped_release release;
        arrays = to_arrays(forest);
    }
    nb::dict result;
    result["n_outputs"] = to_numpy(std::vector<std::uint64_t>{arrays.n_outputs});
    result["is_classifier"] = to_numpy(std::vector<std::uint8_t>{arrays.is_classifier});
    result["n_categories"] = to_numpy(std::move(arrays.n_categories));
    result["axis_columns"] = to_numpy(std::move(arrays.axis_columns));
    result["axis_categories"] = to_numpy(std::move(arrays.axis_categories));
    result["axis_lows"] = to_numpy(std::move(arrays.axis_lows));
    result["axis_ranges"] = to_numpy(std::move(arrays.axis_ranges));
    result["turned_axes"] = to_numpy(std::move(arrays.turned_axes));
    result["fill"] = to_numpy(std::move(arrays.fill));
    result["group_sizes"] = to_numpy(std::move(arrays.group_sizes));
    result["group_offsets"] = to_numpy(std::move(arrays.group_offsets));
    result["coefficients"] = to_numpy(std::move(arrays.coefficients));
    result["coefficient_offsets"] = to_numpy(std::move(arrays.coefficient_offsets));
    result["thresholds"] = to_numpy(std::move(arrays.thresholds));
    result["components"] = to_numpy(std::move(arrays.components));
    result["addresses"] = to_numpy(std::move(arrays.addresses));
    result["node_offsets"] = to_numpy(std::move(arrays.node_offsets));
    result["values"] = to_numpy(std::move(arrays.values));
    result["value_offsets"] = to_numpy(std::move(arrays.value_offsets));
    put_leaf_weights(result, std::move(arrays.leaf_weights));
    return result;
}

RotationForest forest_of(const nb::dict& from) {
    RotationForestArrays arrays;
    arrays.n_outputs = read_scalar<std::uint64_t>(from, "n_outputs", thing);
    arrays.is_classifier = read_scalar<std::uint8_t>(from, "is_classifier", thing) != 0;
    arrays.n_categories = read_vector<std::uint32_t>(from, "n_categories", thing);
    arrays.axis_columns = read_vector<std::uint32_t>(from, "axis_columns", thing);
    arrays.axis_categories = read_vector<std::uint32_t>(from, "axis_categories", thing);
    arrays.axis_lows = read_vector<double>(from, "axis_lows", thing);
    arrays.axis_ranges = read_vector<double>(from, "axis_ranges", thing);
    arrays.turned_axes = read_vector<std::uint32_t>(from, "turned_axes", thing);
    arrays.fill = read_vector<double>(from, "fill", thing);
    arrays.group_sizes = read_vector<std::uint32_t>(from, "group_sizes", thing);
    arrays.group_offsets = read_vector<std::uint64_t>(from, "group_offsets", thing);
    arrays.coefficients = read_vector<double>(from, "coefficients", thing);
    arrays.coefficient_offsets = read_vector<std::uint64_t>(from, "coefficient_offsets", thing);
    arrays.thresholds = read_vector<double>(from, "thresholds", thing);
    arrays.components = read_vector<std::uint32_t>(from, "components", thing);
    arrays.addresses = read_vector<std::uint32_t>(from, "addresses", thing);
    arrays.node_offsets = read_vector<std::uint64_t>(from, "node_offsets", thing);
    arrays.values = read_vector<double>(from, "values", thing);
    arrays.value_offsets = read_vector<std::uint64_t>(from, "value_offsets", thing);
    arrays.leaf_weights = read_leaf_weights(from, thing);
    const nb::gil_scoped_release release;
    return from_arrays(arrays);
}

}  // namespace

void register_rotate(nb::module_& m) {
    nb::class_<RotationForest>(m, "RotationForest", "Trees that each have their own rotation.")
        .def_prop_ro("n_trees", [](const RotationForest& forest) { return forest.trees.size(); })
        .def_prop_ro("n_columns", [](const RotationForest& forest) { return forest.axes.n_categories.size(); })
        .def_prop_ro("n_outputs", [](const RotationForest& forest) { return forest.n_outputs; })
        .def_prop_ro("is_classifier", [](const RotationForest& forest) { return forest.is_classifier; })
        .def_prop_ro("n_categories", [](const RotationForest& forest) { return to_numpy(forest.axes.n_categories); })
        .def_prop_ro("nbytes", &RotationForest::n_bytes)
        .def(
            "predict",
            [](const RotationForest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
               const std::string& rule, int n_threads) {
                return predict_views(forest, views_of(forest.axes.n_categories, columns, n_rows), n_rows, rule,
                                     n_threads);
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("rule"), nb::arg("n_threads"))
        .def(
            "predict_matrix",
            [](const RotationForest& forest, AnyArray matrix, const std::string& rule, int n_threads) {
                const auto views = matrix_views(forest.axes.n_categories, matrix);
                return predict_views(forest, views, matrix.shape(0), rule, n_threads);
            },
            nb::arg("matrix"), nb::arg("rule"), nb::arg("n_threads"))
        .def("votes", &votes_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
        .def("apply", &leaves_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
        .def(
            "node_weights",
            [](const RotationForest& forest, std::size_t tree) {
                check_tree(forest, tree);
                return to_numpy(node_weights(forest.trees[tree]));
            },
            nb::arg("tree"))
        .def("packed", [](const RotationForest& forest) { return to_numpy(to_bytes(to_arrays(forest))); })
        .def_static(
            "from_packed",
            [](Vector<std::uint8_t> packed) {
                return from_arrays(from_bytes<RotationForestArrays>(as_span(packed), require_rotation_forest));
            },
            nb::arg("packed"))
        .def("arrays", &arrays_of)
        .def_static("from_arrays", &forest_of, nb::arg("arrays"))
        .def("__getstate__", &arrays_of)
        .def("__setstate__",
             [](RotationForest& forest, const nb::dict& arrays) { std::construct_at(&forest, forest_of(arrays)); });

    nb::class_<RotationParameters>(m, "RotationParameters", "Parameters of the rotation of a tree.")
        .def_rw("min_group", &RotationParameters::min_group)
        .def_rw("max_group", &RotationParameters::max_group)
        .def_rw("remove_proportion", &RotationParameters::remove_proportion)
        .def_rw("weights_repeat", &RotationParameters::weights_repeat);
    auto parameters =
        nb::class_<RotationForestParameters>(m, "RotationForestParameters", "Parameters of a rotation forest.")
            .def(nb::init<>())
            .def_rw("rotation", &RotationForestParameters::rotation)
            .def_rw("is_c45", &RotationForestParameters::is_c45)
            .def_rw("c45", &RotationForestParameters::c45)
            .def_rw("min_leaf_rows", &RotationForestParameters::min_leaf_rows)
            .def_rw("n_trees", &RotationForestParameters::n_trees)
            .def_rw("seed", &RotationForestParameters::seed)
            .def_rw("bootstrap", &RotationForestParameters::bootstrap)
            .def_rw("n_draws", &RotationForestParameters::n_draws)
            .def_rw("out_of_bag", &RotationForestParameters::out_of_bag)
            .def_rw("returns_outside", &RotationForestParameters::returns_outside)
            .def_rw("seconds", &RotationForestParameters::seconds);
    def_named(parameters, "rule", &RotationForestParameters::rule, rules);
    bind_result<RotationObjects>(m, "GrownRotations", "The result of grow_rotation_forest.")
        .def_ro("forest", &RotationObjects::forest)
        .def_ro("importances", &RotationObjects::importances)
        .def_ro("out_of_bag", &RotationObjects::out_of_bag)
        .def_ro("outside", &RotationObjects::outside);
    m.def("take_trees", &take_trees, nb::arg("forest"), nb::arg("begin"), nb::arg("end"));
    m.def("grow_rotation_forest", &grow, nb::arg("columns"), nb::arg("n_categories"), nb::arg("y"),
          nb::arg("n_classes"), nb::arg("weights").none(), nb::arg("total_weight"), nb::arg("parameters"),
          nb::arg("progress").none(), nb::arg("n_threads"));
}

}  // namespace committee
