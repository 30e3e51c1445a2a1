#include <algorithm>
#include <numeric>

#include "check.h"
#include "prediction/vector_descent.h"
#include "small_tables.h"

using namespace committee;

namespace {

template <class Code>
std::uint32_t descend_naively(const Tree& tree, const Code* row, std::uint32_t node) {
    while (!is_leaf(tree.nodes[node])) {
        node = next_number_node<true>(tree.nodes[node], row[column_of(tree.nodes[node])]);
    }
    return node;
}

// Every row must reach its leaf from its own start node, in any order.
template <class Code>
void rows_reach_their_leaves(const Tree& tree, const Code* codes, std::size_t stride, std::size_t n_rows) {
    std::vector<std::uint32_t> rows(n_rows), nodes(n_rows), begins(n_rows);
    std::iota(rows.rbegin(), rows.rend(), 0U);
    for (std::size_t k = 0; k < n_rows; ++k) {
        begins[rows[k]] = nodes[k] = static_cast<std::uint32_t>(k % 7 < 4 ? 0 : k % tree.nodes.size());
    }
    descend_vectors(tree, codes, stride, rows, nodes.data());
    for (std::size_t k = 0; k < n_rows; ++k) {
        check(nodes[k] == descend_naively(tree, codes + rows[k] * stride, begins[rows[k]]));
    }
    std::ranges::sort(rows);
    for (std::size_t k = 0; k < n_rows; ++k) check(rows[k] == k, "every row is still there");
}

template <class Code>
void any_number_of_rows_reaches_the_leaves(std::uint32_t max_bins) {
    constexpr std::size_t n_rows = 1100;  // more than two groups
    const SmallTable small({random_numbers(n_rows, 1, true), random_numbers(n_rows, 2), random_numbers(n_rows, 3)});
    const Table table = small.bin({}, max_bins);
    const auto& codes = std::get<Codes<Code>>(table.codes);
    GrowParameters parameters;
    parameters.max_features = 2;
    const Tree tree = grow_one(table, labels_target(3, random_labels(n_rows, 3, 4)), parameters);
    if (!can_descend_vectors(tree, 3)) return;
    for (const std::size_t n : {0U, 1U, 15U, 16U, 17U, 512U, 513U, 1100U}) {
        rows_reach_their_leaves(tree, codes.row(0), codes.n_columns, n);
    }
}

void the_highest_codes_thresholds_and_columns_are_numbers() {
    constexpr std::uint32_t last_column = 65535;
    const Tree tree{{number_word(last_column, 65534, true, 1), leaf_word(0), number_word(0, 0, false, 3), leaf_word(1),
                     leaf_word(2)},
                    {},
                    {1, 2, 3},
                    {},
                    {}};
    if (!can_descend_vectors(tree, last_column + 1)) return;
    std::vector<std::uint16_t> codes(4 * (last_column + 1), 65535);
    codes[0] = codes[last_column + 1] = 0;
    codes[2 * last_column + 1] = 65534;
    codes[3 * last_column + 2] = 0;
    rows_reach_their_leaves(tree, codes.data(), last_column + 1, 4);
}

void trees_with_categories_and_very_wide_tables_are_refused() {
    const Tree plain{{leaf_word(0)}, {}, {1}, {}, {}}, with_sets{{leaf_word(0)}, {0}, {1}, {}, {}};
    check(!can_descend_vectors(with_sets, 1) && !can_descend_vectors(plain, 65537));
}

}  // namespace

int main() {
    any_number_of_rows_reaches_the_leaves<std::uint8_t>(255);
    any_number_of_rows_reaches_the_leaves<std::uint16_t>(65535);
    the_highest_codes_thresholds_and_columns_are_numbers();
    trees_with_categories_and_very_wide_tables_are_refused();
    return report();
}
