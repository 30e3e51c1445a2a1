// Tests of ensembles of C4.5 trees: grown from columns that are sorted once, on bags, and converted to arrays.
#include <cstdint>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "c45/ensemble/bags.h"
#include "c45/ensemble/state.h"
#include "check.h"
#include "numbers/random.h"

using namespace committee;

namespace {

constexpr std::size_t n_rows = 300;

// Two numeric columns, one with missing values, and one categorical column.
struct Data {
    Data() : first(n_rows), second(n_rows), codes(n_rows), classes(n_rows) {
        Random random(7, Purpose::sample);
        for (std::size_t i = 0; i < n_rows; ++i) {
            first[i] = static_cast<double>(random.below(40));
            second[i] = random.below(5) == 0 ? std::numeric_limits<double>::quiet_NaN() : random.uniform();
            codes[i] = static_cast<std::int32_t>(random.below(4));
            classes[i] = static_cast<std::int32_t>((first[i] > 18 ? 1 : 0) + (random.below(3) == 0 ? 1 : 0));
        }
        table = {{{first, {}, C45Column::is_number}, {second, {}, C45Column::is_number}, {{}, codes, 3}}, classes, 3};
    }

    std::vector<double> first, second;
    std::vector<std::int32_t> codes, classes;
    C45Table table;
};

bool are_same(const C45Tree& a, const C45Tree& b) {
    return a.column == b.column && a.threshold == b.threshold && a.branch == b.branch &&
           a.first_branch == b.first_branch && a.distribution == b.distribution;
}

void test_a_tree_from_sorted_columns_equals_that_of_its_rows_alone() {
    const Data data;
    const Stop never;
    const C45Grower grower(data.table, {}, 2, never);
    for (std::uint64_t key = 0; key < 5; ++key) {
        Random random(key, Purpose::bootstrap);
        std::vector<double> weights(n_rows);
        for (double& weight : weights) weight = static_cast<double>(random.below(3)) / 2;
        const C45Tree alone = grow_c45(data.table.columns, data.classes, 3, weights, {});
        check(alone.n_nodes() > 1 && are_same(grower.grow(weights, key), alone));
    }
}

void test_a_tree_on_some_columns_keeps_their_numbers() {
    const Data data;
    const Stop never;
    const C45Grower grower(data.table, {}, 1, never);
    const std::vector<double> weights(n_rows, 1.0);
    const std::vector<std::uint32_t> seen{0, 2};
    const std::vector<C45Column> some{data.table.columns[0], data.table.columns[2]};
    C45Tree alone = grow_c45(some, data.classes, 3, weights, {});
    for (std::int32_t& column : alone.column) column = column == 1 ? 2 : column;
    const C45Tree tree = grower.grow(weights, 0, seen);
    check(are_same(tree, alone) && tree.n_categories.size() == 3 && find_error(tree).empty());
}

GrownC45 grow_bags(const Data& data, int n_threads) {
    std::vector<std::uint32_t> units(n_rows);
    std::iota(units.begin(), units.end(), 0U);
    const std::vector<std::uint64_t> ends{n_rows}, n_draws{n_rows};
    C45BagParameters parameters;
    parameters.tree.pruning = C45Pruning::reduced_error;
    parameters.drawing = {units, ends, n_draws, {}, {}};
    parameters.out_of_bag = true;
    return grow_c45_bags(data.table, {}, parameters, {}, {}, n_threads, {});
}

void test_any_number_of_threads_gives_the_same_trees() {
    const Data data;
    const GrownC45 one = grow_bags(data, 1), three = grow_bags(data, 3);
    check(one.forest.trees.size() == 10 && one.importances == three.importances);
    check(one.out_of_bag.sums == three.out_of_bag.sums && one.out_of_bag.curve == three.out_of_bag.curve);
    for (std::size_t t = 0; t < 10; ++t) check(are_same(one.forest.trees[t], three.forest.trees[t]));
}

void test_arrays_and_back() {
    const Data data;
    const C45Forest forest = grow_bags(data, 1).forest;
    const C45ForestArrays arrays = to_arrays(forest);
    const C45Forest again = from_arrays(arrays);
    for (std::size_t t = 0; t < 10; ++t) check(are_same(forest.trees[t], again.trees[t]));
    const auto is_refused = [&](auto damage) {
        C45ForestArrays damaged = arrays;
        damage(damaged);
        try {
            from_arrays(damaged);
        } catch (const std::invalid_argument&) {
            return true;
        }
        return false;
    };
    check(is_refused([](C45ForestArrays& a) { a.n_classes = 2; }));
    check(is_refused([](C45ForestArrays& a) { a.columns[0] = 3; }));
    check(is_refused([](C45ForestArrays& a) { a.branches[0] = 1 << 30; }));
    check(is_refused([](C45ForestArrays& a) { a.node_offsets[1] = 1 << 30; }));
    check(is_refused([](C45ForestArrays& a) { a.weights = {-1}; }));
    check(is_refused([](C45ForestArrays& a) { a.link = 200; }));
    check(is_refused([](C45ForestArrays& a) { a.distributions.pop_back(); }));
}

}  // namespace

int main() {
    test_a_tree_from_sorted_columns_equals_that_of_its_rows_alone();
    test_a_tree_on_some_columns_keeps_their_numbers();
    test_any_number_of_threads_gives_the_same_trees();
    test_arrays_and_back();
    return report();
}
