// Tests of products, units and steps of networks against naive sums.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "check.h"
#include "network/network.h"
#include "network/training.h"
#include "network/units.h"
#include "numbers/matrix_product.h"
#include "numbers/random.h"

using namespace committee;

namespace {

std::vector<float> numbers(std::size_t n, std::uint64_t seed) {
    Random random(seed, Purpose::weights);
    std::vector<float> values(n);
    for (float& value : values) value = static_cast<float>(2 * random.uniform() - 1);
    return values;
}

void products_are_sums_in_order() {
    for (const auto& [n_rows, n_inner, n_columns] :
         {ProductSize{1, 1, 1}, ProductSize{5, 3, 17}, ProductSize{9, 40, 33}, ProductSize{4, 16, 16}}) {
        const auto left = numbers(n_rows * n_inner, 1), right = numbers(n_inner * n_columns, 2);
        std::vector<float> turned(right.size()), out(n_rows * n_columns), same(out.size()), panel;
        for (std::size_t k = 0; k < n_inner; ++k) {
            for (std::size_t j = 0; j < n_columns; ++j) turned[j * n_inner + k] = right[k * n_columns + j];
        }
        const MatrixView rows = MatrixView::by_rows(left.data(), n_inner);
        multiply(rows, MatrixView::by_rows(right.data(), n_columns), {n_rows, n_inner, n_columns}, panel, out.data());
        multiply(rows, MatrixView::by_rows(turned.data(), n_inner).transposed(), {n_rows, n_inner, n_columns}, panel,
                 same.data());
        check(out == same);
        for (std::size_t i = 0; i < n_rows; ++i) {
            for (std::size_t j = 0; j < n_columns; ++j) {
                float sum = 0;
                for (std::size_t k = 0; k < n_inner; ++k) sum += left[i * n_inner + k] * right[k * n_columns + j];
                check(out[i * n_columns + j] == sum);
            }
        }
    }
}

void units_are_silu_and_its_slope() {
    std::vector<float> units = {-100, -50, -20, -9, -3, -1, -0.5F, -0.1F, 0, 0.1F, 0.5F, 1, 3, 9, 50, 100},
                       slopes(units.size());
    const auto sums = units;
    static_assert(unit_lanes == 16);
    to_units(units, slopes);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double x = sums[i], share = 1 / (1 + std::exp(-x));
        check(std::abs(units[i] - x * share) <= 1e-6 * (1 + std::abs(x)));
        check(std::abs(slopes[i] - share * (1 + x * (1 - share))) <= 1e-6);
    }
}

// The remaining units are scaled up, so that the mean is preserved up to chance.
void dropout_drops_the_right_share() {
    constexpr std::size_t n = 80'000;
    for (const double share : {0.001, 0.2, 0.25, 0.9, 0.999, 0.999999}) {
        std::vector<float> units(n, 1.0F), slopes(n, 2.0F);
        drop_units(share, 7, units, slopes);
        const double rounded = std::min(std::round(share * 65536), 65535.0) / 65536;
        check(std::abs(rounded - share) < 1.0 / 65536);
        const auto kept = static_cast<float>(1 / (1 - rounded));
        std::size_t n_left_out = 0;
        for (std::size_t i = 0; i < n; ++i) {
            check(units[i] == 0 || units[i] == kept);
            check(slopes[i] == 2 * units[i]);
            n_left_out += units[i] == 0 ? 1 : 0;
        }
        const double found = static_cast<double>(n_left_out) / n, deviation = std::sqrt(rounded * (1 - rounded) / n);
        check(std::abs(found - rounded) < 5 * deviation);
    }
}

void another_key_drops_other_units() {
    const std::vector<float> ones(64, 1.0F);
    std::vector<std::vector<float>> drawn;
    for (const std::uint64_t key : {7, 7, 8}) {
        auto units = ones, slopes = ones;
        drop_units(0.5, key, units, slopes);
        drawn.push_back(units);
    }
    check(drawn[0] == drawn[1]);
    check(drawn[0] != drawn[2]);
}

// AdamW as in Loshchilov and Hutter, in double precision, with the gradients of the training.
void steps_follow_adamw() {
    constexpr std::size_t n = 12;
    const std::vector<std::size_t> hidden = {3};
    const auto inputs = numbers(n * 2, 5), values = numbers(n, 6);
    const std::vector<float> weights(n, 1.0F), start = {0.25F};
    const std::vector<std::int32_t> folds(n, -1);
    constexpr double rate = 0.02, decay = 0.3, first_keep = 0.9, second_keep = 0.95;
    const NetworkShape shape = make_network_shape(2, hidden, 1, 1, false);
    NetworkTraining training(shape, {inputs, {}, values, weights, folds}, {n, decay, 0, 9}, start, Stop());
    // The rate of a layer is scaled by the initial size of its weights. Biases use a tenth of the rate, and only
    // weights decay.
    std::vector<double> factors(shape.n_parameters, 1.0), decays(shape.n_parameters, 0.0);
    for (const NetworkLayer& layer : shape.layers) {
        for (std::size_t i = layer.weights; i < layer.biases; ++i) {
            factors[i] = 1 / std::sqrt(static_cast<double>(layer.n_inputs));
            decays[i] = decay;
        }
        for (std::size_t j = 0; j < layer.n_outputs; ++j) factors[layer.biases + j] = 0.1;
    }
    std::vector<std::uint32_t> all(n);
    for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<std::uint32_t>(i);
    std::vector<double> first(shape.n_parameters, 0.0), second(shape.n_parameters, 0.0);
    for (int step = 1; step <= 3; ++step) {
        const auto before = training.parameters(), gradient = training.gradient(0, all);
        training.advance(std::vector<double>{rate}, 0, 1, Stop());
        const auto after = training.parameters();
        for (std::size_t i = 0; i < shape.n_parameters; ++i) {
            first[i] = first_keep * first[i] + (1 - first_keep) * gradient[i];
            second[i] = second_keep * second[i] + (1 - second_keep) * gradient[i] * gradient[i];
            const double mean = first[i] / (1 - std::pow(first_keep, step));
            const double root = std::sqrt(second[i] / (1 - std::pow(second_keep, step)));
            const double expected = before[i] - rate * factors[i] * mean / (root + 1e-8) - rate * decays[i] * before[i];
            check(std::abs(after[i] - expected) < 2e-6);
        }
    }
}

void a_decision_does_not_depend_on_other_rows() {
    const std::vector<std::size_t> hidden = {7, 5};
    const NetworkShape shape = make_network_shape(3, hidden, 4, 2, true);
    const auto parameters = numbers(2 * shape.n_parameters, 3), inputs = numbers(600 * 3, 4);
    const auto together = network_decision(shape, parameters, inputs, 600, 3, Stop());
    for (const std::size_t row : {0, 255, 256, 599}) {
        const auto alone = network_decision(shape, parameters, std::span(inputs).subspan(row * 3, 3), 1, 1, Stop());
        double sum = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            check(alone[j] == together[row * 4 + j]);
            sum += alone[j];
        }
        check(std::abs(sum - 1) < 1e-12);
    }
}

void any_number_of_threads_learns_the_same_parameters() {
    const std::vector<std::size_t> hidden = {6};
    const auto inputs = numbers(90 * 2, 5), values = numbers(90, 6);
    const std::vector<float> weights(90, 1.0F), start = {0.0F};
    std::vector<std::int32_t> folds(90);
    for (std::size_t i = 0; i < folds.size(); ++i) folds[i] = static_cast<std::int32_t>(i % 3);
    const NetworkRows rows{inputs, {}, values, weights, folds};
    const std::vector<double> rates(20, 0.02);
    std::vector<std::vector<float>> learned;
    for (const int n_threads : {1, 3}) {
        NetworkTraining training(make_network_shape(2, hidden, 1, 3, false), rows, {16, 0.01, 0, 9}, start, Stop());
        const double before = training.held_out_loss(1, Stop());
        training.advance(rates, 0.1, n_threads, Stop());
        check(training.held_out_loss(n_threads, Stop()) != before);
        learned.push_back(training.parameters());
    }
    check(learned[0] == learned[1]);
}

}  // namespace

int main() {
    products_are_sums_in_order();
    units_are_silu_and_its_slope();
    dropout_drops_the_right_share();
    another_key_drops_other_units();
    steps_follow_adamw();
    a_decision_does_not_depend_on_other_rows();
    any_number_of_threads_learns_the_same_parameters();
    return report();
}
