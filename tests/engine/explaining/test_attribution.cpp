#include <array>
#include <cmath>

#include "check.h"
#include "explaining/attribution.h"
#include "small_tables.h"

using namespace committee;

namespace {

constexpr std::size_t n_columns = 3, n_classes = 3, n_background = 4;
using Scores = std::array<double, n_classes>;

std::uint32_t code_at(const Forest& forest, const SmallTable& small, std::size_t j, std::size_t row) {
    return j < 2 ? naive_code(forest.binning.columns[j], small.numbers[j][row])
                 : static_cast<std::uint32_t>(small.categories[0][row]);
}

// The value of a coalition: its columns have the values of the row, and the others those of the background row, or
// the fractions of the training weights if there is none.
Scores play(const Forest& forest, std::size_t t, const std::vector<double>& weights, const SmallTable& small,
            std::size_t row, const std::size_t* other, unsigned coalition, std::uint32_t node = 0) {
    const Tree& tree = forest.trees[t];
    const NodeWord word = tree.nodes[node];
    Scores scores{};
    if (is_leaf(word)) {
        for (std::size_t k = 0; k < n_classes; ++k) scores[k] = tree.values[address_of(word) * n_classes + k];
        return scores;
    }
    const std::uint32_t j = column_of(word), left = left_child(tree, word);
    const bool is_in = ((coalition >> j) & 1) != 0;
    if (is_in || other != nullptr) {
        const std::uint32_t next = next_node(word, code_at(forest, small, j, is_in ? row : *other), tree.sets.data());
        return play(forest, t, weights, small, row, other, coalition, next);
    }
    for (const std::uint32_t child : {left, left + 1}) {
        const Scores below = play(forest, t, weights, small, row, other, coalition, child);
        for (std::size_t k = 0; k < n_classes; ++k) {
            scores[k] += weights[child] / (weights[left] + weights[left + 1]) * below[k];
        }
    }
    return scores;
}

// Shapley's sum over all coalitions, by column and class.
std::array<Scores, n_columns> shapley(const Forest& forest, const SmallTable& small, std::size_t row,
                                      const std::size_t* other) {
    constexpr std::array<double, n_columns> weight_of_size{1.0 / 3, 1.0 / 6, 1.0 / 3};
    std::array<Scores, n_columns> result{};
    for (std::size_t t = 0; t < forest.trees.size(); ++t) {
        const std::vector<double> weights = node_weights(forest.trees[t]);
        for (unsigned coalition = 0; coalition < 8; ++coalition) {
            const Scores without = play(forest, t, weights, small, row, other, coalition);
            const auto size = static_cast<std::size_t>(__builtin_popcount(coalition));
            for (std::size_t j = 0; j < n_columns; ++j) {
                if (((coalition >> j) & 1) != 0) continue;
                const Scores with = play(forest, t, weights, small, row, other, coalition | 1U << j);
                for (std::size_t k = 0; k < n_classes; ++k)
                    result[j][k] += weight_of_size[size] * (with[k] - without[k]);
            }
        }
    }
    return result;
}

constexpr std::array<std::uint32_t, n_columns> own_player{0, 1, 2};

void attributions_are_shapley_values() {
    for (const std::uint32_t max_bins : {255U, 65535U}) {
        const SmallForest grown(max_bins);
        const Attributions found =
            attribute(grown.forest, {own_player, n_columns}, Rule::mean, {grown.small.views, 700}, {}, 2);
        for (std::size_t row = 0; row < 700; row += 23) {
            const auto expected = shapley(grown.forest, grown.small, row, nullptr);
            for (std::size_t at = 0; at < n_columns * n_classes; ++at) {
                const double got = found.by_player[row * n_columns * n_classes + at];
                check(std::abs(got - expected[at / n_classes][at % n_classes]) < 1e-12);
            }
        }
    }
}

void background_rows_replace_fractions() {
    const SmallForest grown(255);
    const Attributions found = attribute(grown.forest, {own_player, n_columns}, Rule::mean, {grown.small.views, 700},
                                         {grown.small.views, n_background}, 2);
    for (std::size_t row = 0; row < 700; row += 61) {
        std::array<Scores, n_columns> expected{};
        for (std::size_t other = 0; other < n_background; ++other) {
            const auto one = shapley(grown.forest, grown.small, row, &other);
            for (std::size_t at = 0; at < n_columns * n_classes; ++at) {
                expected[at / n_classes][at % n_classes] += one[at / n_classes][at % n_classes] / n_background;
            }
        }
        for (std::size_t at = 0; at < n_columns * n_classes; ++at) {
            const double got = found.by_player[row * n_columns * n_classes + at];
            check(std::abs(got - expected[at / n_classes][at % n_classes]) < 1e-12);
        }
    }
}

void attributions_and_the_base_sum_to_the_scores() {
    const SmallForest grown(255);
    std::vector<double> scores(700 * n_classes);
    predict_scores(grown.forest, grown.small.views, 700, 0, 3, 1, scores.data());
    // Two columns of the engine can be one column of the user.
    constexpr std::array<std::uint32_t, n_columns> joined{0, 1, 0};
    for (const std::size_t n_others : {std::size_t{0}, n_background}) {
        const Attributions found = attribute(grown.forest, {joined, 2}, Rule::mean, {grown.small.views, 700},
                                             {grown.small.views, n_others}, 1);
        for (std::size_t at = 0; at < 700 * n_classes; ++at) {
            const std::size_t row = at / n_classes, k = at % n_classes;
            const double sum = found.base[k] + found.by_player[row * 2 * n_classes + k] +
                               found.by_player[(row * 2 + 1) * n_classes + k];
            check(std::abs(sum - scores[at]) < 1e-12);
        }
    }
}

void threads_and_other_rows_do_not_change_a_bit() {
    const SmallForest grown(255);
    const Players players{own_player, n_columns};
    const Attributions all = attribute(grown.forest, players, Rule::mean, {grown.small.views, 700}, {}, 1);
    check(attribute(grown.forest, players, Rule::mean, {grown.small.views, 700}, {}, 3).by_player == all.by_player);
    for (std::size_t row = 0; row < 700; row += 50) {
        const SmallTable one({std::vector{grown.small.numbers[0][row]}, std::vector{grown.small.numbers[1][row]}},
                             {std::vector{grown.small.categories[0][row]}}, 70);
        const Attributions alone = attribute(grown.forest, players, Rule::mean, {one.views, 1}, {}, 1);
        check(std::equal(alone.by_player.begin(), alone.by_player.end(),
                         all.by_player.begin() + static_cast<std::ptrdiff_t>(row * n_columns * n_classes)));
    }
}

}  // namespace

int main() {
    attributions_are_shapley_values();
    background_rows_replace_fractions();
    attributions_and_the_base_sum_to_the_scores();
    threads_and_other_rows_do_not_change_a_bit();
    return report();
}
