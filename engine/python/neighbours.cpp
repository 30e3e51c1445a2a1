#include "neighbours/neighbours.h"

#include <algorithm>
#include <memory>

#include "neighbours/local_sums.h"
#include "python/arguments/arrays.h"
#include "python/arguments/stop.h"

namespace committee {
namespace {

template <class Element>
std::span<const Element> all_of(const Matrix<Element>& matrix) {
    return {matrix.data(), matrix.size()};
}

void check_alike(const Matrix<double>& points, const Matrix<float>& rotated) {
    if (points.shape(0) != rotated.shape(0) || points.shape(1) != rotated.shape(1)) {
        throw std::invalid_argument("Points and rotated points must have the same shape.");
    }
}

template <class Fact>
nb::object sums_of(const Matrix<Fact>& facts, const Matrix<std::int64_t>& neighbours, const Matrix<double>& weights,
                   int n_threads) {
    const std::size_t n_known = facts.shape(0), n_rows = neighbours.shape(0);
    const auto is_known = [&](std::int64_t row) { return 0 <= row && static_cast<std::size_t>(row) < n_known; };
    const std::span<const std::int64_t> rows = all_of(neighbours);
    if (neighbours.shape(0) != weights.shape(0) || neighbours.shape(1) != weights.shape(1) ||
        !std::all_of(rows.begin(), rows.end(), is_known)) {
        throw std::invalid_argument("Neighbours must be known rows, each with a weight.");
    }
    const Neighbourhood near{rows, all_of(weights), neighbours.shape(1)};
    auto sums = Interruption().run(
        [&](const Stop& stop) { return local_sums(all_of(facts), facts.shape(1), near, n_threads, stop); });
    return to_numpy(std::move(sums), {n_rows, facts.shape(1)});
}

}  // namespace

void register_neighbours(nb::module_& m) {
    nb::class_<NeighbourSearch>(m, "NeighbourSearch", "A search tree of known points.")
        .def("__init__",
             [](NeighbourSearch* search, const Matrix<double>& known, const Matrix<float>& rotated, int n_threads) {
                 check_alike(known, rotated);
                 if (known.size() == 0 || known.shape(0) > 0xffffffffU) {
                     throw std::invalid_argument(
                         "There must be at least one point and one column, and at most 2^32 - 1 points.");
                 }
                 Interruption().run([&](const Stop& stop) {
                     std::construct_at(search, all_of(known), all_of(rotated), known.shape(1), n_threads, stop);
                 });
             })
        .def(
            "find",
            [](const NeighbourSearch& search, const Matrix<double>& queries, const Matrix<float>& rotated,
               std::size_t n_neighbours, bool are_known, int n_threads) {
                check_alike(queries, rotated);
                const std::size_t n_queries = queries.shape(0);
                const bool is_valid = queries.shape(1) == search.n_columns() && n_queries <= 0xffffffffU &&
                                      n_neighbours + (are_known ? 1 : 0) <= search.n_known() &&
                                      (!are_known || n_queries == search.n_known());
                if (!is_valid) throw std::invalid_argument("The queries do not fit the known points.");
                Neighbours found = Interruption().run([&](const Stop& stop) {
                    return search.find(all_of(queries), all_of(rotated), n_neighbours, are_known, n_threads, stop);
                });
                return nb::make_tuple(to_numpy(std::move(found.distances), {n_queries, n_neighbours}),
                                      to_numpy(std::move(found.rows), {n_queries, n_neighbours}));
            },
            "Distances and rows of the nearest known points. With are_known, the queries are the known points.");
    m.def("local_sums", sums_of<std::uint8_t>);
    m.def("local_sums", sums_of<double>,
          "For each row and member, the weighted sum of the member's facts over the row's neighbours.");
}

}  // namespace committee
