#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "check.h"
#include "neighbours/neighbours.h"

using namespace committee;

namespace {

struct Points {
    std::vector<double> exact;
    std::vector<float> rotated;
};

// Integers with few different values, so there are many ties and many equal points.
Points some_points(std::size_t n_rows, std::size_t n_columns, unsigned seed, int n_values = 5, double unit = 1) {
    std::mt19937 random(seed);
    Points points;
    for (std::size_t i = 0; i < n_rows * n_columns; ++i) {
        points.exact.push_back(unit * static_cast<double>(random() % static_cast<unsigned>(n_values)));
        points.rotated.push_back(static_cast<float>(points.exact.back()));
    }
    return points;
}

Neighbours find_naively(const Points& known, const Points& queries, std::size_t n_columns, std::size_t n_neighbours,
                        bool are_known) {
    Neighbours found;
    for (std::size_t i = 0; i < queries.exact.size() / n_columns; ++i) {
        std::vector<std::pair<double, std::int64_t>> all;
        for (std::size_t row = 0; row < known.exact.size() / n_columns; ++row) {
            if (are_known && row == i) continue;
            double sum = 0;
            for (std::size_t j = 0; j < n_columns; ++j) {
                const double apart = queries.exact[i * n_columns + j] - known.exact[row * n_columns + j];
                sum += apart * apart;
            }
            all.emplace_back(sum, static_cast<std::int64_t>(row));
        }
        std::sort(all.begin(), all.end());
        for (std::size_t k = 0; k < n_neighbours; ++k) {
            found.distances.push_back(std::sqrt(all[k].first));
            found.rows.push_back(all[k].second);
        }
    }
    return found;
}

bool are_same(const Neighbours& one, const Neighbours& other) {
    return one.rows == other.rows && one.distances == other.distances;
}

void the_search_equals_a_naive_search_with_ties_by_row() {
    for (const std::size_t n_known : {1U, 2U, 15U, 16U, 17U, 256U, 257U, 700U}) {
        for (const std::size_t n_columns : {1U, 3U, 8U, 9U, 21U, 32U, 45U}) {
            const Points known = some_points(n_known, n_columns, 1), queries = some_points(50, n_columns, 2);
            const NeighbourSearch search(known.exact, known.rotated, n_columns, 2);
            for (const std::size_t n_neighbours : {std::size_t{1}, std::min<std::size_t>(7, n_known), n_known}) {
                const Neighbours slow = find_naively(known, queries, n_columns, n_neighbours, false);
                check(are_same(search.find(queries.exact, queries.rotated, n_neighbours, false, 1, Stop()), slow));
                check(are_same(search.find(queries.exact, queries.rotated, n_neighbours, false, 3, Stop()), slow));
            }
        }
    }
}

void a_known_point_is_not_its_own_neighbour() {
    const Points known = some_points(300, 2, 3, 20);
    const NeighbourSearch search(known.exact, known.rotated, 2, 2);
    check(
        are_same(search.find(known.exact, known.rotated, 5, true, 2, Stop()), find_naively(known, known, 2, 5, true)));
}

void points_outside_the_range_of_single_precision_are_separated() {
    for (const double unit : {1e-30, 1e-36, 1e-42, 1e-200, 1e30, 1e60}) {
        const Points known = some_points(300, 3, 4, 1000, unit), queries = some_points(40, 3, 5, 1000, unit);
        const NeighbourSearch search(known.exact, known.rotated, 3, 1);
        check(are_same(search.find(queries.exact, queries.rotated, 4, false, 1, Stop()),
                       find_naively(known, queries, 3, 4, false)));
    }
}

void outliers_are_found_and_do_not_hide_other_points() {
    Points known = some_points(4200, 3, 8, 50), queries = some_points(30, 3, 9, 50);
    for (const std::size_t far : {std::size_t{7}, std::size_t{12000}}) known.exact[far] = known.rotated[far] = 1000;
    queries.exact[0] = queries.rotated[0] = 2000;
    const NeighbourSearch search(known.exact, known.rotated, 3, 2);
    check(are_same(search.find(queries.exact, queries.rotated, 5, false, 1, Stop()),
                   find_naively(known, queries, 3, 5, false)));
}

void axes_of_nan_change_nothing() {
    const Points known = some_points(500, 4, 6, 100), queries = some_points(30, 4, 7, 100);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const NeighbourSearch search(known.exact, std::vector<float>(known.rotated.size(), nan), 4, 2);
    const std::vector<float> nothing(queries.rotated.size(), nan);
    check(
        are_same(search.find(queries.exact, nothing, 3, false, 2, Stop()), find_naively(known, queries, 4, 3, false)));
}

}  // namespace

int main() {
    the_search_equals_a_naive_search_with_ties_by_row();
    a_known_point_is_not_its_own_neighbour();
    points_outside_the_range_of_single_precision_are_separated();
    outliers_are_found_and_do_not_hide_other_points();
    axes_of_nan_change_nothing();
    return report();
}
