#include "boosting/boosting.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "python/arguments/arrays.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "table/binned_rows.h"
#include "tree/cut_recoding.h"

namespace committee {
namespace {

constexpr Names<Loss, 11> losses{"loss",
                                 {{{"log_loss", Loss::log_loss},
                                   {"exponential", Loss::exponential},
                                   {"squared_error", Loss::squared_error},
                                   {"absolute_error", Loss::absolute_error},
                                   {"huber", Loss::huber},
                                   {"quantile", Loss::quantile},
                                   {"poisson", Loss::poisson},
                                   {"gamma", Loss::gamma},
                                   {"tweedie", Loss::tweedie},
                                   {"logit", Loss::logit},
                                   {"custom", Loss::custom}}}};

// The rows of training or validation data, as passed from Python. Without scores, they start at the best constants.
struct HeldRows {
    nb::object table, y;
    std::optional<Vector<double>> weights;
    std::optional<Matrix<double>> scores;

    const Table& codes() const { return nb::cast<const Table&>(table); }
};

// The target of some rows. It owns the labels; everything else belongs to the caller.
struct Outcome {
    std::vector<std::uint32_t> labels;
    Observed observed;
};

Outcome read_outcome(const HeldRows& rows, std::uint32_t n_classes) {
    const auto y = nb::cast<AnyArray>(rows.y);
    const std::size_t n_rows = rows.codes().n_rows();
    if (y.ndim() != 1 || y.shape(0) != n_rows || (rows.weights && rows.weights->size() != n_rows)) {
        throw std::invalid_argument("The target and the weights must have a value per row of the table.");
    }
    Outcome outcome;
    if (rows.weights) outcome.observed.weights = as_span(*rows.weights);
    if (n_classes == 0) {
        if (element_type(y.dtype()) != ElementType::f64 || y.stride(0) != 1) {
            throw std::invalid_argument("The target must be a contiguous vector of doubles.");
        }
        outcome.observed.numbers = {static_cast<const double*>(y.data()), n_rows};
        return outcome;
    }
    if (element_type(y.dtype()) != ElementType::i32) throw std::invalid_argument("Labels must be 32-bit integers.");
    const auto* labels = static_cast<const std::int32_t*>(y.data());
    outcome.labels.resize(n_rows);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::int32_t label = labels[static_cast<std::ptrdiff_t>(i) * y.stride(0)];
        if (label < 0 || static_cast<std::uint32_t>(label) >= n_classes) {
            throw std::invalid_argument("A label is out of range.");
        }
        outcome.labels[i] = static_cast<std::uint32_t>(label);
    }
    outcome.observed.labels = outcome.labels;
    return outcome;
}

// Converts scores from (n_rows, n_scores) to an order by score, then by row. Below, the inverse.
std::vector<double> by_score(const double* scores, std::size_t n_rows, std::size_t n_scores) {
    std::vector<double> out(n_rows * n_scores);
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t k = 0; k < n_scores; ++k) out[k * n_rows + i] = scores[i * n_scores + k];
    }
    return out;
}

std::vector<double> by_row(std::span<const double> scores, std::size_t n_scores) {
    const std::size_t n_rows = scores.size() / n_scores;
    std::vector<double> out(scores.size());
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t k = 0; k < n_scores; ++k) out[i * n_scores + k] = scores[k * n_rows + i];
    }
    return out;
}

// Gives every row the same scores.
void fill_scores(std::span<const double> start, std::vector<double>& scores) {
    const std::size_t n_rows = scores.size() / start.size();
    for (std::size_t k = 0; k < start.size(); ++k) std::fill_n(scores.data() + k * n_rows, n_rows, start[k]);
}

// The initial scores: those passed, or `start` for every row.
std::vector<double> initial_scores(const HeldRows& rows, std::span<const double> start) {
    const std::size_t n_rows = rows.codes().n_rows();
    if (!rows.scores) {
        std::vector<double> scores(n_rows * start.size());
        fill_scores(start, scores);
        return scores;
    }
    if (rows.scores->shape(0) != n_rows || rows.scores->shape(1) != start.size()) {
        throw std::invalid_argument("The scores must be of shape (" + std::to_string(n_rows) + ", " +
                                    std::to_string(start.size()) + ").");
    }
    return by_score(rows.scores->data(), n_rows, start.size());
}

std::string shape_text(std::size_t n_rows, std::size_t n_scores) {
    if (n_scores == 1) return "(" + std::to_string(n_rows) + ",)";
    return "(" + std::to_string(n_rows) + ", " + std::to_string(n_scores) + ")";
}

// A limit on the derivatives of a custom loss, so that weighted sums stay within the range of a float.
constexpr double largest_derivative = 1e30;

// Copies and checks a derivative returned by a custom loss.
void read_derivative(nb::handle given, const char* name, std::size_t n_rows, std::size_t n_scores,
                     std::vector<float>& out) {
    const auto refuse = [&](const std::string& got) {
        throw nb::value_error(("The " + std::string(name) +
                               " of a custom loss must be an array of finite numbers of shape " +
                               shape_text(n_rows, n_scores) + ". Got " + got + ".")
                                  .c_str());
    };
    const nb::module_ numpy = nb::module_::import_("numpy");
    nb::object array = numpy.attr("ascontiguousarray")(given);
    const auto kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
    if (std::string("biufO").find(kind) == std::string::npos) {
        refuse("the dtype " + std::string(nb::str(nb::object(array.attr("dtype"))).c_str()));
    }
    array = numpy.attr("ascontiguousarray")(array, "float64");
    const auto values = nb::cast<nb::ndarray<const double, nb::c_contig, nb::device::cpu>>(array);
    const bool is_vector = values.ndim() == 1 && n_scores == 1 && values.shape(0) == n_rows;
    const bool is_matrix = values.ndim() == 2 && values.shape(0) == n_rows && values.shape(1) == n_scores;
    if (!is_vector && !is_matrix) refuse("shape " + std::string(nb::str(nb::object(array.attr("shape"))).c_str()));
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t k = 0; k < n_scores; ++k) {
            const double value = values.data()[i * n_scores + k];
            if (!std::isfinite(value)) refuse(std::to_string(value) + " in row " + std::to_string(i));
            if (std::abs(value) > largest_derivative) {
                throw nb::value_error(("The " + std::string(name) + " of a custom loss must be between -1e+30 and " +
                                       "1e+30. Row " + std::to_string(i) + " has more. Scale it.")
                                          .c_str());
            }
            out[k * n_rows + i] = static_cast<float>(value);
        }
    }
}

// Calls the user's function with a read-only view of y. An exception it raises ends boosting.
CustomGradients custom_gradients(Interruption& interruption, nb::object function, nb::object y, std::size_t n_scores) {
    nb::object observed = y.attr("view")();
    observed.attr("setflags")(nb::arg("write") = false);
    return [=, &interruption](std::span<const double> scores, Gradients& out) {
        const nb::gil_scoped_acquire acquire;
        const std::size_t n_rows = scores.size() / n_scores;
        nb::object given =
            n_scores == 1 ? to_numpy(by_row(scores, 1)) : to_numpy(by_row(scores, n_scores), {n_rows, n_scores});
        nb::object answer;
        const bool has_failed = interruption.call_python([&] {
            answer = function(observed, given);
            return nb::object(nb::bool_(false));
        });
        if (has_failed) throw Stopped{};
        if (!nb::isinstance<nb::tuple>(answer) || nb::len(answer) != 2) {
            throw nb::value_error("A custom loss must return a tuple (gradient, hessian).");
        }
        read_derivative(answer[0], "gradient", n_rows, n_scores, out.gradient);
        read_derivative(answer[1], "hessian", n_rows, n_scores, out.hessian);
        for (const float hessian : out.hessian) {
            if (hessian < 0) throw nb::value_error("The hessian of a custom loss must not be negative.");
        }
    };
}

// Calls the user's hook between rounds, on the calling thread. It gets the number of rounds and a function that returns
// the model so far, and may request to stop. Returns an empty function if the hook is None.
AfterRound round_hook(Interruption& interruption, const nb::object& hook,
                      const std::function<Forest(std::span<const Tree>)>& model) {
    if (hook.is_none()) return {};
    return [&](std::size_t n_done, std::span<const Tree> trees) {
        return interruption.call_python([&] {
            // The trees are only valid while the hook runs, but the function may outlive it.
            const auto is_over = std::make_shared<bool>(false);
            nb::object so_far = nb::cpp_function([&model, trees, is_over] {
                if (*is_over)
                    throw std::invalid_argument("The model of a round is only available until the hook returns.");
                return model(trees);
            });
            struct Ending {
                bool& is_over;
                ~Ending() { is_over = true; }
            } ending{*is_over};
            return nb::object(hook(n_done, so_far));
        });
    };
}

// The initial scores: those of the previous model, or the best constants; 0 if the rows have their own scores.
std::vector<double> find_start(const Forest* before, const HeldRows& rows, const Objective& objective,
                               const Observed& observed) {
    if (before != nullptr) return before->start;
    if (rows.scores) return std::vector<double>(objective.n_scores(), 0.0);
    return best_constants(objective, observed);
}

Forest model_of(const Table& table, const BoostParameters& parameters, std::vector<double> start,
                std::vector<Tree> trees) {
    const Objective& objective = parameters.objective;
    Forest forest;
    forest.binning = *table.binning;
    forest.is_classifier = objective.n_classes > 0;
    forest.n_scores = objective.n_scores();
    forest.turns = !parameters.is_multi_output;
    forest.start = std::move(start);
    forest.link = link_of(objective);
    forest.n_outputs = count_outputs(forest.link, forest.n_scores);
    forest.trees = std::move(trees);
    return forest;
}

void check_warm_start(const Forest& before, const BoostParameters& parameters, std::size_t n_columns) {
    const Objective& objective = parameters.objective;
    if (before.n_scores != objective.n_scores() || before.binning.columns.size() != n_columns) {
        throw std::invalid_argument("The previous model was fitted with other columns or another loss.");
    }
    if (before.link != link_of(objective)) {
        throw std::invalid_argument(
            "The previous model was fitted with a loss of another link. Continue with that loss, or fit from scratch.");
    }
    if (before.turns == parameters.is_multi_output) {
        throw std::invalid_argument(
            "The leaves of the previous model have another number of values. Continue with that strategy, or fit from "
            "scratch.");
    }
}

struct BoostedObjects {
    nb::object forest, train_loss, validation_loss;
    std::uint32_t n_rounds;
    nb::object gain, n_splits, interruption;
};

// loss: the function of a custom loss, or None. before: the model to which rounds are added.
BoostedObjects boost_rows(const HeldRows& rows, std::uint32_t n_classes, BoostParameters parameters,
                          const nb::object& loss, const Forest* before, const HeldRows* validation, nb::object progress,
                          int n_threads) {
    Objective& objective = parameters.objective;
    objective.n_classes = n_classes;
    objective.n_custom_scores = n_classes > 2 ? n_classes : 1;
    const std::size_t n_scores = objective.n_scores();
    parameters.is_multi_output = parameters.is_multi_output && n_scores > 1;
    const Table& table = rows.codes();
    const auto& directions = parameters.tree.monotonic;
    if (!directions.empty() && directions.size() != table.n_columns()) {
        throw std::invalid_argument("There must be one monotonic direction per column, or none.");
    }
    for (const auto& set : parameters.tree.interactions) {
        if (set.empty() || std::ranges::max(set) >= table.n_columns()) {
            throw std::invalid_argument("Sets of columns that may interact must be of columns of the table.");
        }
    }
    const Outcome outcome = read_outcome(rows, n_classes);
    std::vector<double> start = find_start(before, rows, objective, outcome.observed);
    BoostSample training{&table, outcome.observed, initial_scores(rows, start)};
    Outcome held_out;
    std::optional<BoostSample> watched;
    if (validation != nullptr) {
        const Table& codes = validation->codes();
        if (codes.binning != table.binning)
            throw std::invalid_argument("The validation table must have the bins of the training table.");
        held_out = read_outcome(*validation, n_classes);
        watched = BoostSample{&codes, held_out.observed, initial_scores(*validation, start)};
    }
    std::optional<Forest> so_far;
    if (before != nullptr) {
        check_warm_start(*before, parameters, table.n_columns());
        so_far = *before;
        const std::size_t n_trees = parameters.is_multi_output ? 1 : n_scores;
        parameters.first_round = static_cast<std::uint32_t>(so_far->trees.size() / n_trees);
    }
    Interruption interruption;
    CustomGradients custom;
    if (objective.loss == Loss::custom) custom = custom_gradients(interruption, loss, rows.y, n_scores);
    const std::function<Forest(std::span<const Tree>)> model = [&](std::span<const Tree> trees) {
        Forest fitted = model_of(table, parameters, start, {trees.begin(), trees.end()});
        if (!so_far) return fitted;
        Forest joined = *so_far;
        append_trees(joined, std::move(fitted));
        return joined;
    };
    const auto after_round = round_hook(interruption, progress, model);
    Boosted boosted;
    Forest forest;
    const bool starts_anywhere = objective.loss == Loss::custom && before == nullptr && !rows.scores;
    interruption.run([&](const Stop& stop) {
        if (starts_anywhere) {
            try {
                start = best_constants(custom, training.observed, n_scores);
            } catch (const Stopped&) {
                parameters.n_rounds = 0;
            }
            fill_scores(start, training.scores);
            if (watched) fill_scores(start, watched->scores);
        }
        boosted = boost(std::move(training), std::move(watched), parameters, custom, n_threads, after_round, stop);
        forest = model_of(table, parameters, start, std::move(boosted.trees));
        drop_unused_cuts(forest, n_threads);
        if (so_far) {
            append_trees(*so_far, std::move(forest));
            forest = std::move(*so_far);
        }
    });
    return {.forest = nb::cast(std::move(forest)),
            .train_loss = to_numpy(std::move(boosted.train_loss)),
            .validation_loss = to_numpy(std::move(boosted.validation_loss)),
            .n_rounds = boosted.n_rounds,
            .gain = to_numpy(std::move(boosted.totals.gain)),
            .n_splits = to_numpy(std::move(boosted.totals.n_splits)),
            .interruption = interruption.error()};
}

}  // namespace

void register_boost(nb::module_& m) {
    auto objective = nb::class_<Objective>(m, "Objective", "The loss that boosting minimises.")
                         .def_rw("quantile", &Objective::quantile)
                         .def_rw("z_max", &Objective::z_max)
                         .def_rw("one_versus_all", &Objective::one_versus_all)
                         .def_rw("second_order", &Objective::second_order);
    def_named(objective, "loss", &Objective::loss, losses);
    nb::class_<BoostTreeParameters>(m, "BoostTreeParameters", "Parameters of a boosted tree.")
        .def_rw("max_leaf_nodes", &BoostTreeParameters::max_leaf_nodes)
        .def_rw("max_depth", &BoostTreeParameters::max_depth)
        .def_rw("is_depthwise", &BoostTreeParameters::is_depthwise)
        .def_rw("min_samples_leaf", &BoostTreeParameters::min_samples_leaf)
        .def_rw("min_child_weight", &BoostTreeParameters::min_child_weight)
        .def_rw("min_split_gain", &BoostTreeParameters::min_split_gain)
        .def_rw("reg_lambda", &BoostTreeParameters::reg_lambda)
        .def_rw("reg_alpha", &BoostTreeParameters::reg_alpha)
        .def_rw("colsample_bytree", &BoostTreeParameters::colsample_bytree)
        .def_rw("colsample_bynode", &BoostTreeParameters::colsample_bynode)
        .def_rw("random_thresholds", &BoostTreeParameters::random_thresholds)
        .def_rw("cat_smooth", &BoostTreeParameters::cat_smooth)
        .def_rw("max_cat_to_onehot", &BoostTreeParameters::max_cat_to_onehot)
        .def_rw("monotonic", &BoostTreeParameters::monotonic)
        .def_rw("interactions", &BoostTreeParameters::interactions);
    nb::class_<BoostParameters>(m, "BoostParameters", "Parameters of boosting.")
        .def(nb::init<>())
        .def_rw("objective", &BoostParameters::objective)
        .def_rw("tree", &BoostParameters::tree)
        .def_rw("n_rounds", &BoostParameters::n_rounds)
        .def_rw("learning_rate", &BoostParameters::learning_rate)
        .def_rw("subsample", &BoostParameters::subsample)
        .def_rw("is_multi_output", &BoostParameters::is_multi_output)
        .def_rw("seed", &BoostParameters::seed)
        .def_rw("n_iter_no_change", &BoostParameters::n_iter_no_change)
        .def_rw("tol", &BoostParameters::tol);
    nb::class_<HeldRows>(m, "BoostRows", "Rows of training or validation data.")
        .def(
            "__init__",
            [](HeldRows* made, nb::object table, nb::object y, std::optional<Vector<double>> weights,
               std::optional<Matrix<double>> scores) {
                if (!nb::isinstance<Table>(table)) throw nb::type_error("The table must be a BinnedTable.");
                std::construct_at(made,
                                  HeldRows{std::move(table), std::move(y), std::move(weights), std::move(scores)});
            },
            nb::arg("table"), nb::arg("y"), nb::arg("weights").none(), nb::arg("scores").none());
    bind_result<BoostedObjects>(m, "Boosted", "The result of boost.")
        .def_ro("forest", &BoostedObjects::forest)
        .def_ro("train_loss", &BoostedObjects::train_loss)
        .def_ro("validation_loss", &BoostedObjects::validation_loss)
        .def_ro("n_rounds", &BoostedObjects::n_rounds)
        .def_ro("gain", &BoostedObjects::gain)
        .def_ro("n_splits", &BoostedObjects::n_splits);
    m.def("boost", &boost_rows, nb::arg("rows"), nb::arg("n_classes"), nb::arg("parameters"), nb::arg("loss").none(),
          nb::arg("before").none(), nb::arg("validation").none(), nb::arg("progress").none(), nb::arg("n_threads"));
    m.def(
        "take_rows",
        [](const Table& table, Vector<std::uint32_t> rows) {
            for (const std::uint32_t row : as_span(rows)) {
                if (row >= table.n_rows()) throw std::invalid_argument("A row is out of range.");
            }
            return Interruption().run([&](const Stop& stop) { return take_rows(table, as_span(rows), stop); });
        },
        nb::arg("codes"), nb::arg("rows"));
    m.def(
        "encode",
        [](const Table& like, const std::vector<AnyArray>& columns, std::size_t n_rows, int n_threads) {
            const auto views = column_views(columns, n_rows);
            if (views.size() != like.n_columns()) {
                throw std::invalid_argument("The columns are not those of the binned table.");
            }
            for (std::size_t j = 0; j < views.size(); ++j) {
                if (like.binning->columns[j].is_category && views[j].type != ElementType::i32) {
                    throw std::invalid_argument("Categories must be 32-bit codes.");
                }
            }
            return Interruption().run(
                [&](const Stop& stop) { return encode_like(like, views, n_rows, n_threads, stop); });
        },
        nb::arg("codes_like"), nb::arg("columns"), nb::arg("n_rows"), nb::arg("n_threads"));
}

}  // namespace committee
