#include "c45/ensemble/grower.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "numbers/random.h"
#include "threads/thread_team.h"

namespace committee {

C45Grower::C45Grower(const C45Table& table, const C45Settings& settings, int n_threads, const Stop& stop)
    : table_(table), settings_(settings), stop_(stop), sorted_(table.columns.size()) {
    std::vector<std::uint32_t> rows(table.classes.size());
    std::iota(rows.begin(), rows.end(), 0U);
    std::vector<c45::ColumnSorter> sorters(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_task(sorted_.size(), n_threads, stop, [&](std::size_t j, int thread) {
        if (table.columns[j].n_categories != C45Column::is_number) return;
        Polls polls(stop);
        sorted_[j] = sorters[static_cast<std::size_t>(thread)].sort(table.columns[j].numbers, rows, polls);
    });
    if (settings.pruning == C45Pruning::reduced_error) hash_rows();
}

void C45Grower::hash_rows() {
    for (const std::int32_t label : table_.classes) hashes_.push_back(mix(static_cast<std::uint64_t>(label)));
    Polls polls(stop_);
    for (std::size_t j = 0; j < sorted_.size(); ++j) {
        polls.after(hashes_.size());
        const auto add = [&](std::size_t row, std::uint64_t value) { hashes_[row] = mix(hashes_[row] + value); };
        for (const c45::Entry& entry : sorted_[j].entries) add(entry.instance, entry.rank);
        const auto codes = table_.columns[j].codes;
        for (std::size_t row = 0; row < codes.size(); ++row) add(row, static_cast<std::uint64_t>(codes[row]));
    }
}

C45Tree C45Grower::grow(std::span<const double> weights, std::uint64_t key, std::span<const std::uint32_t> used) const {
    std::vector<std::uint32_t> all;
    if (used.empty()) {
        all.resize(sorted_.size());
        std::iota(all.begin(), all.end(), 0U);
        used = all;
    }
    std::vector<C45Column> columns;
    std::vector<const c45::SortedColumn*> sorted;
    for (const std::uint32_t j : used) {
        columns.push_back(table_.columns[j]);
        sorted.push_back(&sorted_[j]);
    }
    const std::vector<std::uint8_t> held_out =
        settings_.pruning == C45Pruning::reduced_error ? hold_out(weights, key) : std::vector<std::uint8_t>{};
    C45Tree tree = grow_c45(columns, sorted, table_.classes, table_.n_classes, weights, settings_, held_out, stop_);
    for (std::int32_t& column : tree.column) {
        if (column != C45Tree::is_leaf) column = static_cast<std::int32_t>(used[static_cast<std::size_t>(column)]);
    }
    tree.n_categories.clear();
    for (const C45Column& column : table_.columns) tree.n_categories.push_back(column.n_categories);
    return tree;
}

// Holds out one row in n_folds of the rows sorted by class, so that the classes stay balanced.
std::vector<std::uint8_t> C45Grower::hold_out(std::span<const double> weights, std::uint64_t key) const {
    std::vector<std::uint32_t> rows;
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
        if (weights[row] > 0) rows.push_back(row);
    }
    if (rows.size() < settings_.n_folds) {
        throw std::invalid_argument("reduced_error_folds must be at most the number of rows of a member, " +
                                    std::to_string(rows.size()) + ". Got " + std::to_string(settings_.n_folds) + ".");
    }
    // Rows are sorted by content first, so that their order in the table does not matter.
    std::ranges::sort(rows, {}, [&](std::uint32_t row) { return std::pair(hashes_[row], weights[row]); });
    Random random(key, Purpose::held_out);
    for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
    std::ranges::stable_sort(rows, {}, [&](std::uint32_t row) { return table_.classes[row]; });
    std::vector<std::uint8_t> held_out(weights.size(), 0);
    for (std::size_t i = settings_.n_folds - 1; i < rows.size(); i += settings_.n_folds) held_out[rows[i]] = 1;
    return held_out;
}

}  // namespace committee
