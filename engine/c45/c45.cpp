#include "c45/c45.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <ranges>
#include <utility>

#include "c45/arithmetic.h"
#include "c45/growth.h"
#include "c45/pruning.h"
#include "numbers/exact_sum.h"

namespace committee {

double C45Tree::weight(std::size_t node) const { return c45::sum(classes(node)); }

std::vector<double> C45Tree::node_weights() const {
    std::vector<double> weights(n_nodes());
    for (std::size_t node = 0; node < n_nodes(); ++node) weights[node] = weight(node);
    return weights;
}

std::size_t C45Tree::n_bytes() const {
    const std::size_t n_integers = n_categories.size() + column.size() + first_branch.size() + branch.size();
    return n_integers * sizeof(std::int32_t) + (threshold.size() + distribution.size()) * sizeof(double);
}

std::size_t C45Tree::n_leaves() const {
    return static_cast<std::size_t>(std::ranges::count(column, is_leaf) + std::ranges::count(branch, no_child));
}

std::vector<std::int32_t> C45Tree::depths() const {
    std::vector<std::int32_t> result(n_nodes());
    for (std::size_t node = 0; node < n_nodes(); ++node) {
        for (const std::int32_t child : branches(node)) {
            if (child != no_child) result[static_cast<std::size_t>(child)] = result[node] + 1;
        }
    }
    return result;
}

namespace {

// The rows that a tree is grown and pruned on.
struct C45Rows {
    C45Rows(std::span<const double> given, std::span<const std::int32_t> classes,
            std::span<const std::uint8_t> held_out)
        : grid(sum_exactly(given)), weights(given.size()) {
        std::ranges::transform(given, weights.begin(), [&](double weight) { return grid.round_weight(weight); });
        for (std::size_t i = 0; i < weights.size(); ++i) {
            if (weights[i] == 0) continue;
            const auto row = static_cast<std::uint32_t>(i);
            const bool is_held_out = !held_out.empty() && held_out[i] != 0;
            all.push_back(row);
            if (!is_held_out) rows.push_back(row);
            (is_held_out ? kept_back : grown_on).push_back({row, weights[i]});
        }
        const auto class_of = [&](std::uint32_t row) { return classes[row]; };
        if (!std::ranges::is_sorted(rows, {}, class_of)) std::ranges::stable_sort(rows, {}, class_of);
    }

    c45::Grid grid;
    std::vector<double> weights;
    std::vector<std::uint32_t> all, rows;  // of positive weight; to grow on, sorted by class
    std::vector<c45::WeightedRow> grown_on, kept_back;
};

C45Tree prune(C45Tree tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes, C45Rows rows,
              const C45Settings& settings, Polls& polls) {
    switch (settings.pruning) {
        case C45Pruning::none:
            c45::collapse(tree);
            break;
        case C45Pruning::pessimistic:
            c45::collapse(tree);
            c45::prune_pessimistically(tree, columns, classes, rows.grid, settings.confidence, settings.subtree_raising,
                                       std::move(rows.grown_on), polls);
            break;
        case C45Pruning::reduced_error:
            c45::prune_by_errors(tree, columns, classes, rows.grid, std::move(rows.kept_back), polls);
            break;
    }
    return c45::pack(tree);
}

// add(sorted, column, polls) adds a numeric column.
template <class Add>
C45Tree grow_and_prune(std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                       std::int32_t n_classes, std::span<const double> weights, const C45Settings& settings,
                       std::span<const std::uint8_t> held_out, const Stop& stop, Add add) {
    assert(weights.size() == classes.size() && (held_out.empty() || held_out.size() == classes.size()));
    Polls polls(stop);
    C45Rows rows(weights, classes, held_out);
    c45::SortedTable sorted(columns.size(), classes.size(), rows.all, rows.rows);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        if (columns[j].n_categories == C45Column::is_number) add(sorted, j, polls);
    }
    C45Tree tree = c45::grow_tree(columns, std::move(sorted), classes, n_classes, rows.weights, rows.grid,
                                  settings.min_leaf_weight, polls);
    return prune(std::move(tree), columns, classes, std::move(rows), settings, polls);
}

}  // namespace

C45Tree grow_c45(std::span<const C45Column> columns, std::span<const std::int32_t> classes, std::int32_t n_classes,
                 std::span<const double> weights, const C45Settings& settings, std::span<const std::uint8_t> held_out,
                 const Stop& stop) {
    return grow_and_prune(
        columns, classes, n_classes, weights, settings, held_out, stop,
        [&](c45::SortedTable& sorted, std::size_t j, Polls& polls) { sorted.add(j, columns[j].numbers, polls); });
}

C45Tree grow_c45(std::span<const C45Column> columns, std::span<const c45::SortedColumn* const> known,
                 std::span<const std::int32_t> classes, std::int32_t n_classes, std::span<const double> weights,
                 const C45Settings& settings, std::span<const std::uint8_t> held_out, const Stop& stop) {
    return grow_and_prune(
        columns, classes, n_classes, weights, settings, held_out, stop,
        [&](c45::SortedTable& sorted, std::size_t j, Polls& polls) { sorted.add(j, *known[j], polls); });
}

C45Tree grow_c45(std::size_t n_columns, const MakeNumbers& make, std::span<const std::int32_t> classes,
                 std::int32_t n_classes, std::span<const double> weights, const C45Settings& settings,
                 const Stop& stop) {
    assert(weights.size() == classes.size() && settings.pruning != C45Pruning::reduced_error);
    Polls polls(stop);
    C45Rows rows(weights, classes, {});
    std::vector<C45Column> columns(n_columns);
    C45Tree tree = [&] {
        c45::SortedTable sorted(n_columns, classes.size(), rows.all, rows.rows);
        std::vector<double> numbers(classes.size());
        for (std::size_t j = 0; j < n_columns; ++j) {
            make(j, numbers);
            sorted.add(j, numbers, polls);
        }
        return c45::grow_tree(columns, std::move(sorted), classes, n_classes, rows.weights, rows.grid,
                              settings.min_leaf_weight, polls);
    }();
    std::vector<std::vector<double>> made(n_columns);
    for (const std::int32_t j : tree.column) {
        if (j == C45Tree::is_leaf || settings.pruning == C45Pruning::none) continue;
        const auto column = static_cast<std::size_t>(j);
        if (!made[column].empty()) continue;
        made[column].resize(classes.size());
        make(column, made[column]);
        columns[column].numbers = made[column];
    }
    return prune(std::move(tree), columns, classes, std::move(rows), settings, polls);
}

namespace {

// A fraction of a row that has not reached a leaf.
struct Part {
    std::size_t node;
    double weight;
};

// The approximate number of values read per node.
constexpr std::size_t values_of_a_node = 8;

// Returns the number of nodes visited.
std::size_t add_parts(const C45Tree& tree, std::span<const C45Column> columns, std::size_t row,
                      std::vector<Part>& parts, std::span<double> out) {
    std::size_t n_nodes = 0;
    while (!parts.empty()) {
        auto [node, weight] = parts.back();
        parts.pop_back();
        for (++n_nodes; tree.column[node] != C45Tree::is_leaf; ++n_nodes) {
            const std::span<const std::int32_t> children = tree.branches(node);
            const std::size_t branch =
                choose_branch(tree, node, columns[static_cast<std::size_t>(tree.column[node])], row);
            if (branch == takes_all) {
                const double all = tree.weight(node);
                for (const std::int32_t child : children) {
                    if (child == C45Tree::no_child) continue;
                    const auto next = static_cast<std::size_t>(child);
                    parts.push_back({next, weight * tree.weight(next) / all});
                }
                weight = 0;
                break;
            }
            if (children[branch] == C45Tree::no_child) break;
            node = static_cast<std::size_t>(children[branch]);
        }
        if (weight == 0) continue;
        const double share = weight / tree.weight(node);
        const std::span<const double> classes = tree.classes(node);
        for (std::size_t c = 0; c < out.size(); ++c) out[c] += share * classes[c];
    }
    return n_nodes;
}

template <class Rows>
void predict_rows(const C45Tree& tree, std::span<const C45Column> columns, const Rows& rows, double* out,
                  const Stop& stop) {
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    std::vector<Part> parts;
    Polls polls(stop);
    std::fill_n(out, rows.size() * n_classes, 0.0);
    for (const std::size_t row : rows) {
        const std::span<double> votes(out, n_classes);
        parts.push_back({0, 1.0});
        polls.after(values_of_a_node * add_parts(tree, columns, row, parts, votes));
        const double all = c45::sum(votes);
        for (double& vote : votes) vote /= all;
        out += n_classes;
    }
}

// The weight of a node times the entropy of its classes, in bits.
double burden(std::span<const double> weights) {
    double total = 0, bits = 0;
    for (const double weight : weights) total += weight;
    for (const double weight : weights) bits -= weight > 0 ? weight * std::log2(weight / total) : 0;
    return bits;
}

}  // namespace

void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::size_t begin, std::size_t end,
                 double* out, const Stop& stop) {
    const auto rows = std::views::iota(begin, end);
    predict_rows(tree, columns, rows, out, stop);
}

void predict_c45(const C45Tree& tree, std::span<const C45Column> columns, std::span<const std::uint32_t> rows,
                 double* out, const Stop& stop) {
    predict_rows(tree, columns, rows, out, stop);
}

std::optional<std::size_t> find_node(const C45Tree& tree, std::span<const C45Column> columns, std::size_t row) {
    std::size_t node = 0;
    while (tree.column[node] != C45Tree::is_leaf) {
        const std::size_t branch = choose_branch(tree, node, columns[static_cast<std::size_t>(tree.column[node])], row);
        if (branch == takes_all) return std::nullopt;
        const std::int32_t child = tree.branches(node)[branch];
        if (child == C45Tree::no_child) break;
        node = static_cast<std::size_t>(child);
    }
    return node;
}

std::vector<double> importances_of(const C45Tree& tree) {
    std::vector<double> gains(tree.n_categories.size(), 0.0);
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
        if (tree.column[node] == C45Tree::is_leaf) continue;
        double& gain = gains[static_cast<std::size_t>(tree.column[node])];
        gain += burden(tree.classes(node));
        for (const std::int32_t child : tree.branches(node)) {
            if (child != C45Tree::no_child) gain -= burden(tree.classes(static_cast<std::size_t>(child)));
        }
    }
    return gains;
}

std::string find_error(const C45Tree& tree) {
    const std::size_t n_nodes = tree.n_nodes();
    if (tree.n_classes < 1) return "n_classes must be >= 1";
    if (n_nodes == 0) return "a tree has at least one node";
    if (tree.threshold.size() != n_nodes || tree.first_branch.size() != n_nodes) return "node arrays differ in length";
    if (n_nodes > std::numeric_limits<std::int32_t>::max()) return "too many nodes";
    if (tree.distribution.size() / static_cast<std::size_t>(tree.n_classes) != n_nodes ||
        tree.distribution.size() % static_cast<std::size_t>(tree.n_classes) != 0) {
        return "distribution must have one row per node and one column per class";
    }
    for (const std::int32_t n : tree.n_categories) {
        if (n < C45Column::is_number) return "n_categories must be >= -1";
    }
    std::vector<bool> has_parent(n_nodes);
    std::size_t n_branches = 0;
    for (std::size_t node = 0; node < n_nodes; ++node) {
        double weight = 0;
        for (const double part : tree.classes(node)) {
            if (!(part >= 0)) return "a class weight is negative or missing";
            weight += part;
        }
        if (!(weight > 0 && std::isfinite(weight))) return "the weight of a node must be positive and finite";
        if (node > 0 && !has_parent[node]) return "a node has no parent";
        const std::int32_t column = tree.column[node];
        if (column < C45Tree::is_leaf ||
            (column >= 0 && static_cast<std::size_t>(column) >= tree.n_categories.size())) {
            return "a node's column is not in the table";
        }
        if (std::isnan(tree.threshold[node])) return "a threshold is missing";
        if (column == C45Tree::is_leaf) continue;
        const auto first = static_cast<std::size_t>(static_cast<std::uint32_t>(tree.first_branch[node]));
        if (first != n_branches) return "the branches of the nodes must follow each other";
        n_branches += tree.n_branches(node);
        if (n_branches > tree.branch.size()) return "branches are missing";
        bool leads_on = false;
        for (const std::int32_t child : tree.branches(node)) {
            if (child == C45Tree::no_child) continue;
            const auto next = static_cast<std::size_t>(static_cast<std::uint32_t>(child));
            if (next <= node || next >= n_nodes) return "a child must have a higher number than its parent";
            if (has_parent[next]) return "a node has two parents";
            has_parent[next] = true;
            leads_on = true;
        }
        if (!leads_on) return "a split has no children";
    }
    if (n_branches != tree.branch.size()) return "there are more branches than the nodes have";
    return {};
}

}  // namespace committee
