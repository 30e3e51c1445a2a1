#include "local_sums.h"

#include <algorithm>

#include "thread_team.h"

namespace committee {

template <class Fact>
std::vector<double> local_sums(std::span<const Fact> facts, std::size_t n_members, const Neighbourhood& near,
                               int n_threads, const Stop& stop) {
    constexpr std::size_t task_size = 512;
    const std::size_t n_rows = near.n_neighbours == 0 ? 0 : near.neighbours.size() / near.n_neighbours;
    std::vector<double> sums(n_rows * n_members);
    for_each_task((n_rows + task_size - 1) / task_size, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t end = std::min((task + 1) * task_size, n_rows);
        for (std::size_t row = task * task_size; row < end; ++row) {
            double* here = &sums[row * n_members];
            for (std::size_t k = row * near.n_neighbours; k < (row + 1) * near.n_neighbours; ++k) {
                const double weight = near.weights[k];
                const Fact* there = &facts[static_cast<std::size_t>(near.neighbours[k]) * n_members];
                for (std::size_t member = 0; member < n_members; ++member) here[member] += weight * there[member];
            }
        }
    });
    return sums;
}

template std::vector<double> local_sums(std::span<const std::uint8_t>, std::size_t, const Neighbourhood&, int,
                                        const Stop&);
template std::vector<double> local_sums(std::span<const double>, std::size_t, const Neighbourhood&, int, const Stop&);

}  // namespace committee
