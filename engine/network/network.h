// Networks of layers, several of one shape side by side as members: what they are, and how rows pass through them.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "threads/stop.h"

namespace committee {

// Where a layer lies among the parameters of a member: weights by inputs, then biases.
struct NetworkLayer {
    std::size_t n_inputs;
    std::size_t n_outputs;
    std::size_t weights;
    std::size_t biases;
};

// The parameters of a member are a scale for each input, and those of the layers.
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

// What the layers make of some rows, and the memory to work in. Sizes are rounded up to whole vectors.
struct NetworkPass {
    std::vector<float> scaled;               // the inputs
    std::vector<std::vector<float>> units;   // of each layer; of the last one, the outputs
    std::vector<std::vector<float>> slopes;  // of each layer but the last: of the units by their sums
    std::vector<float> panel;

    explicit NetworkPass(const NetworkShape& shape) : units(shape.layers.size()), slopes(shape.layers.size() - 1) {}

    const std::vector<float>& outputs() const { return units.back(); }
    const std::vector<float>& inputs_of(std::size_t layer) const { return layer == 0 ? scaled : units[layer - 1]; }
};

// Some units are left out at random while a network learns.
struct NetworkDropout {
    double share = 0;
    std::uint64_t key = 0;
};

// Rows of inputs through one member.
void pass_through(const NetworkShape& shape, const float* parameters, const float* inputs, std::size_t n_rows,
                  const NetworkDropout& dropout, NetworkPass& pass);

// Sums of each row as probabilities.
void to_probabilities(std::span<const float> outputs, std::size_t n_classes, std::vector<double>& probabilities);

// The mean decision of the members, (n_rows, n_outputs).
std::vector<double> network_decision(const NetworkShape& shape, std::span<const float> parameters,
                                     std::span<const float> inputs, std::size_t n_rows, int n_threads,
                                     const Stop& stop);

}  // namespace committee
