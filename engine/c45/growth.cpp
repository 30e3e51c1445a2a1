#include "c45/growth.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

namespace committee::c45 {

namespace {

class Grower {
  public:
    Grower(std::span<const C45Column> columns, std::span<const Values> values, std::int32_t n_classes, const Grid& grid,
           const Entropy& entropy, double min_leaf_weight, double total_weight, Polls& polls)
        : columns_(columns),
          values_(values),
          grid_(grid),
          min_leaf_weight_(min_leaf_weight),
          polls_(polls),
          chooser_(columns, values, static_cast<std::size_t>(n_classes), min_leaf_weight, total_weight, entropy,
                   polls) {
        tree_.n_classes = n_classes;
        for (const C45Column& column : columns) tree_.n_categories.push_back(column.n_categories);
    }

    template <class Weight>
    C45Tree grow(Sample<Weight> sample) {
        const std::size_t root = add_node();
        for (const std::uint32_t instance : sample.instances) {
            add_label(root, sample.label[instance]);
        }
        grow_node(sample, 0, sample.instances.size(), root, 0);
        return std::move(tree_);
    }

  private:
    // The instances of one branch, as a range of the lists of the children's sample.
    struct Child {
        std::size_t node;
        std::size_t begin;
        std::size_t end;
    };

    template <class Weight>
    void add_label(std::size_t node, const Label<Weight>& label) {
        tree_.classes(node)[static_cast<std::size_t>(label.class_code)] += static_cast<double>(label.weight);
    }

    std::size_t add_node() {
        tree_.column.push_back(C45Tree::is_leaf);
        tree_.threshold.push_back(0);
        tree_.first_branch.push_back(0);
        tree_.distribution.resize(tree_.distribution.size() + static_cast<std::size_t>(tree_.n_classes));
        return tree_.n_nodes() - 1;
    }

    bool can_split(std::size_t node, std::size_t depth) const {
        const auto classes = tree_.classes(node);
        const double total = sum(classes);
        return depth < max_c45_depth && !is_greater(2 * min_leaf_weight_, total) &&
               !is_equal(total, classes[find_majority(classes)]);
    }

    template <class Weight>
    void grow_node(Sample<Weight>& sample, std::size_t begin, std::size_t end, std::size_t node, std::size_t depth) {
        if (!can_split(node, depth)) return;
        std::vector<Weight> class_weights;
        for (const double weight : tree_.classes(node)) class_weights.push_back(static_cast<Weight>(weight));
        const Split split = chooser_.choose(NodeRows<Weight>{sample, begin, end, class_weights, tree_.weight(node)});
        if (split.column == Split::none) return;
        record_split(node, split);
        const bool has_missing = choose_branches(sample, begin, end, node, split);
        if (has_missing) {
            Sample<double> below;
            const std::vector<Child> children = part_with_missing(sample, begin, end, node, below);
            for (const Child& child : children) grow_node(below, child.begin, child.end, child.node, depth + 1);
        } else {
            const std::vector<Child> children = part_in_place(sample, begin, end, node, depth + 1);
            for (const Child& child : children) grow_node(sample, child.begin, child.end, child.node, depth + 1);
        }
    }

    void record_split(std::size_t node, const Split& split) {
        const auto j = static_cast<std::size_t>(split.column);
        tree_.column[node] = split.column;
        if (columns_[j].n_categories == C45Column::is_number) {
            tree_.threshold[node] = choose_threshold(values_[j].sorted, split.rank_below, split.rank_above);
        }
        const std::size_t n_branches = tree_.branch.size() + tree_.n_branches(node);
        if (n_branches > max_branches) {
            throw std::length_error("Column " + std::to_string(split.column) + " (the first is 0) needs a branch for " +
                                    "each of " + std::to_string(tree_.n_branches(node)) +
                                    " categories, and those of the tree are too many to number. Merge its rare " +
                                    "categories.");
        }
        tree_.first_branch[node] = static_cast<std::int32_t>(tree_.branch.size());
        tree_.branch.resize(n_branches, C45Tree::no_child);
    }

    // Sets `branch_of_` for the node's instances. Returns whether any of them takes all branches.
    template <class Weight>
    bool choose_branches(const Sample<Weight>& sample, std::size_t begin, std::size_t end, std::size_t node,
                         const Split& split) {
        const auto j = static_cast<std::size_t>(split.column);
        branch_of_.resize(std::max(branch_of_.size(), sample.row.size()));
        bool has_missing = false;
        if (columns_[j].n_categories == C45Column::is_number) {
            for (std::size_t i = begin; i < end; ++i) {
                const Entry entry = sample.sorted[j][i];
                const bool is_missing = entry.rank == missing_rank;
                branch_of_[entry.instance] = is_missing ? takes_all_32 : entry.rank > split.rank_below;
                has_missing = has_missing || is_missing;
            }
        } else {
            for (std::size_t i = begin; i < end; ++i) {
                const std::uint32_t instance = sample.instances[i];
                const std::size_t branch = choose_branch(tree_, node, columns_[j], sample.row[instance]);
                branch_of_[instance] = static_cast<std::uint32_t>(branch);
                has_missing = has_missing || branch == takes_all;
            }
        }
        return has_missing;
    }

    // Makes a node for every branch with instances. Replaces `counts` by the first position of each branch in the
    // lists.
    std::vector<Child> add_children(std::size_t node, std::size_t begin, std::vector<std::size_t>& counts) {
        std::vector<Child> children;
        for (std::size_t b = 0; b < counts.size(); ++b) {
            const std::size_t count = counts[b];
            counts[b] = begin;
            if (count == 0) continue;
            children.push_back({add_node(), begin, begin + count});
            tree_.branches(node)[b] = static_cast<std::int32_t>(children.back().node);
            begin += count;
        }
        return children;
    }

    template <class Weight>
    std::vector<Child> part_in_place(Sample<Weight>& sample, std::size_t begin, std::size_t end, std::size_t node,
                                     std::size_t depth) {
        std::vector<std::size_t> places(tree_.n_branches(node));
        for (std::size_t i = begin; i < end; ++i) ++places[branch_of_[sample.instances[i]]];
        std::vector<Child> children = add_children(node, begin, places);
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t instance = sample.instances[i];
            add_label(static_cast<std::size_t>(tree_.branches(node)[branch_of_[instance]]), sample.label[instance]);
        }
        // Lists are partitioned only for children that will be split.
        std::erase_if(children, [&](const Child& child) { return !can_split(child.node, depth); });
        if (children.empty()) return children;
        part(std::span(sample.instances).subspan(begin, end - begin), begin, places, instance_spare_,
             [](std::uint32_t instance) { return instance; });
        for (std::vector<Entry>& sorted : sample.sorted) {
            if (sorted.empty()) continue;
            polls_.after(end - begin);
            part(std::span(sorted).subspan(begin, end - begin), begin, places, entry_spare_,
                 [](const Entry& entry) { return entry.instance; });
        }
        return children;
    }

    // A stable partition of one list by branch. `places` are the first positions of the branches, relative to `begin`.
    template <class Item, class InstanceOf>
    void part(std::span<Item> list, std::size_t begin, const std::vector<std::size_t>& places, std::vector<Item>& spare,
              InstanceOf instance_of) {
        spare.resize(std::max(spare.size(), list.size()));
        if (places.size() == 2) {
            std::size_t n_left = 0;
            std::size_t n_right = 0;
            for (const Item item : list) {
                const std::uint32_t goes_right = branch_of_[instance_of(item)];
                list[n_left] = item;
                spare[n_right] = item;
                n_left += 1 - goes_right;
                n_right += goes_right;
            }
            std::copy_n(spare.begin(), n_right, list.begin() + static_cast<std::ptrdiff_t>(n_left));
            return;
        }
        std::vector<std::size_t> next = places;
        for (const Item& item : list) spare[next[branch_of_[instance_of(item)]]++ - begin] = item;
        std::copy_n(spare.begin(), list.size(), list.begin());
    }

    // Copies the node's instances into a new sample. An instance with a missing value is copied once per branch, with a
    // fraction of its weight.
    template <class Weight>
    std::vector<Child> part_with_missing(const Sample<Weight>& sample, std::size_t begin, std::size_t end,
                                         std::size_t node, Sample<double>& below) {
        const std::size_t n_branches = tree_.n_branches(node);
        std::vector<double> known(n_branches);
        std::vector<std::size_t> places(n_branches);
        std::size_t n_missing = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t instance = sample.instances[i];
            const std::uint32_t b = branch_of_[instance];
            if (b == takes_all_32) {
                ++n_missing;
            } else {
                known[b] += static_cast<double>(sample.label[instance].weight);
                ++places[b];
            }
        }
        const double total = sum(known);
        std::vector<std::uint32_t> receivers;
        for (std::size_t b = 0; b < n_branches; ++b) {
            if (!is_greater(known[b] / total, 0)) continue;
            receivers.push_back(static_cast<std::uint32_t>(b));
            places[b] += n_missing;
        }
        std::vector<Child> children = add_children(node, 0, places);

        const std::size_t n_copies = end - begin - n_missing + n_missing * receivers.size();
        if (n_copies >= max_instances) {
            throw std::length_error("Column " + std::to_string(tree_.column[node]) +
                                    " (the first is 0) would copy each of " + std::to_string(n_missing) +
                                    " rows with a missing value to " + std::to_string(receivers.size()) +
                                    " branches. Impute its missing values, or merge its rare categories.");
        }
        below.row.reserve(n_copies);
        below.label.reserve(n_copies);
        below.instances.resize(n_copies);
        std::vector<std::uint32_t> first_copy(sample.row.size());
        std::vector<std::size_t> next = places;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t instance = sample.instances[i];
            const auto weight = static_cast<double>(sample.label[instance].weight);
            first_copy[instance] = static_cast<std::uint32_t>(below.row.size());
            const auto add_copy = [&](std::uint32_t b, double part_of_weight) {
                below.instances[next[b]++] = static_cast<std::uint32_t>(below.row.size());
                below.row.push_back(sample.row[instance]);
                below.label.push_back({static_cast<std::int32_t>(sample.label[instance].class_code), part_of_weight});
                add_label(static_cast<std::size_t>(tree_.branches(node)[b]), below.label.back());
            };
            const std::uint32_t branch = branch_of_[instance];
            if (branch != takes_all_32) {
                add_copy(branch, weight);
            } else {
                for (const std::uint32_t b : receivers) add_copy(b, grid_.round_weight(weight * (known[b] / total)));
            }
        }
        below.sorted.resize(sample.sorted.size());
        for (std::size_t j = 0; j < sample.sorted.size(); ++j) {
            if (sample.sorted[j].empty()) continue;
            polls_.after(n_copies);
            below.sorted[j].resize(n_copies);
            next = places;
            for (std::size_t i = begin; i < end; ++i) {
                const Entry entry = sample.sorted[j][i];
                std::uint32_t copy = first_copy[entry.instance];
                const std::uint32_t branch = branch_of_[entry.instance];
                if (branch != takes_all_32) {
                    below.sorted[j][next[branch]++] = {copy, entry.is_close, entry.rank};
                } else {
                    for (const std::uint32_t b : receivers) {
                        below.sorted[j][next[b]++] = {copy++, entry.is_close, entry.rank};
                    }
                }
            }
        }
        return children;
    }

    static constexpr std::size_t max_branches = std::numeric_limits<std::int32_t>::max();
    static constexpr std::uint32_t takes_all_32 = static_cast<std::uint32_t>(takes_all);

    std::span<const C45Column> columns_;
    std::span<const Values> values_;
    const Grid& grid_;
    double min_leaf_weight_;
    Polls& polls_;
    SplitChooser chooser_;
    C45Tree tree_;
    std::vector<std::uint32_t> branch_of_;  // by instance of the node being split
    std::vector<std::uint32_t> instance_spare_;
    std::vector<Entry> entry_spare_;
};

template <class Weight>
Sample<Weight> make_sample(std::span<const std::int32_t> classes, std::span<const double> weights,
                           std::span<const std::uint32_t> rows, std::vector<std::vector<Entry>> sorted) {
    Sample<Weight> sample;
    sample.row.assign(rows.begin(), rows.end());
    for (const std::uint32_t row : rows) {
        Label<Weight> label;
        label.class_code = static_cast<decltype(label.class_code)>(classes[row]);
        label.weight = static_cast<decltype(label.weight)>(weights[row]);
        sample.label.push_back(label);
    }
    const auto is_once = [](const Label<Weight>& label) { return label.weight == 1; };
    sample.has_weights = !std::ranges::all_of(sample.label, is_once);
    const auto is_first = [](const Label<Weight>& label) { return label.class_code == 0; };
    sample.n_first_class = static_cast<std::uint32_t>(std::ranges::count_if(sample.label, is_first));
    sample.instances.resize(rows.size());
    std::iota(sample.instances.begin(), sample.instances.end(), 0U);
    sample.sorted = std::move(sorted);
    return sample;
}

}  // namespace

C45Tree grow_tree(std::span<const C45Column> columns, SortedTable sorted, std::span<const std::int32_t> classes,
                  std::int32_t n_classes, std::span<const double> weights, const Grid& grid, double min_leaf_weight,
                  Polls& polls) {
    const std::span<const std::uint32_t> rows = sorted.rows;
    double total = 0;
    for (const std::uint32_t row : sorted.all_rows) total += weights[row];
    // Counts must fit in labels, and the table of w log2 w must stay small compared to the data.
    constexpr auto highest = static_cast<double>(Label<std::uint32_t>::highest);
    const bool can_count = n_classes <= highest && total <= 4.0 * static_cast<double>(rows.size()) + 1024 &&
                           std::ranges::all_of(rows, [&](std::uint32_t row) {
                               return weights[row] == std::floor(weights[row]) && weights[row] <= highest;
                           });
    const Entropy entropy(total, can_count ? static_cast<std::size_t>(total) : 0);
    Grower grower(columns, sorted.values, n_classes, grid, entropy, min_leaf_weight, total, polls);
    if (can_count) return grower.grow(make_sample<std::uint32_t>(classes, weights, rows, std::move(sorted.entries)));
    return grower.grow(make_sample<double>(classes, weights, rows, std::move(sorted.entries)));
}

}  // namespace committee::c45
