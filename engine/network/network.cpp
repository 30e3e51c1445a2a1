#include "network/network.h"

#include <algorithm>

#include "network/units.h"
#include "numbers/exponentials.h"
#include "numbers/matrix_product.h"
#include "numbers/random.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

constexpr std::size_t rows_at_once = 256;

}  // namespace

NetworkShape make_network_shape(std::size_t n_inputs, std::span<const std::size_t> hidden, std::size_t n_outputs,
                                std::size_t n_members, bool are_classes) {
    NetworkShape shape{n_inputs, n_outputs, n_members, are_classes, {}, n_inputs};
    std::size_t n_before = n_inputs;
    const auto add = [&](std::size_t n_units) {
        const std::size_t weights = shape.n_parameters, biases = weights + n_before * n_units;
        shape.layers.push_back({n_before, n_units, weights, biases});
        shape.n_parameters = biases + n_units;
        n_before = n_units;
    };
    for (const std::size_t n_units : hidden) add(n_units);
    add(n_outputs);
    return shape;
}

void pass_through(const NetworkShape& shape, const float* parameters, const float* inputs, std::size_t n_rows,
                  const NetworkDropout& dropout, NetworkPass& pass) {
    pass.scaled.resize(whole_vectors(n_rows * shape.n_inputs));
    multiply_columns(inputs, parameters, n_rows, shape.n_inputs, pass.scaled.data());
    for (std::size_t l = 0; l < shape.layers.size(); ++l) {
        const NetworkLayer& layer = shape.layers[l];
        std::vector<float>& units = pass.units[l];
        units.resize(whole_vectors(n_rows * layer.n_outputs));
        multiply(MatrixView::by_rows(pass.inputs_of(l).data(), layer.n_inputs),
                 MatrixView::by_rows(parameters + layer.weights, layer.n_outputs),
                 {n_rows, layer.n_inputs, layer.n_outputs}, pass.panel, units.data());
        add_to_rows(parameters + layer.biases, n_rows, layer.n_outputs, units.data());
        if (l + 1 == shape.layers.size()) break;
        pass.slopes[l].resize(units.size());
        to_units(units, pass.slopes[l]);
        if (dropout.share > 0) drop_units(dropout.share, derive_key(dropout.key, l), units, pass.slopes[l]);
    }
}

void to_probabilities(std::span<const float> outputs, std::size_t n_classes, std::vector<double>& probabilities) {
    probabilities.assign(outputs.begin(), outputs.end());
    for (std::size_t i = 0; i < probabilities.size(); i += n_classes) {
        const auto row = std::span(probabilities).subspan(i, n_classes);
        const double highest = *std::max_element(row.begin(), row.end());
        for (double& value : row) value -= highest;
    }
    to_exponentials(probabilities.data(), probabilities.size());
    for (std::size_t i = 0; i < probabilities.size(); i += n_classes) {
        const auto row = std::span(probabilities).subspan(i, n_classes);
        double sum = 0;
        for (const double value : row) sum += value;
        for (double& value : row) value /= sum;
    }
}

std::vector<double> network_decision(const NetworkShape& shape, std::span<const float> parameters,
                                     std::span<const float> inputs, std::size_t n_rows, int n_threads,
                                     const Stop& stop) {
    std::vector<double> decision(n_rows * shape.n_outputs, 0.0);
    const std::size_t n_blocks = (n_rows + rows_at_once - 1) / rows_at_once;
    struct Own {
        NetworkPass pass;
        std::vector<double> votes;
    };
    std::vector<Own> owned(static_cast<std::size_t>(std::max(n_threads, 1)), Own{NetworkPass(shape), {}});
    for_each_task(n_blocks, n_threads, stop, [&](std::size_t block, int thread) {
        auto& [pass, votes] = owned[static_cast<std::size_t>(thread)];
        const std::size_t begin = block * rows_at_once, n_here = std::min(rows_at_once, n_rows - begin);
        double* sums = decision.data() + begin * shape.n_outputs;
        for (std::size_t member = 0; member < shape.n_members; ++member) {
            pass_through(shape, parameters.data() + member * shape.n_parameters, inputs.data() + begin * shape.n_inputs,
                         n_here, {}, pass);
            const auto outputs = std::span(pass.outputs()).first(n_here * shape.n_outputs);
            if (shape.are_classes) {
                to_probabilities(outputs, shape.n_outputs, votes);
            } else {
                votes.assign(outputs.begin(), outputs.end());
            }
            for (std::size_t i = 0; i < votes.size(); ++i) sums[i] += votes[i];
        }
        for (std::size_t i = 0; i < n_here * shape.n_outputs; ++i) sums[i] /= static_cast<double>(shape.n_members);
    });
    return decision;
}

}  // namespace committee
