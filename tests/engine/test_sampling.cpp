#include <numeric>

#include "check.h"
#include "sampling.h"
#include "small_tables.h"

using namespace committee;

namespace {

void integer_weights_stay_as_they_are() {
    check(fixed_weights(std::vector<double>{0, 1, 7}) == std::vector<std::uint32_t>{0, 1, 7});
}

void other_weights_keep_their_proportions() {
    const auto fixed = fixed_weights(std::vector<double>{0, 0.25, 0.5, 1e-30});
    check(fixed[0] == 0 && fixed[3] == 1, "a positive weight is never lost");
    check(std::abs(static_cast<double>(fixed[2]) / fixed[1] - 2) < 1e-6);
    std::uint64_t total = 0;
    for (const std::uint32_t weight : fixed_weights(std::vector<double>(1000, 1e300))) total += weight;
    check(total > (1U << 28) && total < (1U << 31));
}

void fixed_targets_are_the_targets() {
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

void fixed_targets_are_centred_but_for_poisson() {
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
    Bootstrap(small.bin(weights), target, weights, 1).draw(key, n_draws, counts);
    return counts;
}

void as_many_rows_are_drawn_as_asked_for() {
    const SmallTable small({random_numbers(1000, 1)});
    const Target target = labels_target(2, random_labels(1000, 2, 2));
    const auto counts = draw(small, target, {}, 1000);
    check(std::accumulate(counts.begin(), counts.end(), 0U) == 1000);
    const auto n_drawn = 1000 - std::ranges::count(counts, 0U);
    check(n_drawn > 580 && n_drawn < 680, "about 63 percent of them");
    check(counts == draw(small, target, {}, 1000) && counts != draw(small, target, {}, 1000, 6));
}

void draws_go_with_the_weights() {
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

void weight_two_is_drawn_as_a_row_twice() {
    const SmallTable weighted({{1, 2, 3}}), repeated({{1, 2, 2, 3}});
    const std::vector<std::uint32_t> weights{1, 2, 1}, ones{1, 1, 1, 1};
    const auto once = draw(weighted, labels_target(2, {0, 1, 0}), weights, 100);
    const auto twice = draw(repeated, labels_target(2, {0, 1, 1, 0}), ones, 100);
    check(once == std::vector<std::uint32_t>{twice[0], twice[1] + twice[2], twice[3]});
}

}  // namespace

int main() {
    integer_weights_stay_as_they_are();
    other_weights_keep_their_proportions();
    fixed_targets_are_the_targets();
    fixed_targets_are_centred_but_for_poisson();
    a_constant_target_is_exact();
    as_many_rows_are_drawn_as_asked_for();
    draws_go_with_the_weights();
    the_order_of_the_rows_does_not_change_the_sample();
    weight_two_is_drawn_as_a_row_twice();
    return report();
}
