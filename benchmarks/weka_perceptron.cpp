// How Weka's MultilayerPerceptron learns: logistic units in one hidden layer and at the outputs, squared error, and a
// step with momentum after every row. Compiled by weka_perceptron.py.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

double logistic(double sum) { return 1 / (1 + std::exp(-sum)); }

// A layer: the bias and the weights of each input, one after the other for all units, and the last change of each.
struct Layer {
    std::size_t n_inputs, n_units;
    double* weights;  // (1 + n_inputs, n_units)
    std::vector<double> changes = std::vector<double>((1 + n_inputs) * n_units);
    std::vector<double> units = std::vector<double>(n_units);
    std::vector<double> slopes = std::vector<double>(n_units);  // of the loss, downhill, by the sums of the units

    void pass(const double* inputs) {
        for (std::size_t unit = 0; unit < n_units; ++unit) units[unit] = weights[unit];
        for (std::size_t input = 0; input < n_inputs; ++input) {
            const double* here = weights + (1 + input) * n_units;
            for (std::size_t unit = 0; unit < n_units; ++unit) units[unit] += inputs[input] * here[unit];
        }
        for (double& unit : units) unit = logistic(unit);
    }

    void step(const double* inputs, double rate, double momentum) {
        change(0, rate, momentum);
        for (std::size_t input = 0; input < n_inputs; ++input) change(1 + input, rate * inputs[input], momentum);
    }

    void change(std::size_t input, double factor, double momentum) {
        double* here = weights + input * n_units;
        double* last = changes.data() + input * n_units;
        for (std::size_t unit = 0; unit < n_units; ++unit) {
            last[unit] = factor * slopes[unit] + momentum * last[unit];
            here[unit] += last[unit];
        }
    }
};

}  // namespace

// Rows are taken in their order in every epoch. The weights come as they are to begin with, and go as they are learnt.
extern "C" void learn(const double* rows, const std::int64_t* classes, std::size_t n_rows, std::size_t n_columns,
                      std::size_t n_hidden, std::size_t n_classes, std::size_t n_epochs, double rate, double momentum,
                      double* hidden_weights, double* output_weights) {
    Layer hidden{n_columns, n_hidden, hidden_weights}, output{n_hidden, n_classes, output_weights};
    for (std::size_t turn = 0; turn < n_epochs * n_rows; ++turn) {
        const std::size_t row = turn % n_rows;
        const double* inputs = rows + row * n_columns;
        hidden.pass(inputs);
        output.pass(hidden.units.data());
        for (std::size_t unit = 0; unit < n_classes; ++unit) {
            const double value = output.units[unit], target = static_cast<std::size_t>(classes[row]) == unit ? 1 : 0;
            output.slopes[unit] = (target - value) * value * (1 - value);
        }
        for (std::size_t unit = 0; unit < n_hidden; ++unit) {
            const double* here = output.weights + (1 + unit) * n_classes;
            double blame = 0;
            for (std::size_t next = 0; next < n_classes; ++next) blame += here[next] * output.slopes[next];
            hidden.slopes[unit] = blame * hidden.units[unit] * (1 - hidden.units[unit]);
        }
        output.step(hidden.units.data(), rate, momentum);
        hidden.step(inputs, rate, momentum);
    }
}
