#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "forest.h"
#include "python_arrays.h"
#include "python_inputs.h"
#include "python_stop.h"
#include "random.h"

namespace committee {
namespace {

// The views of a matrix's columns. A list of columns goes through column_views.
std::vector<ColumnView> matrix_views(const Forest& forest, const AnyArray& matrix) {
    if (matrix.ndim() != 2 || matrix.shape(1) != forest.binning.columns.size()) {
        throw std::invalid_argument("The matrix must have " + std::to_string(forest.binning.columns.size()) +
                                    " columns.");
    }
    for (const Column& column : forest.binning.columns) {
        if (column.is_category) throw std::invalid_argument("A matrix cannot hold categories: give a list of columns.");
    }
    return matrix_columns(matrix);
}

Rule rule_for(const Forest& forest, const std::string& name) {
    const Rule rule = rule_named(name);
    if (rule != Rule::mean && forest.link != Link::mean) {
        throw std::invalid_argument("Only trees that vote have a majority.");
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
    if (first_tree > last_tree || last_tree > forest.trees.size()) {
        throw std::invalid_argument("Trees [" + std::to_string(first_tree) + ", " + std::to_string(last_tree) +
                                    ") are not among the " + std::to_string(forest.trees.size()) + " of the forest.");
    }
    const auto views = checked_views(forest, columns, n_rows);
    std::vector<double> out(n_rows * forest.n_scores);
    Interruption().run([&](const Stop& stop) {
        predict_scores(forest, views, n_rows, first_tree, last_tree, n_threads, out.data(), stop);
    });
    return to_numpy(std::move(out), {n_rows, forest.n_scores});
}

nb::object staged_scores_of(const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows,
                            std::size_t trees_per_stage, int n_threads) {
    if (trees_per_stage == 0) throw std::invalid_argument("A stage must have at least one tree.");
    const auto views = checked_views(forest, columns, n_rows);
    const std::size_t n_stages = count_stages(forest, trees_per_stage);
    std::vector<double> out(n_stages * n_rows * forest.n_scores);
    Interruption().run(
        [&](const Stop& stop) { predict_stages(forest, views, n_rows, trees_per_stage, n_threads, out.data(), stop); });
    return to_numpy(std::move(out), {n_stages, n_rows, forest.n_scores});
}

nb::object linked(const Forest& forest,
                  const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& scores) {
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

nb::object bag_of(const nb::object& drawing, std::size_t n_rows, std::uint64_t seed, std::uint64_t member) {
    const HeldDrawing held(drawing, n_rows);
    std::vector<std::uint32_t> counts(n_rows, 0);
    Interruption().run([&](const Stop& stop) { draw_bag(held.drawing(), derive_key(seed, member), counts, stop); });
    return to_numpy(std::move(counts));
}

void check_columns(const ForestParameters& parameters, std::size_t n_columns) {
    const std::size_t n_trees = parameters.n_trees - parameters.first_tree;
    if (parameters.columns.empty()) return;
    if (parameters.columns.size() != n_trees || parameters.columns_tried.size() != n_trees) {
        throw std::invalid_argument("Every tree needs columns of its own.");
    }
    for (const auto& columns : parameters.columns) {
        if (columns.empty() || std::ranges::max(columns) >= n_columns) {
            throw std::invalid_argument("The columns of a tree are none of the table.");
        }
    }
}

nb::dict grow(const Table& table, AnyArray y, std::uint32_t n_classes, std::optional<Vector<std::uint32_t>> weights,
              std::uint64_t total_weight, const nb::dict& options, nb::object progress, int n_threads) {
    auto option = [&]<class T>(const char* name, T) { return nb::cast<T>(options[name]); };
    const std::size_t n_rows = table.n_rows();
    const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
    if (y.ndim() != 1 || y.shape(0) != n_rows || (weights && fixed.size() != n_rows)) {
        throw std::invalid_argument("The target and the weights must have a value per row of the table.");
    }
    ForestParameters parameters;
    parameters.grow = read_grow_parameters(options);
    parameters.first_tree = option("first_tree", std::uint32_t{});
    parameters.n_trees = option("n_trees", std::uint32_t{});
    parameters.seed = option("seed", std::uint64_t{});
    parameters.are_stumps = option("are_stumps", bool{});
    parameters.bootstrap = option("bootstrap", bool{});
    parameters.n_draws = option("n_draws", std::uint64_t{});
    std::optional<HeldDrawing> held;
    if (!options["drawing"].is_none()) {
        parameters.drawing = held.emplace(nb::borrow(options["drawing"]), n_rows).drawing();
    }
    parameters.columns = option("columns", std::vector<std::vector<std::uint32_t>>());
    parameters.columns_tried = option("columns_tried", std::vector<std::uint32_t>());
    check_columns(parameters, table.n_columns());
    parameters.class_weights = option("class_weights", std::vector<double>());
    parameters.balance_bags = option("balance_bags", bool{});
    parameters.out_of_bag = option("out_of_bag", bool{});
    parameters.out_of_bag_importances = option("out_of_bag_importances", bool{});
    parameters.keep_leaf_rows = option("keep_leaf_rows", bool{});
    parameters.ccp_alpha = option("ccp_alpha", double{});
    parameters.rule = rule_named(option("rule", std::string()));
    parameters.flat_trees = option("flat_trees", std::uint32_t{});
    OutOfBag before;
    if (!options["before"].is_none()) {
        const auto [sums, counts, curve] =
            nb::cast<std::tuple<Vector<double>, Vector<std::uint32_t>, Vector<double>>>(options["before"]);
        const auto copied = [](const auto& array) { return std::vector(array.data(), array.data() + array.size()); };
        before = {copied(sums), copied(counts), copied(curve)};
    }

    const Target target =
        read_target(y, n_classes, fixed, total_weight, parameters.grow.criterion == Criterion::poisson);

    Interruption interruption;
    const auto after_tree = counting_hook(interruption, progress);
    Grown grown = interruption.run([&](const Stop& stop) {
        return grow_forest(table, target, fixed, parameters, std::move(before), n_threads, after_tree, stop);
    });
    const std::size_t n_trees = grown.forest.trees.size(), n_columns = table.n_columns();
    nb::dict result;
    result["importances"] = to_numpy(std::move(grown.importances), {n_trees, n_columns});
    result["out_of_bag_importances"] = parameters.out_of_bag_importances
                                           ? to_numpy(std::move(grown.out_of_bag_importances), {n_trees, n_columns})
                                           : nb::none();
    result["out_of_bag_sums"] =
        parameters.out_of_bag ? to_numpy(std::move(grown.out_of_bag.sums), {n_rows, target.n_outputs()}) : nb::none();
    result["out_of_bag_counts"] = to_numpy(std::move(grown.out_of_bag.counts));
    result["out_of_bag_curve"] = to_numpy(std::move(grown.out_of_bag.curve));
    nb::list leaf_rows;
    for (LeafRows& rows : grown.leaf_rows) {
        leaf_rows.append(nb::make_tuple(to_numpy(std::move(rows.offsets)), to_numpy(std::move(rows.rows)),
                                        to_numpy(std::move(rows.weights))));
    }
    result["leaf_rows"] = leaf_rows;
    result["interruption"] = interruption.error();
    result["forest"] = std::move(grown.forest);
    return result;
}

}  // namespace

void register_forest(nb::module_& m) {
    nb::class_<Forest>(m, "Forest", "Flat trees with the cuts they ask about.")
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
        .def("staged_scores", &staged_scores_of, nb::arg("columns"), nb::arg("n_rows"), nb::arg("trees_per_stage"),
             nb::arg("n_threads"))
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

    nb::class_<Prepared>(m, "Prepared", "A forest that is asked for single rows again and again.")
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

    m.def("grow_forest", &grow, nb::arg("table"), nb::arg("y"), nb::arg("n_classes"), nb::arg("weights").none(),
          nb::arg("total_weight"), nb::arg("options"), nb::arg("progress").none(), nb::arg("n_threads"));
    m.def(
        "check_drawing", [](const nb::object& drawing, std::size_t n_rows) { HeldDrawing(drawing, n_rows); },
        nb::arg("drawing"), nb::arg("n_rows"));
    m.def("draw_bag", &bag_of, nb::arg("drawing"), nb::arg("n_rows"), nb::arg("seed"), nb::arg("member"));
}

}  // namespace committee
