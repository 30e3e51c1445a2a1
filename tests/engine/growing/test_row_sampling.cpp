#include <numeric>

#include "check.h"
#include "growing/row_sampling.h"
#include "small_tables.h"

using namespace committee;

namespace {

void integer_weights_are_unchanged() {
    check(fixed_weights(std::vector<double>{0, 1, 7}) == std::vector<std::uint32_t>{0, 1, 7});
}

void other_weights_keep_their_proportions() {
    const auto fixed = fixed_weights(std::vector<double>{0, 0.25, 0.5, 1e-30});
    check(fixed[0] == 0 && fixed[3] == 1, "a positive weight stays positive");
    check(std::abs(static_cast<double>(fixed[2]) / fixed[1] - 2) < 1e-6);
    std::uint64_t total = 0;
    for (const std::uint32_t weight : fixed_weights(std::vector<double>(1000, 1e300))) total += weight;
    check(total > (1U << 28) && total < (1U << 31));
}

void the_order_of_the_rows_does_not_change_their_weights() {
    // The weights sum to 1 up to a rounding error that depends on their order.
    std::vector<double> weights = random_numbers(400, 7);
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& weight : weights) weight /= total;
    std::vector<double> permuted = weights;
    for (std::uint64_t key = 0; key < 50; ++key) {
        Random random(key, Purpose::split);
        for (std::size_t i = permuted.size(); i > 1; --i) std::swap(permuted[i - 1], permuted[random.below(i)]);
        auto fixed = fixed_weights(permuted), expected = fixed_weights(weights);
        std::ranges::sort(fixed);
        std::ranges::sort(expected);
        check(fixed == expected);
    }
}

void the_smallest_weights_keep_their_proportions() {
    const auto fixed = fixed_weights(std::vector<double>{5e-324, 1e-323});
    check(fixed[1] == 2 * fixed[0] && fixed[0] > 1U << 27);
}

void equal_rows_are_sorted_by_weight() {
    const SmallTable small({{1, 1, 2, 1, 1}});
    const std::vector<std::uint64_t> targets(5, 0);
    const std::vector<std::uint32_t> weights{4, 1, 9, 3, 2};
    auto order = order_by_content(small.bin(), targets, 1, {}, weights);
    std::erase(order, 2U);
    check(order == std::vector<std::uint32_t>{1, 4, 3, 0});
}

void balanced_classes_have_equal_weights() {
    check(balancing_factors(std::vector<double>{6, 0, 2}) == std::vector<double>{8.0 / 12, 0, 2});
}

void fixed_targets_represent_the_targets() {
    for (const double unit : {1e-200, 1.0, 1e200}) {
        std::vector<double> y = random_numbers(100, 1);
        for (double& value : y) value = (value - 0.3) * unit;
        const Target target = fixed_target(y, {}, 100, false);
        for (std::size_t i = 0; i < 100; ++i) {
            const double back = target.offset + static_cast<double>(target.fixed[i]) / target.scale;
            check(std::abs(back - y[i]) < 1e-12 * unit);
        }
    }
}

void fixed_targets_are_centred_except_for_poisson() {
    const std::vector<double> y{1000, 1001, 1002, 5000};
    const std::vector<std::uint32_t> weights{1, 1, 1, 0};
    const Target target = fixed_target(y, weights, 3, false);
    check(std::abs(target.offset - 1001) < 1e-9 && target.fixed[3] == 0);
    check(std::abs(static_cast<double>(target.fixed[0] + target.fixed[1] + target.fixed[2])) <= 3);
    check(fixed_target(y, weights, 3, true).offset == 0);
}

void a_constant_target_is_exact() {
    const Target target = fixed_target(std::vector<double>{0.1, 0.1}, {}, 2, false);
    check(target.offset == 0.1 && target.fixed[0] == 0 && target.fixed[1] == 0);
}

std::vector<std::uint32_t> draw(const SmallTable& small, const Target& target, std::span<const std::uint32_t> weights,
                                std::uint64_t n_draws, std::uint64_t key = 5) {
    std::vector<std::uint32_t> counts(small.n_rows, 0);
    draw_bag(SmallBootstrap(small.bin(weights), target, n_draws, weights).drawing, key, counts);
    return counts;
}

void the_requested_number_of_rows_is_drawn() {
    const SmallTable small({random_numbers(1000, 1)});
    const Target target = labels_target(2, random_labels(1000, 2, 2));
    const auto counts = draw(small, target, {}, 1000);
    check(std::accumulate(counts.begin(), counts.end(), 0U) == 1000);
    const auto n_drawn = 1000 - std::ranges::count(counts, 0U);
    check(n_drawn > 580 && n_drawn < 680, "about 63 percent of the rows");
    check(counts == draw(small, target, {}, 1000) && counts != draw(small, target, {}, 1000, 6));
}

void rows_are_drawn_in_proportion_to_their_weights() {
    const SmallTable small({{1, 2, 3}});
    const Target target = labels_target(2, {0, 1, 0});
    const std::vector<std::uint32_t> weights{0, 1, 3};
    const auto counts = draw(small, target, weights, 4000);
    check(counts[0] == 0 && counts[1] > 900 && counts[1] < 1100);
}

void the_order_of_the_rows_does_not_change_the_sample() {
    const SmallTable before({{1, 2, 3, 4, 5}}), after({{5, 4, 3, 2, 1}});
    const auto counts = draw(before, labels_target(2, {0, 1, 0, 1, 1}), {}, 50);
    const auto reversed = draw(after, labels_target(2, {1, 1, 0, 1, 0}), {}, 50);
    check(std::equal(counts.begin(), counts.end(), reversed.rbegin()));
}

void weight_two_is_drawn_like_two_rows() {
    const SmallTable weighted({{1, 2, 3}}), repeated({{1, 2, 2, 3}});
    const std::vector<std::uint32_t> weights{1, 2, 1}, ones{1, 1, 1, 1};
    const auto once = draw(weighted, labels_target(2, {0, 1, 0}), weights, 100);
    const auto twice = draw(repeated, labels_target(2, {0, 1, 1, 0}), ones, 100);
    check(once == std::vector<std::uint32_t>{twice[0], twice[1] + twice[2], twice[3]});
}

// Ten units in strata of six and four.
struct Strata {
    std::vector<std::uint32_t> units{9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
    std::vector<std::uint64_t> ends{6, 10}, n_draws{3, 2};
    std::vector<std::uint32_t> weights{}, groups{};

    std::vector<std::uint32_t> draw(std::uint64_t key, bool replaces, std::size_t n_rows = 10) const {
        std::vector<std::uint32_t> counts(n_rows, 0);
        draw_bag({units, ends, n_draws, weights, groups, replaces, false}, key, counts);
        return counts;
    }
};

std::uint32_t sum(std::span<const std::uint32_t> counts) { return std::accumulate(counts.begin(), counts.end(), 0U); }

void a_bag_has_the_requested_number_of_each_stratum() {
    const Strata strata;
    for (std::uint64_t key = 0; key < 50; ++key) {
        for (const bool replaces : {true, false}) {
            const auto counts = strata.draw(key, replaces);
            check(sum(std::span(counts).subspan(4)) == 3 && sum(std::span(counts).first(4)) == 2);
            check(counts == strata.draw(key, replaces));
            check(replaces || std::ranges::max(counts) == 1);
        }
    }
    check(strata.draw(1, false) != strata.draw(2, false));
}

void drawing_all_units_without_replacement_gives_all_rows() {
    Strata strata;
    strata.n_draws = {6, 4};
    check(strata.draw(3, false) == std::vector<std::uint32_t>(10, 1));
}

void all_units_are_equally_likely_without_replacement() {
    const Strata strata;
    std::vector<std::uint32_t> total(10, 0);
    for (std::uint64_t key = 0; key < 4000; ++key) {
        const auto counts = strata.draw(key, false);
        for (std::size_t i = 0; i < 10; ++i) total[i] += counts[i];
    }
    for (const std::uint32_t count : total) check(count > 1850 && count < 2150);
}

void units_are_drawn_in_proportion_to_their_weights() {
    Strata strata;
    strata.weights = {9, 1, 1, 1, 1, 1, 5, 5, 5, 5};
    std::uint32_t heavy = 0;
    for (std::uint64_t key = 0; key < 1000; ++key) heavy += strata.draw(key, true)[9];
    check(heavy > 1800 && heavy < 2060, "three draws, each with probability 9 / 14");
}

void the_rows_of_a_group_are_drawn_together() {
    Strata strata;
    strata.units = {2, 0, 1};
    strata.ends = {3};
    strata.n_draws = {2};
    strata.groups = {0, 1, 1, 2, 0};
    for (std::uint64_t key = 0; key < 50; ++key) {
        const auto counts = strata.draw(key, true, 5);
        check(counts[0] == counts[4] && counts[1] == counts[2] && counts[0] + counts[1] + counts[3] == 2);
    }
}

}  // namespace

int main() {
    integer_weights_are_unchanged();
    other_weights_keep_their_proportions();
    the_order_of_the_rows_does_not_change_their_weights();
    the_smallest_weights_keep_their_proportions();
    equal_rows_are_sorted_by_weight();
    balanced_classes_have_equal_weights();
    fixed_targets_represent_the_targets();
    fixed_targets_are_centred_except_for_poisson();
    a_constant_target_is_exact();
    the_requested_number_of_rows_is_drawn();
    rows_are_drawn_in_proportion_to_their_weights();
    the_order_of_the_rows_does_not_change_the_sample();
    weight_two_is_drawn_like_two_rows();
    a_bag_has_the_requested_number_of_each_stratum();
    drawing_all_units_without_replacement_gives_all_rows();
    all_units_are_equally_likely_without_replacement();
    units_are_drawn_in_proportion_to_their_weights();
    the_rows_of_a_group_are_drawn_together();
    return report();
}
