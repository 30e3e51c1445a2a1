#include "forest/forest.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "numbers/random.h"
#include "python/arguments/arrays.h"
#include "python/arguments/bags.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"

namespace committee {
namespace {

std::vector<ColumnView> matrix_views(const Forest& forest, const AnyArray& matrix) {
    const auto& known = forest.binning.columns;
    return typed_views(matrix, known.size(), [&](std::size_t j) { return known[j].is_category; });
}

Rule rule_for(const Forest& forest, const std::string& name) {
    const Rule rule = rules.value(name);
    if (rule != Rule::mean && forest.link != Link::mean) {
        throw std::invalid_argument("The rule 'majority' is only available for trees that vote.");
    }
    return rule;
}

nb::object predict_views(const Forest& forest, const std::vector<ColumnView>& views, std::size_t n_rows,
                         const std::string& rule, int n_threads) {
    const Rule chosen = rule_for(forest, rule);
    std::vector<double> out(n_rows * forest.n_outputs);
    Interruption().run([&](const Stop& stop) { predict(forest, views, n_rows, chosen, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {n_rows, forest.n_outputs});
}

nb::object scores_of(const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                     std::size_t first_tree, std::size_t last_tree, int n_threads) {
    check_range(forest, first_tree, last_tree);
    const auto views = checked_views(forest, columns, n_rows);
    std::vector<double> out(n_rows * forest.n_scores);
    Interruption().run([&](const Stop& stop) {
        predict_scores(forest, views, n_rows, first_tree, last_tree, n_threads, out.data(), stop);
    });
    return to_numpy(std::move(out), {n_rows, forest.n_scores});
}

nb::object staged_scores_of(const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                            std::size_t first_tree, std::size_t last_tree, std::size_t trees_per_stage,
                            std::optional<Matrix<double>> before, int n_threads) {
    check_range(forest, first_tree, last_tree);
    if (trees_per_stage == 0) throw std::invalid_argument("A stage must have at least one tree.");
    if (before && (before->shape(0) != n_rows || before->shape(1) != forest.n_scores)) {
        throw std::invalid_argument("The previous scores must be of shape (" + std::to_string(n_rows) + ", " +
                                    std::to_string(forest.n_scores) + ").");
    }
    const auto views = checked_views(forest, columns, n_rows);
    const Stages stages{first_tree, last_tree, trees_per_stage};
    std::vector<double> out(stages.count() * n_rows * forest.n_scores);
    Interruption().run([&](const Stop& stop) {
        predict_stages(forest, views, n_rows, stages, before ? before->data() : nullptr, n_threads, out.data(), stop);
    });
    return to_numpy(std::move(out), {stages.count(), n_rows, forest.n_scores});
}

nb::object linked(const Forest& forest, const Matrix<double>& scores) {
    if (scores.shape(1) != forest.n_scores) {
        throw std::invalid_argument("There must be " + std::to_string(forest.n_scores) + " scores per row.");
    }
    const std::size_t n_rows = scores.shape(0);
    std::vector<double> out(n_rows * forest.n_outputs);
    {
        const nb::gil_scoped_release release;
        link_scores(forest, n_rows, scores.data(), out.data());
    }
    return to_numpy(std::move(out), {n_rows, forest.n_outputs});
}

nb::object bag_of(const HeldDrawing& drawing, std::uint64_t seed, std::uint64_t member) {
    std::vector<std::uint32_t> counts(drawing.n_rows(), 0);
    Interruption().run([&](const Stop& stop) { draw_bag(drawing.drawing(), derive_key(seed, member), counts, stop); });
    return to_numpy(std::move(counts));
}

struct ForestObjects {
    nb::object forest, importances, out_of_bag, out_of_bag_importances, leaf_rows, interruption;
};

ForestObjects grow(const Table& table, AnyArray y, std::uint32_t n_classes,
                   std::optional<Vector<std::uint32_t>> weights, std::uint64_t most_weight, ForestParameters parameters,
                   const HeldDrawing* drawing, const OutOfBagArrays* before, const std::vector<AnyArray>& values,
                   nb::object progress, int n_threads) {
    const std::size_t n_rows = table.n_rows(), n_columns = table.n_columns();
    const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
    if (y.ndim() != 1 || y.shape(0) != n_rows || (weights && fixed.size() != n_rows)) {
        throw std::invalid_argument("The target and the weights must have a value per row of the table.");
    }
    if (n_rows == 0) throw std::invalid_argument("The table has no rows.");
    check_directions(parameters.grow, n_columns);
    check_columns(parameters.columns, parameters.n_trees - parameters.first_tree, n_columns);
    if (parameters.columns_tried.size() != parameters.columns.size()) {
        throw std::invalid_argument("There must be one number of columns to try per tree.");
    }
    check_class_weights(parameters.class_weights, parameters.balance_bags, n_classes);
    if (drawing != nullptr) {
        check_drawing(*drawing, n_rows);
        parameters.drawing = drawing->drawing();
    }
    const auto views = column_views(values, n_rows);
    if (!views.empty() && views.size() != n_columns) {
        throw std::invalid_argument("The values must have the columns of the table.");
    }
    parameters.values = views;
    OutOfBag so_far = read_out_of_bag(before, n_rows, std::max(n_classes, 1U));
    const Target target =
        read_target(y, n_classes, fixed, most_weight, parameters.grow.criterion == Criterion::poisson);

    Interruption interruption;
    const auto after_tree = counting_hook(interruption, progress);
    Grown grown = interruption.run([&](const Stop& stop) {
        return grow_forest(table, target, fixed, parameters, std::move(so_far), n_threads, after_tree, stop);
    });
    const std::size_t n_trees = grown.forest.trees.size();
    nb::list leaf_rows;
    for (LeafRows& rows : grown.leaf_rows) {
        leaf_rows.append(nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.rows)),
                                        to_numpy(std::move(rows.weights))));
    }
    return {.forest = nb::cast(std::move(grown.forest)),
            .importances = to_numpy(std::move(grown.importances), {n_trees, n_columns}),
            .out_of_bag = out_of_bag_arrays(std::move(grown.out_of_bag), parameters.out_of_bag, target.n_outputs()),
            .out_of_bag_importances = parameters.out_of_bag_importances
                                          ? to_numpy(std::move(grown.out_of_bag_importances), {n_trees, n_columns})
                                          : nb::none(),
            .leaf_rows = leaf_rows,
            .interruption = interruption.error()};
}

void register_growing(nb::module_& m) {
    auto grow_parameters = nb::class_<GrowParameters>(m, "GrowParameters", "Parameters of a tree.")
                               .def(nb::init<>())
                               .def_rw("max_depth", &GrowParameters::max_depth)
                               .def_rw("max_leaf_nodes", &GrowParameters::max_leaf_nodes)
                               .def_rw("min_samples_split", &GrowParameters::min_samples_split)
                               .def_rw("min_samples_leaf", &GrowParameters::min_samples_leaf)
                               .def_rw("min_weight_fraction_leaf", &GrowParameters::min_weight_fraction_leaf)
                               .def_rw("min_impurity_decrease", &GrowParameters::min_impurity_decrease)
                               .def_rw("max_features", &GrowParameters::max_features)
                               .def_rw("random_thresholds", &GrowParameters::random_thresholds)
                               .def_rw("exact", &GrowParameters::exact)
                               .def_rw("needs_gain", &GrowParameters::needs_gain)
                               .def_rw("branches", &GrowParameters::branches)
                               .def_rw("keep_records", &GrowParameters::keep_records)
                               .def_rw("monotonic", &GrowParameters::monotonic);
    def_named(grow_parameters, "criterion", &GrowParameters::criterion, criteria);

    auto parameters = nb::class_<ForestParameters>(m, "ForestParameters", "Parameters of a forest.")
                          .def(nb::init<>())
                          .def_rw("grow", &ForestParameters::grow)
                          .def_rw("first_tree", &ForestParameters::first_tree)
                          .def_rw("n_trees", &ForestParameters::n_trees)
                          .def_rw("seed", &ForestParameters::seed)
                          .def_rw("are_stumps", &ForestParameters::are_stumps)
                          .def_rw("columns", &ForestParameters::columns)
                          .def_rw("columns_tried", &ForestParameters::columns_tried)
                          .def_rw("class_weights", &ForestParameters::class_weights)
                          .def_rw("balance_bags", &ForestParameters::balance_bags)
                          .def_rw("out_of_bag", &ForestParameters::out_of_bag)
                          .def_rw("out_of_bag_importances", &ForestParameters::out_of_bag_importances)
                          .def_rw("keep_leaf_rows", &ForestParameters::keep_leaf_rows)
                          .def_rw("weight_unit", &ForestParameters::weight_unit)
                          .def_rw("ccp_alpha", &ForestParameters::ccp_alpha)
                          .def_rw("flat_trees", &ForestParameters::flat_trees);
    def_named(parameters, "rule", &ForestParameters::rule, rules);

    nb::class_<HeldDrawing>(m, "Drawing", "How to draw the rows of members.")
        .def(nb::init<std::size_t, Vector<std::uint32_t>, Vector<std::uint64_t>, Vector<std::uint64_t>,
                      HeldDrawing::Optional, HeldDrawing::Optional, bool, bool>(),
             nb::arg("n_rows"), nb::arg("units"), nb::arg("ends"), nb::arg("n_draws"), nb::arg("weights").none(),
             nb::arg("groups").none(), nb::arg("replaces"), nb::arg("keeps_weights"))
        .def("draw", &bag_of, nb::arg("seed"), nb::arg("member"));
    nb::class_<OutOfBagArrays>(m, "OutOfBagVotes", "The votes of the members that were not trained on a row.")
        .def(nb::init<nb::object, nb::object, nb::object>(), nb::arg("sums"), nb::arg("counts"), nb::arg("curve"))
        .def_ro("sums", &OutOfBagArrays::sums)
        .def_ro("counts", &OutOfBagArrays::counts)
        .def_ro("curve", &OutOfBagArrays::curve);
    bind_result<ForestObjects>(m, "GrownForest", "The result of grow_forest.")
        .def_ro("forest", &ForestObjects::forest)
        .def_ro("importances", &ForestObjects::importances)
        .def_ro("out_of_bag", &ForestObjects::out_of_bag)
        .def_ro("out_of_bag_importances", &ForestObjects::out_of_bag_importances)
        .def_ro("leaf_rows", &ForestObjects::leaf_rows);
    m.def("grow_forest", &grow, nb::arg("table"), nb::arg("y"), nb::arg("n_classes"), nb::arg("weights").none(),
          nb::arg("most_weight"), nb::arg("parameters"), nb::arg("drawing").none(), nb::arg("before").none(),
          nb::arg("values"), nb::arg("progress").none(), nb::arg("n_threads"));
}

}  // namespace

void register_forest(nb::module_& m) {
    nb::class_<Forest>(m, "Forest", "Flat trees with the cuts they use.")
        .def_prop_ro("n_trees", [](const Forest& forest) { return forest.trees.size(); })
        .def_prop_ro("n_columns", [](const Forest& forest) { return forest.binning.columns.size(); })
        .def_prop_ro("n_outputs", [](const Forest& forest) { return forest.n_outputs; })
        .def_prop_ro("is_mean", [](const Forest& forest) { return forest.link == Link::mean; })
        .def_prop_ro("is_classifier", [](const Forest& forest) { return forest.is_classifier; })
        .def_prop_ro("n_categories",
                     [](const Forest& forest) {
                         std::vector<std::int32_t> counts;
                         for (const Column& column : forest.binning.columns) {
                             counts.push_back(column.is_category ? static_cast<std::int32_t>(column.n_bins) : 0);
                         }
                         return to_numpy(std::move(counts));
                     })
        .def_prop_ro("n_scores", [](const Forest& forest) { return forest.n_scores; })
        .def_prop_ro("nbytes", &Forest::nbytes)
        .def(
            "predict",
            [](const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows, const std::string& rule,
               int n_threads) {
                return predict_views(forest, checked_views(forest, columns, n_rows), n_rows, rule, n_threads);
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("rule"), nb::arg("n_threads"))
        .def(
            "predict_matrix",
            [](const Forest& forest, AnyArray matrix, const std::string& rule, int n_threads) {
                return predict_views(forest, matrix_views(forest, matrix), matrix.shape(0), rule, n_threads);
            },
            nb::arg("matrix"), nb::arg("rule"), nb::arg("n_threads"))
        .def("scores", &scores_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("first_tree"), nb::arg("last_tree"),
             nb::arg("n_threads"))
        .def("staged_scores", &staged_scores_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("first_tree"),
             nb::arg("last_tree"), nb::arg("trees_per_stage"), nb::arg("before").none(), nb::arg("n_threads"))
        .def("link", &linked, nb::arg("scores"))
        .def(
            "votes",
            [](const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows, int n_threads) {
                const auto views = checked_views(forest, columns, n_rows);
                std::vector<double> out(forest.trees.size() * n_rows * forest.leaf_size());
                Interruption().run(
                    [&](const Stop& stop) { predict_votes(forest, views, n_rows, n_threads, out.data(), stop); });
                return to_numpy(std::move(out), {forest.trees.size(), n_rows, forest.leaf_size()});
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"))
        .def(
            "apply",
            [](const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows, int n_threads) {
                const auto views = checked_views(forest, columns, n_rows);
                std::vector<std::uint32_t> out(n_rows * forest.trees.size());
                Interruption().run(
                    [&](const Stop& stop) { apply(forest, views, n_rows, n_threads, out.data(), stop); });
                return to_numpy(std::move(out), {n_rows, forest.trees.size()});
            },
            nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"));

    nb::class_<Prepared>(m, "Prepared", "A forest prepared for many predictions of single rows.")
        .def(
            "__init__",
            [](Prepared* self, const Forest& forest, const std::string& rule) {
                std::construct_at(self, forest, rule_for(forest, rule));
            },
            nb::arg("forest"), nb::arg("rule"), nb::keep_alive<1, 2>())
        .def(
            "predict_matrix",
            [](const Prepared& prepared, AnyArray matrix) {
                const auto views = matrix_views(prepared.forest(), matrix);
                const std::size_t n_rows = matrix.shape(0), n_outputs = prepared.forest().n_outputs;
                std::vector<double> out(n_rows * n_outputs);
                Interruption().run([&](const Stop& stop) { prepared.predict(views, n_rows, out.data(), stop); });
                return to_numpy(std::move(out), {n_rows, n_outputs});
            },
            nb::arg("matrix"));

    register_growing(m);
}

}  // namespace committee
