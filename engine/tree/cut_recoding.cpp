#include "tree/cut_recoding.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <stdexcept>

#include "threads/thread_team.h"

namespace committee {
namespace {

// Replaces every threshold on a numeric column by new_threshold(column, threshold).
template <class NewThreshold>
void renumber(Tree& tree, NewThreshold new_threshold) {
    for (NodeWord& word : tree.nodes) {
        if (is_leaf(word) || is_category(word)) continue;
        const std::uint32_t column = column_of(word);
        word =
            number_word(column, new_threshold(column, threshold_of(word)), missing_goes_right(word), address_of(word));
    }
}

}  // namespace

void take_cuts(Forest& forest, const CutsOf& cuts_of, int n_threads) {
    auto& columns = forest.binning.columns;
    // used[j][t] first marks that a node compares codes of column j with t. Later it is the number of used thresholds
    // <= t.
    std::vector<std::vector<std::uint16_t>> used(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        used[j].assign(columns[j].is_category ? 1 : std::max(columns[j].n_bins, 1U), 0);
    }
    std::vector<std::uint8_t> is_used(columns.size(), 0);
    for_each_task(forest.trees.size(), n_threads, {}, [&](std::size_t t, int) {
        for (const NodeWord word : forest.trees[t].nodes) {
            if (is_leaf(word)) continue;
            const std::uint32_t column = column_of(word), threshold = threshold_of(word);
            std::atomic_ref(is_used[column]).store(1, std::memory_order_relaxed);
            if (is_category(word) || threshold >= used[column].size()) continue;
            std::atomic_ref(used[column][threshold]).store(1, std::memory_order_relaxed);
        }
    });
    for_each_task(columns.size(), n_threads, {}, [&](std::size_t j, int) {
        Column& column = columns[j];
        column.is_used = is_used[j] != 0;
        if (column.is_category || column.n_bins == 0) return;
        std::vector<std::uint16_t> bins;
        used[j][0] = 0;
        for (std::size_t t = 1; t < used[j].size(); ++t) {
            if (used[j][t] != 0) bins.push_back(static_cast<std::uint16_t>(t));
            used[j][t] = static_cast<std::uint16_t>(bins.size());
        }
        column.cuts = bins.empty() ? std::vector<double>() : cuts_of(j, bins);
        column.n_bins = static_cast<std::uint32_t>(bins.size()) + 1;
    });
    for_each_task(forest.trees.size(), n_threads, {}, [&](std::size_t t, int) {
        renumber(forest.trees[t], [&](std::uint32_t j, std::uint32_t threshold) {
            return threshold < used[j].size() ? used[j][threshold] : columns[j].n_bins;
        });
    });
}

void drop_unused_cuts(Forest& forest, int n_threads) {
    const auto kept_of = [&](std::size_t j, std::span<const std::uint16_t> bins) {
        return cuts_above(forest.binning.columns[j], bins);
    };
    take_cuts(forest, kept_of, n_threads);
}

std::vector<double> cuts_above(const Column& column, std::span<const std::uint16_t> bins) {
    std::vector<double> cuts;
    for (const std::uint16_t bin : bins) cuts.push_back(column.cuts[bin - 1]);
    return cuts;
}

void append_trees(Forest& forest, Forest more) {
    auto& columns = forest.binning.columns;
    std::vector<std::vector<double>> merged(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        std::ranges::set_union(columns[j].cuts, more.binning.columns[j].cuts, std::back_inserter(merged[j]));
    }
    auto renumber_all = [&](std::vector<Tree>& trees, const std::vector<Column>& old) {
        for (Tree& tree : trees) {
            renumber(tree, [&](std::uint32_t j, std::uint32_t t) -> std::uint32_t {
                if (t == 0) return 0;
                if (t > old[j].cuts.size()) return static_cast<std::uint32_t>(merged[j].size()) + 1;
                return 1 + static_cast<std::uint32_t>(std::ranges::lower_bound(merged[j], old[j].cuts[t - 1]) -
                                                      merged[j].begin());
            });
        }
    };
    renumber_all(forest.trees, columns);
    renumber_all(more.trees, more.binning.columns);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        columns[j].is_used = columns[j].is_used || more.binning.columns[j].is_used;
        if (columns[j].is_category) continue;
        if (merged[j].size() >= 65535) {
            throw std::length_error("The trees of all fits use at least 65,535 thresholds of column " +
                                    std::to_string(j) +
                                    ". Continue with the same rows, grow smaller trees, or round that column.");
        }
        columns[j].cuts = std::move(merged[j]);
        columns[j].n_bins = static_cast<std::uint32_t>(columns[j].cuts.size()) + 1;
    }
    std::ranges::move(more.trees, std::back_inserter(forest.trees));
}

Forest on_columns(Forest forest, std::span<const std::uint32_t> columns) {
    std::vector<std::uint32_t> place_of(forest.binning.columns.size(), max_columns);
    std::vector<Column> seen;
    for (std::uint32_t place = 0; place < columns.size(); ++place) {
        place_of[columns[place]] = place;
        seen.push_back(forest.binning.columns[columns[place]]);
    }
    for (Tree& tree : forest.trees) {
        for (NodeWord& word : tree.nodes) {
            if (is_leaf(word)) continue;
            const std::uint32_t place = place_of[column_of(word)];
            if (place == max_columns) throw std::invalid_argument("The trees use other columns.");
            word = is_category(word)
                       ? category_word(place, missing_goes_right(word), address_of(word))
                       : number_word(place, threshold_of(word), missing_goes_right(word), address_of(word));
        }
        tree.importances.clear();
    }
    forest.binning.columns = std::move(seen);
    return forest;
}

}  // namespace committee
