#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "binned_rows.h"
#include "boost.h"
#include "python_arrays.h"
#include "python_stop.h"
#include "recode.h"

namespace committee {
namespace {

Loss loss_named(const std::string& name) {
    static const std::map<std::string, Loss> losses{{"log_loss", Loss::log_loss},
                                                    {"exponential", Loss::exponential},
                                                    {"squared_error", Loss::squared_error},
                                                    {"absolute_error", Loss::absolute_error},
                                                    {"huber", Loss::huber},
                                                    {"quantile", Loss::quantile},
                                                    {"poisson", Loss::poisson},
                                                    {"gamma", Loss::gamma},
                                                    {"tweedie", Loss::tweedie},
                                                    {"logit", Loss::logit},
                                                    {"custom", Loss::custom}};
    const auto found = losses.find(name);
    if (found == losses.end()) throw std::invalid_argument("There is no loss '" + name + "'.");
    return found->second;
}

// The target of some rows: it owns the labels, the rest stays the caller's.
struct Outcome {
    std::vector<std::uint32_t> labels;
    Observed observed;
};

void read_outcome(const AnyArray& y, const std::optional<Vector<double>>& weights, std::uint32_t n_classes,
                  std::size_t n_rows, Outcome& outcome) {
    if (y.ndim() != 1 || y.shape(0) != n_rows || (weights && weights->size() != n_rows)) {
        throw std::invalid_argument("The target and the weights must have a value per row of the table.");
    }
    if (weights) outcome.observed.weights = as_span(*weights);
    if (n_classes == 0) {
        if (element_type(y.dtype()) != ElementType::f64 || y.stride(0) != 1) {
            throw std::invalid_argument("The target must be a contiguous vector of doubles.");
        }
        outcome.observed.numbers = {static_cast<const double*>(y.data()), n_rows};
        return;
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
}

// From (n_rows, n_scores) to scores by score, then by row, and back.
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

// The scores that rows start from: given, or the start for every row.
std::vector<double> initial_scores(const nb::handle& given, std::span<const double> start, std::size_t n_rows) {
    if (given.is_none()) {
        std::vector<double> scores(n_rows * start.size());
        for (std::size_t k = 0; k < start.size(); ++k) std::fill_n(scores.data() + k * n_rows, n_rows, start[k]);
        return scores;
    }
    const auto scores = nb::cast<Matrix<double>>(given);
    if (scores.shape(0) != n_rows || scores.shape(1) != start.size()) {
        throw std::invalid_argument("The scores must be of shape (" + std::to_string(n_rows) + ", " +
                                    std::to_string(start.size()) + ").");
    }
    return by_score(scores.data(), n_rows, start.size());
}

std::string shape_text(std::size_t n_rows, std::size_t n_scores) {
    if (n_scores == 1) return "(" + std::to_string(n_rows) + ",)";
    return "(" + std::to_string(n_rows) + ", " + std::to_string(n_scores) + ")";
}

// Of a custom loss: sums of what rows of any weight have stay floats.
constexpr double largest_derivative = 1e30;

// Copies what a custom loss returned.
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

// The user's function gets y to read, not to write. What it raises ends the rounds.
CustomGradients custom_gradients(Interruption& interruption, nb::object function, nb::object y, std::size_t n_scores) {
    nb::object observed = y.attr("view")();
    observed.attr("setflags")(nb::arg("write") = false);
    return [=, &interruption](std::span<const double> scores, Gradients& out) {
        const nb::gil_scoped_acquire acquire;
        const std::size_t n_rows = scores.size() / n_scores;
        nb::object given =
            n_scores == 1 ? to_numpy(by_row(scores, 1)) : to_numpy(by_row(scores, n_scores), {n_rows, n_scores});
        nb::object answer;
        const bool has_failed = interruption.tell([&] {
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

BoostParameters read_parameters(const nb::dict& options, std::uint32_t n_classes, std::size_t n_columns) {
    auto option = [&]<class T>(const char* name, T) { return nb::cast<T>(options[name]); };
    BoostParameters parameters;
    Objective& objective = parameters.objective;
    objective.loss = loss_named(option("loss", std::string()));
    objective.n_classes = n_classes;
    objective.quantile = option("quantile", double{});
    objective.tweedie_power = option("tweedie_power", double{});
    objective.z_max = option("z_max", double{});
    objective.one_versus_all = option("one_versus_all", bool{});
    objective.n_custom_scores = n_classes > 2 ? n_classes : 1;
    const std::string policy = option("grow_policy", std::string());
    if (policy != "lossguide" && policy != "depthwise") {
        throw std::invalid_argument("There is no grow policy '" + policy + "'.");
    }
    BoostTreeParameters& tree = parameters.tree;
    tree.is_depthwise = policy == "depthwise";
    tree.max_leaf_nodes = option("max_leaf_nodes", std::uint32_t{});
    tree.max_depth = option("max_depth", std::uint32_t{});
    tree.min_samples_leaf = option("min_samples_leaf", std::uint32_t{});
    tree.min_child_weight = option("min_child_weight", double{});
    tree.min_split_gain = option("min_split_gain", double{});
    tree.reg_lambda = option("reg_lambda", double{});
    tree.reg_alpha = option("reg_alpha", double{});
    tree.colsample_bytree = option("colsample_bytree", double{});
    tree.colsample_bynode = option("colsample_bynode", double{});
    tree.random_thresholds = option("random_thresholds", bool{});
    tree.cat_smooth = option("cat_smooth", double{});
    tree.max_cat_to_onehot = option("max_cat_to_onehot", std::uint32_t{});
    tree.monotonic = option("monotonic", std::vector<std::int8_t>());
    if (!tree.monotonic.empty() && tree.monotonic.size() != n_columns) {
        throw std::invalid_argument("There must be a monotonic direction per column, or none.");
    }
    parameters.n_rounds = option("n_rounds", std::uint32_t{});
    parameters.learning_rate = option("learning_rate", double{});
    parameters.subsample = option("subsample", double{});
    parameters.is_multi_output = option("multi_output", bool{}) && objective.n_scores() > 1;
    parameters.seed = option("seed", std::uint64_t{});
    parameters.n_iter_no_change = option("n_iter_no_change", std::uint32_t{});
    parameters.tol = option("tol", double{});
    return parameters;
}

// Asked between rounds on the calling thread: the caller's hook, which gets the number of rounds and a function that
// makes the model so far, and may ask to stop. An empty function if it is None.
AfterRound round_hook(Interruption& interruption, const nb::object& hook,
                      const std::function<Forest(std::span<const Tree>)>& model) {
    if (hook.is_none()) return {};
    return [&](std::size_t n_done, std::span<const Tree> trees) {
        return interruption.tell([&] {
            // The trees are there as long as the hook runs, and the function may outlive it.
            const auto is_over = std::make_shared<bool>(false);
            nb::object so_far = nb::cpp_function([&model, trees, is_over] {
                if (*is_over) throw std::invalid_argument("The model of a round can be had only before the next one.");
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

// The scores before the first tree: those of the model so far, given, or the best constants; 0 if rows bring their own.
std::vector<double> find_start(const nb::dict& options, const Objective& objective, const Observed& observed) {
    if (!options["forest"].is_none()) return nb::cast<const Forest&>(options["forest"]).start;
    if (!options["start"].is_none()) {
        const auto given = nb::cast<Vector<double>>(options["start"]);
        if (given.size() != objective.n_scores()) {
            throw std::invalid_argument("The start must have " + std::to_string(objective.n_scores()) + " scores.");
        }
        return {given.data(), given.data() + given.size()};
    }
    if (!options["scores"].is_none()) return std::vector<double>(objective.n_scores(), 0.0);
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

nb::dict boost_python(const Table& table, nb::object y, std::uint32_t n_classes, std::optional<Vector<double>> weights,
                      const nb::dict& options, nb::object validation, nb::object progress, int n_threads) {
    BoostParameters parameters = read_parameters(options, n_classes, table.n_columns());
    const Objective& objective = parameters.objective;
    const std::size_t n_rows = table.n_rows(), n_scores = objective.n_scores();
    Outcome outcome, held_out;
    read_outcome(nb::cast<AnyArray>(y), weights, n_classes, n_rows, outcome);
    const std::vector<double> start = find_start(options, objective, outcome.observed);
    BoostSample training{&table, outcome.observed, initial_scores(options["scores"], start, n_rows)};
    std::optional<BoostSample> watched;
    std::optional<Vector<double>> watched_weights;
    if (!validation.is_none()) {
        const Table& codes = nb::cast<const Table&>(validation[0]);
        if (codes.binning != table.binning)
            throw std::invalid_argument("The validation table is not in the same bins.");
        if (!validation[2].is_none()) watched_weights = nb::cast<Vector<double>>(validation[2]);
        read_outcome(nb::cast<AnyArray>(validation[1]), watched_weights, n_classes, codes.n_rows(), held_out);
        watched = BoostSample{&codes, held_out.observed, initial_scores(validation[3], start, codes.n_rows())};
    }
    std::optional<Forest> so_far;
    if (!options["forest"].is_none()) {
        so_far = nb::cast<const Forest&>(options["forest"]);
        if (so_far->n_scores != n_scores || so_far->binning.columns.size() != table.n_columns()) {
            throw std::invalid_argument("The model so far is of another table or another loss.");
        }
        if (so_far->link != link_of(objective)) {
            throw std::invalid_argument(
                "The scores so far are of a loss with another link. Go on with that loss, or start anew.");
        }
        if (so_far->turns == parameters.is_multi_output) {
            throw std::invalid_argument(
                "The leaves so far hold another number of values. Go on with that strategy, or start anew.");
        }
        const std::size_t n_trees = parameters.is_multi_output ? 1 : n_scores;
        parameters.first_round = static_cast<std::uint32_t>(so_far->trees.size() / n_trees);
    }
    Interruption interruption;
    CustomGradients custom;
    if (objective.loss == Loss::custom) custom = custom_gradients(interruption, options["gradients"], y, n_scores);
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
    interruption.run([&](const Stop& stop) {
        boosted = boost(std::move(training), std::move(watched), parameters, custom, n_threads, after_round, stop);
        forest = model_of(table, parameters, start, std::move(boosted.trees));
        drop_unused_cuts(forest, n_threads);
        if (so_far) {
            append_trees(*so_far, std::move(forest));
            forest = std::move(*so_far);
        }
    });
    nb::dict result;
    result["forest"] = std::move(forest);
    result["train_loss"] = to_numpy(std::move(boosted.train_loss));
    result["validation_loss"] = to_numpy(std::move(boosted.validation_loss));
    result["n_rounds"] = boosted.n_rounds;
    result["importances_gain"] = to_numpy(std::move(boosted.totals.gain));
    result["importances_split"] = to_numpy(std::move(boosted.totals.n_splits));
    result["scores"] =
        boosted.scores.empty() ? nb::none() : to_numpy(by_row(boosted.scores, n_scores), {n_rows, n_scores});
    result["stopped"] = boosted.stopped;
    result["interruption"] = interruption.error();
    return result;
}

}  // namespace

void register_boost(nb::module_& m) {
    m.def("boost", &boost_python, nb::arg("table"), nb::arg("y"), nb::arg("n_classes"), nb::arg("weights").none(),
          nb::arg("options"), nb::arg("validation").none(), nb::arg("progress").none(), nb::arg("n_threads"));
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
