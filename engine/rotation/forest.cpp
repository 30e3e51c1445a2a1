#include "rotation/forest.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "growing/row_sampling.h"
#include "numbers/random.h"
#include "table/binning.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// Decides whether there is time for another tree.
class Clock {
  public:
    explicit Clock(double seconds) : seconds_(seconds) {}

    bool has_time() {
        const std::lock_guard lock(mutex_);
        return elapsed() + longest_ <= seconds_;
    }

    double elapsed() const { return std::chrono::duration<double>(Stop::Clock::now() - start_).count(); }

    void note_tree(double seconds) {
        const std::lock_guard lock(mutex_);
        longest_ = std::max(longest_, seconds);
    }

  private:
    Stop::Clock::time_point start_ = Stop::Clock::now();
    double seconds_;
    std::mutex mutex_;
    double longest_ = 0;
};

// The sample of one tree.
struct View {
    std::vector<std::uint32_t> counts;  // 0: not in the sample; empty: all rows once
    std::vector<double> fill;
};

class RotationGrower {
  public:
    RotationGrower(const AxisTable& table, const RotationForestParameters& parameters, Clock& clock, const Stop& stop)
        : table_(table), parameters_(parameters), clock_(clock), stop_(stop) {
        means_ = mean_axes(table, table.weights);
        // The rows are sorted by content.
        for (std::uint32_t row = 0; row < table.n_rows; ++row) {
            const std::uint32_t weight = table.weights.empty() ? 1 : table.weights[row];
            if (!parameters.bootstrap || weight == 0) continue;
            drawn_from_.push_back(row);
            if (!table.weights.empty()) drawn_by_.push_back(weight);
        }
        c45_weights_ = even_weights(table.weights);
        for (const std::uint32_t label : table.target.labels) classes_.push_back(static_cast<std::int32_t>(label));
        classes_.resize(table.target.n_classes > 0 ? table.n_rows : 0);
    }

    std::vector<GrownRotatedTree> grow(int n_threads, const std::function<bool(std::size_t)>& after_tree) {
        std::vector<GrownRotatedTree> grown(parameters_.n_trees);
        if (needs_outside()) outside_.resize(parameters_.n_trees);
        std::atomic<std::size_t> n_done{0};
        std::atomic<bool> is_over{false};
        for_each_task(parameters_.n_trees, n_threads, stop_, [&](std::size_t task, int thread) {
            if (task > 0 && (is_over.load() || !clock_.has_time())) {
                is_over.store(true);
                return;
            }
            const double begin = clock_.elapsed();
            grown[task] = grow_tree(task);
            clock_.note_tree(clock_.elapsed() - begin);
            const std::size_t done = ++n_done;
            if (thread == 0 && after_tree && after_tree(done)) is_over.store(true);
        });
        // Other threads may have finished later trees when one thread runs out of time. Only the trees before the first
        // gap are kept.
        const auto not_grown = [](const GrownRotatedTree& each) { return each.tree.nodes.empty(); };
        grown.erase(std::ranges::find_if(grown, not_grown), grown.end());
        return grown;
    }

    // For each tree, the rows that it was not trained on.
    const std::vector<std::vector<bool>>& outside() const { return outside_; }

  private:
    bool needs_outside() const { return parameters_.out_of_bag || parameters_.returns_outside; }

    GrownRotatedTree grow_tree(std::size_t number) {
        const std::uint64_t key = derive_key(parameters_.seed, number);
        const View view = draw_view(key);
        RotationParameters rotation_parameters = parameters_.rotation;
        // A row that was drawn twice counts twice.
        rotation_parameters.weights_repeat = rotation_parameters.weights_repeat || parameters_.bootstrap;
        Rotation rotation = draw_rotation(table_, view.counts, view.fill, rotation_parameters, key, stop_);
        if (needs_outside()) list_outside_rows(number, view);
        return parameters_.is_c45 ? grow_c45_tree(view, std::move(rotation))
                                  : grow_cart(view, std::move(rotation), key);
    }

    View draw_view(std::uint64_t key) const {
        if (!parameters_.bootstrap) return {table_.weights, means_};
        View view{std::vector<std::uint32_t>(table_.n_rows, 0), means_};
        const std::uint64_t end = drawn_from_.size();
        draw_bag({drawn_from_, {&end, 1}, {&parameters_.n_draws, 1}, drawn_by_, {}}, key, view.counts, stop_);
        if (std::ranges::find(table_.has_missing, 1) != table_.has_missing.end()) {
            view.fill = mean_axes(table_, view.counts);
        }
        return view;
    }

    void list_outside_rows(std::size_t number, const View& view) {
        std::vector<bool>& outside = outside_[number];
        outside.assign(table_.rows.size(), true);
        for (std::size_t i = 0; i < view.counts.size(); ++i) outside[i] = view.counts[i] == 0;
    }

    GrownRotatedTree grow_c45_tree(const View& view, Rotation rotation) const {
        const std::vector<Component> components = rotation.components();
        const auto make = [&](std::size_t j, std::span<double> out) {
            turn_table(rotation, components[j], table_, out);
        };
        std::vector<double> counts;
        if (parameters_.bootstrap) counts.assign(view.counts.begin(), view.counts.end());
        C45Settings settings = parameters_.c45;
        settings.min_leaf_weight = parameters_.min_leaf_rows;
        const C45Tree tree =
            grow_c45(components.size(), make, classes_, static_cast<std::int32_t>(table_.target.n_classes),
                     parameters_.bootstrap ? counts : c45_weights_, settings, stop_);
        return rotated_tree(tree, std::move(rotation));
    }

    GrownRotatedTree grow_cart(const View& view, Rotation rotation, std::uint64_t key) const {
        const std::vector<Component> components = rotation.components();
        std::vector<double> numbers(components.size() * table_.n_rows);
        std::vector<ColumnView> columns;
        for (std::size_t j = 0; j < components.size(); ++j) {
            double* column = numbers.data() + j * table_.n_rows;
            turn_table(rotation, components[j], table_, {column, table_.n_rows});
            columns.push_back({column, sizeof(double), ElementType::f64});
        }
        constexpr std::uint32_t most_bins = 65535;
        const std::vector<std::uint32_t> no_categories(columns.size(), 0);
        const Table table = bin_table(columns, no_categories, table_.n_rows, view.counts, most_bins, 1, stop_);
        numbers = {};
        std::vector<std::uint32_t> rows, weights;
        for (std::uint32_t i = 0; i < table_.n_rows; ++i) {
            const std::uint32_t weight = view.counts.empty() ? 1 : view.counts[i];
            if (weight == 0) continue;
            rows.push_back(i);
            weights.push_back(weight);
        }
        // Rows count by their weight, as in C4.5: a row of weight 2 is two rows, and other weights have a mean of 1.
        const bool is_count = parameters_.rotation.weights_repeat || parameters_.bootstrap;
        const auto total = static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::uint64_t{0}));
        GrowParameters grow = parameters_.cart;
        if (parameters_.min_leaf_rows > 1) {
            grow.min_weight_fraction_leaf =
                (parameters_.min_leaf_rows - 0.5) / (is_count ? total : static_cast<double>(rows.size()));
        }
        Tree tree = make_grower(table, table_.target, grow, stop_)({rows, weights}, key, {});
        tree.leaf_weights.unit = is_count ? 1 : static_cast<double>(rows.size()) / total;
        return rotated_tree(tree, *table.binning, std::move(rotation));
    }

    // The weights that C4.5 counts as rows: repetitions unchanged, other weights scaled to a mean of 1.
    std::vector<double> even_weights(std::span<const std::uint32_t> weights) const {
        if (weights.empty()) return std::vector<double>(table_.n_rows, 1.0);
        std::vector<double> result(weights.begin(), weights.end());
        if (parameters_.rotation.weights_repeat) return result;
        const double total = std::accumulate(result.begin(), result.end(), 0.0);
        for (double& weight : result) weight *= static_cast<double>(result.size()) / total;
        return result;
    }

    const AxisTable& table_;
    const RotationForestParameters& parameters_;
    Clock& clock_;
    const Stop& stop_;
    std::vector<double> means_;
    std::vector<std::uint32_t> drawn_from_, drawn_by_;  // the rows of the bootstrap, and their weights
    std::vector<double> c45_weights_;
    std::vector<std::int32_t> classes_;
    std::vector<std::vector<bool>> outside_;
};

// The gain of a split on a component is shared between its axes. The squared coefficients of a component sum to 1, so
// they are the shares.
std::vector<double> importances_of(const GrownRotatedTree& grown, const Axes& axes) {
    std::vector<double> result(axes.n_categories.size(), 0.0);
    const Rotation& rotation = grown.tree.rotation;
    for (std::size_t k = 0; k < grown.gains.size(); ++k) {
        const Component& component = grown.tree.components[k];
        for (std::uint32_t i = 0; i < component.size; ++i) {
            const double coefficient = rotation.coefficients[component.coefficients + i];
            result[axes.list[rotation.axes[component.first + i]].column] += grown.gains[k] * coefficient * coefficient;
        }
    }
    return result;
}

// The same in the caller's order of the n_rows rows, for the first n_trees trees. No tree was trained on rows that are
// not in the table.
std::vector<std::uint8_t> in_order_of_caller(const std::vector<std::vector<bool>>& outside, std::size_t n_trees,
                                             const AxisTable& table, std::size_t n_rows) {
    std::vector<std::uint8_t> result(n_trees * n_rows, 1);
    for (std::size_t t = 0; t < n_trees; ++t) {
        for (std::size_t i = 0; i < table.rows.size(); ++i) {
            result[t * n_rows + table.rows[i]] = outside[t][i] ? 1 : 0;
        }
    }
    return result;
}

// Sums the votes of the trees for the rows that they were not trained on, in blocks of rows.
class OutOfBagVoting {
  public:
    OutOfBagVoting(const AxisTable& table, const RotationForest& forest, const std::vector<std::vector<bool>>& outside,
                   Rule rule)
        : table_(table), forest_(forest), outside_(outside), rule_(rule) {
        found_.sums.assign(table.rows.size() * forest.n_outputs, 0.0);
        found_.counts.assign(table.rows.size(), 0);
    }

    OutOfBag vote(int n_threads, const Stop& stop) {
        const std::size_t n_blocks = (table_.rows.size() + block_rows - 1) / block_rows;
        curves_.resize(n_blocks);
        for_each_task(n_blocks, n_threads, stop, [&](std::size_t block, int) { vote_block(block, stop); });
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            SummedLoss all;
            for (const auto& curve : curves_) {
                all.loss += curve[t].loss;
                all.n_rows += curve[t].n_rows;
            }
            found_.curve.push_back(all.loss / static_cast<double>(all.n_rows));
        }
        return std::move(found_);
    }

  private:
    static constexpr std::size_t block_rows = 1024;

    // The summed loss of the rows that have a decision.
    struct SummedLoss {
        double loss = 0;
        std::uint64_t n_rows = 0;
    };

    void vote_block(std::size_t number, const Stop& stop) {
        const std::size_t begin = number * block_rows, n = std::min(block_rows, table_.rows.size() - begin);
        const std::size_t n_axes = table_.n_axes;
        std::vector<double> values(n * n_axes);
        bool has_missing = false;
        for (std::size_t a = 0; a < n_axes; ++a) {
            has_missing = has_missing || table_.has_missing[a] != 0;
            for (std::size_t i = 0; i < n; ++i) values[i * n_axes + a] = table_.axis(a)[begin + i];
        }
        AxisBlock block(values, n, n_axes, has_missing);
        std::vector<double> losses(n, 0.0);
        std::uint64_t n_counted = 0;
        Polls polls(stop);
        for (std::size_t t = 0; t < forest_.trees.size(); ++t) {
            const std::span<const double> seen = block.filled_for(forest_.trees[t]);
            polls.after(64 * n);
            for (std::size_t i = 0; i < n; ++i) {
                if (!outside_[t][begin + i]) continue;
                n_counted += add(t, begin + i, seen.data() + i * n_axes, losses[i]);
            }
            curves_[number].push_back({std::accumulate(losses.begin(), losses.end(), 0.0), n_counted});
        }
    }

    // Adds the vote of a tree. Returns 1 if it is the first vote for a row that counts in the error.
    std::uint64_t add(std::size_t t, std::size_t row, const double* seen, double& loss) {
        const RotatedTree& tree = forest_.trees[t];
        const std::size_t place = table_.rows[row];
        double* sums = found_.sums.data() + place * forest_.n_outputs;
        add_vote(tree, tree.find_leaf(seen), forest_.n_outputs, rule_, sums);
        const std::uint32_t count = ++found_.counts[place];
        if (row >= table_.n_rows) return 0;
        loss = loss_of(row, sums, count);
        return count == 1 ? 1 : 0;
    }

    double loss_of(std::size_t row, const double* sums, std::uint32_t count) const {
        const Target& target = table_.target;
        if (target.n_classes > 0) {
            return std::max_element(sums, sums + target.n_classes) - sums == target.labels[row] ? 0 : 1;
        }
        const double error = *sums / count - target.numbers[row];
        return error * error;
    }

    const AxisTable& table_;
    const RotationForest& forest_;
    const std::vector<std::vector<bool>>& outside_;
    Rule rule_;
    OutOfBag found_;
    std::vector<std::vector<SummedLoss>> curves_;  // by block, after every tree
};

}  // namespace

GrownRotations grow_rotation_forest(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories,
                                    const Target& target, std::span<const std::uint32_t> weights,
                                    const RotationForestParameters& parameters, int n_threads,
                                    const std::function<bool(std::size_t)>& after_tree, const Stop& stop) {
    const std::size_t n_rows = target.n_classes > 0 ? target.labels.size() : target.fixed.size();
    Clock clock(parameters.seconds);
    GrownRotations result;
    RotationForest& forest = result.forest;
    forest.axes = find_axes(columns, n_categories, n_rows, weights, n_threads, stop);
    forest.n_outputs = target.n_outputs();
    forest.is_classifier = target.n_classes > 0;
    const AxisTable table =
        make_axis_table(forest.axes, columns, target, weights, parameters.out_of_bag, n_threads, stop);
    RotationGrower grower(table, parameters, clock, stop);
    for (GrownRotatedTree& grown : grower.grow(n_threads, after_tree)) {
        const std::vector<double> importances = importances_of(grown, forest.axes);
        result.importances.insert(result.importances.end(), importances.begin(), importances.end());
        forest.trees.push_back(std::move(grown.tree));
    }
    if (parameters.out_of_bag) {
        result.out_of_bag = OutOfBagVoting(table, forest, grower.outside(), parameters.rule).vote(n_threads, stop);
    }
    if (parameters.returns_outside) {
        result.outside = in_order_of_caller(grower.outside(), forest.trees.size(), table, n_rows);
    }
    return result;
}

}  // namespace committee
