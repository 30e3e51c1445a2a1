#include "check.h"
#include "neighbours/local_sums.h"

using namespace committee;

namespace {

// Three known rows and two members; two rows with two neighbours each.
const std::vector<std::int64_t> neighbours = {2, 0, 1, 1};
const std::vector<double> weights = {1, 0.5, 2, 3};

void facts_are_summed_over_neighbours_by_weight() {
    const std::vector<double> facts = {1, 2, 3, 4, 5, 6};
    const Neighbourhood near{neighbours, weights, 2};
    check(local_sums(std::span<const double>(facts), 2, near, 1, Stop()) == std::vector<double>{5.5, 7, 15, 20});
    const std::vector<std::uint8_t> right = {1, 0, 1, 1, 0, 1};
    check(local_sums(std::span<const std::uint8_t>(right), 2, near, 1, Stop()) == std::vector<double>{0.5, 1, 5, 5});
}

void any_number_of_neighbours_of_weight_one_is_counted() {
    const std::vector<std::uint8_t> right = {1, 0, 1, 1, 0, 1};
    for (const std::size_t n_near : {2U, 255U, 256U, 600U}) {
        const std::vector<std::int64_t> all_the_second(n_near, 1);
        const std::vector<double> ones(n_near, 1.0);
        const auto count = static_cast<double>(n_near);
        const Neighbourhood near{all_the_second, ones, n_near};
        check(local_sums(std::span<const std::uint8_t>(right), 2, near, 1, Stop()) ==
              std::vector<double>{count, count});
    }
}

void threads_change_nothing() {
    constexpr std::size_t n_rows = 3000, n_members = 5;
    std::vector<double> facts(n_rows * n_members), by_row(n_rows * 3);
    std::vector<std::int64_t> near(n_rows * 3);
    for (std::size_t i = 0; i < facts.size(); ++i) facts[i] = 1.0 / static_cast<double>(i + 1);
    for (std::size_t i = 0; i < near.size(); ++i) {
        near[i] = static_cast<std::int64_t>(i * 7919 % n_rows);
        by_row[i] = 1.0 / static_cast<double>(i % 11 + 1);
    }
    const Neighbourhood all{near, by_row, 3};
    const auto alone = local_sums(std::span<const double>(facts), n_members, all, 1, Stop());
    check(local_sums(std::span<const double>(facts), n_members, all, 3, Stop()) == alone);
}

}  // namespace

int main() {
    facts_are_summed_over_neighbours_by_weight();
    any_number_of_neighbours_of_weight_one_is_counted();
    threads_change_nothing();
    return report();
}
