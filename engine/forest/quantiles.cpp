#include "forest/quantiles.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "numbers/flat_arrays.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

constexpr std::size_t block_rows = 256;
// The approximate number of values read to add one leaf.
constexpr std::size_t values_of_a_leaf = 64;

constexpr Requirement require{"The leaf rows do not fit the forest"};

// Targets as ranks. Equal targets have equal ranks.
struct Ranks {
    std::vector<std::uint32_t> of_row;
    std::vector<double> targets;  // by rank, increasing
};

Ranks rank_targets(std::span<const double> y) {
    std::vector<std::uint32_t> order(y.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::sort(order, {}, [&](std::uint32_t row) { return y[row]; });
    Ranks ranks;
    ranks.of_row.resize(y.size());
    for (const std::uint32_t row : order) {
        if (ranks.targets.empty() || ranks.targets.back() != y[row]) ranks.targets.push_back(y[row]);
        ranks.of_row[row] = static_cast<std::uint32_t>(ranks.targets.size() - 1);
    }
    return ranks;
}

// Weights by rank of the target. Few ranks have a weight, so a bit set lists them in order.
class Distribution {
  public:
    void resize(std::size_t n_ranks) {
        weights_.resize(n_ranks, 0.0);
        is_present_.resize((n_ranks + 63) / 64, 0);
    }

    void add(std::uint32_t rank, double weight) {
        weights_[rank] += weight;
        is_present_[rank / 64] |= std::uint64_t{1} << (rank % 64);
    }

    // Calls visit(rank, weight) in order of rank and empties the distribution.
    template <class Visit>
    void take(Visit visit) {
        for (std::size_t word = 0; word < is_present_.size(); ++word) {
            for (std::uint64_t bits = is_present_[word]; bits != 0; bits &= bits - 1) {
                const std::size_t rank = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
                visit(rank, weights_[rank]);
                weights_[rank] = 0;
            }
            is_present_[word] = 0;
        }
    }

  private:
    std::vector<double> weights_;
    std::vector<std::uint64_t> is_present_;
};

// The quantiles in increasing order, as cumulative weights. Every tree adds a total weight of 1.
struct Levels {
    std::vector<std::size_t> order;
    std::vector<double> weights;
};

Levels sort_levels(std::span<const double> quantiles, std::size_t n_trees) {
    // Rounding errors of the sum must not move a quantile to the next target.
    constexpr double slack = 1e-12;
    Levels levels;
    levels.order.resize(quantiles.size());
    std::iota(levels.order.begin(), levels.order.end(), std::size_t{0});
    std::ranges::sort(levels.order, {}, [&](std::size_t k) { return quantiles[k]; });
    for (const std::size_t k : levels.order) {
        levels.weights.push_back((quantiles[k] - slack) * static_cast<double>(n_trees));
    }
    return levels;
}

void take_quantiles(Distribution& distribution, const Ranks& ranks, const Levels& levels, double* out) {
    double reached = 0;
    std::size_t next = 0;
    distribution.take([&](std::size_t rank, double weight) {
        reached += weight;
        for (; next < levels.order.size() && reached >= levels.weights[next]; ++next) {
            out[levels.order[next]] = ranks.targets[rank];
        }
    });
}

// Buffers that a thread reuses for every block.
struct Worker {
    Distribution distribution;
    std::vector<std::uint32_t> leaves;  // (block_rows, n_trees)
    std::vector<ColumnView> columns;

    void find_leaves(const Forest& forest, std::span<const ColumnView> all, std::size_t begin, std::size_t n) {
        columns.assign(all.begin(), all.end());
        for (ColumnView& column : columns) {
            column.data = static_cast<const char*>(column.data) + static_cast<std::ptrdiff_t>(begin) * column.stride;
        }
        leaves.resize(block_rows * forest.trees.size());
        apply(forest, columns, n, 1, leaves.data());
    }
};

void add_leaf(const LeafRowsView& leaf_rows, std::uint32_t value, const Ranks& ranks, Distribution& distribution) {
    const std::size_t begin = leaf_rows.offsets[value], end = leaf_rows.offsets[value + 1];
    std::uint64_t total = 0;
    for (std::size_t i = begin; i < end; ++i) total += leaf_rows.weights[i];
    const double share = 1 / static_cast<double>(total);
    for (std::size_t i = begin; i < end; ++i) {
        distribution.add(ranks.of_row[leaf_rows.rows[i]], leaf_rows.weights[i] * share);
    }
}

}  // namespace

void check_leaf_rows(const Forest& forest, std::span<const LeafRowsView> leaf_rows, std::span<const double> y) {
    require(!forest.is_classifier && forest.n_outputs == 1 && forest.link == Link::mean,
            "it is not a regression forest");
    require(leaf_rows.size() == forest.trees.size(), "there must be one list per tree");
    require(are_finite(y), "a target is not finite");
    for (std::size_t t = 0; t < leaf_rows.size(); ++t) {
        const auto& [offsets, rows, weights] = leaf_rows[t];
        const Tree& tree = forest.trees[t];
        require(offsets.size() == tree.values.size() + 1, "there must be one offset per leaf value, and the end");
        require(rows.size() == weights.size(), "rows and weights differ in number");
        require(offsets.front() == 0 && offsets.back() == rows.size() && std::ranges::is_sorted(offsets),
                "the offsets are out of order");
        require(std::ranges::all_of(rows, [&](std::uint32_t row) { return row < y.size(); }), "a row is out of bounds");
        require(std::ranges::all_of(weights, [](std::uint32_t weight) { return weight > 0; }), "a row has no weight");
        for (const NodeWord word : tree.nodes) {
            if (!is_leaf(word)) continue;
            require(offsets[address_of(word)] < offsets[address_of(word) + 1], "a leaf has no rows");
        }
    }
}

void predict_quantiles(const Forest& forest, std::span<const LeafRowsView> leaf_rows, std::span<const double> y,
                       std::span<const ColumnView> columns, std::size_t n_rows, std::span<const double> quantiles,
                       int n_threads, double* out, const Stop& stop) {
    const Ranks ranks = rank_targets(y);
    const Levels levels = sort_levels(quantiles, forest.trees.size());
    const std::size_t n_trees = forest.trees.size();
    std::vector<Worker> workers(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_task((n_rows + block_rows - 1) / block_rows, n_threads, stop, [&](std::size_t task, int thread) {
        Polls polls(stop);
        Worker& worker = workers[static_cast<std::size_t>(thread)];
        const std::size_t begin = task * block_rows;
        const std::size_t n = std::min(block_rows, n_rows - begin);
        worker.find_leaves(forest, columns, begin, n);
        worker.distribution.resize(ranks.targets.size());
        for (std::size_t i = 0; i < n; ++i) {
            polls.after(values_of_a_leaf * n_trees + ranks.targets.size() / 64);
            for (std::size_t t = 0; t < n_trees; ++t) {
                const NodeWord leaf = forest.trees[t].nodes[worker.leaves[i * n_trees + t]];
                add_leaf(leaf_rows[t], address_of(leaf), ranks, worker.distribution);
            }
            take_quantiles(worker.distribution, ranks, levels, out + (begin + i) * quantiles.size());
        }
    });
}

}  // namespace committee
