// Ensembles of C4.5 trees for Python.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "c45/ensemble/bags.h"
#include "c45/ensemble/state.h"
#include "python/arguments/arrays.h"
#include "python/arguments/bags.h"
#include "python/arguments/c45.h"
#include "python/arguments/named_arrays.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"

namespace committee {
namespace {

constexpr const char* thing = "a forest of C4.5 trees";

auto is_category_of(const C45Forest& forest) {
    return [&](std::size_t j) { return forest.n_categories[j] != C45Column::is_number; };
}

std::vector<ColumnView> views_of(const C45Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows) {
    return typed_views(columns, n_rows, forest.n_categories.size(), is_category_of(forest));
}

nb::object predict_views(const C45Forest& forest, const std::vector<ColumnView>& views, std::size_t n_rows,
                         const std::string& rule, int n_threads) {
    const Rule chosen = rules.value(rule);
    if (chosen != Rule::mean && forest.link != Link::mean) {
        throw std::invalid_argument("The rule 'majority' is only available for trees that vote.");
    }
    std::vector<double> out(n_rows * forest.n_classes);
    Interruption().run([&](const Stop& stop) { predict(forest, views, n_rows, chosen, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {n_rows, forest.n_classes});
}

nb::object votes_of(const C45Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows, int n_threads) {
    const auto views = views_of(forest, columns, n_rows);
    std::vector<double> out(forest.trees.size() * n_rows * forest.n_classes);
    Interruption().run([&](const Stop& stop) { predict_votes(forest, views, n_rows, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {forest.trees.size(), n_rows, forest.n_classes});
}

nb::object scores_of(const C45Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                     std::size_t first_tree, std::size_t last_tree, int n_threads) {
    check_range(forest, first_tree, last_tree);
    const auto views = views_of(forest, columns, n_rows);
    std::vector<double> out(n_rows * forest.n_classes);
    Interruption().run([&](const Stop& stop) {
        predict_scores(forest, views, n_rows, first_tree, last_tree, n_threads, out.data(), stop);
    });
    return to_numpy(std::move(out), {n_rows, forest.n_classes});
}

nb::object linked(const C45Forest& forest,
                  const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& scores) {
    if (scores.shape(1) != forest.n_classes) throw std::invalid_argument("There must be a score for each class.");
    const std::size_t n_rows = scores.shape(0);
    std::vector<double> out(n_rows * forest.n_classes);
    apply_link(forest.link, forest.scale, forest.trees.size(), n_rows, forest.n_classes, scores.data(), out.data());
    return to_numpy(std::move(out), {n_rows, forest.n_classes});
}

// A tree as a single C45Tree, for a table that has only some of the columns; None means all columns.
C45Tree tree_at(const C45Forest& forest, std::size_t number, const std::optional<Vector<std::uint32_t>>& columns) {
    check_tree(forest, number);
    C45Tree tree = forest.trees[number];
    if (!columns) return tree;
    const auto seen = as_span(*columns);
    tree.n_categories.clear();
    for (const std::uint32_t j : seen) {
        if (j >= forest.n_categories.size()) throw std::invalid_argument("The forest does not have such a column.");
        tree.n_categories.push_back(forest.n_categories[j]);
    }
    for (std::int32_t& column : tree.column) {
        if (column == C45Tree::is_leaf) continue;
        const auto at = std::ranges::find(seen, static_cast<std::uint32_t>(column));
        if (at == seen.end()) throw std::invalid_argument("The tree uses other columns.");
        column = static_cast<std::int32_t>(at - seen.begin());
    }
    return tree;
}

C45Forest take_trees(const C45Forest& forest, std::size_t begin, std::size_t end) {
    check_range(forest, begin, end);
    if (begin == end) throw std::invalid_argument("The range of trees is empty.");
    C45Forest taken = without_trees(forest);
    const auto first = forest.trees.begin();
    taken.trees.assign(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    return taken;
}

C45Forest join(const C45Forest& forest, const C45Forest& more) {
    if (forest.n_classes != more.n_classes || forest.n_categories != more.n_categories || !forest.weights.empty() ||
        !more.weights.empty()) {
        throw std::invalid_argument("The two forests differ in their columns or classes, or their votes are weighted.");
    }
    C45Forest joined = forest;
    joined.trees.insert(joined.trees.end(), more.trees.begin(), more.trees.end());
    return joined;
}

struct C45Objects {
    nb::object forest, importances, out_of_bag, interruption;
};

// weights: the weight of a row each time it is drawn; None: 1. is_counted: whether each row counts in the out-of-bag
// error; None: all do.
C45Objects grow(const nb::list& arrays, const Vector<std::int32_t>& n_categories, const Vector<std::int32_t>& classes,
                std::int32_t n_classes, const std::optional<Vector<double>>& weights,
                const std::optional<Vector<std::uint8_t>>& is_counted, C45BagParameters parameters,
                const HeldDrawing& drawing, const OutOfBagArrays* before, nb::object progress, int n_threads) {
    const C45Table table = read_c45_table(arrays, n_categories, as_span(classes), n_classes);
    const std::size_t n_rows = classes.size(), n_columns = table.columns.size();
    const auto own = weights ? as_span(*weights) : std::span<const double>{};
    if ((weights && own.size() != n_rows) || (is_counted && is_counted->size() != n_rows)) {
        throw std::invalid_argument("The weights must have a value per row of the table.");
    }
    check_drawing(drawing, n_rows);
    parameters.drawing = drawing.drawing();
    check_settings(parameters.tree);
    check_columns(parameters.columns, parameters.n_trees - parameters.first_tree, n_columns);
    check_class_weights(parameters.class_weights, parameters.balance_bags, static_cast<std::size_t>(n_classes));
    OutOfBag so_far = read_out_of_bag(before, n_rows, static_cast<std::size_t>(n_classes));
    std::vector<bool> does_count;
    if (is_counted) does_count.assign(is_counted->data(), is_counted->data() + n_rows);

    Interruption interruption;
    const auto after_tree = counting_hook(interruption, progress);
    GrownC45 grown = interruption.run([&](const Stop& stop) {
        return grow_c45_bags(table, own, parameters, std::move(does_count), std::move(so_far), n_threads, after_tree,
                             stop);
    });
    const std::size_t n_trees = grown.forest.trees.size();
    return {.forest = nb::cast(std::move(grown.forest)),
            .importances = to_numpy(std::move(grown.importances), {n_trees, n_columns}),
            .out_of_bag = out_of_bag_arrays(std::move(grown.out_of_bag), parameters.out_of_bag,
                                            static_cast<std::size_t>(n_classes)),
            .interruption = interruption.error()};
}

nb::dict arrays_of(const C45Forest& forest) {
    C45ForestArrays arrays = to_arrays(forest);
    nb::dict result;
    result["n_classes"] = to_numpy(std::vector<std::uint64_t>{arrays.n_classes});
    result["n_categories"] = to_numpy(std::move(arrays.n_categories));
    result["weights"] = to_numpy(std::move(arrays.weights));
    result["are_crisp"] = to_numpy(std::vector<std::uint8_t>{arrays.are_crisp});
    result["link"] = to_numpy(std::vector<std::uint8_t>{arrays.link});
    result["scale"] = to_numpy(std::vector<double>{arrays.scale});
    result["columns"] = to_numpy(std::move(arrays.columns));
    result["first_branches"] = to_numpy(std::move(arrays.first_branches));
    result["thresholds"] = to_numpy(std::move(arrays.thresholds));
    result["distributions"] = to_numpy(std::move(arrays.distributions));
    result["node_offsets"] = to_numpy(std::move(arrays.node_offsets));
    result["branches"] = to_numpy(std::move(arrays.branches));
    result["branch_offsets"] = to_numpy(std::move(arrays.branch_offsets));
    return result;
}

C45Forest forest_of(const nb::dict& from) {
    C45ForestArrays arrays;
    arrays.n_classes = read_scalar<std::uint64_t>(from, "n_classes", thing);
    arrays.n_categories = read_vector<std::int32_t>(from, "n_categories", thing);
    arrays.weights = read_vector<double>(from, "weights", thing);
    arrays.are_crisp = read_scalar<std::uint8_t>(from, "are_crisp", thing) != 0;
    arrays.link = read_scalar<std::uint8_t>(from, "link", thing);
    arrays.scale = read_scalar<double>(from, "scale", thing);
    arrays.columns = read_vector<std::int32_t>(from, "columns", thing);
    arrays.first_branches = read_vector<std::int32_t>(from, "first_branches", thing);
    arrays.thresholds = read_vector<double>(from, "thresholds", thing);
    arrays.distributions = read_vector<double>(from, "distributions", thing);
    arrays.node_offsets = read_vector<std::uint64_t>(from, "node_offsets", thing);
    arrays.branches = read_vector<std::int32_t>(from, "branches", thing);
    arrays.branch_offsets = read_vector<std::uint64_t>(from, "branch_offsets", thing);
    return from_arrays(arrays);
}

}  // namespace

void register_c45_forest(nb::module_& m) {
    nb::class_<C45Forest>(m, "C45Forest", "An ensemble of C4.5 trees.")
        .def_prop_ro("n_trees", [](const C45Forest& forest) { return forest.trees.size(); })
        .def_prop_ro("n_columns", [](const C45Forest& forest) { return forest.n_categories.size(); })
        .def_prop_ro("n_outputs", [](const C45Forest& forest) { return forest.n_classes; })
        .def_prop_ro("is_mean", [](const C45Forest& forest) { return forest.link == Link::mean; })
        .def_prop_ro("is_classifier", [](const C45Forest&) { return true; })
        .def_prop_ro("n_categories",
                     [](const C45Forest& forest) {
                         std::vector<std::int32_t> counts = forest.n_categories;
                         for (std::int32_t& n : counts) n = std::max(n, 0);
                         return to_numpy(std::move(counts));
                     })
        .def_prop_ro("nbytes", &C45Forest::n_bytes)
        .def(
            "predict",
            [](const C45Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
               const std::string& rule, int n_threads) {
                return predict_views(forest, views_of(forest, columns, n_rows), n_rows, rule, n_threads);
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("rule"), nb::arg("n_threads"))
        .def(
            "predict_matrix",
            [](const C45Forest& forest, AnyArray matrix, const std::string& rule, int n_threads) {
                const auto views = typed_views(matrix, forest.n_categories.size(), is_category_of(forest));
                return predict_views(forest, views, matrix.shape(0), rule, n_threads);
            },
            nb::arg("matrix"), nb::arg("rule"), nb::arg("n_threads"))
        .def("votes", &votes_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
        .def("scores", &scores_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("first_tree"), nb::arg("last_tree"),
             nb::arg("n_threads"))
        .def("link", &linked, nb::arg("scores"))
        .def("tree", &tree_at, nb::arg("number"), nb::arg("columns").none())
        .def(
            "node_weights",
            [](const C45Forest& forest, std::size_t tree) {
                check_tree(forest, tree);
                return to_numpy(forest.trees[tree].node_weights());
            },
            nb::arg("tree"))
        .def("packed", [](const C45Forest& forest) { return to_numpy(to_bytes(to_arrays(forest))); })
        .def_static(
            "from_packed",
            [](Vector<std::uint8_t> packed) {
                return from_arrays(from_bytes<C45ForestArrays>(as_span(packed), require_c45_trees));
            },
            nb::arg("packed"))
        .def("arrays", &arrays_of)
        .def_static("from_arrays", &forest_of, nb::arg("arrays"))
        .def("__getstate__", &arrays_of)
        .def("__setstate__",
             [](C45Forest& forest, const nb::dict& arrays) { std::construct_at(&forest, forest_of(arrays)); });

    auto parameters = nb::class_<C45BagParameters>(m, "C45BagParameters", "Parameters of bagged C4.5 trees.")
                          .def(nb::init<>())
                          .def_rw("tree", &C45BagParameters::tree)
                          .def_rw("first_tree", &C45BagParameters::first_tree)
                          .def_rw("n_trees", &C45BagParameters::n_trees)
                          .def_rw("seed", &C45BagParameters::seed)
                          .def_rw("columns", &C45BagParameters::columns)
                          .def_rw("class_weights", &C45BagParameters::class_weights)
                          .def_rw("balance_bags", &C45BagParameters::balance_bags)
                          .def_rw("out_of_bag", &C45BagParameters::out_of_bag)
                          .def_rw("flat_trees", &C45BagParameters::flat_trees);
    def_named(parameters, "rule", &C45BagParameters::rule, rules);
    bind_result<C45Objects>(m, "GrownC45", "The result of grow_c45_bags.")
        .def_ro("forest", &C45Objects::forest)
        .def_ro("importances", &C45Objects::importances)
        .def_ro("out_of_bag", &C45Objects::out_of_bag);
    m.def("take_trees", &take_trees, nb::arg("forest"), nb::arg("begin"), nb::arg("end"));
    m.def("append_trees", &join, nb::arg("forest"), nb::arg("more"));
    m.def("grow_c45_bags", &grow, nb::arg("columns"), nb::arg("n_categories"), nb::arg("y"), nb::arg("n_classes"),
          nb::arg("weights").none(), nb::arg("is_counted").none(), nb::arg("parameters"), nb::arg("drawing"),
          nb::arg("before").none(), nb::arg("progress").none(), nb::arg("n_threads"));
}

}  // namespace committee
