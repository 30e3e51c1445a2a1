#include "check.h"
#include "tree/recorded_tree.h"
#include "tree/tree.h"

using namespace committee;

namespace {

void node_words_return_their_fields() {
    for (const std::uint32_t threshold : {1U, 2U, 255U, 65535U}) {
        for (const bool missing_right : {false, true}) {
            const NodeWord word = number_word(max_columns - 1, threshold, missing_right, max_address);
            check(!is_leaf(word) && !is_category(word));
            check(column_of(word) == max_columns - 1 && threshold_of(word) == threshold);
            check(missing_goes_right(word) == missing_right && address_of(word) == max_address);
        }
    }
    const NodeWord category = category_word(5, true, 9);
    check(is_category(category) && !is_leaf(category) && missing_goes_right(category));
    check(column_of(category) == 5 && address_of(category) == 9);
    check(is_leaf(leaf_word(max_address)) && address_of(leaf_word(max_address)) == max_address);
}

void codes_up_to_the_threshold_go_left() {
    for (const std::uint32_t threshold : {1U, 7U, 65534U}) {
        for (const bool missing_right : {false, true}) {
            const NodeWord word = number_word(0, threshold, missing_right, 10);
            check(next_number_node<true>(word, 1) == 10);
            check(next_number_node<true>(word, threshold) == 10);
            check(next_number_node<true>(word, threshold + 1) == 11);
            check(next_number_node<true>(word, 65535) == 11);
            check(next_number_node<true>(word, 0) == (missing_right ? 11U : 10U));
        }
    }
}

void threshold_zero_separates_missing() {
    const NodeWord word = number_word(0, 0, false, 10);
    check(next_number_node<true>(word, 0) == 10 && next_number_node<true>(word, 1) == 11 &&
          next_number_node<true>(word, 65535) == 11);
}

void categories_of_the_set_go_left() {
    // Left child 20; two words, starting with the second: categories 33, 63 and 64.
    const std::uint32_t sets[] = {20, 1, 2, (1U << 1) | (1U << 31), 1U};
    const NodeWord word = category_word(3, true, 0);
    for (const std::uint32_t code : {33U, 63U, 64U}) check(next_node(word, code, sets) == 20);
    for (const std::uint32_t code : {1U, 31U, 32U, 34U, 65U, 96U, 65535U}) check(next_node(word, code, sets) == 21);
    check(next_node(word, 0, sets) == 21);
    check(next_node(category_word(3, false, 0), 0, sets) == 20);
}

void an_empty_set_separates_missing() {
    const std::uint32_t sets[] = {20, 0, 0};
    const NodeWord word = category_word(3, false, 0);
    check(next_node(word, 0, sets) == 20 && next_node(word, 1, sets) == 21 && next_node(word, 65535, sets) == 21);
}

void a_set_needs_no_more_words_than_categories() {
    for (const std::vector<std::uint16_t>& codes : std::vector<std::vector<std::uint16_t>>{
             {}, {65535}, {7, 8, 40}, {20000, 1}, {40, 20000, 39, 65535}, {1, 2, 3, 64, 65}}) {
        Tree tree;
        tree.sets = {9, 9};
        const NodeWord word = category_word(0, true, add_set(tree, 20, codes));
        check(tree.sets.size() <= 2 + 3 + codes.size());
        for (std::uint32_t code = 0; code <= 65535; ++code) {
            const bool goes_left = std::ranges::find(codes, code) != codes.end();
            check(next_node(word, code, tree.sets.data()) == (goes_left ? 20U : 21U));
        }
    }
}

}  // namespace

int main() {
    node_words_return_their_fields();
    codes_up_to_the_threshold_go_left();
    threshold_zero_separates_missing();
    categories_of_the_set_go_left();
    an_empty_set_separates_missing();
    a_set_needs_no_more_words_than_categories();
    return report();
}
