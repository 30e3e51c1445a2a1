#include "c45/ensemble/bags.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "numbers/random.h"
#include "threads/in_order.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// The results of growing one tree.
struct Finished {
    C45Tree tree;
    std::vector<std::uint32_t> outside;
    std::vector<double> votes;  // for the rows outside the bag
};

Target target_of(const C45Table& table) {
    Target target;
    target.n_classes = static_cast<std::uint32_t>(table.n_classes);
    target.labels.assign(table.classes.begin(), table.classes.end());
    return target;
}

class BagGrower {
  public:
    BagGrower(const C45Table& table, std::span<const double> weights, const C45BagParameters& parameters,
              std::vector<bool> does_count, OutOfBag before, const Stop& stop)
        : table_(table),
          target_(target_of(table)),
          weights_(weights),
          parameters_(parameters),
          stop_(stop),
          in_order_(parameters.n_trees - parameters.first_tree) {
        C45Forest& forest = grown_.forest;
        forest.n_classes = target_.n_classes;
        for (const C45Column& column : table.columns) forest.n_categories.push_back(column.n_categories);
        if (parameters.out_of_bag) {
            tally_.emplace(target_, n_rows(), parameters.rule, std::move(before), std::move(does_count));
        }
    }

    GrownC45 grow(int n_threads, const std::function<bool(std::size_t)>& after_tree) {
        try {
            const C45Grower grower(table_, parameters_.tree, n_threads, stop_);
            for_each_task(in_order_.size(), n_threads, stop_, [&](std::size_t task, int thread) {
                if (in_order_.is_enough()) return;
                const std::size_t n_done =
                    in_order_.put(task, grow_one(grower, task), [&](Finished& each) { return take(each); });
                if (thread == 0 && after_tree && after_tree(n_done)) throw Stopped{};
            });
        } catch (const Stopped&) {
            grown_.stopped = true;
        }
        if (tally_) grown_.out_of_bag = std::move(tally_->found());
        return std::move(grown_);
    }

  private:
    std::size_t n_rows() const { return table_.classes.size(); }

    Finished grow_one(const C45Grower& grower, std::size_t task) const {
        const std::uint64_t key = derive_key(parameters_.seed, parameters_.first_tree + task);
        std::vector<std::uint32_t> counts(n_rows(), 0);
        draw_bag(parameters_.drawing, key, counts, stop_);
        const std::span<const std::uint32_t> seen =
            parameters_.columns.empty() ? std::span<const std::uint32_t>{} : parameters_.columns[task];
        Finished finished;
        finished.tree = grower.grow(weights_of(counts), key, seen);
        if (!tally_) return finished;
        for (std::uint32_t row = 0; row < n_rows(); ++row) {
            if (counts[row] == 0) finished.outside.push_back(row);
        }
        finished.votes.resize(finished.outside.size() * target_.n_classes);
        predict_c45(finished.tree, table_.columns, finished.outside, finished.votes.data(), stop_);
        return finished;
    }

    // The weights of the rows in a bag: how often each was drawn, times its weight and the weight of its class.
    std::vector<double> weights_of(std::span<const std::uint32_t> counts) const {
        std::vector<double> own(counts.begin(), counts.end());
        for (std::size_t row = 0; row < weights_.size(); ++row) own[row] *= weights_[row];
        const std::vector<double> factors = class_factors(counts, own);
        if (factors.empty()) return own;
        std::vector<double> weighed(own);
        for (std::size_t row = 0; row < own.size(); ++row) weighed[row] *= factors[target_.labels[row]];
        // All classes in the bag may have weight 0.
        const bool is_any = std::ranges::any_of(weighed, [](double weight) { return weight > 0; });
        return is_any ? weighed : own;
    }

    // The weights of the classes, from the parameters or from the bag's class frequencies; empty if all are 1.
    std::vector<double> class_factors(std::span<const std::uint32_t> counts, std::span<const double> weights) const {
        if (!parameters_.balance_bags) return parameters_.class_weights;
        std::vector<double> n_drawn(target_.n_classes, 0.0);
        for (std::size_t row = 0; row < counts.size(); ++row) {
            if (weights[row] > 0) n_drawn[target_.labels[row]] += counts[row];
        }
        return balancing_factors(n_drawn);
    }

    // Takes the finished trees in order. Returns whether there are enough.
    bool take(Finished& finished) {
        if (tally_) {
            tally_->add(finished.outside, [&](std::size_t i) { return finished.votes.data() + i * target_.n_classes; });
        }
        const std::vector<double> importances = importances_of(finished.tree);
        grown_.importances.insert(grown_.importances.end(), importances.begin(), importances.end());
        grown_.forest.trees.push_back(std::move(finished.tree));
        return tally_ && tally_->is_flat(parameters_.flat_trees);
    }

    const C45Table& table_;
    Target target_;
    std::span<const double> weights_;
    const C45BagParameters& parameters_;
    const Stop& stop_;
    InOrder<Finished> in_order_;
    std::optional<OutOfBagTally> tally_;
    GrownC45 grown_;
};

}  // namespace

GrownC45 grow_c45_bags(const C45Table& table, std::span<const double> weights, const C45BagParameters& parameters,
                       std::vector<bool> does_count, OutOfBag before, int n_threads,
                       const std::function<bool(std::size_t)>& after_tree, const Stop& stop) {
    BagGrower grower(table, weights, parameters, std::move(does_count), std::move(before), stop);
    return grower.grow(n_threads, after_tree);
}

}  // namespace committee
