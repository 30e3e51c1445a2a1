// Grows one tree: the loop around the search for splits (split_search.h) and step three (partition.h).
#pragma once
#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <queue>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "growing/partition.h"
#include "growing/split_search.h"
#include "growing/subtree_codes.h"
#include "growing/tree_growth.h"
#include "numbers/random.h"
#include "tree/recorded_tree.h"

namespace committee {

template <class Code, class Stat, Criterion criterion>
class Grower {
  public:
    using Item = typename Stat::Item;
    static constexpr bool many = std::is_same_v<Stat, ManyClasses>;
    static constexpr bool is_median = criterion == Criterion::absolute_error;

    Grower(const Table& table, const Target& target, const GrowParameters& parameters, const Stop& stop)
        : table_(table),
          codes_(std::get<Codes<Code>>(table.codes)),
          target_(target),
          parameters_(parameters),
          n_columns_(table.n_columns()),
          n_outputs_(target.n_outputs()),
          search_(table, target_, parameters_, stop),
          most_local_rows_(LocalCodes<Code>::most_rows(table.n_rows(), table.n_columns())),
          unit_(1 / target.scale) {
        assert(parameters.monotonic.empty() || (!is_median && parameters.monotonic.size() == table.n_columns()));
        if constexpr (is_median) {
            for (const std::int64_t value : target.fixed) ranks_.push_back(search_.sides().levels().rank_of(value));
        }
    }

    Tree grow(const SeenRows& seen, std::uint64_t key, const SeenColumns& columns) {
        assert(!seen.rows.empty() && seen.weights.size() == seen.rows.size());
        start(seen);
        search_.see(columns);
        Pending root{.end = seen.rows.size(), .key = key};
        sum_up(root);
        if (parameters_.max_leaf_nodes == 0) {
            grow_depth_first(root);
        } else {
            grow_best_first(root);
        }
        finish_leaves();
        return std::move(tree_);
    }

  private:
    // A node that has not been split or made a leaf yet. It holds the rows [begin, end) of the tree's list of rows.
    struct Pending {
        bool is_local = false;  // its rows are positions in the subtree's block of codes
        std::uint32_t node = 0;
        std::uint32_t depth = 0;
        std::size_t begin = 0;
        std::size_t end = 0;
        std::uint64_t key = 0;
        double lower = -std::numeric_limits<double>::infinity();
        double upper = std::numeric_limits<double>::infinity();
        Item total{};  // of its items; unused for many classes
    };

    // A pending node and the split found for it.
    struct Decided {
        Pending pending;
        Candidate split;
        double gain = 0;
        double weight = 0;
    };

    void start(const SeenRows& seen) {
        const auto [rows, weights, row_weight] = seen;
        tree_ = {};
        tree_.nodes.push_back(0);
        tree_.importances.assign(n_columns_, 0.0);
        if (parameters_.keep_records) {
            tree_.records.emplace_back();
        } else if (target_.n_classes > 0) {
            // Most leaves of a full tree are pure, so they share one value per class.
            tree_.values.assign(n_outputs_ * n_outputs_, 0.0);
            for (std::size_t k = 0; k < n_outputs_; ++k) tree_.values[k * n_outputs_ + k] = 1.0;
        }
        rows_.assign(rows.begin(), rows.end());
        items_.resize(rows.size());
        total_weight_ = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            total_weight_ += weights[i];
            if constexpr (std::is_same_v<Stat, Mean>) {
                items_[i] = {target_.fixed[rows[i]] * std::int64_t{weights[i]}, weights[i]};
            } else {
                items_[i] = Stat::item(weights[i], (is_median ? ranks_ : target_.labels)[rows[i]]);
            }
        }
        search_.start_tree(rows.size(), row_weight,
                           static_cast<std::uint64_t>(
                               std::ceil(parameters_.min_weight_fraction_leaf * static_cast<double>(total_weight_))),
                           std::ranges::max(weights));
        splits_pairs_ = search_.is_unlimited() && parameters_.min_samples_split <= 2 && !parameters_.needs_gain &&
                        parameters_.min_impurity_decrease == 0 && !parameters_.keep_records &&
                        parameters_.max_depth == std::numeric_limits<std::uint32_t>::max() &&
                        criterion != Criterion::gain_ratio && criterion != Criterion::poisson;
        // min_impurity_decrease is the weight of the node as a share of the tree's weight, times the decrease in
        // impurity in the units of the target.
        min_gain_ = parameters_.min_impurity_decrease * static_cast<double>(total_weight_) * target_.scale *
                    (criterion == Criterion::poisson || is_median ? 1 : target_.scale);
    }

    void grow_depth_first(const Pending& root) {
        stack_.assign(1, root);
        while (!stack_.empty()) {
            Pending pending = stack_.back();
            stack_.pop_back();
            const std::size_t n_rows = pending.end - pending.begin;
            if (!pending.is_local && n_rows <= most_local_rows_) {
                copy_locally({rows_.data() + pending.begin, n_rows});
                pending.is_local = true;
            }
            if (n_rows == 2 && splits_pairs_ && split_pair(pending)) continue;
            if (!decide(pending, found_)) continue;
            if (parameters_.branches && found_.split.is_category) {
                divide_by_category(found_);
                for (std::size_t b = children_.size(); b-- > 0;) stack_.push_back(children_[b]);
                continue;
            }
            const auto [left, right] = divide(found_);
            const bool is_left_settled = is_settled(left);
            if (!is_settled(right)) stack_.push_back(right);
            if (!is_left_settled) stack_.push_back(left);
        }
    }

    // Half of the nodes of a full tree are pure (in regression, usually single rows). They become leaves without being
    // pushed.
    bool is_settled(const Pending& pending) {
        if (parameters_.keep_records) return false;
        if (target_.n_classes == 0 ? pending.end - pending.begin > 1 : !is_pure(pending)) return false;
        make_leaf(pending, true);
        return true;
    }

    void copy_locally(std::span<std::uint32_t> rows) {
        if constexpr (std::is_same_v<Stat, Mean>) {
            local_numbers_.resize(rows.size());
            std::ranges::transform(rows, local_numbers_.begin(),
                                   [&](std::uint32_t row) { return target_.numbers[row]; });
        }
        local_codes_.copy(codes_, rows);
    }

    CodeColumns<Code> columns_of(const Pending& pending) const {
        return pending.is_local ? local_codes_.columns() : CodeColumns<Code>{codes_.by_column.data(), codes_.n_rows};
    }

    NodeRows<Code, Item> rows_of(const Pending& pending) const {
        const std::size_t n = pending.end - pending.begin;
        return {columns_of(pending), {rows_.data() + pending.begin, n}, items_of(pending), pending.key, pending.lower,
                pending.upper};
    }

    // Makes two leaves of two rows. Returns false if the rows have the same target or no numeric column separates them.
    bool split_pair(const Pending& pending) {
        Item* items = items_.data() + pending.begin;
        if (is_same_target(items[0], items[1]) || !search_.find_for_pair(rows_of(pending), found_.split)) return false;
        std::uint32_t* rows = rows_.data() + pending.begin;
        const Code* codes = columns_of(pending).column(found_.split.column);
        if (codes[rows[0]] > codes[rows[1]]) {
            std::swap(rows[0], rows[1]);
            std::swap(items[0], items[1]);
        }
        add_pair(pending, found_.split);
        return true;
    }

    // The row with the lower code comes first.
    void add_pair(const Pending& pending, const Candidate& split) {
        const std::uint32_t left = add_children(tree_);
        const Item low = items_[pending.begin], high = items_[pending.begin + 1];
        tree_.nodes[pending.node] = number_word(split.column, split.threshold, weight_of(low) < weight_of(high), left);
        const Item both[2] = {low, high};
        Pending leaf = pending;
        for (std::uint32_t side = 0; side < 2; ++side) {
            leaf.begin = pending.begin + side;
            leaf.end = leaf.begin + 1;
            if constexpr (many) {
                pure_class_ = ManyClasses::item_class(both[side]);
            } else {
                leaf.total = both[side];
                if constexpr (std::is_same_v<Stat, TwoClasses>) pure_class_ = both[side] >> 32 != 0 ? 1 : 0;
            }
            leaf.node = left + side;
            make_leaf(leaf, true);
        }
        double gain = 0;
        if constexpr (many) {
            search_.sides().reset(both);
            gain = -search_.sides().score();
        } else {
            Sides<Stat, criterion> sides(low + high);
            auto cursor = sides.start();
            cursor.move_left(low);
            gain = sides.gain(cursor.merit());
        }
        tree_.importances[split.column] += gain * unit_ * unit_;
    }

    static bool is_same_target(const Item& a, const Item& b) {
        if constexpr (many) {
            return ManyClasses::item_class(a) == ManyClasses::item_class(b);
        } else {
            return Stat::value(a) == Stat::value(b);
        }
    }

    static double weight_of(const Item& item) {
        if constexpr (many) {
            return ManyClasses::item_weight(item);
        } else {
            return Stat::weight(item);
        }
    }

    void grow_best_first(const Pending& root) {
        auto worse = [](const Decided& a, const Decided& b) {
            return a.gain != b.gain ? a.gain < b.gain : a.pending.node > b.pending.node;
        };
        std::priority_queue<Decided, std::vector<Decided>, decltype(worse)> open(worse);
        auto offer = [&](const Pending& pending) {
            Decided decided;
            if (decide(pending, decided)) open.push(std::move(decided));
        };
        offer(root);
        std::uint32_t n_leaves = 1;
        while (!open.empty()) {
            Decided best = open.top();
            open.pop();
            if (n_leaves < parameters_.max_leaf_nodes) {
                ++n_leaves;
                const auto [left, right] = divide(best);
                offer(left);
                offer(right);
            } else {
                summarise(best.pending);
                make_leaf(best.pending);
            }
        }
    }

    void sum_up(Pending& pending) const {
        if constexpr (!many) pending.total = sum_of(items_of(pending));
    }

    // True if all rows of the node have the same target. Also sets pure_class_.
    bool is_pure(const Pending& pending) {
        const auto items = items_of(pending);
        if constexpr (many) {
            const std::uint32_t first = pure_class_ = ManyClasses::item_class(items[0]);
            return std::ranges::all_of(items, [=](Item item) { return ManyClasses::item_class(item) == first; });
        } else if constexpr (std::is_same_v<Stat, Mean>) {
            const std::int64_t first = items[0].sum / items[0].weight;
            return std::ranges::all_of(items, [=](const Item& item) { return item.sum == first * item.weight; });
        } else {
            pure_class_ = pending.total >> 32 != 0 ? 1 : 0;
            return Stat::is_pure(pending.total);
        }
    }

    // Sums the classes of the node. Returns whether the node is pure.
    bool summarise(const Pending& pending) {
        const bool pure = is_pure(pending);
        if constexpr (many) {
            if (!pure || parameters_.keep_records) search_.sides().reset(items_of(pending));
        }
        return pure;
    }

    // Returns true if a split was found. Otherwise the node becomes a leaf.
    bool decide(const Pending& pending, Decided& decided) {
        const std::size_t n_rows = pending.end - pending.begin;
        const bool pure = summarise(pending);
        if (parameters_.keep_records) record(pending);
        if (pure || pending.depth >= parameters_.max_depth || n_rows < parameters_.min_samples_split ||
            n_rows < 2 * std::size_t{parameters_.min_samples_leaf}) {
            make_leaf(pending, pure);
            return false;
        }
        if constexpr (!many) search_.sides() = Sides<Stat, criterion>(pending.total);
        search_.find(rows_of(pending), decided.split);
        decided.gain = decided.split.is_found() ? search_.sides().gain(decided.split.merit) : -1;
        if (!decided.split.is_found() || decided.gain < min_gain_ * (1 - 1e-12) ||
            ((parameters_.needs_gain || min_gain_ > 0) && decided.gain <= search_.smallest_gain())) {
            make_leaf(pending);
            return false;
        }
        decided.pending = pending;
        decided.weight = search_.sides().weight();
        return true;
    }

    std::pair<Pending, Pending> divide(Decided& decided) {
        const Pending& parent = decided.pending;
        Candidate& split = decided.split;
        const std::size_t n_rows = parent.end - parent.begin;
        const Code* codes = columns_of(parent).column(split.column);
        const double right_weight = decided.weight - split.left_weight;
        if (split.is_category && split.left_weight > right_weight) {
            partition_.swap_sides({rows_.data() + parent.begin, n_rows}, codes, split);
        }
        const Divided divided =
            partition_.divide({rows_.data() + parent.begin, n_rows}, {items_.data() + parent.begin, n_rows}, codes,
                              table_.has_missing[split.column], split);
        if (!split.is_category && !parameters_.random_thresholds) split.threshold = centred_threshold(split, divided);
        if (!divided.has_missing) split.missing_right = split.is_category || split.left_weight < right_weight;
        tree_.importances[split.column] += decided.gain * unit_ * unit_;

        const std::uint32_t left = add_children(tree_);
        tree_.nodes[parent.node] =
            split.is_category ? category_word(split.column, split.missing_right, add_set(tree_, left, split.left_codes))
                              : number_word(split.column, split.threshold, split.missing_right, left);
        Pending first = parent, second = parent;
        first.node = left;
        second.node = left + 1;
        first.depth = second.depth = parent.depth + 1;
        first.end = second.begin = parent.begin + divided.n_left;
        first.key = derive_key(parent.key, 0);
        second.key = derive_key(parent.key, 1);
        sum_up(first);
        if constexpr (!many) {
            second.total = parent.total - first.total;
            const int direction = parameters_.monotonic.empty() ? 0 : parameters_.monotonic[split.column];
            if (direction != 0) {
                const double bound = (Stat::value(first.total) + Stat::value(second.total)) / 2;
                (direction > 0 ? first.upper : first.lower) = bound;
                (direction > 0 ? second.lower : second.upper) = bound;
            }
        }
        return {first, second};
    }

    // Puts one child per category into children_. In the tree, the branches are a chain of nodes, each of which sends
    // one category left. The heaviest category is the last, so that missing and unseen values end there.
    void divide_by_category(const Decided& decided) {
        const std::uint32_t column = decided.split.column;
        Candidate one;
        one.is_category = true;
        children_.clear();
        Pending rest = decided.pending;
        rest.depth = decided.pending.depth + 1;
        const Code* codes = columns_of(rest).column(column);
        tree_.importances[column] += decided.gain * unit_ * unit_;
        const std::size_t n_branches = decided.split.branches.size();
        for (std::size_t b = 0; b + 1 < n_branches; ++b) {
            if (parameters_.keep_records && b > 0) {
                summarise(rest);
                record(rest);
            }
            const std::uint16_t code = decided.split.branches[b];
            one.left_codes.assign(code == 0 ? 0 : 1, code);
            one.missing_right = code != 0;
            const std::size_t n_rows = rest.end - rest.begin;
            const Divided divided = partition_.divide({rows_.data() + rest.begin, n_rows},
                                                      {items_.data() + rest.begin, n_rows}, codes, true, one);
            const std::uint32_t left = add_children(tree_);
            tree_.nodes[rest.node] = category_word(column, one.missing_right, add_set(tree_, left, one.left_codes));
            Pending child = rest;
            child.node = left;
            child.end = rest.begin + divided.n_left;
            child.key = derive_key(decided.pending.key, b);
            sum_up(child);
            children_.push_back(child);
            rest.node = left + 1;
            rest.begin = child.end;
            if constexpr (!many) rest.total = rest.total - child.total;
        }
        rest.key = derive_key(decided.pending.key, n_branches - 1);
        children_.push_back(rest);
    }

    void make_leaf(const Pending& pending, bool pure = false) {
        std::uint32_t at = 0;
        if (parameters_.keep_records) {
            at = pending.node;
        } else if (pure && target_.n_classes > 0) {
            at = pure_class_;
        } else {
            at = static_cast<std::uint32_t>(tree_.values.size() / n_outputs_);
            if (at > max_address) throw std::length_error("A tree has more than 67,108,863 leaf values.");
            append_value(pending, tree_.values);
        }
        // While the tree grows, the unused bits of a leaf hold its weight.
        tree_.nodes[pending.node] = leaf_word(at) | leaf_weight(pending);
    }

    // Moves the weights of the leaves out of their words. Sorts the values that leaves do not share by the order of the
    // leaves; files then need not store where they are.
    void finish_leaves() {
        const std::size_t n_shared = parameters_.keep_records ? max_address + 1
                                     : target_.n_classes > 0  ? n_outputs_
                                                              : 0;
        auto& codes = tree_.leaf_weights.codes;
        codes.reserve(tree_.nodes.size() / 2 + 1);
        own_values_.clear();
        for (NodeWord& word : tree_.nodes) {
            if (!is_leaf(word)) continue;
            append_weight(codes, static_cast<std::uint32_t>(word));
            std::uint32_t at = address_of(word);
            if (at >= n_shared) {
                const double* value = tree_.values.data() + at * n_outputs_;
                at = static_cast<std::uint32_t>(n_shared + own_values_.size() / n_outputs_);
                own_values_.insert(own_values_.end(), value, value + n_outputs_);
            }
            word = leaf_word(at);
        }
        std::ranges::copy(own_values_, tree_.values.end() - static_cast<std::ptrdiff_t>(own_values_.size()));
    }

    std::uint32_t leaf_weight(const Pending& pending) const {
        if constexpr (many) {
            std::uint32_t weight = 0;
            for (const Item item : items_of(pending)) weight += ManyClasses::item_weight(item);
            return weight;
        } else {
            return static_cast<std::uint32_t>(weight_of(pending.total));
        }
    }

    void append_value(const Pending& pending, std::vector<double>& values) const {
        if constexpr (is_median) {
            const auto items = items_of(pending);
            const std::uint32_t first = ManyClasses::item_class(items[0]);
            const bool is_one =
                std::ranges::all_of(items, [=](Item item) { return ManyClasses::item_class(item) == first; });
            values.push_back(is_one ? search_.sides().levels().numbers[first] : search_.sides().median());
        } else if constexpr (many) {
            const auto& sides = search_.sides();
            for (const std::uint32_t weight : sides.class_weights()) values.push_back(weight / sides.weight());
        } else {
            if constexpr (std::is_same_v<Stat, Mean>) {
                const double mean = mean_of(pending);
                values.push_back(parameters_.monotonic.empty()
                                     ? mean
                                     : std::clamp(mean, target_.number(pending.lower), target_.number(pending.upper)));
            } else {
                const double value = std::clamp(Stat::value(pending.total), pending.lower, pending.upper);
                values.push_back(1 - value);
                values.push_back(value);
            }
        }
    }

    // Rounding must not move the mean outside the range of the node's targets. If they are all equal, the result is
    // exact.
    double mean_of(const Pending& pending) const {
        const auto number_of = [&](std::uint32_t row) {
            return pending.is_local ? local_numbers_[local_codes_.place_of(row)] : target_.numbers[row];
        };
        if (pending.end - pending.begin == 1) return number_of(rows_[pending.begin]);
        double lowest = target_.highest, highest = target_.lowest;
        for (std::size_t i = pending.begin; i < pending.end; ++i) {
            const double y = number_of(rows_[i]);
            lowest = std::min(lowest, y);
            highest = std::max(highest, y);
        }
        return std::clamp(target_.number(Stat::value(pending.total)), lowest, highest);
    }

    void record(const Pending& pending) {
        NodeRecord& record = tree_.records[pending.node];
        record.n_rows = pending.end - pending.begin;
        record.weight = many ? search_.sides().weight() : weight_of(pending.total);
        record.impurity = impurity(pending);
        if (tree_.values.size() < tree_.nodes.size() * n_outputs_) tree_.values.resize(tree_.nodes.size() * n_outputs_);
        spare_value_.clear();
        append_value(pending, spare_value_);
        std::ranges::copy(spare_value_, tree_.values.begin() + static_cast<std::ptrdiff_t>(pending.node * n_outputs_));
    }

    double impurity(const Pending& pending) const {
        if constexpr (std::is_same_v<Stat, Mean>) {
            return Mean::impurity<criterion>(items_of(pending), pending.total, target_.scale);
        } else if constexpr (many) {
            return -search_.sides().score() / search_.sides().weight() * (is_median ? unit_ : 1) + 0.0;
        } else {
            return -Stat::template score<criterion>(pending.total) / Stat::weight(pending.total) + 0.0;
        }
    }

    std::span<const Item> items_of(const Pending& pending) const {
        return {items_.data() + pending.begin, pending.end - pending.begin};
    }

    static Item sum_of(std::span<const Item> items) {
        Item sum{};
        for (const Item& item : items) sum = sum + item;
        return sum;
    }

    const Table& table_;
    const Codes<Code>& codes_;
    const Target& target_;
    GrowParameters parameters_;
    std::size_t n_columns_;
    std::size_t n_outputs_;
    SplitSearch<Code, Stat, criterion> search_;
    Partition<Item> partition_;

    Tree tree_;
    std::vector<std::uint32_t> rows_;
    std::vector<Item> items_;
    std::vector<std::uint32_t> ranks_;  // of the targets, for the absolute error
    LocalCodes<Code> local_codes_;
    std::vector<double> local_numbers_;  // the targets of the rows in the block
    std::size_t most_local_rows_;
    double unit_;  // of a fixed-point target; the square of the scale itself may overflow a double
    std::uint64_t total_weight_ = 0;
    double min_gain_ = 0;
    bool splits_pairs_ = false;
    std::uint32_t pure_class_ = 0;
    Decided found_;
    std::vector<Pending> stack_, children_;
    std::vector<double> spare_value_, own_values_;
};

}  // namespace committee
