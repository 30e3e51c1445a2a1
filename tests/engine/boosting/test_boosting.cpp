#include <algorithm>
#include <cmath>
#include <vector>

#include "boosting/boosting.h"
#include "check.h"
#include "numbers/random.h"
#include "small_tables.h"
#include "table/binned_rows.h"

using namespace committee;

namespace {

Boosted boost_numbers(const Table& table, const std::vector<double>& y, BoostParameters parameters,
                      const std::vector<double>& weights = {}, int n_threads = 1) {
    parameters.objective.n_classes = 0;
    const Observed observed{.labels = {}, .numbers = y, .weights = weights};
    const double start = best_constants(parameters.objective, observed)[0];
    BoostSample training{&table, observed, std::vector<double>(table.n_rows(), start)};
    return boost(std::move(training), {}, parameters, {}, n_threads, {});
}

bool same_model(const Boosted& a, const Boosted& b) {
    if (a.trees.size() != b.trees.size() || a.scores != b.scores || a.train_loss != b.train_loss) return false;
    if (a.totals.gain != b.totals.gain) return false;
    for (std::size_t t = 0; t < a.trees.size(); ++t) {
        if (!same_tree(a.trees[t], b.trees[t])) return false;
    }
    return true;
}

std::vector<double> wave(const std::vector<double>& x, std::uint64_t key) {
    Random random(key, Purpose::split);
    std::vector<double> y;
    for (const double value : x) y.push_back((std::isnan(value) ? 2 : std::sin(6 * value)) + random.uniform());
    return y;
}

void any_number_of_threads_gives_the_same_bits() {
    const std::size_t n = 50'000;
    std::vector<std::vector<double>> numbers;
    for (std::uint64_t key = 0; key < 12; ++key) numbers.push_back(random_numbers(n, key, key % 2 == 0));
    const SmallTable small(numbers, {random_codes(n, 30, 99, true)}, 30);
    const Table table = small.bin({}, 255);
    const auto y = wave(numbers[0], 5);
    std::vector<std::uint32_t> labels;
    for (const double value : y) labels.push_back(static_cast<std::uint32_t>(std::clamp(value + 1, 0.0, 2.9)));
    std::vector<double> weights(n, 1);
    for (std::size_t i = 0; i < n; i += 7) weights[i] = 0;
    for (const Loss loss : {Loss::squared_error, Loss::absolute_error, Loss::poisson}) {
        BoostParameters parameters;
        parameters.objective.loss = loss;
        parameters.n_rounds = 3;
        parameters.subsample = loss == Loss::poisson ? 0.6 : 1;
        parameters.tree.colsample_bynode = loss == Loss::poisson ? 0.6 : 1;
        std::vector<double> counts;
        for (const double value : y) counts.push_back(std::abs(value));
        const Boosted one = boost_numbers(table, counts, parameters, weights, 1);
        for (const int n_threads : {2, 3, 7}) {
            check(same_model(one, boost_numbers(table, counts, parameters, weights, n_threads)));
        }
    }
    BoostParameters parameters;
    parameters.objective = {.loss = Loss::log_loss, .n_classes = 3};
    parameters.n_rounds = 3;
    const Observed observed{.labels = labels, .numbers = {}, .weights = {}};
    const auto run = [&](int n_threads) {
        BoostSample training{&table, observed, std::vector<double>(3 * n, 0.0)};
        return boost(std::move(training), {}, parameters, {}, n_threads, {});
    };
    const Boosted one = run(1);
    for (const int n_threads : {2, 3, 7}) check(same_model(one, run(n_threads)));
}

void a_stump_sends_missing_to_the_better_side() {
    const SmallTable small({{1, 2, 3, 10, 11, 12, missing, missing}});
    const Table table = small.bin();
    BoostParameters parameters;
    parameters.n_rounds = 1;
    parameters.learning_rate = 1;
    parameters.tree.max_leaf_nodes = 2;
    parameters.tree.min_samples_leaf = 1;
    const Boosted boosted = boost_numbers(table, {0, 0, 0, 6, 6, 6, 6, 6}, parameters);
    const NodeWord root = boosted.trees[0].nodes[0];
    check(threshold_of(root) == 3 && missing_goes_right(root));
    for (std::size_t i = 0; i < 8; ++i) check(std::abs(boosted.scores[i] - (i < 3 ? 0 : 6)) < 1e-5);
    check(boosted.train_loss[1] < 1e-9 && boosted.totals.n_splits[0] == 1);
}

void a_weight_of_two_equals_two_rows() {
    const auto x = random_numbers(400, 1, true);
    const auto y = wave(x, 2);
    std::vector<double> weights(400), all_x, all_y;
    for (std::size_t i = 0; i < 400; ++i) {
        weights[i] = static_cast<double>(i % 3);
        for (std::size_t copy = 0; copy < i % 3; ++copy) {
            all_x.push_back(x[i]);
            all_y.push_back(y[i]);
        }
    }
    const SmallTable small({x}), repeated({all_x});
    std::vector<std::uint32_t> fixed(weights.begin(), weights.end());
    for (const Loss loss : {Loss::squared_error, Loss::absolute_error, Loss::huber}) {
        BoostParameters parameters;
        parameters.objective.loss = loss;
        parameters.n_rounds = 10;
        parameters.tree.min_samples_leaf = 1;
        parameters.tree.min_child_weight = 20;
        const Boosted once = boost_numbers(small.bin(fixed), y, parameters, weights);
        const Boosted twice = boost_numbers(repeated.bin(), all_y, parameters);
        for (std::size_t t = 0; t < 11; ++t) check(std::abs(once.train_loss[t] - twice.train_loss[t]) < 1e-4);
    }
}

void leaves_respect_the_minimum_number_of_rows() {
    const auto x = random_numbers(60'000, 1), z = random_numbers(60'000, 2);
    std::vector<double> y(60'000);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] < 0.001 ? 50 : z[i];
    const SmallTable small({x, z});
    const Table table = small.bin({}, 255);
    for (const std::uint32_t min_samples_leaf : {20U, 1000U}) {
        BoostParameters parameters;
        parameters.objective.loss = Loss::poisson;
        parameters.n_rounds = 2;
        parameters.tree.min_samples_leaf = min_samples_leaf;
        const Boosted boosted = boost_numbers(table, y, parameters);
        const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
        for (const Tree& tree : boosted.trees) {
            std::vector<std::uint32_t> leaves(table.n_rows());
            find_leaves(tree, CodeBlock<std::uint8_t>{codes.by_row.data(), 2, table.n_rows(), nullptr, true},
                        leaves.data());
            std::vector<std::size_t> n_rows(tree.nodes.size(), 0);
            for (const std::uint32_t leaf : leaves) ++n_rows[leaf];
            for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
                if (is_leaf(tree.nodes[node])) check(n_rows[node] >= min_samples_leaf);
            }
        }
    }
}

void monotonic_columns_give_monotonic_scores() {
    const auto x = random_numbers(2000, 1), z = random_numbers(2000, 2);
    std::vector<double> y(2000);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = std::sin(9 * x[i]) + x[i] + 3 * z[i] * x[i];
    const SmallTable small({x, z});
    const Table table = small.bin({}, 255);
    const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
    for (const Loss loss : {Loss::squared_error, Loss::absolute_error}) {
        for (const std::int8_t direction : {1, -1}) {
            BoostParameters parameters;
            parameters.objective.loss = loss;
            parameters.n_rounds = 20;
            parameters.tree.monotonic = {direction, 0};
            const Boosted boosted = boost_numbers(table, y, parameters);
            for (const std::uint8_t other : {10, 120, 250}) {
                double before = -direction * 1e9;
                for (std::uint32_t code = 1; code <= 255; ++code) {
                    const std::uint8_t row[2] = {static_cast<std::uint8_t>(code), other};
                    double score = 0;
                    for (const Tree& tree : boosted.trees) {
                        std::uint32_t leaf = 0;
                        find_leaves(tree, CodeBlock<std::uint8_t>{row, 2, 1, nullptr, true}, &leaf);
                        score += tree.values[address_of(tree.nodes[leaf])];
                    }
                    check((score - before) * direction >= -1e-12);
                    before = score;
                }
            }
            check(codes.n_columns == 2);
        }
    }
}

// Large nodes with byte codes use histograms. For small nodes and for 16-bit codes, bins are collected.
void exact_codes_and_bytes_grow_the_same_trees() {
    for (const std::size_t n : {200U, 40'000U}) {
        const auto x = random_numbers(n, 1, true), z = random_numbers(n, 2);
        const auto y = wave(x, 3);
        const SmallTable narrow({x, z}, {random_codes(n, 9, 4, true)}, 9);
        const Table bytes = narrow.bin({}, 255);
        Table wide = bytes;
        const auto& codes = std::get<Codes<std::uint8_t>>(bytes.codes);
        wide.codes = Codes<std::uint16_t>{
            n, 3, {codes.by_column.begin(), codes.by_column.end()}, {codes.by_row.begin(), codes.by_row.end()}};
        for (const Loss loss : {Loss::squared_error, Loss::poisson}) {
            BoostParameters parameters;
            parameters.objective.loss = loss;
            parameters.n_rounds = 3;
            parameters.tree.max_leaf_nodes = n > 1000 ? 300 : 31;
            parameters.tree.min_samples_leaf = 3;
            std::vector<double> counts;
            for (const double value : y) counts.push_back(std::abs(value));
            const Boosted one = boost_numbers(bytes, counts, parameters, {}, 2);
            check(same_model(one, boost_numbers(wide, counts, parameters)));
        }
    }
}

void early_stopping_keeps_the_best_round() {
    const auto x = random_numbers(600, 1), other_x = random_numbers(300, 2);
    const auto y = wave(x, 3), other_y = wave(other_x, 4);
    const SmallTable small({x}), held_out({other_x});
    const Table table = small.bin({}, 255);
    const Table validation = encode_like(table, held_out.views, 300, 2);
    BoostParameters parameters;
    parameters.n_rounds = 500;
    parameters.learning_rate = 0.5;
    parameters.n_iter_no_change = 5;
    parameters.tree.min_samples_leaf = 1;
    const Observed observed{.labels = {}, .numbers = y, .weights = {}};
    const Observed watched{.labels = {}, .numbers = other_y, .weights = {}};
    const auto run = [&] {
        return boost({&table, observed, std::vector<double>(600, 0.0)},
                     BoostSample{&validation, watched, std::vector<double>(300, 0.0)}, parameters, {}, 1, {});
    };
    const Boosted boosted = run();
    check(boosted.n_rounds < 100 && boosted.trees.size() == boosted.n_rounds);
    check(boosted.validation_loss.size() == boosted.train_loss.size());
    check(std::ranges::min(boosted.validation_loss) == boosted.validation_loss[boosted.n_rounds]);
    parameters.n_rounds = boosted.n_rounds;
    parameters.n_iter_no_change = 0;
    const Boosted again = run();
    check(again.scores == boosted.scores, "scores include only the rounds kept");
}

void a_warm_start_equals_an_uninterrupted_run() {
    const auto x = random_numbers(500, 1);
    const auto y = wave(x, 3);
    const SmallTable small({x});
    const Table table = small.bin({}, 255);
    const Observed observed{.labels = {}, .numbers = y, .weights = {}};
    BoostParameters parameters;
    parameters.n_rounds = 6;
    parameters.subsample = 0.5;
    const auto whole = boost({&table, observed, std::vector<double>(500, 0.0)}, {}, parameters, {}, 1, {});
    parameters.n_rounds = 3;
    const auto first = boost({&table, observed, std::vector<double>(500, 0.0)}, {}, parameters, {}, 1, {});
    parameters.first_round = 3;
    const auto second = boost({&table, observed, first.scores}, {}, parameters, {}, 1, {});
    check(second.scores == whole.scores);
    for (std::size_t t = 0; t < 3; ++t) check(same_tree(whole.trees[3 + t], second.trees[t]));
}

void the_caller_can_stop_between_rounds() {
    const auto x = random_numbers(500, 1);
    const auto y = wave(x, 3);
    const SmallTable small({x});
    const Table table = small.bin({}, 255);
    const Observed observed{.labels = {}, .numbers = y, .weights = {}};
    const auto boosted = boost({&table, observed, std::vector<double>(500, 0.0)}, {}, {}, {}, 2,
                               [](std::size_t n_done, std::span<const Tree>) { return n_done == 4; });
    check(boosted.stopped && boosted.n_rounds == 4 && boosted.trees.size() == 4 && boosted.train_loss.size() == 5);
}

void a_path_splits_columns_of_one_interaction() {
    std::vector<std::vector<double>> numbers;
    for (std::uint64_t key = 0; key < 4; ++key) numbers.push_back(random_numbers(2000, key, true));
    std::vector<double> y = wave(numbers[1], 9);
    for (std::size_t i = 0; i < y.size(); ++i) {
        for (const auto& column : numbers) y[i] *= std::isnan(column[i]) ? 2 : 1 + column[i];
    }
    const SmallTable small(numbers);
    const Table table = small.bin({}, 255);
    for (const double colsample_bynode : {0.5, 1.0}) {
        BoostParameters parameters;
        parameters.n_rounds = 10;
        parameters.tree.interactions = {{0, 1}, {1, 2, 3}};
        parameters.tree.colsample_bynode = colsample_bynode;
        bool has_three = false;
        for (const Tree& tree : boost_numbers(table, y, parameters, {}, 2).trees) {
            std::vector<std::uint32_t> above(tree.nodes.size());  // bits of the columns on the path to a node
            for (std::size_t node = 0; node < tree.nodes.size(); ++node) {
                const NodeWord word = tree.nodes[node];
                check((above[node] & 0b0001) == 0 || (above[node] & 0b1100) == 0);
                has_three = has_three || above[node] == 0b1110;
                if (is_leaf(word)) continue;
                for (const std::uint32_t side : {0U, 1U}) {
                    above[left_child(tree, word) + side] = above[node] | 1U << column_of(word);
                }
            }
        }
        check(has_three);
    }
}

void take_rows_copies_the_codes() {
    const SmallTable small({random_numbers(50, 1, true)}, {random_codes(50, 5, 2, true)}, 5);
    for (const std::uint32_t max_bins : {10U, 65535U}) {
        const Table table = small.bin({}, max_bins);
        const std::vector<std::uint32_t> rows{4, 4, 49, 0};
        const Table taken = take_rows(table, rows);
        const Table again = encode_like(table, small.views, 50, 2);
        check(taken.n_rows() == 4 && again.codes.index() == table.codes.index());
        std::visit(
            [&]<class Code>(const Codes<Code>& codes) {
                const auto& some = std::get<Codes<Code>>(taken.codes);
                const auto& same = std::get<Codes<Code>>(again.codes);
                check(same.by_column == codes.by_column && same.by_row == codes.by_row);
                for (std::size_t j = 0; j < 2; ++j) {
                    for (std::size_t i = 0; i < 4; ++i) {
                        check(some.column(j)[i] == codes.column(j)[rows[i]] && some.row(i)[j] == codes.row(rows[i])[j]);
                    }
                }
            },
            table.codes);
    }
}

}  // namespace

int main() {
    any_number_of_threads_gives_the_same_bits();
    a_stump_sends_missing_to_the_better_side();
    a_weight_of_two_equals_two_rows();
    leaves_respect_the_minimum_number_of_rows();
    monotonic_columns_give_monotonic_scores();
    a_path_splits_columns_of_one_interaction();
    exact_codes_and_bytes_grow_the_same_trees();
    early_stopping_keeps_the_best_round();
    a_warm_start_equals_an_uninterrupted_run();
    the_caller_can_stop_between_rounds();
    take_rows_copies_the_codes();
    return report();
}
