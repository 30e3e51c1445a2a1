// Finds the best split of one node: chooses the columns to try, and runs steps one and two of growing for each.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "growing/absolute_error.h"
#include "growing/bin_narrowing.h"
#include "growing/category_split.h"
#include "growing/histogram.h"
#include "growing/random_splits.h"
#include "growing/split.h"
#include "growing/subtree_codes.h"
#include "growing/tree_growth.h"
#include "numbers/random.h"
#include "table/table.h"
#include "threads/stop.h"
#include "tree/node_statistics.h"

namespace committee {

// The rows of a node, as passed to the search.
template <class Code, class Item>
struct NodeRows {
    CodeColumns<Code> codes;
    std::span<const std::uint32_t> rows;
    std::span<const Item> items;
    std::uint64_t key = 0;
    double lower =
        -std::numeric_limits<double>::infinity();  // bounds on the values of a tree with monotonic constraints
    double upper = std::numeric_limits<double>::infinity();
};

template <class Code, class Stat, Criterion criterion>
class SplitSearch {
  public:
    using Item = typename Stat::Item;
    using Node = NodeRows<Code, Item>;

    SplitSearch(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop)
        : table_(table),
          parameters_(parameters),
          polls_(stop),
          n_classes_(target.n_classes),
          histogram_(is_median ? never_binned : target.n_classes, parameters.exact, parameters.min_samples_leaf > 1),
          sides_(no_sides(target)) {
        see({});
        limits_.min_rows = parameters.min_samples_leaf;
        if (parameters.random_thresholds) draws_.emplace(table);
    }

    // Sets the columns that the next tree may split on.
    void see(const SeenColumns& seen) {
        const bool sees_all = seen.columns.empty();
        n_columns_ = sees_all ? table_.n_columns() : seen.columns.size();
        order_.resize(n_columns_);
        if (sees_all) {
            std::iota(order_.begin(), order_.end(), 0U);
        } else {
            std::ranges::copy(seen.columns, order_.begin());
        }
        const std::size_t tried = sees_all ? parameters_.max_features : seen.max_features;
        n_tried_ = tried == 0 ? n_columns_ : std::min(tried, n_columns_);
    }

    // heaviest: the largest weight of a row.
    void start_tree(std::size_t n_rows, double row_weight, std::uint64_t min_weight, std::uint32_t heaviest) {
        codes_.resize(std::max(codes_.size(), n_rows));
        histogram_.start_tree(row_weight);
        if (draws_) draws_->start_tree(n_rows, heaviest);
        limits_.min_weight = min_weight;
        compares_draws_ = is_unlimited() && criterion != Criterion::gain_ratio &&
                          std::ranges::none_of(table_.binning->columns, &Column::is_category);
    }

    // The sums of the current node.
    Sides<Stat, criterion>& sides() { return sides_; }
    const Sides<Stat, criterion>& sides() const { return sides_; }

    bool is_unlimited() const {
        return limits_.min_rows <= 1 && limits_.min_weight == 0 && parameters_.monotonic.empty();
    }

    // A smaller gain may be rounding error and counts as zero.
    double smallest_gain() const {
        return sides_.rounding() + 1e-12 * std::max(sides_.weight(), std::abs(sides_.score()));
    }

    // Visits max_features columns in random order and, as scikit-learn does, further ones until a column can be split.
    void find(const Node& node, Candidate& best) {
        Random random(node.key, Purpose::split);
        limits_.lower = node.lower;
        limits_.upper = node.upper;
        best.forget();
        histogram_.start_node(sides_.weight());
        is_narrowing_ = false;
        gain_ratio_candidates_.clear();
        const std::size_t visited = draws_ ? find_by_draws(node, random, best) : find_by_histograms(node, random, best);
        undo_draws();
        if (node.rows.size() < large_rows) polls_.after(visited * node.rows.size());
        if constexpr (criterion == Criterion::gain_ratio) choose_by_gain_ratio(best);
    }

    // A faster `find` for two rows of different targets: the first numeric column that separates them gives the same
    // split. A third of the nodes of a full tree are such pairs. Returns false if `find` must be called instead.
    bool find_for_pair(const Node& node, Candidate& best) {
        Random random(node.key, Purpose::split);
        std::uint32_t first = 0, second = 0;
        std::size_t visited = 0;
        for (; visited < n_columns_ && first == second; ++visited) {
            best.column = draw_column(visited, random);
            first = node.codes.column(best.column)[node.rows[0]];
            second = node.codes.column(best.column)[node.rows[1]];
        }
        undo_draws();
        const bool is_category = table_.binning->columns[best.column].is_category;
        if (first == second || first == 0 || second == 0 || is_category) return false;
        const auto [low, high] = std::minmax(first, second);
        best.is_category = false;
        best.threshold = draws_ ? draws_->threshold(best.column, {low, high, false}, visited - 1,
                                                    Random(node.key, Purpose::threshold))
                                : low + (high - low) / 2;
        return true;
    }

  private:
    // A column of this many rows takes long enough for a separate poll.
    static constexpr std::size_t large_rows = 4096;

    static constexpr bool is_median = criterion == Criterion::absolute_error;
    // More classes than any number of rows: rows are sorted and not summed to bins.
    static constexpr std::size_t never_binned = std::size_t{1} << 40;

    static Sides<Stat, criterion> no_sides(const Target& target) {
        if constexpr (is_median) {
            return Sides<Stat, criterion>(target);
        } else if constexpr (std::is_same_v<Stat, ManyClasses>) {
            return Sides<Stat, criterion>(target.n_classes);
        } else {
            return Sides<Stat, criterion>(Item{});
        }
    }

    // Draws the next column among those not visited yet. undo_draws() restores the order.
    std::uint32_t draw_column(std::size_t visited, Random& random) {
        if (n_tried_ == n_columns_) return order_[visited];
        const std::size_t other = visited + random.below(n_columns_ - visited);
        std::swap(order_[visited], order_[other]);
        swaps_.push_back(other);
        return order_[visited];
    }

    // Restores the order of the columns, which must not depend on the nodes grown before.
    void undo_draws() {
        for (std::size_t i = swaps_.size(); i-- > 0;) std::swap(order_[i], order_[swaps_[i]]);
        swaps_.clear();
    }

    bool is_satisfied(const Candidate& best) const {
        if (!best.is_found() && gain_ratio_candidates_.empty()) return false;
        return !parameters_.needs_gain || (best.is_found() && sides_.gain(best.merit) > smallest_gain());
    }

    // True until enough columns have been visited. No column can improve on a perfect split, or on a split of two rows.
    bool goes_on(const Node& node, std::size_t visited, const Candidate& best) const {
        if (best.is_perfect || (node.rows.size() == 2 && best.is_found())) return false;
        return visited < n_tried_ || (visited < n_columns_ && !is_satisfied(best));
    }

    std::size_t find_by_histograms(const Node& node, Random& random, Candidate& best) {
        std::size_t visited = 0;
        for (; goes_on(node, visited, best); ++visited) {
            const std::uint32_t column = draw_column(visited, random);
            if (node.rows.size() >= large_rows) polls_.after(node.rows.size());
            const CodeRange range =
                gather_codes(node.codes.column(column), node.rows, table_.has_missing[column], codes_.data());
            if (range.is_constant()) continue;
            consider(column, best, [&](bool is_category, Candidate& found) {
                if (is_category) {
                    histogram_.order(codes_of(node), node.items, range, true, entries_);
                    if constexpr (!is_median) {
                        if (parameters_.branches) {
                            categories_.find_branches(entries_, limits_, n_classes_, sides_, found);
                            return;
                        }
                    }
                    categories_.find(entries_, n_rows_of(node), limits_, n_classes_, sides_, found);
                } else {
                    order(node, range, found);
                    find_threshold<Stat, criterion>(entries_, range.has_missing, n_rows_of(node), limits_, sides_,
                                                    found);
                }
            });
        }
        return visited;
    }

    std::size_t find_by_draws(const Node& node, Random& random, Candidate& best) {
        const Random thresholds(node.key, Purpose::threshold);
        std::array<const Code*, RandomSplits<Code, Stat>::most_columns> codes{};
        std::array<std::uint32_t, RandomSplits<Code, Stat>::most_columns> columns;
        std::size_t visited = 0;
        while (goes_on(node, visited, best)) {
            const std::size_t n = std::min(columns.size(), (visited < n_tried_ ? n_tried_ : n_columns_) - visited);
            for (std::size_t k = 0; k < n; ++k) {
                columns[k] = draw_column(visited + k, random);
                codes[k] = node.codes.column(columns[k]);
            }
            if (node.rows.size() >= large_rows) polls_.after(n * node.rows.size());
            draws_->draw({columns.data(), n}, codes, node.rows, visited, thresholds);
            if constexpr (!std::is_same_v<Stat, ManyClasses>) {
                draws_->sum_left(node.items);
                if (visited < n_tried_ && compares_draws_) {
                    take_best_draw(node, {columns.data(), n}, best);
                    visited += n;
                    continue;
                }
            }
            for (std::size_t k = 0; k < n && goes_on(node, visited, best); ++k, ++visited) {
                if ((*draws_)[k].is_constant) continue;
                consider(columns[k], best, [&](bool is_category, Candidate& found) {
                    if (is_category) {
                        draw_categories(node, columns[k], Random(thresholds.at(2 * visited), Purpose::split), found);
                    } else {
                        try_draw(node, k, found);
                    }
                });
            }
        }
        return visited;
    }

    // Calls `look` to find a split of a column that is better than the best so far.
    template <class Look>
    void consider(std::uint32_t column, Candidate& best, Look look) {
        limits_.direction = parameters_.monotonic.empty() ? 0 : parameters_.monotonic[column];
        constexpr bool by_ratio = criterion == Criterion::gain_ratio;
        Candidate& found = by_ratio ? column_best_ : best;
        if (by_ratio) column_best_.forget();
        const double before = found.merit;
        const bool is_category = table_.binning->columns[column].is_category;
        look(is_category, found);
        if (found.merit > before) {
            found.column = column;
            found.is_category = is_category;
        }
        if (by_ratio && found.is_found()) gain_ratio_candidates_.push_back(found);
    }

    void order(const Node& node, CodeRange range, const Candidate& found) {
        if constexpr (Sides<Stat, criterion>::by_variance) {
            if (parameters_.exact && node.rows.size() >= Narrowing<Stat>::fewest_rows &&
                range.highest - range.lowest >= 2 * coarse_bins && !range.has_missing && limits_.is_free()) {
                if (!is_narrowing_) narrowing_.start_node(node.items, sides_.total());
                is_narrowing_ = true;
                return narrowing_.order(codes_of(node), node.items, range, found.merit, histogram_, entries_);
            }
        }
        histogram_.order(codes_of(node), node.items, range, false, entries_);
    }

    void draw_categories(const Node& node, std::uint32_t column, Random random, Candidate& found) {
        const CodeRange range =
            gather_codes(node.codes.column(column), node.rows, table_.has_missing[column], codes_.data());
        histogram_.order(codes_of(node), node.items, range, true, entries_);
        categories_.draw(entries_, n_rows_of(node), limits_, random, sides_, found);
    }

    // Takes the best of the random thresholds of several numeric columns, if no limit applies to a split. All merits
    // are computed first, which avoids an unpredictable branch per column.
    void take_best_draw(const Node& node, std::span<const std::uint32_t> columns, Candidate& best) {
        std::array<double, RandomSplits<Code, Stat>::most_columns> merits;
        for (std::size_t k = 0; k < columns.size(); ++k) {
            auto cursor = sides_.start();
            cursor.move_left(draws_->left_of(k).item);
            merits[k] = cursor.merit();
        }
        double highest = best.merit;
        std::size_t at = columns.size();
        for (std::size_t k = 0; k < columns.size(); ++k) {
            const bool is_higher = merits[k] > highest;
            highest = is_higher ? merits[k] : highest;
            at = is_higher ? k : at;
        }
        if (at < columns.size())
            consider(columns[at], best, [&](bool, Candidate& found) { try_draw(node, at, found); });
    }

    // Compares the random threshold of column k with the best split so far.
    void try_draw(const Node& node, std::size_t k, Candidate& best) {
        auto cursor = sides_.start();
        std::uint32_t rows_left = 0;
        if constexpr (std::is_same_v<Stat, ManyClasses>) {
            for (std::size_t i = 0; i < node.rows.size(); ++i) {
                if (!draws_->goes_left(k, i)) continue;
                cursor.move_left(node.items[i]);
                ++rows_left;
            }
        } else {
            cursor.move_left(draws_->left_of(k).item);
            rows_left = draws_->left_of(k).n_rows;
        }
        const auto least = static_cast<double>(limits_.min_weight);
        if (rows_left < limits_.min_rows || n_rows_of(node) - rows_left < limits_.min_rows) return;
        if (cursor.left_weight() < least || cursor.right_weight() < least || !cursor.keeps(limits_)) return;
        const double merit = cursor.merit();
        if (!(merit > best.merit)) return;
        best.merit = merit;
        best.left_weight = cursor.left_weight();
        best.is_perfect = cursor.is_perfect();
        best.threshold = (*draws_)[k].threshold;
        best.missing_right = (*draws_)[k].missing_right;
    }

    // Chooses the best gain ratio among the columns of at least average gain (Quinlan 1993, section 2.2).
    void choose_by_gain_ratio(Candidate& best) {
        double mean_gain = 0;
        for (const Candidate& candidate : gain_ratio_candidates_) mean_gain += sides_.gain(candidate.merit);
        mean_gain /= static_cast<double>(std::max<std::size_t>(gain_ratio_candidates_.size(), 1));
        double best_ratio = -std::numeric_limits<double>::infinity();
        for (Candidate& candidate : gain_ratio_candidates_) {
            const double gain = sides_.gain(candidate.merit);
            if (gain < mean_gain - smallest_gain()) continue;
            const double share = candidate.left_weight / sides_.weight();
            const double ratio = gain / -(share * std::log2(share) + (1 - share) * std::log2(1 - share));
            if (ratio > best_ratio) {
                best_ratio = ratio;
                best = std::move(candidate);
            }
        }
    }

    std::span<const std::uint16_t> codes_of(const Node& node) const { return {codes_.data(), node.rows.size()}; }
    static std::uint32_t n_rows_of(const Node& node) { return static_cast<std::uint32_t>(node.rows.size()); }

    const Table& table_;
    const GrowParameters& parameters_;
    Polls polls_;
    std::size_t n_classes_;
    std::size_t n_columns_ = 0;
    std::size_t n_tried_ = 0;
    Limits limits_;
    Histogram<Stat> histogram_;
    std::conditional_t<Sides<Stat, criterion>::by_variance, Narrowing<Stat>, std::monostate> narrowing_;
    bool is_narrowing_ = false;
    Sides<Stat, criterion> sides_;
    CategorySearch<Stat, criterion> categories_;
    Entries<Stat> entries_;
    std::optional<RandomSplits<Code, Stat>> draws_;  // if thresholds are random
    bool compares_draws_ = false;                    // compares several columns at once; only without limits
    std::vector<std::uint16_t> codes_;               // of the current column
    std::vector<std::uint32_t> order_;
    std::vector<std::size_t> swaps_;
    Candidate column_best_;
    std::vector<Candidate> gain_ratio_candidates_;
};

}  // namespace committee
