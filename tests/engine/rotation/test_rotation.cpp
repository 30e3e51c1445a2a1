// Tests of rotation forests: principal axes, axes of a table, random rotations, trees on them, and arrays that are not
// a forest.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.h"
#include "numbers/eigenvectors.h"
#include "rotation/axes.h"
#include "rotation/forest.h"
#include "rotation/rotation.h"
#include "rotation/state.h"

using namespace committee;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_near(double a, double b, double slack = 1e-12) { return std::abs(a - b) < slack; }

ColumnView view(const std::vector<double>& values) { return {values.data(), sizeof(double), ElementType::f64}; }
ColumnView view(const std::vector<std::int32_t>& codes) {
    return {codes.data(), sizeof(std::int32_t), ElementType::i32};
}

Target classes(std::vector<std::uint32_t> labels, std::uint32_t n_classes) {
    Target target;
    target.n_classes = n_classes;
    target.labels = std::move(labels);
    return target;
}

// Two classes separated by a diagonal.
struct Diagonal {
    Diagonal() {
        for (int i = 0; i < 200; ++i) {
            const double x = (i * 37 % 101) / 101.0, y = (i * 53 % 97) / 97.0;
            first.push_back(x);
            second.push_back(y);
            labels.push_back(x + y > 1 ? 1 : 0);
        }
    }
    std::vector<ColumnView> columns() const { return {view(first), view(second)}; }

    std::vector<double> first, second;
    std::vector<std::uint32_t> labels;
};

RotationForestParameters small() {
    RotationForestParameters parameters;
    parameters.n_trees = 3;
    return parameters;
}

GrownRotations grow(const Diagonal& table, const RotationForestParameters& parameters, int n_threads = 1) {
    const std::vector<std::uint32_t> no_categories(2, 0);
    return grow_rotation_forest(table.columns(), no_categories, classes(table.labels, 2), {}, parameters, n_threads,
                                {});
}

void test_principal_axes_of_small_matrices() {
    const auto axes = principal_axes({2, 1, 1, 2}, 2);
    const double half = std::sqrt(0.5);
    check(is_near(axes[0], half) && is_near(axes[1], half), "the diagonal has the larger variance");
    check(is_near(std::abs(axes[2]), half) && is_near(axes[2], -axes[3]), "orthogonal to it");
    check(principal_axes({0, 0, 0, 0}, 2) == std::vector<double>{1, 0, 0, 1}, "no rotation");
    check(principal_axes({1, 0, 0, 3}, 2) == std::vector<double>{0, 1, 1, 0}, "by decreasing variance");
    check(principal_axes({5}, 1) == std::vector<double>{1}, "one axis");
    check(principal_axes({}, 0).empty(), "none");
}

void test_principal_axes_make_a_matrix_diagonal() {
    constexpr std::size_t size = 12;
    std::vector<double> matrix(size * size);
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j) matrix[i * size + j] = 1.0 / static_cast<double>(1 + i + j);
    }
    const auto axes = principal_axes(matrix, size);
    for (std::size_t a = 0; a < size; ++a) {
        for (std::size_t b = 0; b < size; ++b) {
            double product = 0, across = 0;
            for (std::size_t i = 0; i < size; ++i) {
                product += axes[a * size + i] * axes[b * size + i];
                for (std::size_t j = 0; j < size; ++j) {
                    across += axes[a * size + i] * matrix[i * size + j] * axes[b * size + j];
                }
            }
            check(is_near(product, a == b ? 1 : 0), "orthogonal unit vectors");
            check(a == b || is_near(across, 0), "all covariances are zero");
        }
    }
}

void test_numbers_are_scaled_and_categories_are_one_hot() {
    const std::vector<double> numbers{2, 6, nan, 4, infinity}, constant(5, 7.0);
    const std::vector<std::int32_t> two{1, 2, 2, 0, 1}, three{1, 2, 3, 3, 9};
    const std::vector<ColumnView> columns{view(numbers), view(constant), view(two), view(three)};
    const std::vector<std::uint32_t> n_categories{0, 0, 2, 3};
    const Axes axes = find_axes(columns, n_categories, 5, {}, 1);
    check(axes.size() == 5, "one per numeric column, none if constant, one for two categories, three for three");
    std::vector<double> values(25);
    check(read_axes(axes, columns, 0, 5, {values.data(), 5, 1}), "a value is missing");
    check(values[0] == 0 && values[5] == 1 && values[15] == 0.5, "scaled by the range");
    check(std::isnan(values[10]) && values[20] == furthest, "missing values are kept, infinity is clipped");
    check(values[1] == 0 && values[6] == 1 && std::isnan(values[16]), "the second of two categories");
    check(values[2] == 1 && values[7] == 0 && std::isnan(values[22]), "an unknown category is missing");
}

void test_rows_of_weight_zero_do_not_affect_the_axes() {
    const std::vector<double> numbers{0, 1, 100};
    const std::vector<ColumnView> columns{view(numbers)};
    const std::vector<std::uint32_t> n_categories{0}, weights{1, 1, 0};
    const Axes axes = find_axes(columns, n_categories, 3, weights, 1);
    check(axes.list[0].range == 1, "the range of the other rows");
    const AxisTable table = make_axis_table(axes, columns, classes({1, 0, 1}, 2), weights, true, 1);
    check(table.n_rows == 2 && table.rows == std::vector<std::uint32_t>{1, 0, 2}, "by class, with weight 0 last");
    check(make_axis_table(axes, columns, classes({1, 0, 1}, 2), weights, false, 1).rows.size() == 2,
          "rows of weight 0 can be excluded");
}

void test_a_random_rotation_contains_every_axis_once() {
    const Diagonal rows;
    std::vector<ColumnView> columns;
    for (int i = 0; i < 4; ++i) {
        columns.push_back(view(rows.first));
        columns.push_back(view(rows.second));
    }
    const std::vector<std::uint32_t> no_categories(8, 0);
    const Axes axes = find_axes(columns, no_categories, rows.labels.size(), {}, 1);
    const AxisTable table = make_axis_table(axes, columns, classes(rows.labels, 2), {}, false, 1);
    RotationParameters parameters;
    parameters.min_group = 2;
    const Rotation rotation = draw_rotation(table, {}, mean_axes(table, {}), parameters, 7);
    std::vector<int> times(8, 0);
    for (const std::uint32_t axis : rotation.axes) ++times[axis];
    check(times == std::vector<int>(8, 1), "every axis occurs once");
    check(rotation.components().size() == 8, "all components are kept");
    const Rotation again = draw_rotation(table, {}, mean_axes(table, {}), parameters, 7);
    check(rotation.coefficients == again.coefficients && rotation.axes == again.axes,
          "the same key gives the same rotation");
    check(draw_rotation(table, {}, mean_axes(table, {}), parameters, 8).axes != rotation.axes,
          "another key gives another rotation");
    const std::vector<std::uint32_t> twice(rows.labels.size(), 2);
    parameters.weights_repeat = false;
    check(draw_rotation(table, twice, mean_axes(table, twice), parameters, 7).coefficients == rotation.coefficients,
          "equal weights change nothing");
}

void test_a_table_is_rotated_like_its_rows() {
    Diagonal rows;
    rows.first[3] = nan;
    const auto columns = rows.columns();
    const std::vector<std::uint32_t> no_categories(2, 0);
    const Axes axes = find_axes(columns, no_categories, rows.labels.size(), {}, 1);
    const AxisTable table = make_axis_table(axes, columns, classes(rows.labels, 2), {}, false, 1);
    const Rotation rotation = draw_rotation(table, {}, mean_axes(table, {}), {}, 7);
    std::vector<double> out(table.n_rows);
    for (const Component& component : rotation.components()) {
        turn_table(rotation, component, table, out);
        for (std::size_t i = 0; i < out.size(); ++i) {
            double row[2];
            for (std::size_t a = 0; a < 2; ++a) {
                row[a] = std::isnan(table.axis(a)[i]) ? rotation.fill[a] : table.axis(a)[i];
            }
            check(out[i] == turned(rotation, component, row), "the same bits");
        }
    }
}

void test_forests_learn_a_diagonal() {
    const Diagonal table;
    for (const bool is_c45 : {true, false}) {
        RotationForestParameters parameters = small();
        parameters.is_c45 = is_c45;
        parameters.n_trees = 15;
        const GrownRotations grown = grow(table, parameters);
        std::vector<double> votes(2 * table.labels.size());
        predict(grown.forest, table.columns(), table.labels.size(), Rule::mean, 1, votes.data());
        std::size_t n_right = 0;
        for (std::size_t i = 0; i < table.labels.size(); ++i) {
            check(is_near(votes[2 * i] + votes[2 * i + 1], 1), "votes sum to one");
            n_right += (votes[2 * i + 1] > 0.5 ? 1U : 0U) == table.labels[i] ? 1 : 0;
        }
        check(n_right >= 195, "nearly all decisions are correct");
    }
}

void test_threads_and_time_change_no_tree() {
    const Diagonal table;
    RotationForestParameters parameters = small();
    const auto one = to_arrays(grow(table, parameters).forest);
    const auto three = to_arrays(grow(table, parameters, 3).forest);
    check(one.thresholds == three.thresholds && one.coefficients == three.coefficients, "threads");
    parameters.seconds = 0;
    const GrownRotations cut = grow(table, parameters);
    check(cut.forest.trees.size() == 1, "at least one tree is grown");
    check(cut.forest.trees[0].rotation.coefficients ==
              std::vector<double>(one.coefficients.begin(), one.coefficients.begin() + 4),
          "the tree is the first one");
}

void test_trees_return_the_rows_outside_their_bags() {
    const Diagonal table;
    RotationForestParameters parameters = small();
    check(grow(table, parameters).outside.empty(), "only on request");
    parameters.bootstrap = parameters.returns_outside = true;
    parameters.n_draws = table.labels.size();
    const auto outside = grow(table, parameters).outside;
    check(outside.size() == 3 * table.labels.size(), "one element per tree and row");
    const double share = static_cast<double>(std::ranges::count(outside, 1)) / static_cast<double>(outside.size());
    check(share > 0.3 && share < 0.45, "about 37 percent of the rows");
}

void test_a_stop_ends_it() {
    const Diagonal table;
    const Stop stop([] { return true; }, {});
    const std::vector<std::uint32_t> no_categories(2, 0);
    bool has_stopped = false;
    try {
        grow_rotation_forest(table.columns(), no_categories, classes(table.labels, 2), {}, small(), 1, {}, stop);
    } catch (const Stopped&) {
        has_stopped = true;
    }
    check(has_stopped, "at the first poll");
}

bool is_refused(const RotationForestArrays& arrays) {
    try {
        from_arrays(arrays);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

void test_arrays_survive_a_round_trip_and_damaged_arrays_are_refused() {
    const RotationForestArrays sound = to_arrays(grow(Diagonal(), small()).forest);
    const auto again = to_arrays(from_arrays(sound));
    check(again.thresholds == sound.thresholds && again.coefficients == sound.coefficients, "round trip");
    const auto refused = [&](const std::function<void(RotationForestArrays&)>& damage, const char* what) {
        RotationForestArrays arrays = sound;
        damage(arrays);
        check(is_refused(arrays), what);
    };
    refused([](auto& a) { a.n_outputs = 0; }, "no outputs");
    refused([](auto& a) { a.n_categories.clear(); }, "no columns");
    refused([](auto& a) { a.axis_columns[1] = 2; }, "a column that does not exist");
    refused([](auto& a) { a.axis_categories[0] = 1; }, "a category that does not exist");
    refused([](auto& a) { a.axis_columns = {1, 0}; }, "axes out of order");
    refused([](auto& a) { a.axis_ranges[0] = 0; }, "no range");
    refused([](auto& a) { a.axis_lows[0] = nan; }, "a missing low");
    refused([](auto& a) { a.axis_lows.pop_back(); }, "too few lows");
    refused([](auto& a) { a.turned_axes[0] = 9; }, "an axis that does not exist");
    refused([](auto& a) { a.turned_axes[0] = a.turned_axes[1]; }, "an axis twice");
    refused([](auto& a) { a.turned_axes.pop_back(); }, "too few axes");
    refused([](auto& a) { a.group_sizes[0] = 0; }, "an empty group");
    refused([](auto& a) { a.group_sizes[0] = 4'000'000'000; }, "a huge group");
    refused([](auto& a) { a.coefficients[0] = infinity; }, "an infinite coefficient");
    refused([](auto& a) { a.coefficients[0] = nan; }, "a missing coefficient");
    refused([](auto& a) { a.coefficients.pop_back(); }, "too few coefficients");
    refused([](auto& a) { a.fill[0] = nan; }, "a missing fill value");
    refused([](auto& a) { a.node_offsets[1] = 1'000'000; }, "offsets beyond the nodes");
    refused([](auto& a) { a.value_offsets = {0}; }, "too few offsets");
    refused([](auto& a) { a.components[0] = 2; }, "a component that does not exist");
    refused([](auto& a) { a.thresholds[0] = nan; }, "a missing threshold");
    refused([](auto& a) { a.addresses[0] = 0; }, "a node that is its own child");
    refused([](auto& a) { a.addresses[0] = 1'000'000; }, "a child out of bounds");
    refused([](auto& a) { a.addresses.pop_back(); }, "too few addresses");
    refused([](auto& a) { a.values[0] = 2; }, "a value that is not a probability");
    refused([](auto& a) { a.is_classifier = false; }, "a regression with two outputs");
    refused([](auto& a) { a.node_offsets = {0}; }, "no trees");
}

}  // namespace

int main() {
    test_principal_axes_of_small_matrices();
    test_principal_axes_make_a_matrix_diagonal();
    test_numbers_are_scaled_and_categories_are_one_hot();
    test_rows_of_weight_zero_do_not_affect_the_axes();
    test_a_random_rotation_contains_every_axis_once();
    test_a_table_is_rotated_like_its_rows();
    test_forests_learn_a_diagonal();
    test_threads_and_time_change_no_tree();
    test_trees_return_the_rows_outside_their_bags();
    test_a_stop_ends_it();
    test_arrays_survive_a_round_trip_and_damaged_arrays_are_refused();
    return report();
}
