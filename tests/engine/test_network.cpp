// Products, units and steps of networks against plain sums.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "check.h"
#include "network.h"
#include "network_training.h"
#include "network_units.h"
#include "product.h"
#include "random.h"

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
    std::vector<float> units = {-100, -3, -0.5F, 0, 0.5F, 3, 50, 100}, slopes(units.size());
    const auto sums = units;
    to_units(units, slopes);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const double x = sums[i], share = 1 / (1 + std::exp(-x));
        check(std::abs(units[i] - x * share) <= 1e-6 * (1 + std::abs(x)));
        check(std::abs(slopes[i] - share * (1 + x * (1 - share))) <= 1e-6);
    }
}

void dropout_keeps_the_mean() {
    std::vector<float> units(8000, 1.0F), slopes(8000, 2.0F);
    drop_units(0.25, 7, units, slopes);
    double sum = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        sum += units[i];
        check(slopes[i] == 2 * units[i]);
    }
    check(std::abs(sum / 8000 - 1) < 0.03);
}

void a_row_is_decided_alone() {
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

void any_number_of_threads_learns_the_same() {
    const std::vector<std::size_t> hidden = {6};
    const auto inputs = numbers(90 * 2, 5), values = numbers(90, 6);
    const std::vector<float> weights(90, 1.0F), start = {0.0F};
    std::vector<std::int32_t> folds(90);
    for (std::size_t i = 0; i < folds.size(); ++i) folds[i] = static_cast<std::int32_t>(i % 3);
    const NetworkRows rows{inputs, {}, values, weights, folds};
    const std::vector<double> rates(20, 0.02);
    std::vector<std::vector<float>> learnt;
    for (const int n_threads : {1, 3}) {
        NetworkTraining training(make_network_shape(2, hidden, 1, 3, false), rows, {16, 0.01, 0, 9}, start);
        const double before = training.held_out_loss(1, Stop());
        training.advance(rates, 0.1, n_threads, Stop());
        check(training.held_out_loss(n_threads, Stop()) != before);
        learnt.push_back(training.parameters());
    }
    check(learnt[0] == learnt[1]);
}

}  // namespace

int main() {
    products_are_sums_in_order();
    units_are_silu_and_its_slope();
    dropout_keeps_the_mean();
    a_row_is_decided_alone();
    any_number_of_threads_learns_the_same();
    return report();
}
