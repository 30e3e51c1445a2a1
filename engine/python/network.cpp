#include "network/network.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "network/training.h"
#include "python/arguments/arrays.h"
#include "python/arguments/stop.h"

namespace committee {
namespace {

using Inputs = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::span<const float> all_of(const Inputs& inputs) { return {inputs.data(), inputs.size()}; }

NetworkShape shape_of(std::size_t n_inputs, const std::vector<std::size_t>& hidden, std::size_t n_outputs,
                      std::size_t n_members, bool are_classes) {
    const bool has_units = n_inputs > 0 && n_outputs > 0 && n_members > 0 &&
                           std::find(hidden.begin(), hidden.end(), std::size_t{0}) == hidden.end();
    if (!has_units || (!are_classes && n_outputs != 1)) {
        throw std::invalid_argument("A network needs inputs, units, members and outputs. A regression has one output.");
    }
    return make_network_shape(n_inputs, hidden, n_outputs, n_members, are_classes);
}

// A training, with the arrays that it reads.
struct HeldTraining {
    Inputs inputs;
    Vector<std::int32_t> classes;
    Vector<float> numbers, weights;
    Vector<std::int32_t> folds;
    NetworkTraining training;
};

void check_rows(const NetworkShape& shape, const NetworkRows& rows) {
    const std::size_t n_rows = rows.folds.size();
    const bool fits = rows.inputs.size() == n_rows * shape.n_inputs && rows.weights.size() == n_rows &&
                      rows.classes.size() == (shape.are_classes ? n_rows : 0) &&
                      rows.numbers.size() == (shape.are_classes ? 0 : n_rows) && n_rows <= 0xffffffffU;
    if (!fits) throw std::invalid_argument("The rows do not fit the network.");
    for (const std::int32_t code : rows.classes) {
        if (code < 0 || static_cast<std::size_t>(code) >= shape.n_outputs) {
            throw std::invalid_argument("A class is out of range.");
        }
    }
    for (std::size_t member = 0; member < shape.n_members; ++member) {
        const bool is_kept = std::all_of(rows.folds.begin(), rows.folds.end(),
                                         [&](std::int32_t fold) { return std::cmp_equal(fold, member); });
        if (is_kept) throw std::invalid_argument("Every member needs at least one training row.");
    }
}

}  // namespace

void register_network(nb::module_& m) {
    nb::class_<HeldTraining>(m, "NetworkTraining", "Trains networks, some steps at a time.")
        .def("__init__",
             [](HeldTraining* made, Inputs inputs, Vector<std::int32_t> classes, Vector<float> numbers,
                Vector<float> weights, Vector<std::int32_t> folds, const std::vector<std::size_t>& hidden,
                Vector<float> outputs, std::size_t n_members, bool are_classes, std::size_t batch_size,
                double weight_decay, double smoothing, std::uint64_t seed) {
                 NetworkShape shape = shape_of(inputs.shape(1), hidden, outputs.size(), n_members, are_classes);
                 const NetworkRows rows{all_of(inputs), as_span(classes), as_span(numbers), as_span(weights),
                                        as_span(folds)};
                 if (batch_size == 0) throw std::invalid_argument("batch_size must be at least 1.");
                 const NetworkOptions options{batch_size, weight_decay, smoothing, seed};
                 NetworkTraining training = Interruption().run([&](const Stop& stop) {
                     check_rows(shape, rows);
                     return NetworkTraining(std::move(shape), rows, options, as_span(outputs), stop);
                 });
                 std::construct_at(made, HeldTraining{std::move(inputs), std::move(classes), std::move(numbers),
                                                      std::move(weights), std::move(folds), std::move(training)});
             })
        .def(
            "advance",
            [](HeldTraining& held, const Vector<double>& rates, double dropout, int n_threads) {
                Interruption().run(
                    [&](const Stop& stop) { held.training.advance(as_span(rates), dropout, n_threads, stop); });
            },
            "Take one step per rate.")
        .def(
            "held_out_loss",
            [](const HeldTraining& held, int n_threads) {
                return Interruption().run(
                    [&](const Stop& stop) { return held.training.held_out_loss(n_threads, stop); });
            },
            "The mean loss of the held-out rows, each predicted by the member from which it is held out.")
        .def(
            "gradient",
            [](const HeldTraining& held, std::size_t member, const Vector<std::uint32_t>& rows) {
                for (const std::uint32_t row : as_span(rows)) {
                    if (row >= held.folds.size()) throw std::invalid_argument("A row is out of range.");
                }
                if (member >= held.training.shape().n_members)
                    throw std::invalid_argument("The member is out of range.");
                return to_numpy(held.training.gradient(member, as_span(rows)));
            },
            "The gradient of the mean loss of some rows with respect to the parameters of a member.")
        .def(
            "parameters",
            [](const HeldTraining& held) {
                const NetworkShape& shape = held.training.shape();
                return to_numpy(held.training.parameters(), {shape.n_members, shape.n_parameters});
            },
            "(n_members, n_parameters): one scale per input, then weights by input and biases of each layer.");
    m.def(
        "network_decision",
        [](const Inputs& inputs, const Inputs& parameters, const std::vector<std::size_t>& hidden,
           std::size_t n_outputs, bool are_classes, int n_threads) {
            const NetworkShape shape = shape_of(inputs.shape(1), hidden, n_outputs, parameters.shape(0), are_classes);
            if (parameters.shape(1) != shape.n_parameters) {
                throw std::invalid_argument("The parameters do not fit the network.");
            }
            const std::size_t n_rows = inputs.shape(0);
            return to_numpy(Interruption().run([&](const Stop& stop) {
                return network_decision(shape, all_of(parameters), all_of(inputs), n_rows, n_threads, stop);
            }),
                            {n_rows, n_outputs});
        },
        "The mean decision of the members for rows of inputs.");
}

}  // namespace committee
