#include "network/training.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "network/units.h"
#include "numbers/matrix_product.h"
#include "numbers/random.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// The decay rates of the moments.
constexpr double first_keep = 0.9;
constexpr double second_keep = 0.95;
constexpr double smallest_root = 1e-8;
// The learning rate of biases, as a share of the rate.
constexpr double bias_rate = 0.1;

}  // namespace

struct NetworkTraining::Workspace {
    NetworkPass pass;
    std::vector<float> inputs;
    std::vector<double> probabilities;
    std::vector<float> slope, slope_before;  // of the loss, with respect to the sums of a layer
    std::vector<float> gradient;

    explicit Workspace(const NetworkShape& shape) : pass(shape), gradient(shape.n_parameters) {}
};

NetworkTraining::NetworkTraining(NetworkShape shape, const NetworkRows& rows, const NetworkOptions& options,
                                 std::span<const float> outputs, const Stop& stop)
    : shape_(std::move(shape)),
      rows_(rows),
      options_(options),
      parameters_(shape_.n_members * shape_.n_parameters),
      learners_(shape_.n_members) {
    for (std::size_t member = 0; member < shape_.n_members; ++member) {
        draw_parameters(member, outputs);
        Learner& learner = learners_[member];
        learner.first.resize(shape_.n_parameters);
        learner.second.resize(shape_.n_parameters);
        for (std::size_t row = 0; row < rows.folds.size(); ++row) {
            if (rows.folds[row] != static_cast<std::int32_t>(member)) {
                learner.rows.push_back(static_cast<std::uint32_t>(row));
            }
        }
        shuffle(member);
        stop.poll();
    }
}

// Draws uniform weights with a variance that preserves the size of the units. The last layer starts with zero weights,
// and with `outputs` as biases.
void NetworkTraining::draw_parameters(std::size_t member, std::span<const float> outputs) {
    float* parameters = parameters_.data() + member * shape_.n_parameters;
    Random random(derive_key(options_.seed, member), Purpose::weights);
    const auto draw = [&](double deviation) {
        return static_cast<float>((2 * random.uniform() - 1) * std::sqrt(3.0) * deviation);
    };
    std::fill_n(parameters, shape_.n_inputs, 1.0F);
    for (const NetworkLayer& layer : shape_.layers) {
        const bool is_last = &layer == &shape_.layers.back();
        const double deviation = is_last ? 0.0 : 1 / std::sqrt(static_cast<double>(layer.n_inputs));
        for (std::size_t i = layer.weights; i < layer.biases; ++i) parameters[i] = draw(deviation);
        for (std::size_t j = 0; j < layer.n_outputs; ++j) {
            parameters[layer.biases + j] = is_last ? outputs[j] : draw(1.0);
        }
    }
}

void NetworkTraining::shuffle(std::size_t member) {
    Learner& learner = learners_[member];
    Random random(derive_key(derive_key(options_.seed, member), learner.n_shuffles), Purpose::permutation);
    for (std::size_t i = learner.rows.size(); i > 1; --i) std::swap(learner.rows[i - 1], learner.rows[random.below(i)]);
    learner.n_drawn = 0;
    ++learner.n_shuffles;
}

void NetworkTraining::advance(std::span<const double> rates, double dropout, int n_threads, const Stop& stop) {
    for_each_task(shape_.n_members, n_threads, stop, [&](std::size_t member, int) {
        Workspace work(shape_);
        for (const double rate : rates) {
            take_step(member, rate, dropout, work);
            stop.poll();
        }
    });
}

void NetworkTraining::take_step(std::size_t member, double rate, double dropout, Workspace& work) {
    Learner& learner = learners_[member];
    const std::size_t n_rows = std::min(options_.batch_size, learner.rows.size());
    // Rows left over at the end of a pass are used in a later one.
    if (learner.n_drawn + n_rows > learner.rows.size()) shuffle(member);
    const auto rows = std::span<const std::uint32_t>(learner.rows).subspan(learner.n_drawn, n_rows);
    learner.n_drawn += n_rows;
    const std::uint64_t key = derive_key(derive_key(options_.seed, member), learner.n_steps);
    find_gradient(member, rows, {dropout, key}, work);

    const auto n_steps = static_cast<double>(++learner.n_steps);
    const double root = std::sqrt(1 - std::pow(second_keep, n_steps));
    const double correction = root / (1 - std::pow(first_keep, n_steps));
    const auto take_steps = [&](std::size_t begin, std::size_t end, double factor, double decay) {
        const AdamStep step{
            .rate = static_cast<float>(rate * factor * correction),
            .decay = static_cast<float>(rate * decay),
            .smallest = static_cast<float>(smallest_root * root),
            .first_keep = static_cast<float>(first_keep),
            .second_keep = static_cast<float>(second_keep),
        };
        adam(step, end - begin, work.gradient.data() + begin, learner.first.data() + begin,
             learner.second.data() + begin, parameters_.data() + member * shape_.n_parameters + begin);
    };
    take_steps(0, shape_.n_inputs, 1, 0);
    for (const NetworkLayer& layer : shape_.layers) {
        // The rate is relative to the initial size of the layer's weights.
        take_steps(layer.weights, layer.biases, 1 / std::sqrt(static_cast<double>(layer.n_inputs)),
                   options_.weight_decay);
        take_steps(layer.biases, layer.biases + layer.n_outputs, bias_rate, 0);
    }
}

void NetworkTraining::find_gradient(std::size_t member, std::span<const std::uint32_t> rows,
                                    const NetworkDropout& dropout, Workspace& work) const {
    const float* parameters = parameters_.data() + member * shape_.n_parameters;
    const std::size_t n_rows = rows.size(), n_inputs = shape_.n_inputs, n_outputs = shape_.n_outputs;
    work.inputs.resize(n_rows * n_inputs);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::copy_n(rows_.inputs.data() + rows[i] * n_inputs, n_inputs, work.inputs.data() + i * n_inputs);
    }
    pass_through(shape_, parameters, work.inputs.data(), n_rows, dropout, work.pass);

    work.slope.resize(n_rows * n_outputs);
    const auto outputs = std::span(work.pass.outputs()).first(n_rows * n_outputs);
    if (shape_.are_classes) to_probabilities(outputs, n_outputs, work.probabilities);
    const double spread = options_.smoothing / static_cast<double>(n_outputs);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const double share = rows_.weights[rows[i]] / static_cast<double>(n_rows);
        for (std::size_t j = 0; j < n_outputs; ++j) {
            double slope = 0;
            if (shape_.are_classes) {
                const bool is_class = rows_.classes[rows[i]] == static_cast<std::int32_t>(j);
                slope = work.probabilities[i * n_outputs + j] - spread - (is_class ? 1 - options_.smoothing : 0);
            } else {
                slope = outputs[i] - rows_.numbers[rows[i]];
            }
            work.slope[i * n_outputs + j] = static_cast<float>(slope * share);
        }
    }

    for (std::size_t l = shape_.layers.size(); l-- > 0;) {
        const NetworkLayer& layer = shape_.layers[l];
        const float* inputs = l > 0 ? work.pass.units[l - 1].data() : work.inputs.data();
        const MatrixView slopes = MatrixView::by_rows(work.slope.data(), layer.n_outputs);
        multiply(MatrixView::by_rows(inputs, layer.n_inputs).transposed(), slopes,
                 {layer.n_inputs, n_rows, layer.n_outputs}, work.pass.panel, work.gradient.data() + layer.weights);
        sum_of_rows(work.slope.data(), n_rows, layer.n_outputs, work.gradient.data() + layer.biases);
        if (l == 0) break;
        work.slope_before.resize(n_rows * layer.n_inputs);
        multiply(slopes, MatrixView::by_rows(parameters + layer.weights, layer.n_outputs).transposed(),
                 {n_rows, layer.n_outputs, layer.n_inputs}, work.pass.panel, work.slope_before.data());
        const float* before = work.pass.slopes[l - 1].data();
        for (std::size_t i = 0; i < n_rows * layer.n_inputs; ++i) work.slope_before[i] *= before[i];
        std::swap(work.slope, work.slope_before);
    }
    part_scales_from_weights(parameters, work.gradient.data());
}

// The first layer multiplies inputs by scale times weight. Splits the gradient with respect to that product into the
// gradients of the scales and of the weights.
void NetworkTraining::part_scales_from_weights(const float* parameters, float* gradient) const {
    const NetworkLayer& first = shape_.layers.front();
    for (std::size_t i = 0; i < first.n_inputs; ++i) {
        float* by_product = gradient + first.weights + i * first.n_outputs;
        const float* weights = parameters + first.weights + i * first.n_outputs;
        float sum = 0;
        for (std::size_t j = 0; j < first.n_outputs; ++j) {
            sum += weights[j] * by_product[j];
            by_product[j] *= parameters[i];
        }
        gradient[i] = sum;
    }
}

std::vector<float> NetworkTraining::gradient(std::size_t member, std::span<const std::uint32_t> rows) const {
    Workspace work(shape_);
    find_gradient(member, rows, {}, work);
    return work.gradient;
}

double NetworkTraining::held_out_loss(int n_threads, const Stop& stop) const {
    constexpr std::size_t rows_at_once = 256;
    std::vector<double> losses(shape_.n_members, 0.0), weights(shape_.n_members, 0.0);
    for_each_task(shape_.n_members, n_threads, stop, [&](std::size_t member, int) {
        NetworkPass pass(shape_);
        std::vector<float> inputs;
        std::vector<std::size_t> rows;
        const auto add_losses = [&] {
            pass_through(shape_, parameters_.data() + member * shape_.n_parameters, inputs.data(), rows.size(), {},
                         pass);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const auto outputs = std::span(pass.outputs()).subspan(i * shape_.n_outputs, shape_.n_outputs);
                losses[member] += rows_.weights[rows[i]] * loss_of(rows[i], outputs);
                weights[member] += rows_.weights[rows[i]];
            }
            rows.clear();
            inputs.clear();
            stop.poll();
        };
        for (std::size_t row = 0; row < rows_.folds.size(); ++row) {
            if (rows_.folds[row] != static_cast<std::int32_t>(member)) continue;
            const auto values = rows_.inputs.subspan(row * shape_.n_inputs, shape_.n_inputs);
            inputs.insert(inputs.end(), values.begin(), values.end());
            rows.push_back(row);
            if (rows.size() == rows_at_once) add_losses();
        }
        if (!rows.empty()) add_losses();
    });
    return std::accumulate(losses.begin(), losses.end(), 0.0) / std::accumulate(weights.begin(), weights.end(), 0.0);
}

double NetworkTraining::loss_of(std::size_t row, std::span<const float> outputs) const {
    if (!shape_.are_classes) {
        const double error = outputs[0] - rows_.numbers[row];
        return error * error;
    }
    const double highest = *std::max_element(outputs.begin(), outputs.end());
    double sum = 0;
    for (const float output : outputs) sum += std::exp(output - highest);
    return std::log(sum) + highest - outputs[static_cast<std::size_t>(rows_.classes[row])];
}

}  // namespace committee
