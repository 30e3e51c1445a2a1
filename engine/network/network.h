// Networks of layers. An ensemble is several members of the same shape. Defines their parameters and the forward pass.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// The position of a layer among the parameters of a member: weights by input, then biases.
struct NetworkLayer {
    std::size_t n_inputs;
    std::size_t n_outputs;
    std::size_t weights;
    std::size_t biases;
};

// The parameters of a member: one scale per input, then the layers.
struct NetworkShape {
    std::size_t n_inputs;
    std::size_t n_outputs;
    std::size_t n_members;
    bool are_classes;
    std::vector<NetworkLayer> layers;
    std::size_t n_parameters;  // of a member
};

NetworkShape make_network_shape(std::size_t n_inputs, std::span<const std::size_t> hidden, std::size_t n_outputs,
                                std::size_t n_members, bool are_classes);

// The results of a forward pass, and scratch memory. Sizes are rounded up to whole vectors.
struct NetworkPass {
    std::vector<float> scaled;              // the inputs times their scales
    std::vector<std::vector<float>> units;  // by layer; the last element holds the outputs
    std::vector<std::vector<float>>
        slopes;  // by layer except the last: the derivatives of the units with respect to their sums
    std::vector<float> panel;

    explicit NetworkPass(const NetworkShape& shape) : units(shape.layers.size()), slopes(shape.layers.size() - 1) {}

    const std::vector<float>& outputs() const { return units.back(); }
    const std::vector<float>& inputs_of(std::size_t layer) const { return layer == 0 ? scaled : units[layer - 1]; }
};

// Dropout: random units are set to zero during training.
struct NetworkDropout {
    double share = 0;
    std::uint64_t key = 0;
};

// The forward pass of some rows through one member.
void pass_through(const NetworkShape& shape, const float* parameters, const float* inputs, std::size_t n_rows,
                  const NetworkDropout& dropout, NetworkPass& pass);

// Softmax of the outputs of each row.
void to_probabilities(std::span<const float> outputs, std::size_t n_classes, std::vector<double>& probabilities);

// The mean decision of the members, (n_rows, n_outputs).
std::vector<double> network_decision(const NetworkShape& shape, std::span<const float> parameters,
                                     std::span<const float> inputs, std::size_t n_rows, int n_threads,
                                     const Stop& stop);

}  // namespace committee
