#include <numeric>

#include "check.h"
#include "prediction/five_levels.h"
#include "prediction/leaf_search.h"
#include "small_tables.h"

using namespace committee;

namespace {

// Descends five levels, or until a leaf or a categorical node.
template <class Code>
std::uint32_t descend_naively(const Tree& tree, const Code* row, std::uint32_t node) {
    for (int level = 0; level < 5; ++level) {
        const NodeWord word = tree.nodes[node];
        if (is_leaf(word) || is_category(word)) return node;
        node = next_number_node<true>(word, row[column_of(word)]);
    }
    return node;
}

template <class Code>
void rows_reach_the_nodes_of_five_steps(std::uint32_t max_bins, std::size_t n_numbers) {
    constexpr std::size_t n_rows = 600;
    std::vector<std::vector<double>> numbers;
    for (std::size_t j = 0; j < n_numbers; ++j) numbers.push_back(random_numbers(n_rows, j + 1, true));
    const SmallTable small(numbers, {random_codes(n_rows, 5, 3, true)}, 5);
    const Table table = small.bin({}, max_bins);
    const auto& codes = std::get<Codes<Code>>(table.codes);
    if (!can_descend_five_levels(codes.n_columns)) return;
    GrowParameters parameters;
    parameters.max_features = 2;
    const Tree tree = grow_one(table, labels_target(3, random_labels(n_rows, 3, 4)), parameters);
    std::vector<std::uint32_t> rows(n_rows), ends(n_rows);
    std::iota(rows.rbegin(), rows.rend(), 0U);
    for (const std::uint32_t root : {0U, 1U, 2U}) {
        descend_five_levels(make_five_levels(tree, root), codes.row(0), codes.n_columns, codes.n_columns, rows,
                            ends.data());
        for (std::size_t k = 0; k < n_rows; ++k) check(ends[k] == descend_naively(tree, codes.row(rows[k]), root));
    }
}

void a_leaf_is_its_own_end() {
    const FiveLevels levels = make_five_levels({{leaf_word(0)}, {}, {1}, {}, {}}, 0);
    for (const std::uint32_t end : levels.ends) check(end == 0);
}

void the_highest_codes_and_thresholds_are_compared_as_numbers() {
    if (!can_descend_five_levels(1)) return;
    const Tree tree{{number_word(0, 65534, true, 1), leaf_word(0), leaf_word(1)}, {}, {1, 2}, {}, {}};
    const std::vector<std::uint16_t> codes{65535, 65534, 0, 1};
    const std::vector<std::uint32_t> rows{0, 1, 2, 3};
    std::vector<std::uint32_t> ends(4);
    descend_five_levels(make_five_levels(tree, 0), codes.data(), 1, 1, rows, ends.data());
    check(ends == std::vector<std::uint32_t>{2, 1, 2, 1});
}

}  // namespace

int main() {
    for (const std::size_t n_numbers : {1U, 20U, 31U, 40U, 63U}) {
        rows_reach_the_nodes_of_five_steps<std::uint8_t>(255, n_numbers);
        rows_reach_the_nodes_of_five_steps<std::uint16_t>(65535, n_numbers);
    }
    check(!can_descend_five_levels(65));
    a_leaf_is_its_own_end();
    the_highest_codes_and_thresholds_are_compared_as_numbers();
    return report();
}
