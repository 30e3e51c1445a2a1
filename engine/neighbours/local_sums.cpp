#include "neighbours/local_sums.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "threads/thread_team.h"

namespace committee {

namespace {

// If all weights are 1 and facts are 0 or 1, the sums are counts, which fit in bytes.
void count_facts(std::span<const std::uint8_t> facts, std::span<const std::int64_t> neighbours,
                 std::vector<std::uint8_t>& counts, double* sums) {
    std::fill(counts.begin(), counts.end(), std::uint8_t{0});
    for (const std::int64_t neighbour : neighbours) {
        const std::uint8_t* there = &facts[static_cast<std::size_t>(neighbour) * counts.size()];
        for (std::size_t member = 0; member < counts.size(); ++member) {
            counts[member] = static_cast<std::uint8_t>(counts[member] + there[member]);
        }
    }
    std::copy(counts.begin(), counts.end(), sums);
}

template <class Fact>
void add_facts(std::span<const Fact> facts, std::span<const std::int64_t> neighbours, std::span<const double> weights,
               std::span<double> sums) {
    for (std::size_t k = 0; k < neighbours.size(); ++k) {
        const Fact* there = &facts[static_cast<std::size_t>(neighbours[k]) * sums.size()];
        for (std::size_t member = 0; member < sums.size(); ++member) sums[member] += weights[k] * there[member];
    }
}

}  // namespace

template <class Fact>
std::vector<double> local_sums(std::span<const Fact> facts, std::size_t n_members, const Neighbourhood& near,
                               int n_threads, const Stop& stop) {
    constexpr std::size_t task_size = 512, most_counted = std::numeric_limits<std::uint8_t>::max();
    const std::size_t n_near = near.n_neighbours, n_rows = n_near == 0 ? 0 : near.neighbours.size() / n_near;
    std::vector<double> sums(n_rows * n_members);
    for_each_task((n_rows + task_size - 1) / task_size, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t end = std::min((task + 1) * task_size, n_rows);
        std::vector<std::uint8_t> counts(n_members);
        for (std::size_t row = task * task_size; row < end; ++row) {
            const auto neighbours = near.neighbours.subspan(row * n_near, n_near);
            const auto weights = near.weights.subspan(row * n_near, n_near);
            const auto here = std::span(sums).subspan(row * n_members, n_members);
            if constexpr (std::is_same_v<Fact, std::uint8_t>) {
                const bool are_plain = std::all_of(weights.begin(), weights.end(), [](double w) { return w == 1; });
                if (are_plain && n_near <= most_counted) {
                    count_facts(facts, neighbours, counts, here.data());
                    continue;
                }
            }
            add_facts(facts, neighbours, weights, here);
        }
    });
    return sums;
}

template std::vector<double> local_sums(std::span<const std::uint8_t>, std::size_t, const Neighbourhood&, int,
                                        const Stop&);
template std::vector<double> local_sums(std::span<const double>, std::size_t, const Neighbourhood&, int, const Stop&);

}  // namespace committee
