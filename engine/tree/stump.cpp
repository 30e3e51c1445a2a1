#include "tree/stump.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "growing/category_split.h"
#include "growing/histogram.h"
#include "growing/split.h"
#include "tree/cut_recoding.h"
#include "tree/recorded_tree.h"
#include "tree/stump_sum.h"

namespace committee {
namespace {

constexpr std::size_t block_rows = 16384;

// The indices of a stump's nodes.
constexpr std::uint32_t root = 0, missing_branch = 1, present_branch = 2, left_branch = 3, right_branch = 4;

// The branches of a split on one column. If its values are not split, only `missing` and `present` exist.
template <class Stat>
struct Branches {
    bool is_found = false;
    bool is_split = false;
    Candidate split;
    Sum<Stat> missing, left, right;
    double loss = std::numeric_limits<double>::infinity();
};

template <class Code, class Stat, Criterion criterion>
class StumpGrower {
  public:
    using Item = typename Stat::Item;
    static constexpr bool many = std::is_same_v<Stat, ManyClasses>;

    StumpGrower(const Table& table, const Target& target, bool keep_records, ThreadTeam& team)
        : table_(table),
          codes_(std::get<Codes<Code>>(table.codes)),
          target_(target),
          keep_records_(keep_records),
          team_(team) {
        for (int i = 0; i < team.size(); ++i) workers_.emplace_back(target.n_classes, team.stop());
        items_.resize(table.n_rows());
    }

    Tree grow(std::span<const std::uint32_t> weights, std::span<const std::uint32_t> columns) {
        fill_items(weights);
        if (is_pure(total_)) return leaf();
        const auto column_at = [=](std::size_t i) {
            return columns.empty() ? static_cast<std::uint32_t>(i) : columns[i];
        };
        branches_.resize(columns.empty() ? table_.n_columns() : columns.size(), no_branches());
        team_.run(branches_.size(), [&](std::size_t i, int thread) {
            Worker& worker = workers_[static_cast<std::size_t>(thread)];
            worker.polls.after(items_.size());
            branches_[i] = find(column_at(i), worker);
        });
        const auto best = std::ranges::min_element(branches_, {}, &Branches<Stat>::loss);
        return best->is_found ? assemble(*best, column_at(static_cast<std::size_t>(best - branches_.begin()))) : leaf();
    }

  private:
    struct Worker {
        Worker(std::size_t n_classes, const Stop& stop) : polls(stop), histogram(n_classes, true, false) {}

        Polls polls;
        Histogram<Stat> histogram;
        Entries<Stat> entries;
        CategorySearch<Stat, criterion> categories;
        std::vector<std::uint16_t> codes;
        std::vector<Item> items;
    };

    Branches<Stat> no_branches() const {
        const Sum<Stat> nothing(target_.n_classes);
        return {false, false, {}, nothing, nothing, nothing};
    }

    void fill_items(std::span<const std::uint32_t> weights) {
        const std::size_t n_blocks = (items_.size() + block_rows - 1) / block_rows;
        std::vector<Sum<Stat>> sums(n_blocks, Sum<Stat>(target_.n_classes));
        team_.run(n_blocks, [&](std::size_t block, int) {
            const std::size_t end = std::min(items_.size(), (block + 1) * block_rows);
            for (std::size_t i = block * block_rows; i < end; ++i) {
                if constexpr (std::is_same_v<Stat, Mean>) {
                    items_[i] = {target_.fixed[i] * std::int64_t{weights[i]}, weights[i]};
                } else {
                    items_[i] = Stat::item(weights[i], target_.labels[i]);
                }
                sums[block].add(items_[i]);
            }
        });
        total_ = Sum<Stat>(target_.n_classes);
        for (const Sum<Stat>& sum : sums) total_.add(sum);
        if (total_.weight() == 0) throw std::invalid_argument("No row has a positive weight.");
    }

    // Whether all rows of positive weight have the same target. If codes are passed, rows with a missing value are
    // ignored.
    bool is_pure(const Sum<Stat>& sum, const Code* codes = nullptr) const {
        if constexpr (std::is_same_v<Stat, Mean>) {
            bool is_any = false;
            std::int64_t value = 0;
            for (std::size_t i = 0; i < items_.size(); ++i) {
                const Item& item = items_[i];
                if (item.weight == 0 || (codes != nullptr && codes[i] == 0)) continue;
                if (!std::exchange(is_any, true)) value = item.sum / item.weight;
                if (item.sum != value * item.weight) return false;
            }
            return true;
        } else {
            return sum.is_pure();
        }
    }

    Branches<Stat> find(std::uint32_t column, Worker& worker) const {
        Branches<Stat> found = no_branches();
        count(column, worker, found.missing);
        Sum<Stat> present = total_;
        present.subtract(found.missing);
        if (present.weight() == 0) return found;
        split_values(column, present, worker, found);
        if (!found.is_split && found.missing.weight() == 0) return found;
        if (!found.is_split) found.left = present;
        found.is_found = true;
        found.loss = -(found.missing.template score<criterion>() +
                       (found.left.template score<criterion>() + found.right.template score<criterion>()));
        return found;
    }

    // Sums the rows with a value by code into entries, and the rows with a missing value.
    void count(std::uint32_t column, Worker& worker, Sum<Stat>& missing) const {
        const Code* codes = codes_.column(column);
        Entries<Stat>& entries = worker.entries;
        if constexpr (many) {
            worker.codes.clear();
            worker.items.clear();
            CodeRange range{65535, 0, false};
            for (std::size_t i = 0; i < items_.size(); ++i) {
                if (ManyClasses::item_weight(items_[i]) == 0) continue;
                if (codes[i] == 0) {
                    missing.add(items_[i]);
                    continue;
                }
                worker.codes.push_back(codes[i]);
                worker.items.push_back(items_[i]);
                range.lowest = std::min<std::uint32_t>(range.lowest, codes[i]);
                range.highest = std::max<std::uint32_t>(range.highest, codes[i]);
            }
            if (worker.codes.empty()) return;
            worker.histogram.order(worker.codes, worker.items, range, true, entries);
        } else {
            const std::uint32_t n_bins = table_.binning->columns[column].n_bins;
            entries.reserve(n_bins + 1);
            entries.size = n_bins + 1;
            entries.are_bins = true;
            entries.lowest = 1;
            entries.highest = n_bins;
            entries.shift = 0;
            Item* bins = entries.items.data();
            std::fill_n(bins, n_bins + 1, Item{});
            for (std::size_t i = 0; i < items_.size(); ++i) bins[codes[i]] += items_[i];
            missing.add(bins[0]);
            bins[0] = {};
        }
    }

    void split_values(std::uint32_t column, const Sum<Stat>& present, Worker& worker, Branches<Stat>& found) const {
        if (is_pure(present, codes_.column(column))) return;
        auto sides = sides_of(worker, present);
        const bool is_category = table_.binning->columns[column].is_category;
        const auto n_rows = static_cast<std::uint32_t>(items_.size());
        Candidate& split = found.split;
        split.forget();
        if (is_category) {
            worker.categories.find(worker.entries, n_rows, Limits{}, target_.n_classes, sides, split);
        } else {
            find_threshold<Stat, criterion>(worker.entries, false, n_rows, Limits{}, sides, split);
        }
        if (!split.is_found() || sides.gain(split.merit) < 0) return;
        found.is_split = true;
        split.column = column;
        split.is_category = is_category;
        take_sides(worker, present, found);
    }

    Sides<Stat, criterion> sides_of(const Worker& worker, const Sum<Stat>& present) const {
        if constexpr (many) {
            Sides<Stat, criterion> sides(target_.n_classes);
            sides.reset({worker.entries.items.data(), worker.entries.size});
            return sides;
        } else {
            return Sides<Stat, criterion>(present.item());
        }
    }

    static bool is_empty(const Item& item) {
        if constexpr (many) {
            return ManyClasses::item_weight(item) == 0;
        } else {
            return Stat::weight(item) == 0;
        }
    }

    // Sums both sides and moves the threshold to the middle, in codes, of the gap between them. Unseen categories go
    // right, so the sides are swapped if the left one is heavier.
    void take_sides(const Worker& worker, const Sum<Stat>& present, Branches<Stat>& found) const {
        const Entries<Stat>& entries = worker.entries;
        Candidate& split = found.split;
        std::uint32_t below = 0, above = 65536;
        std::vector<std::uint16_t> right_codes;
        for (std::size_t e = 0; e < entries.size; ++e) {
            if (is_empty(entries.items[e])) continue;
            const std::uint32_t code = entries.last_code(e);
            const bool goes_left = split.is_category
                                       ? std::ranges::find(split.left_codes, code) != split.left_codes.end()
                                       : code <= split.threshold;
            if (goes_left) {
                found.left.add(entries.items[e]);
                below = code;
            } else {
                above = std::min(above, code);
                if (split.is_category) right_codes.push_back(static_cast<std::uint16_t>(code));
            }
        }
        found.right = present;
        found.right.subtract(found.left);
        if (!split.is_category) {
            split.threshold = below + (above - below) / 2;
            split.missing_right = found.left.weight() < found.right.weight();
            return;
        }
        split.missing_right = true;
        if (found.left.weight() > found.right.weight()) {
            std::swap(found.left, found.right);
            split.left_codes = std::move(right_codes);
        }
    }

    Tree leaf() const {
        Tree tree;
        tree.nodes = {leaf_word(root)};
        add_node(tree, total_, total_);
        if (keep_records_) count_rows(tree, 0);
        tree.leaf_weights = encode_weights({{total_.weight()}});
        return tree;
    }

    Tree assemble(const Branches<Stat>& found, std::uint32_t column) const {
        const Candidate& split = found.split;
        Tree tree;
        Sum<Stat> present = total_;
        present.subtract(found.missing);
        add_node(tree, total_, total_);
        add_node(tree, found.missing, found.missing.weight() > 0 ? found.missing : total_);
        add_node(tree, present, present);
        tree.nodes = {0, leaf_word(missing_branch), leaf_word(present_branch)};
        if (found.is_split) {
            add_node(tree, found.left, found.left);
            add_node(tree, found.right, found.right);
            tree.nodes[present_branch] =
                split.is_category
                    ? category_word(column, split.missing_right, add_set(tree, left_branch, split.left_codes))
                    : number_word(column, split.threshold, split.missing_right, left_branch);
            tree.nodes.insert(tree.nodes.end(), {leaf_word(left_branch), leaf_word(right_branch)});
        }
        tree.nodes[root] = table_.binning->columns[column].is_category
                               ? category_word(column, false, add_set(tree, missing_branch, {}))
                               : number_word(column, 0, false, missing_branch);
        if (keep_records_) count_rows(tree, column);
        std::vector<double> weights{found.missing.weight()};
        if (found.is_split) {
            weights.insert(weights.end(), {found.left.weight(), found.right.weight()});
        } else {
            weights.push_back(present.weight());
        }
        tree.leaf_weights = encode_weights(weights);
        return tree;
    }

    // Appends the record of a node with these rows, and the value and impurity of the rows in `shown`.
    void add_node(Tree& tree, const Sum<Stat>& rows, const Sum<Stat>& shown) const {
        shown.append_value(target_, tree.values);
        if (!keep_records_) return;
        NodeRecord& record = tree.records.emplace_back();
        record.weight = rows.weight();
        if constexpr (!std::is_same_v<Stat, Mean>) {
            record.impurity = -shown.template score<criterion>() / shown.weight() + 0.0;
        }
    }

    // Counts the rows of the records and, for a mean, computes the squared errors, which also need the rows.
    void count_rows(Tree& tree, std::uint32_t column) const {
        const Code* codes = codes_.column(column);
        const std::size_t n_nodes = tree.nodes.size();
        std::vector<std::uint32_t> nodes_by_code(table_.binning->columns[column].n_bins + std::size_t{1});
        for (std::uint32_t code = 0; code < nodes_by_code.size(); ++code) {
            std::uint32_t node = root;
            while (!is_leaf(tree.nodes[node])) node = next_node(tree.nodes[node], code, tree.sets.data());
            nodes_by_code[code] = node;
        }
        // The parent of each node: leaf, branch of present values, root.
        const std::array<std::uint32_t, 5> parents{root, root, root, present_branch, present_branch};
        std::array<double, 5> squares{};
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (is_empty(items_[i])) continue;
            std::uint32_t node = nodes_by_code[codes[i]];
            ++tree.records[node].n_rows;
            if constexpr (std::is_same_v<Stat, Mean>) {
                for (;; node = parents[node]) {
                    const double error = target_.numbers[i] - tree.values[node];
                    squares[node] += static_cast<double>(items_[i].weight) * error * error;
                    if (node == root) break;
                }
            }
        }
        for (std::uint32_t node = static_cast<std::uint32_t>(n_nodes); node-- > 1;) {
            tree.records[parents[node]].n_rows += tree.records[node].n_rows;
        }
        if constexpr (std::is_same_v<Stat, Mean>) {
            for (std::size_t node = 0; node < n_nodes; ++node) {
                // An empty branch of missing values has the impurity of all rows.
                const double weight = tree.records[node].weight;
                tree.records[node].impurity = weight > 0 ? squares[node] / weight : squares[root] / total_.weight();
            }
        }
    }

    const Table& table_;
    const Codes<Code>& codes_;
    const Target& target_;
    bool keep_records_;
    ThreadTeam& team_;
    std::vector<Worker> workers_;
    std::vector<Branches<Stat>> branches_;  // by candidate column
    std::vector<Item> items_;               // by row
    Sum<Stat> total_{0};
};

template <class Code, class Stat, Criterion criterion>
GrowStump grower_of(const Table& table, const Target& target, bool keep_records, ThreadTeam& team) {
    auto grower = std::make_shared<StumpGrower<Code, Stat, criterion>>(table, target, keep_records, team);
    return [grower](std::span<const std::uint32_t> weights, std::span<const std::uint32_t> columns) {
        return grower->grow(weights, columns);
    };
}

template <class Code, class Stat>
GrowStump classes_grower(const Table& table, const Target& target, Criterion criterion, bool keep_records,
                         ThreadTeam& team) {
    switch (criterion) {
        case Criterion::entropy:
            return grower_of<Code, Stat, Criterion::entropy>(table, target, keep_records, team);
        case Criterion::error:
            return grower_of<Code, Stat, Criterion::error>(table, target, keep_records, team);
        case Criterion::gini:
            return grower_of<Code, Stat, Criterion::gini>(table, target, keep_records, team);
        default:
            throw std::invalid_argument("A stump of classes takes gini, entropy or error.");
    }
}

template <class Code>
GrowStump grower_for(const Table& table, const Target& target, Criterion criterion, bool keep_records,
                     ThreadTeam& team) {
    if (target.n_classes == 2) return classes_grower<Code, TwoClasses>(table, target, criterion, keep_records, team);
    if (target.n_classes > 0) return classes_grower<Code, ManyClasses>(table, target, criterion, keep_records, team);
    if (criterion != Criterion::squared_error) throw std::invalid_argument("A stump of numbers takes squared_error.");
    return grower_of<Code, Mean, Criterion::squared_error>(table, target, keep_records, team);
}

}  // namespace

GrowStump make_stump_grower(const Table& table, const Target& target, Criterion criterion, bool keep_records,
                            ThreadTeam& team) {
    return std::holds_alternative<Codes<std::uint8_t>>(table.codes)
               ? grower_for<std::uint8_t>(table, target, criterion, keep_records, team)
               : grower_for<std::uint16_t>(table, target, criterion, keep_records, team);
}

GrowTree make_stumps(const Table& table, const Target& target, Criterion criterion, const Stop& stop) {
    struct Stumps {
        Stumps(const Table& table, const Target& target, Criterion criterion, const Stop& stop)
            : team(1, &stop), grow(make_stump_grower(table, target, criterion, false, team)) {}

        ThreadTeam team;
        GrowStump grow;
        std::vector<std::uint32_t> weights;  // by row
    };
    auto stumps = std::make_shared<Stumps>(table, target, criterion, stop);
    return [stumps, &table](const SeenRows& seen, std::uint64_t, const SeenColumns& columns) {
        stumps->weights.assign(table.n_rows(), 0);
        for (std::size_t i = 0; i < seen.rows.size(); ++i) stumps->weights[seen.rows[i]] = seen.weights[i];
        Tree tree = stumps->grow(stumps->weights, columns.columns);
        tree.importances.assign(table.n_columns(), 0.0);
        if (!is_leaf(tree.nodes[0])) tree.importances[column_of(tree.nodes[0])] = 1;
        return tree;
    };
}

Forest grow_stump(const Table& table, const Target& target, std::span<const std::uint32_t> weights, Criterion criterion,
                  const Stop& stop) {
    const std::vector<std::uint32_t> ones(weights.empty() ? table.n_rows() : 0, 1);
    Forest forest = voting_forest(*table.binning, target.n_outputs(), target.n_classes > 0);
    ThreadTeam team(1, &stop);
    const GrowStump grow = make_stump_grower(table, target, criterion, true, team);
    forest.trees.push_back(grow(weights.empty() ? ones : weights, {}));
    drop_unused_cuts(forest, 1);
    return forest;
}

}  // namespace committee
