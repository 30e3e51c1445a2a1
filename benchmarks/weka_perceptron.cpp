// The training of Weka's MultilayerPerceptron: logistic units in one hidden layer and at the outputs, squared error,
// and a step with momentum after every row. Compiled by weka_perceptron.py.
//
// Each step depends on the previous one, so only the work within a step is vectorised, over eight hidden units at a
// time. The last block is padded with units that are always zero, and so are their weights.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace {

constexpr std::size_t width = 8;
using Lanes = double __attribute__((vector_size(width * sizeof(double))));
using Bits = std::int64_t __attribute__((vector_size(width * sizeof(double))));

Lanes all(double value) { return Lanes{} + value; }

double sum(Lanes lanes) {
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

// e^x = 2^n e^r with an integer n and |r| <= log(2) / 2. The series of e^r is split into parts that the processor can
// compute in parallel.
Lanes exponential(Lanes x) {
    constexpr double rounder = 0x1.8p52;  // a sum with it contains the integer in its last bits
    x = x < -700.0 ? all(-700.0) : x > 700.0 ? all(700.0) : x;
    const Lanes rounded = x * 0x1.71547652b82fep0 + rounder, n = rounded - rounder;
    const Lanes r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
    const Lanes r2 = r * r, r4 = r2 * r2;
    const Lanes low = (1.0 + r) + r2 * (1.0 / 2 + r * (1.0 / 6));
    const Lanes middle = (1.0 / 24 + r * (1.0 / 120)) + r2 * (1.0 / 720 + r * (1.0 / 5040));
    const Lanes high =
        (1.0 / 40320 + r * (1.0 / 362880)) + r2 * (1.0 / 3628800 + r * (1.0 / 39916800)) + r4 * (1.0 / 479001600);
    const Lanes series = low + r4 * (middle + r4 * high);
    return reinterpret_cast<Lanes>(reinterpret_cast<Bits>(series) + (reinterpret_cast<Bits>(rounded) << 52));
}

Lanes logistic(Lanes sums) { return 1.0 / (1.0 + exponential(-sums)); }

// Weights between the hidden units and the units of another layer, with their last changes. Each other unit has a line.
struct Weights {
    std::size_t n_blocks;
    std::vector<Lanes> lines, changes;

    Weights(std::size_t n_lines, std::size_t n_blocks)
        : n_blocks(n_blocks), lines(n_lines * n_blocks), changes(n_lines * n_blocks) {}

    const Lanes* line(std::size_t at) const { return lines.data() + at * n_blocks; }
    double& weight(std::size_t at, std::size_t unit) {
        return reinterpret_cast<double*>(lines.data() + at * n_blocks)[unit];
    }

    void step(std::size_t at, double factor, const Lanes* slopes, double momentum) {
        Lanes* here = lines.data() + at * n_blocks;
        Lanes* last = changes.data() + at * n_blocks;
        for (std::size_t block = 0; block < n_blocks; ++block) {
            last[block] = factor * slopes[block] + momentum * last[block];
            here[block] += last[block];
        }
    }
};

}  // namespace

// Rows are taken in their order in every epoch. The weights come as they are to begin with, and go as they are learnt:
// hidden (1 + n_columns, n_hidden), output (1 + n_hidden, n_classes), the biases first.
extern "C" void learn(const double* rows, const std::int64_t* classes, std::size_t n_rows, std::size_t n_columns,
                      std::size_t n_hidden, std::size_t n_classes, std::size_t n_epochs, double rate, double momentum,
                      double* hidden_weights, double* output_weights) {
    const std::size_t n_blocks = (n_hidden + width - 1) / width;
    Weights hidden(1 + n_columns, n_blocks), output(n_classes, n_blocks);
    std::vector<double> biases(output_weights, output_weights + n_classes), bias_changes(n_classes);
    for (std::size_t input = 0; input <= n_columns; ++input)
        for (std::size_t unit = 0; unit < n_hidden; ++unit)
            hidden.weight(input, unit) = hidden_weights[input * n_hidden + unit];
    for (std::size_t unit = 0; unit < n_hidden; ++unit)
        for (std::size_t next = 0; next < n_classes; ++next)
            output.weight(next, unit) = output_weights[(1 + unit) * n_classes + next];

    std::vector<Lanes> is_unit(n_blocks);
    for (std::size_t unit = 0; unit < n_hidden; ++unit) reinterpret_cast<double*>(is_unit.data())[unit] = 1;
    std::vector<Lanes> units(n_blocks), deltas(n_blocks), outputs((n_classes + width - 1) / width);
    double* values = reinterpret_cast<double*>(outputs.data());
    for (std::size_t turn = 0; turn < n_epochs * n_rows; ++turn) {
        const std::size_t row = turn % n_rows;
        const double* inputs = rows + row * n_columns;
        for (std::size_t block = 0; block < n_blocks; ++block) {
            // Even and odd inputs have separate sums, so that the additions do not wait for each other.
            Lanes even = hidden.line(0)[block], odd{};
            std::size_t input = 0;
            for (; input + 1 < n_columns; input += 2) {
                even += inputs[input] * hidden.line(1 + input)[block];
                odd += inputs[input + 1] * hidden.line(2 + input)[block];
            }
            if (input < n_columns) even += inputs[input] * hidden.line(1 + input)[block];
            units[block] = is_unit[block] * logistic(even + odd);
        }
        for (std::size_t next = 0; next < n_classes; ++next) {
            Lanes sums{};
            for (std::size_t block = 0; block < n_blocks; ++block) sums += units[block] * output.line(next)[block];
            values[next] = biases[next] + sum(sums);
        }
        for (Lanes& block : outputs) block = logistic(block);
        for (Lanes& delta : deltas) delta = Lanes{};
        for (std::size_t next = 0; next < n_classes; ++next) {
            const double value = values[next], target = static_cast<std::size_t>(classes[row]) == next ? 1 : 0;
            const double slope = (target - value) * value * (1 - value);  // of the loss, downhill
            for (std::size_t block = 0; block < n_blocks; ++block) deltas[block] += slope * output.line(next)[block];
            output.step(next, rate * slope, units.data(), momentum);
            bias_changes[next] = rate * slope + momentum * bias_changes[next];
            biases[next] += bias_changes[next];
        }
        for (std::size_t block = 0; block < n_blocks; ++block) deltas[block] *= units[block] * (1.0 - units[block]);
        hidden.step(0, rate, deltas.data(), momentum);
        for (std::size_t input = 0; input < n_columns; ++input)
            hidden.step(1 + input, rate * inputs[input], deltas.data(), momentum);
    }

    for (std::size_t input = 0; input <= n_columns; ++input)
        for (std::size_t unit = 0; unit < n_hidden; ++unit)
            hidden_weights[input * n_hidden + unit] = hidden.weight(input, unit);
    for (std::size_t next = 0; next < n_classes; ++next) {
        output_weights[next] = biases[next];
        for (std::size_t unit = 0; unit < n_hidden; ++unit)
            output_weights[(1 + unit) * n_classes + next] = output.weight(next, unit);
    }
}
