#include "c45/sorted_columns.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace committee::c45 {

namespace {

constexpr std::uint32_t is_absent = max_instances - 1;
constexpr std::uint32_t is_only_known = max_instances - 2;

// Marks the entries with a value whose next entry is close. Entries with a value come first.
void mark_close(SortedColumn& column, std::size_t n_known) {
    const std::vector<double>& values = column.values.sorted;
    // C4.5 treats values within 1e-5 as close. A column of tiny numbers could then not be split, so the limit is at
    // most a thousandth of the column's range.
    if (!values.empty()) column.values.gap = std::min(1e-5, 1e-3 * (values.back() - values.front()));
    for (std::size_t i = 0; i + 1 < n_known; ++i) {
        column.entries[i].is_close = column.values.are_close(column.entries[i].rank, column.entries[i + 1].rank);
    }
}

}  // namespace

SortedColumn ColumnSorter::sort(std::span<const double> numbers, std::span<const std::uint32_t> rows, Polls& polls) {
    SortedColumn column;
    known_.clear();
    for (const std::uint32_t row : rows) {
        if (std::isnan(numbers[row])) {
            column.entries.push_back({row, 0, missing_rank});
        } else {
            known_.push_back(row);
        }
    }
    sorter_.sort(numbers, known_, polls);
    std::vector<double>& values = column.values.sorted;
    values.resize(known_.size());
    column.entries.insert(column.entries.begin(), known_.size(), Entry{});
    std::uint32_t rank = 0;
    double before = known_.empty() ? 0 : numbers[known_[0]];
    for (std::size_t i = 0; i < known_.size(); ++i) {
        const double value = numbers[known_[i]];
        rank += value != before ? 1 : 0;
        before = values[rank] = value;
        column.entries[i] = {known_[i], 0, rank};
    }
    values.resize(known_.empty() ? 0 : rank + 1);
    mark_close(column, known_.size());
    return column;
}

double choose_threshold(std::span<const double> values, std::uint32_t rank_below, std::uint32_t rank_above) {
    const double below = values[rank_below];
    const double above = values[rank_above];
    // Adds the tolerance, so that rounding does not exclude a value at the midpoint.
    const double middle = std::midpoint(below, above) + tolerance * (above - below);
    // Fails between infinities and between adjacent doubles.
    if (!(middle < above)) return below;
    const auto between = values.subspan(rank_below, rank_above - rank_below);
    return *(std::ranges::upper_bound(between, middle) - 1);
}

SortedTable::SortedTable(std::size_t n_columns, std::size_t n_rows, std::span<const std::uint32_t> all_rows_,
                         std::span<const std::uint32_t> rows_)
    : all_rows(all_rows_), rows(rows_), values(n_columns), entries(n_columns), instance_of_(n_rows, is_absent) {
    for (const std::uint32_t row : all_rows) instance_of_[row] = is_only_known;
    for (std::size_t i = 0; i < rows.size(); ++i) instance_of_[rows[i]] = static_cast<std::uint32_t>(i);
}

void SortedTable::add(std::size_t column, std::span<const double> numbers, Polls& polls) {
    polls.after(8 * all_rows.size());
    keep(column, sorter_.sort(numbers, all_rows, polls));
}

void SortedTable::add(std::size_t column, const SortedColumn& whole, Polls& polls) {
    polls.after(whole.entries.size());
    keep(column, part_of(whole));
}

SortedColumn SortedTable::part_of(const SortedColumn& whole) const {
    SortedColumn part;
    part.entries.reserve(all_rows.size());
    std::size_t n_known = 0;
    std::uint32_t before = missing_rank;
    for (const Entry& entry : whole.entries) {
        if (instance_of_[entry.instance] == is_absent) continue;
        std::uint32_t rank = missing_rank;
        if (entry.rank != missing_rank) {
            if (entry.rank != before) part.values.sorted.push_back(whole.values.sorted[entry.rank]);
            before = entry.rank;
            rank = static_cast<std::uint32_t>(part.values.sorted.size()) - 1;
            ++n_known;
        }
        part.entries.push_back({entry.instance, 0, rank});
    }
    mark_close(part, n_known);
    return part;
}

void SortedTable::keep(std::size_t column, SortedColumn sorted) {
    for (Entry& entry : sorted.entries) entry.instance = instance_of_[entry.instance];
    std::erase_if(sorted.entries, [](const Entry& entry) { return entry.instance == is_only_known; });
    entries[column] = std::move(sorted.entries);
    values[column] = std::move(sorted.values);
}

}  // namespace committee::c45
