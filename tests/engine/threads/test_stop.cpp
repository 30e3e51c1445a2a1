// Tests that every long call of the engine polls after a bounded number of values, and ends at any poll that requests
// it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "adaboost/adaboost.h"
#include "boosting/boosting.h"
#include "c45/c45.h"
#include "check.h"
#include "forest/forest.h"
#include "forest/quantiles.h"
#include "growing/row_sampling.h"
#include "small_tables.h"
#include "table/binned_rows.h"
#include "table/fingerprint.h"
#include "threads/stop.h"
#include "tree/stump.h"

using namespace committee;

namespace {

constexpr std::size_t n_rows = 20'000, n_columns = 20;

struct Problem {
    SmallTable small;
    Table table;
    std::vector<double> y = random_numbers(n_rows, 99);
    Target labels, numbers;

    explicit Problem(std::uint32_t max_bins = 255) : small(random_columns()), table(small.bin({}, max_bins)) {
        std::vector<std::uint32_t> classes;
        for (const double number : y) classes.push_back(static_cast<std::uint32_t>(3 * number));
        labels = labels_target(3, std::move(classes));
        numbers = fixed_target(y, {}, n_rows, false);
    }

    static std::vector<std::vector<double>> random_columns() {
        std::vector<std::vector<double>> columns;
        for (std::uint64_t key = 0; key < n_columns; ++key)
            columns.push_back(random_numbers(n_rows, key, key % 4 == 0));
        return columns;
    }
};

// Returns whether the call was ended by a poll, unless it throws Stopped.
using Call = std::function<bool(const Stop&)>;

bool ends(const Call& call, const Stop& stop) {
    try {
        return call(stop);
    } catch (const Stopped&) {
        return true;
    }
}

// The number of polls in a call that is not stopped.
int polls_of(const Call& call) {
    int n_polls = 0;
    check(!ends(call, Stop([&] { return ++n_polls == 0; }, {})));
    return n_polls;
}

void ends_at_any_poll(const char* name, std::size_t n_values, const Call& call) {
    const int n_polls = polls_of(call);
    check(static_cast<std::size_t>(n_polls) >= std::max<std::size_t>(1, n_values / Polls::values_between / 2), name);
    for (const int last : {1, (n_polls + 1) / 2, n_polls}) {
        int n_asked = 0;
        check(ends(call, Stop([&] { return ++n_asked == last; }, {})), name);
        check(n_asked == last, name);
    }
}

void binning_ends() {
    const Problem problem;
    ends_at_any_poll("bin_table", n_rows * n_columns, [&](const Stop& stop) {
        bin_table(problem.small.views, problem.small.n_categories, n_rows, {}, 255, 1, stop);
        return false;
    });
    ends_at_any_poll("fingerprint", n_rows * n_columns, [&](const Stop& stop) {
        fingerprint(problem.small.views, n_rows, stop);
        return false;
    });
    ends_at_any_poll("order_by_content", n_rows, [&](const Stop& stop) {
        order_by_content(problem.table, std::vector<std::uint64_t>(n_rows, 0), 1, stop);
        return false;
    });
    ends_at_any_poll("encode_like", n_rows * n_columns, [&](const Stop& stop) {
        encode_like(problem.table, problem.small.views, n_rows, 1, stop);
        return false;
    });
    std::vector<std::uint32_t> rows(n_rows, 7);
    ends_at_any_poll("take_rows", 2 * n_rows * n_columns, [&](const Stop& stop) {
        take_rows(problem.table, rows, stop);
        return false;
    });
}

void growing_ends() {
    const Problem problem;
    ForestParameters parameters;
    parameters.n_trees = 2;
    const SmallBootstrap bootstrap(problem.table, problem.labels, n_rows);
    parameters.drawing = bootstrap.drawing;
    parameters.out_of_bag = parameters.out_of_bag_importances = true;
    // At least ten levels of a full tree read all rows.
    ends_at_any_poll("grow_forest", 2 * 10 * n_rows / 2 * n_columns, [&](const Stop& stop) {
        return grow_forest(problem.table, problem.labels, {}, parameters, {}, 1, {}, stop).stopped;
    });
    parameters.out_of_bag = parameters.out_of_bag_importances = false;
    parameters.grow.criterion = Criterion::squared_error;
    parameters.grow.exact = true;
    parameters.grow.max_leaf_nodes = 50;
    ends_at_any_poll("grow_forest of numbers", 2 * 4 * n_rows / 2 * n_columns, [&](const Stop& stop) {
        return grow_forest(problem.table, problem.numbers, {}, parameters, {}, 1, {}, stop).stopped;
    });
    ends_at_any_poll("grow_stump", n_rows * n_columns, [&](const Stop& stop) {
        grow_stump(problem.table, problem.labels, {}, Criterion::gini, stop);
        return false;
    });
}

void trees_before_a_stop_equal_those_of_a_complete_run() {
    const Problem problem;
    ForestParameters parameters;
    parameters.n_trees = 4;
    const SmallBootstrap bootstrap(problem.table, problem.labels, n_rows);
    parameters.drawing = bootstrap.drawing;
    const auto run_on = [&](int n_threads) {
        return [&, n_threads](const Stop& stop) {
            return grow_forest(problem.table, problem.labels, {}, parameters, {}, n_threads, {}, stop).stopped;
        };
    };
    const Grown whole = grow_forest(problem.table, problem.labels, {}, parameters, {}, 1, {});
    // One thread, stopped halfway through the trees; then three threads, stopped before any tree is finished, and
    // later.
    for (const auto& [n_threads, last] : {std::pair(1, polls_of(run_on(1)) / 2), {3, 1}, {3, 4}}) {
        int n_asked = 0;
        const Stop stop([&] { return ++n_asked == last; }, {});
        const Grown some = grow_forest(problem.table, problem.labels, {}, parameters, {}, n_threads, {}, stop);
        check(some.stopped && (n_threads > 1 || !some.forest.trees.empty()));
        check(some.forest.trees.size() < 4 && some.importances.size() == some.forest.trees.size() * n_columns);
        check(std::equal(some.importances.begin(), some.importances.end(), whole.importances.begin()));
    }
}

void boosting_ends_and_keeps_complete_rounds() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const Problem problem(max_bins);
        BoostParameters parameters;
        parameters.n_rounds = 5;
        parameters.objective.loss = Loss::absolute_error;
        const Observed observed{.labels = {}, .numbers = problem.y, .weights = {}};
        const auto run = [&](const Stop& stop) {
            return boost({&problem.table, observed, std::vector<double>(n_rows, 0.5)}, {}, parameters, {}, 1, {}, stop);
        };
        ends_at_any_poll("boost", 5 * 2 * n_rows * n_columns, [&](const Stop& stop) { return run(stop).stopped; });
        const Boosted whole = run({});
        const int last = polls_of([&](const Stop& stop) { return run(stop).stopped; }) / 2;
        int n_asked = 0;
        const Boosted some = run(Stop([&] { return ++n_asked == last; }, {}));
        check(some.n_rounds > 0 && some.n_rounds < 5 && some.trees.size() == some.n_rounds);
        check(some.train_loss.size() == some.n_rounds + 1 && some.scores.empty());
        check(std::equal(some.train_loss.begin(), some.train_loss.end(), whole.train_loss.begin()));
        for (std::size_t t = 0; t < some.trees.size(); ++t) check(same_tree(some.trees[t], whole.trees[t]));
    }
}

void adaboost_ends_and_continues_with_the_same_bits() {
    const Problem problem;
    for (const Scheme scheme : {Scheme::samme, Scheme::m2}) {
        AdaBoostParameters parameters;
        parameters.scheme = scheme;
        parameters.n_rounds = 6;
        parameters.member.grow.max_depth = 3;
        const std::size_t width = scheme == Scheme::m2 ? 2 : 1;
        const Distribution start{std::vector<std::uint32_t>(n_rows, 1),
                                 std::vector<double>(n_rows * width, 1.0 / static_cast<double>(n_rows * width))};
        const auto run = [&](Distribution from, const Stop& stop) {
            return boost_adaptively(problem.table, problem.labels, {}, std::move(from), parameters, 1, {}, stop);
        };
        ends_at_any_poll("boost_adaptively", 6 * 2 * n_rows * n_columns,
                         [&](const Stop& stop) { return run(start, stop).stopped; });
        const AdaBoosted whole = run(start, {});
        const int last = polls_of([&](const Stop& stop) { return run(start, stop).stopped; }) / 2;
        int n_asked = 0;
        const AdaBoosted first = run(start, Stop([&] { return ++n_asked == last; }, {}));
        const auto n_done = static_cast<std::uint32_t>(first.votes.size());
        check(first.stopped && n_done > 0 && n_done < 6);
        parameters.first_round = n_done;
        parameters.n_rounds = 6 - n_done;
        const AdaBoosted rest = run({start.counts, first.units}, {});
        std::vector<double> votes = first.votes;
        votes.insert(votes.end(), rest.votes.begin(), rest.votes.end());
        check(votes == whole.votes && rest.units == whole.units);
    }
}

void c45_ends() {
    const Problem problem;
    std::vector<C45Column> columns;
    for (const auto& numbers : problem.small.numbers) columns.push_back({.numbers = numbers, .codes = {}});
    std::vector<std::int32_t> classes;
    for (const double number : problem.small.numbers[1]) classes.push_back(static_cast<std::int32_t>(16 * number) % 2);
    const std::vector<double> weights(n_rows, 1.0);
    ends_at_any_poll("grow_c45", 8 * n_rows * n_columns, [&](const Stop& stop) {
        grow_c45(columns, classes, 2, weights, {}, {}, stop);
        return false;
    });
    C45Settings full;
    full.pruning = C45Pruning::none;
    const C45Tree tree = grow_c45(columns, classes, 2, weights, full);
    std::vector<double> out(2 * n_rows);
    ends_at_any_poll("predict_c45", n_rows * 8, [&](const Stop& stop) {
        predict_c45(tree, columns, 0, n_rows, out.data(), stop);
        return false;
    });
}

void adaboost_of_c45_ends() {
    const Problem problem;
    const std::vector<std::int32_t> classes(problem.labels.labels.begin(), problem.labels.labels.end());
    AdaBoostParameters parameters;
    parameters.scheme = Scheme::m2;
    parameters.n_rounds = 2;
    C45Table& table = parameters.member.c45.emplace();
    for (const auto& numbers : problem.small.numbers) table.columns.push_back({.numbers = numbers, .codes = {}});
    table.classes = classes;
    table.n_classes = 3;
    const Distribution start{std::vector<std::uint32_t>(n_rows, 1),
                             std::vector<double>(2 * n_rows, 0.5 / static_cast<double>(n_rows))};
    const auto run = [&](const Stop& stop) {
        return boost_adaptively(problem.table, problem.labels, {}, start, parameters, 1, {}, stop);
    };
    ends_at_any_poll("boost_adaptively of C4.5", 2 * n_rows * n_columns,
                     [&](const Stop& stop) { return run(stop).stopped; });
    const AdaBoosted whole = run({});
    check(whole.c45_members.trees.size() == whole.votes.size() && whole.members.trees.empty());
    const PlacedVotes placed = place_votes(whole.c45_members.trees[0], table);
    std::vector<double> votes(3 * n_rows);
    predict_c45(whole.c45_members.trees[0], table.columns, 0, n_rows, votes.data());
    for (std::size_t row = 0; row < n_rows; ++row) {
        const double* vote = votes.data() + 3 * row;
        check(std::equal(vote, vote + 3, placed.values.data() + 3 * std::size_t{placed.places[row]}));
    }
}

void prediction_ends() {
    const Problem problem;
    ForestParameters parameters;
    parameters.n_trees = 10;
    const SmallBootstrap bootstrap(problem.table, problem.numbers, n_rows);
    parameters.drawing = bootstrap.drawing;
    parameters.keep_leaf_rows = true;
    parameters.grow.criterion = Criterion::squared_error;
    parameters.grow.min_samples_leaf = 50;
    const Grown grown = grow_forest(problem.table, problem.numbers, {}, parameters, {}, 1, {});
    std::vector<double> out(10 * n_rows);
    std::vector<std::uint32_t> leaves(10 * n_rows);
    const auto& views = problem.small.views;
    const std::size_t n_values = 10 * n_rows * 8;
    ends_at_any_poll("predict", n_values, [&](const Stop& stop) {
        predict(grown.forest, views, n_rows, Rule::mean, 1, out.data(), stop);
        return false;
    });
    ends_at_any_poll("predict_scores", n_values, [&](const Stop& stop) {
        predict_scores(grown.forest, views, n_rows, 0, 10, 1, out.data(), stop);
        return false;
    });
    ends_at_any_poll("predict_stages", n_values, [&](const Stop& stop) {
        predict_stages(grown.forest, views, n_rows, {0, 10, 1}, nullptr, 1, out.data(), stop);
        return false;
    });
    ends_at_any_poll("predict_votes", n_values, [&](const Stop& stop) {
        predict_votes(grown.forest, views, n_rows, 1, out.data(), stop);
        return false;
    });
    ends_at_any_poll("apply", n_values, [&](const Stop& stop) {
        apply(grown.forest, views, n_rows, 1, leaves.data(), stop);
        return false;
    });
    std::vector<LeafRowsView> lists;
    for (const LeafRows& rows : grown.leaf_rows) lists.push_back({rows.offsets, rows.rows, rows.weights});
    const std::vector<double> levels{0.5};
    ends_at_any_poll("predict_quantiles", n_values, [&](const Stop& stop) {
        predict_quantiles(grown.forest, lists, problem.y, views, n_rows, levels, 1, out.data(), stop);
        return false;
    });
}

void the_callback_is_not_called_before_a_pause_is_over() {
    bool is_asked = false;
    const Stop stop([&] { return is_asked = true; }, std::chrono::hours(1));
    for (int i = 0; i < 1000; ++i) stop.poll();
    check(!is_asked);
}

}  // namespace

int main() {
    the_callback_is_not_called_before_a_pause_is_over();
    binning_ends();
    growing_ends();
    trees_before_a_stop_equal_those_of_a_complete_run();
    boosting_ends_and_keeps_complete_rounds();
    adaboost_ends_and_continues_with_the_same_bits();
    c45_ends();
    adaboost_of_c45_ends();
    prediction_ends();
    return report();
}
