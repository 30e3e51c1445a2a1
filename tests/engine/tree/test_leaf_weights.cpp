#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <variant>
#include <vector>

#include "check.h"
#include "small_tables.h"
#include "tree/leaf_weights.h"
#include "tree/pruning.h"
#include "tree/stump.h"

using namespace committee;

namespace {

std::vector<double> coded(const std::vector<std::uint64_t>& weights) {
    std::vector<std::uint8_t> codes;
    for (const std::uint64_t weight : weights) append_weight(codes, weight);
    return decode_weights(codes, weights.size()).value();
}

void small_integers_are_exact() {
    std::vector<std::uint64_t> weights;
    std::vector<double> expected;
    for (std::uint64_t weight = 0; weight <= 2048; ++weight) {
        weights.push_back(weight);
        expected.push_back(static_cast<double>(weight));
    }
    check(coded(weights) == expected);
}

void large_integers_are_rounded_by_at_most_a_half_thousandth() {
    Random random(1, Purpose::split);
    for (int shift = 0; shift < 21; ++shift) {
        for (int i = 0; i < 200; ++i) {
            const std::uint64_t weight =
                ((2048 + random.below(2048)) << shift) + random.below(std::uint64_t{1} << shift);
            const auto exact = static_cast<double>(weight);
            check(std::abs(coded({weight})[0] - exact) <= exact * 0x1.0p-11);
        }
    }
    check(coded({4095})[0] == 4096, "rounding up carries over into the exponent");
    check(coded({0xffffffffU})[0] == 0x1.0p32);
}

void codes_that_do_not_fit_the_leaves_are_refused() {
    const std::vector<std::uint8_t> codes{5, 0x84, 0x01, 7};
    check(decode_weights(codes, 3) == std::optional(std::vector<double>{5, 1025, 7}));
    check(!decode_weights(codes, 2) && !decode_weights(codes, 4));
    check(!decode_weights(std::vector<std::uint8_t>{5, 0x84}, 2), "the last code is cut off");
}

void fractions_are_multiples_of_a_power_of_two() {
    const std::vector<double> weights{0.3, 0, 2.5, 1e-12};
    const LeafWeights encoded = encode_weights(weights);
    const std::vector<double> back = decode_weights(encoded.codes, 4).value();
    for (const std::size_t i : {0, 1, 2})
        check(std::abs(back[i] * encoded.unit - weights[i]) <= weights[i] * 0x1.0p-11);
    check(back[3] == 1, "positive weights stay positive");
    check(encode_weights(std::vector<double>{3, 4}).unit == 1);
}

// The weights of the nodes, computed from the codes of the rows.
template <class Code>
std::vector<double> summed(const Tree& tree, const Codes<Code>& codes, std::span<const std::uint32_t> weights) {
    std::vector<double> sums(tree.nodes.size(), 0.0);
    for (std::size_t row = 0; row < codes.n_rows; ++row) {
        std::uint32_t node = 0;
        sums[node] += weights[row];
        while (!is_leaf(tree.nodes[node])) {
            node = next_node(tree.nodes[node], codes.row(row)[column_of(tree.nodes[node])], tree.sets.data());
            sums[node] += weights[row];
        }
    }
    return sums;
}

void the_weight_of_a_node_is_that_of_its_rows() {
    const SmallTable small({random_numbers(300, 1, true), random_numbers(300, 2)}, {random_codes(300, 9, 3, true)}, 9);
    std::vector<std::uint32_t> weights;
    for (const std::uint32_t label : random_labels(300, 4, 5)) weights.push_back(label);
    const Table table = small.bin(weights);
    const auto sums_of = [&](const Tree& tree) {
        return std::visit([&](const auto& codes) { return summed(tree, codes, weights); }, table.codes);
    };
    for (const std::uint32_t n_classes : {2U, 3U}) {
        const Target target = labels_target(n_classes, random_labels(300, n_classes, 4));
        for (const std::uint32_t most_leaves : {0U, 12U}) {
            for (const bool keep_records : {false, true}) {
                GrowParameters parameters;
                parameters.max_leaf_nodes = most_leaves;
                parameters.keep_records = keep_records;
                Tree tree = grow_one(table, target, parameters, weights);
                check(node_weights(tree) == sums_of(tree));
                if (!keep_records) continue;
                const Tree pruned = prune(tree, 0.02, n_classes);
                check(pruned.nodes.size() < tree.nodes.size() && node_weights(pruned) == sums_of(pruned));
                tree.leaf_weights = {};
                check(!prune(tree, 0.02, n_classes).leaf_weights.are_known(), "unknown weights stay unknown");
            }
        }
        const Forest stump = grow_stump(table, target, weights, Criterion::gini);
        check(node_weights(stump.trees[0])[0] == node_weights(grow_one(table, target, {}, weights))[0]);
    }
}

void unknown_weights_are_an_error() {
    const Target target = labels_target(2, random_labels(20, 2, 4));
    Tree tree = grow_one(SmallTable({random_numbers(20, 1)}).bin(), target, {});
    tree.leaf_weights = {};
    bool refused = false;
    try {
        node_weights(tree);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    check(refused);
}

}  // namespace

int main() {
    small_integers_are_exact();
    large_integers_are_rounded_by_at_most_a_half_thousandth();
    codes_that_do_not_fit_the_leaves_are_refused();
    fractions_are_multiples_of_a_power_of_two();
    the_weight_of_a_node_is_that_of_its_rows();
    unknown_weights_are_an_error();
    return report();
}
