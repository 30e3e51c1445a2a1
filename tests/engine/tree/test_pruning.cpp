#include <limits>
#include <stdexcept>

#include "check.h"
#include "growing/row_sampling.h"
#include "small_tables.h"
#include "tree/pruning.h"

using namespace committee;

namespace {

constexpr std::uint32_t no_parent = 0xffffffffU;

std::uint32_t left_of(const Tree& tree, std::size_t node) {
    const std::uint32_t address = address_of(tree.nodes[node]);
    return is_category(tree.nodes[node]) ? tree.sets[address] : address;
}

std::size_t n_leaves(const Tree& tree) { return static_cast<std::size_t>(std::ranges::count_if(tree.nodes, is_leaf)); }

double leaf_impurity(const Tree& tree) {
    double sum = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (is_leaf(tree.nodes[i])) sum += tree.records[i].impurity * tree.records[i].weight / tree.records[0].weight;
    }
    return sum;
}

// Weakest-link pruning as in Breiman's book: compute alpha for every inner node, prune the node with the lowest one,
// repeat.
PruningPath naive_path(const Tree& tree) {
    const std::size_t n = tree.nodes.size();
    std::vector<double> risk(n), branch(n);
    std::vector<char> is_end(n, 0);
    std::vector<int> leaves(n);
    for (std::size_t i = 0; i < n; ++i) {
        risk[i] = tree.records[i].impurity * tree.records[i].weight / tree.records[0].weight;
        is_end[i] = is_leaf(tree.nodes[i]) ? 1 : 0;
    }
    PruningPath path;
    double alpha = 0;
    while (true) {
        double lowest = std::numeric_limits<double>::infinity();
        std::size_t weakest = n;
        for (std::size_t i = n; i-- > 0;) {
            if (is_end[i] != 0) {
                branch[i] = risk[i];
                leaves[i] = 1;
                continue;
            }
            const std::size_t left = left_of(tree, i);
            branch[i] = branch[left] + branch[left + 1];
            leaves[i] = leaves[left] + leaves[left + 1];
        }
        path.alphas.push_back(alpha);
        path.impurities.push_back(branch[0]);
        if (is_end[0] != 0) return path;
        for (std::size_t i = 0; i < n; ++i) {
            if (is_end[i] != 0) continue;
            const double own = (risk[i] - branch[i]) / (leaves[i] - 1);
            if (own < lowest) {
                lowest = own;
                weakest = i;
            }
        }
        alpha = lowest;
        std::vector<std::size_t> below{weakest};
        while (!below.empty()) {
            const std::size_t node = below.back();
            below.pop_back();
            if (!is_leaf(tree.nodes[node])) {
                below.push_back(left_of(tree, node));
                below.push_back(left_of(tree, node) + 1);
            }
            is_end[node] = 1;
        }
    }
}

Tree numbers_tree(std::uint64_t key, std::uint32_t max_leaf_nodes = 0) {
    const SmallTable small({random_numbers(120, key), random_numbers(120, key + 1)}, {random_codes(120, 9, key + 2)},
                           9);
    GrowParameters parameters;
    parameters.criterion = Criterion::squared_error;
    parameters.exact = true;
    parameters.keep_records = true;
    parameters.max_leaf_nodes = max_leaf_nodes;
    return grow_one(small.bin(), fixed_target(random_numbers(120, key + 3), {}, 120, false), parameters);
}

bool close(const std::vector<double>& a, const std::vector<double>& b) {
    return std::ranges::equal(a, b, [](double x, double y) { return std::abs(x - y) < 1e-12; });
}

void the_path_equals_that_of_breimans_algorithm() {
    for (std::uint64_t key = 0; key < 10; ++key) {
        const Tree tree = numbers_tree(10 * key, key % 2 == 0 ? 0 : 15);
        const PruningPath path = pruning_path(tree), expected = naive_path(tree);
        check(close(path.alphas, expected.alphas));
        check(close(path.impurities, expected.impurities));
        check(std::ranges::is_sorted(path.alphas));
    }
}

void pruning_at_an_alpha_of_the_path_includes_that_step() {
    const Tree tree = numbers_tree(1);
    const PruningPath path = pruning_path(tree);
    for (std::size_t step = 1; step < path.alphas.size(); ++step) {
        const Tree pruned = prune(tree, path.alphas[step], 1);
        check(std::abs(leaf_impurity(pruned) - path.impurities[step]) < 1e-12);
        check(n_leaves(prune(tree, std::nextafter(path.alphas[step], 0), 1)) > n_leaves(pruned));
    }
    check(prune(tree, path.alphas.back(), 1).nodes.size() == 1);
}

void a_pruned_tree_is_a_compact_recorded_tree() {
    const Tree tree = numbers_tree(1);
    const Tree pruned = prune(tree, 0.001, 1);
    check(pruned.nodes.size() > 1 && pruned.nodes.size() < tree.nodes.size());
    check(pruned.records.size() == pruned.nodes.size() && pruned.values.size() == pruned.nodes.size());
    std::vector<std::uint32_t> parents(pruned.nodes.size(), no_parent);
    for (std::uint32_t i = 0; i < pruned.nodes.size(); ++i) {
        if (is_leaf(pruned.nodes[i])) {
            check(address_of(pruned.nodes[i]) == i);
            continue;
        }
        const std::uint32_t left = left_of(pruned, i);
        check(left > i && parents[left] == no_parent);
        parents[left] = parents[left + 1] = i;
        check(pruned.records[left].weight + pruned.records[left + 1].weight == pruned.records[i].weight);
    }
}

void pruning_nodes_without_gain_changes_no_decision() {
    const SmallTable small({random_numbers(120, 1), random_numbers(120, 2)}, {random_codes(120, 9, 3, true)}, 9);
    const Table table = small.bin();
    const Target target = labels_target(3, random_labels(120, 3, 4));
    GrowParameters parameters;
    parameters.keep_records = true;
    const Tree tree = grow_one(table, target, parameters);
    check(decisions(forest_of(table, target, {prune(tree, 0, 3)}), small) ==
          decisions(forest_of(table, target, {tree}), small));
}

void a_long_chain_is_pruned_from_the_bottom() {
    // Node 2 i splits off leaf 2 i + 1, 100,000 times. Deeper splits have smaller gains.
    constexpr std::uint32_t depth = 100000;
    Tree tree;
    for (std::uint32_t i = 0; i < depth; ++i) {
        const double rest = depth - i;
        tree.nodes.push_back(number_word(0, 1, false, 2 * i + 1));
        tree.nodes.push_back(leaf_word(2 * i + 1));
        tree.records.push_back({(rest + 1) / 2, rest, depth - i});
        tree.records.push_back({0, 1, 1});
    }
    tree.nodes.push_back(leaf_word(2 * depth));
    tree.records.push_back({0, 1, 1});
    tree.values.assign(tree.nodes.size(), 0.0);
    const PruningPath path = pruning_path(tree);
    check(std::ranges::is_sorted(path.alphas) && std::ranges::is_sorted(path.impurities));
    check(std::abs(path.impurities.back() - tree.records[0].impurity) < 1e-6);
    check(path.alphas.size() == depth + 1 && prune(tree, path.alphas[1], 1).nodes.size() == tree.nodes.size() - 2);
}

void a_tree_without_records_cannot_be_pruned() {
    Tree tree = numbers_tree(1);
    tree.records.clear();
    bool refused = false;
    try {
        pruning_path(tree);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    check(refused);
}

}  // namespace

int main() {
    the_path_equals_that_of_breimans_algorithm();
    pruning_at_an_alpha_of_the_path_includes_that_step();
    a_pruned_tree_is_a_compact_recorded_tree();
    pruning_nodes_without_gain_changes_no_decision();
    a_long_chain_is_pruned_from_the_bottom();
    a_tree_without_records_cannot_be_pruned();
    return report();
}
