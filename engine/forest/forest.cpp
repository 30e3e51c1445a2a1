#include "forest/forest.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "growing/row_sampling.h"
#include "numbers/random.h"
#include "table/binning.h"
#include "threads/in_order.h"
#include "tree/cut_recoding.h"
#include "tree/pruning.h"
#include "tree/stump.h"

namespace committee {
namespace {

// The sample of one tree.
struct Bag {
    std::vector<std::uint32_t> counts;  // by row of the table
    std::vector<std::uint32_t> rows;    // rows of positive mass
    std::vector<std::uint64_t> masses;  // of these rows: count times weight
    std::vector<std::uint32_t> weights;
    double row_weight = 1;               // the weight of a row that occurs once
    double unit = 1;                     // the weight of a row whose weight above is 1
    std::vector<std::uint32_t> outside;  // rows not in the bag
};

// The results of growing one tree.
struct Finished {
    Tree tree;
    std::vector<std::uint32_t> outside;
    std::vector<std::uint32_t> leaves;  // of the rows outside the bag
    std::vector<double> permutation_losses;
    LeafRows leaf_rows;
};

class ForestGrower {
  public:
    ForestGrower(const Table& table, const Target& target, std::span<const std::uint32_t> weights,
                 const ForestParameters& parameters, OutOfBag before, const Stop& stop)
        : table_(table),
          target_(target),
          weights_(weights),
          parameters_(parameters),
          stop_(stop),
          in_order_(parameters.n_trees - parameters.first_tree) {
        assert(weights.empty() || weights.size() == table.n_rows());
        assert(parameters.class_weights.empty() || parameters.class_weights.size() == target.n_classes);
        assert(!parameters.balance_bags || target.n_classes > 0);
        if (!parameters.out_of_bag) return;
        std::vector<bool> does_count;
        for (const std::uint32_t weight : weights) does_count.push_back(weight > 0);
        tally_.emplace(target, table.n_rows(), parameters.rule, std::move(before), std::move(does_count));
    }

    Grown grow(int n_threads, const std::function<bool(std::size_t)>& after_tree) {
        try {
            if (parameters_.out_of_bag_importances) find_places(n_threads);
            grow_trees(n_threads, after_tree);
        } catch (const Stopped&) {
            grown_.stopped = true;
        }
        finish(n_threads);
        if (tally_) grown_.out_of_bag = std::move(tally_->found());
        return std::move(grown_);
    }

  private:
    void grow_trees(int n_threads, const std::function<bool(std::size_t)>& after_tree) {
        struct Worker {
            GrowTree grow;
            Bag bag;
        };
        std::vector<Worker> workers(std::min(static_cast<std::size_t>(std::max(n_threads, 1)), in_order_.size()));
        for_each_task(in_order_.size(), n_threads, stop_, [&](std::size_t task, int thread) {
            if (in_order_.is_enough()) return;
            Worker& worker = workers[static_cast<std::size_t>(thread)];
            if (!worker.grow) worker.grow = new_grower();
            const std::uint64_t key = derive_key(parameters_.seed, parameters_.first_tree + task);
            fill_bag(key, worker.bag);
            Finished finished;
            const Bag& bag = worker.bag;
            finished.tree = worker.grow({bag.rows, bag.weights, bag.row_weight}, key, seen_columns(task));
            finished.tree.leaf_weights.unit = bag.unit;
            if (parameters_.ccp_alpha > 0) {
                finished.tree =
                    prune_grown(finished.tree, parameters_.ccp_alpha, target_.n_outputs(), table_.n_columns());
            }
            std::visit([&](const auto& codes) { evaluate_outside(codes, key, worker.bag, finished); }, table_.codes);
            const std::size_t n_done =
                in_order_.put(task, std::move(finished), [&](Finished& each) { return take(each); });
            if (thread == 0 && after_tree && after_tree(n_done)) throw Stopped{};
        });
    }

    GrowTree new_grower() const {
        return parameters_.are_stumps ? make_stumps(table_, target_, parameters_.grow.criterion, stop_)
                                      : make_grower(table_, target_, parameters_.grow, stop_);
    }

    SeenColumns seen_columns(std::size_t task) const {
        if (parameters_.columns.empty()) return {};
        return {parameters_.columns[task], parameters_.columns_tried[task]};
    }

    void fill_bag(std::uint64_t key, Bag& bag) const {
        const std::size_t n_rows = table_.n_rows();
        const bool keeps_weights = parameters_.drawing && parameters_.drawing->keeps_weights && !weights_.empty();
        if (parameters_.drawing) {
            bag.counts.assign(n_rows, 0);
            draw_bag(*parameters_.drawing, key, bag.counts, stop_);
        } else if (weights_.empty()) {
            bag.counts.assign(n_rows, 1);
        } else {
            bag.counts.assign(weights_.begin(), weights_.end());
        }
        list_inside(bag, keeps_weights ? weights_ : std::span<const std::uint32_t>{});
        list_outside(bag);
        const bool are_counts = parameters_.drawing && !keeps_weights;
        bag.unit = are_counts ? 1 : parameters_.weight_unit;
        weigh(bag, are_counts);
    }

    // Lists the rows of positive mass. The loop is branch-free, because the branch would be unpredictable. The mass of
    // a row is 0 if only its group was drawn.
    static void list_inside(Bag& bag, std::span<const std::uint32_t> weights) {
        const std::size_t n_rows = bag.counts.size();
        bag.rows.resize(n_rows);
        bag.masses.resize(n_rows);
        std::uint32_t *counts = bag.counts.data(), *rows = bag.rows.data();
        std::uint64_t* masses = bag.masses.data();
        std::size_t n = 0;
        for (std::uint32_t i = 0; i < n_rows; ++i) {
            rows[n] = i;
            masses[n] = std::uint64_t{counts[i]} * (weights.empty() ? 1 : weights[i]);
            n += masses[n] > 0 ? 1 : 0;
        }
        bag.rows.resize(n);
        bag.masses.resize(n);
    }

    void list_outside(Bag& bag) const {
        bag.outside.clear();
        if (!parameters_.out_of_bag) return;
        for (std::uint32_t i = 0; i < bag.counts.size(); ++i) {
            if (bag.counts[i] == 0) bag.outside.push_back(i);
        }
    }

    // Converts masses to weights. They stay the same integers, or are scaled if classes have weights or the sum is too
    // large. Rows of classes with weight 0 are dropped.
    void weigh(Bag& bag, bool are_counts) const {
        bag.weights.clear();
        const std::uint64_t mass = std::accumulate(bag.masses.begin(), bag.masses.end(), std::uint64_t{0});
        // Large masses do not count repetitions: they come from fixed-point weights, of which only the ratios have a
        // meaning.
        constexpr std::uint64_t most_repetitions = 64;
        const std::size_t n_rows = bag.rows.size();
        const std::uint64_t n_times = are_counts || mass <= most_repetitions * n_rows ? mass : n_rows;
        std::vector<double> factors = class_factors(bag);
        if (factors.empty() && mass < std::uint64_t{1} << 31) {
            bag.weights.assign(bag.masses.begin(), bag.masses.end());
            bag.row_weight = static_cast<double>(mass) / static_cast<double>(n_times);
            return;
        }
        double total = factors.empty() ? 0 : weighed_mass(bag, factors);
        // All classes in the bag may have weight 0.
        if (total <= 0) {
            factors.assign(target_.n_outputs(), 1.0);
            total = static_cast<double>(mass);
        }
        const int exponent = 29 - std::ilogb(total);
        bag.unit = std::scalbn(bag.unit, -exponent);
        for (double& factor : factors) {
            factor = std::scalbn(factor, exponent);
            // An integer, so that a row drawn twice has twice the weight of a row drawn once.
            if (are_counts && mass <= max_rows && factor > 0) factor = std::max(1.0, std::round(factor));
        }
        std::size_t n_kept = 0;
        for (std::size_t i = 0; i < bag.rows.size(); ++i) {
            const double factor = factors[class_of(bag.rows[i])];
            if (factor == 0) continue;
            const double weight = static_cast<double>(bag.masses[i]) * factor;
            bag.weights.push_back(static_cast<std::uint32_t>(std::max(1LL, std::llround(weight))));
            bag.rows[n_kept++] = bag.rows[i];
        }
        bag.rows.resize(n_kept);
        const std::uint64_t weight = std::accumulate(bag.weights.begin(), bag.weights.end(), std::uint64_t{0});
        bag.row_weight = static_cast<double>(weight) / static_cast<double>(n_times);
    }

    std::uint32_t class_of(std::uint32_t row) const { return target_.n_classes > 0 ? target_.labels[row] : 0; }

    // Sums the masses by class first. They are integers, so the order does not matter.
    double weighed_mass(const Bag& bag, const std::vector<double>& factors) const {
        std::vector<std::uint64_t> masses(factors.size(), 0);
        for (std::size_t i = 0; i < bag.rows.size(); ++i) masses[class_of(bag.rows[i])] += bag.masses[i];
        return std::inner_product(masses.begin(), masses.end(), factors.begin(), 0.0);
    }

    // The weights of the classes, from the parameters or from the bag's class frequencies; empty if all are 1.
    std::vector<double> class_factors(const Bag& bag) const {
        if (!parameters_.balance_bags) return parameters_.class_weights;
        std::vector<double> counts(target_.n_classes, 0.0);
        for (const std::uint32_t row : bag.rows) counts[target_.labels[row]] += bag.counts[row];
        return balancing_factors(counts);
    }

    // Finds the position of every row in the order by content. Columns are permuted along this order.
    void find_places(int n_threads) {
        const auto order = order_by_content(table_, contents_of(target_), n_threads, stop_, weights_);
        places_.resize(order.size());
        for (std::uint32_t place = 0; place < order.size(); ++place) places_[order[place]] = place;
    }

    // Evaluates a tree on the rows outside its bag, and lists the rows of its leaves.
    template <class Code>
    void evaluate_outside(const Codes<Code>& codes, std::uint64_t key, const Bag& bag, Finished& finished) const {
        if (parameters_.keep_leaf_rows) finished.leaf_rows = collect_leaf_rows(codes, bag, finished.tree);
        if (!parameters_.out_of_bag) return;
        finished.outside = bag.outside;
        if (parameters_.out_of_bag_importances) {
            std::ranges::sort(finished.outside, {}, [&](std::uint32_t row) { return places_[row]; });
        }
        finished.leaves.resize(bag.outside.size());
        const bool has_missing = std::ranges::find(table_.has_missing, true) != table_.has_missing.end();
        const CodeBlock<Code> block{codes.by_row.data(), codes.n_columns, finished.outside.size(),
                                    finished.outside.data(), has_missing};
        find_leaves(finished.tree, block, finished.leaves.data());
        if (parameters_.out_of_bag_importances) permute_columns(codes, key, finished);
    }

    template <class Code>
    LeafRows collect_leaf_rows(const Codes<Code>& codes, const Bag& bag, const Tree& tree) const {
        std::vector<std::uint32_t> leaves(bag.rows.size());
        find_leaves(tree, CodeBlock<Code>{codes.by_row.data(), codes.n_columns, bag.rows.size(), bag.rows.data()},
                    leaves.data());
        LeafRows result;
        result.offsets.assign(tree.values.size() / target_.n_outputs() + 1, 0);
        result.rows.resize(bag.rows.size());
        result.weights.resize(bag.rows.size());
        for (const std::uint32_t leaf : leaves) ++result.offsets[address_of(tree.nodes[leaf]) + 1];
        std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
        std::vector<std::uint32_t> next(result.offsets.begin(), result.offsets.end() - 1);
        for (std::size_t i = 0; i < bag.rows.size(); ++i) {
            const std::uint32_t at = next[address_of(tree.nodes[leaves[i]])]++;
            result.rows[at] = bag.rows[i];
            result.weights[at] = bag.weights[i];
        }
        return result;
    }

    // Permutation importance (Breiman 2001, section 10): the increase of the tree's loss on its out-of-bag rows when a
    // column is shuffled.
    template <class Code>
    void permute_columns(const Codes<Code>& codes, std::uint64_t key, Finished& finished) const {
        std::vector<std::uint32_t> rows, leaves;  // those of positive weight
        for (std::size_t i = 0; i < finished.outside.size(); ++i) {
            if (!weights_.empty() && weights_[finished.outside[i]] == 0) continue;
            rows.push_back(finished.outside[i]);
            leaves.push_back(finished.leaves[i]);
        }
        const std::size_t n = rows.size(), n_columns = codes.n_columns;
        finished.permutation_losses.assign(n_columns, 0.0);
        if (n == 0) return;
        std::vector<Code> block(n * n_columns);
        for (std::size_t i = 0; i < n; ++i) std::copy_n(codes.row(rows[i]), n_columns, block.data() + i * n_columns);
        std::vector<char> is_used(n_columns, 0);
        for (const NodeWord word : finished.tree.nodes) {
            if (!is_leaf(word)) is_used[column_of(word)] = 1;
        }
        const double before = tree_loss(finished.tree, rows, leaves);
        std::vector<std::uint32_t> order(n);
        Polls polls(stop_);
        for (std::size_t j = 0; j < n_columns; ++j) {
            if (is_used[j] == 0) continue;
            polls.after(16 * n);
            Random random(derive_key(key, j), Purpose::permutation);
            std::iota(order.begin(), order.end(), 0U);
            for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
            for (std::size_t i = 0; i < n; ++i) block[i * n_columns + j] = codes.row(rows[order[i]])[j];
            find_leaves(finished.tree, CodeBlock<Code>{block.data(), n_columns, n}, leaves.data());
            finished.permutation_losses[j] = tree_loss(finished.tree, rows, leaves) - before;
            for (std::size_t i = 0; i < n; ++i) block[i * n_columns + j] = codes.row(rows[i])[j];
        }
    }

    double tree_loss(const Tree& tree, const std::vector<std::uint32_t>& rows,
                     const std::vector<std::uint32_t>& leaves) const {
        double loss = 0;
        const std::size_t n_outputs = target_.n_outputs();
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const double* value = tree.values.data() + address_of(tree.nodes[leaves[i]]) * n_outputs;
            loss += row_loss(target_, rows[i], value);
        }
        return loss / static_cast<double>(rows.size());
    }

    // Takes the finished trees in order. Returns whether there are enough.
    bool take(Finished& finished) {
        if (tally_) {
            const TreeView tree(finished.tree);
            const std::size_t n_outputs = target_.n_outputs();
            tally_->add(finished.outside, [&](std::size_t i) {
                return tree.values + address_of(tree.nodes[finished.leaves[i]]) * n_outputs;
            });
        }
        const auto& importances = finished.tree.importances;
        grown_.importances.insert(grown_.importances.end(), importances.begin(), importances.end());
        finished.tree.importances = {};
        const auto& losses = finished.permutation_losses;
        grown_.out_of_bag_importances.insert(grown_.out_of_bag_importances.end(), losses.begin(), losses.end());
        if (parameters_.keep_leaf_rows) grown_.leaf_rows.push_back(std::move(finished.leaf_rows));
        grown_.forest.trees.push_back(std::move(finished.tree));
        return tally_ && tally_->is_flat(parameters_.flat_trees);
    }

    void finish(int n_threads) {
        const auto& columns = table_.binning->columns;
        Binning bare;
        for (const Column& column : columns) {
            bare.columns.push_back({column.is_category, column.n_bins, {}, column.lowest, column.highest, true});
        }
        Forest named = voting_forest(std::move(bare), target_.n_outputs(), target_.n_classes > 0);
        named.trees = std::move(grown_.forest.trees);
        grown_.forest = std::move(named);
        const auto cuts_of = [&](std::size_t j, std::span<const std::uint16_t> bins) {
            return parameters_.values.empty() ? cuts_above(columns[j], bins)
                                              : find_cuts(table_, j, parameters_.values[j], weights_, bins);
        };
        take_cuts(grown_.forest, cuts_of, n_threads);
    }

    const Table& table_;
    const Target& target_;
    std::span<const std::uint32_t> weights_;
    const ForestParameters& parameters_;
    const Stop& stop_;
    std::vector<std::uint32_t> places_;  // position of each row in the order by content

    InOrder<Finished> in_order_;
    std::optional<OutOfBagTally> tally_;
    Grown grown_;
};

}  // namespace

Grown grow_forest(const Table& table, const Target& target, std::span<const std::uint32_t> weights,
                  const ForestParameters& parameters, OutOfBag before, int n_threads,
                  const std::function<bool(std::size_t)>& after_tree, const Stop& stop) {
    ForestGrower grower(table, target, weights, parameters, std::move(before), stop);
    return grower.grow(n_threads, after_tree);
}

}  // namespace committee
