#include <limits>

#include "check.h"
#include "prediction/top_levels.h"
#include "small_tables.h"

using namespace committee;

namespace {

// Whether a node is in the subtree of another node, or equals it.
bool is_below(const Tree& tree, std::uint32_t node, std::uint32_t top) {
    if (node == top) return true;
    const NodeWord word = tree.nodes[top];
    if (is_leaf(word)) return false;
    const std::uint32_t left = is_category(word) ? tree.sets[address_of(word)] : address_of(word);
    return is_below(tree, node, left) || is_below(tree, node, left + 1);
}

template <class Code>
void exits_are_ancestors_of_the_leaves(std::uint32_t max_bins) {
    const SmallTable small({random_numbers(640, 1, true), random_numbers(640, 2, true)},
                           {random_codes(640, 5, 3, true)}, 5);
    const Table table = small.bin({}, max_bins);
    const Target target = labels_target(3, random_labels(640, 3, 4));
    const auto& codes = std::get<Codes<Code>>(table.codes);
    for (const std::uint32_t max_depth : {1U, 3U, 20U}) {
        GrowParameters parameters;
        parameters.max_depth = max_depth;
        const Tree tree = grow_one(table, target, parameters);
        const auto levels = make_top_levels<Code>(tree);
        check(levels.n_exits > 1 && levels.n_exits <= 32 && !(levels.is_whole && max_depth == 20));
        std::vector<std::uint32_t> leaves(640);
        find_leaves(tree, CodeBlock<Code>{codes.row(0), 3, 640, nullptr, true, nullptr, 0}, leaves.data());
        std::vector<std::uint8_t> exits(640);
        find_exits(levels, codes.column(0), 640, 640, true, exits.data());
        for (std::size_t i = 0; i < 640; ++i) {
            check(exits[i] < levels.n_exits && is_below(tree, leaves[i], levels.exits[exits[i]]));
        }
    }
}

void all_exits_of_a_small_tree_are_leaves() {
    const SmallTable small({random_numbers(64, 1), random_numbers(64, 2)});
    const Table table = small.bin({}, 255);
    const Target target = labels_target(2, random_labels(64, 2, 3));
    GrowParameters parameters;
    parameters.max_leaf_nodes = 32;
    const Tree tree = grow_one(table, target, parameters);
    const auto levels = make_top_levels<std::uint8_t>(tree);
    check(levels.is_whole && levels.n_exits == (tree.nodes.size() + 1) / 2);
    const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
    std::vector<std::uint32_t> leaves(64);
    find_leaves(tree, CodeBlock<std::uint8_t>{codes.row(0), 2, 64, nullptr, false, nullptr, 0}, leaves.data());
    std::vector<std::uint8_t> exits(64);
    for (const bool has_missing : {false, true}) {
        find_exits(levels, codes.column(0), 64, 64, has_missing, exits.data());
        for (std::size_t i = 0; i < 64; ++i) check(levels.exits[exits[i]] == leaves[i]);
    }
}

// A categorical node sends the codes of its set left; a list and a bit set are two forms of the same set.
template <class Code>
void categories_go_the_way_of_their_node() {
    constexpr std::uint32_t highest = std::numeric_limits<Code>::max();
    const std::vector<std::vector<std::uint32_t>> sets = {
        {1, 0, 1, 0b10110},                                // 1, 2 and 4 go left
        {1, 0, 1, 0b11},                                   // the code 0 of a set means nothing
        {1, lists_codes, 3, 5, 77, highest},               // as a list
        {1, 1, 2, 0xffffffff, 1},                          // 32 to 64
        {1, lists_codes, 0},                               // none
        {1, 0, 8, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U, ~0U}  // 0 to 255
    };
    std::vector<Code> codes(512);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<Code>(i < 500 ? i : highest - (i - 500));
    for (const auto& set : sets) {
        for (const bool missing_right : {false, true}) {
            const Tree tree{{category_word(0, missing_right, 0), leaf_word(0), leaf_word(1)}, set, {1, 2}, {}, {}};
            const auto levels = make_top_levels<Code>(tree);
            std::vector<std::uint8_t> exits(codes.size());
            check(levels.is_whole && levels.n_exits == 2);
            for (const bool has_missing : {false, true}) {
                find_exits(levels, codes.data(), codes.size(), codes.size(), has_missing, exits.data());
                for (std::size_t i = 0; i < codes.size(); ++i) {
                    check(levels.exits[exits[i]] == next_category_node(tree.nodes[0], codes[i], tree.sets.data()));
                }
            }
        }
    }
}

void a_node_with_many_intervals_is_an_exit() {
    std::vector<std::uint32_t> set = {1, 0, 2, 0x55555555, 0x55555555};
    const Tree tree{{category_word(0, false, 0), leaf_word(0), leaf_word(1)}, set, {1, 2}, {}, {}};
    const auto levels = make_top_levels<std::uint8_t>(tree);
    check(!levels.is_whole && levels.n_exits == 1 && levels.questions.empty());
}

void a_leaf_has_one_exit() {
    const auto levels = make_top_levels<std::uint16_t>({{leaf_word(0)}, {}, {1}, {}, {}});
    check(levels.is_whole && levels.n_exits == 1 && levels.questions.empty());
}

void the_highest_codes_and_thresholds_are_compared_as_numbers() {
    const Tree tree{{number_word(0, 255, true, 1), leaf_word(0), leaf_word(1)}, {}, {1, 2}, {}, {}};
    std::vector<std::uint8_t> codes(64, 255), exits(64);
    codes[5] = 0;
    find_exits(make_top_levels<std::uint8_t>(tree), codes.data(), 64, 64, true, exits.data());
    for (std::size_t i = 0; i < 64; ++i) check(exits[i] == (i == 5 ? 1 : 0));
}

}  // namespace

int main() {
    exits_are_ancestors_of_the_leaves<std::uint8_t>(255);
    exits_are_ancestors_of_the_leaves<std::uint16_t>(65535);
    categories_go_the_way_of_their_node<std::uint8_t>();
    categories_go_the_way_of_their_node<std::uint16_t>();
    a_node_with_many_intervals_is_an_exit();
    all_exits_of_a_small_tree_are_leaves();
    a_leaf_has_one_exit();
    the_highest_codes_and_thresholds_are_compared_as_numbers();
    return report();
}
