#include <memory>

#include "neighbours.h"
#include "python_arrays.h"
#include "python_stop.h"

namespace committee {
namespace {

template <class Element>
using Matrix = nb::ndarray<const Element, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Element>
std::span<const Element> all_of(const Matrix<Element>& matrix) {
    return {matrix.data(), matrix.size()};
}

void check_alike(const Matrix<double>& points, const Matrix<float>& turned) {
    if (points.shape(0) != turned.shape(0) || points.shape(1) != turned.shape(1)) {
        throw std::invalid_argument("Points and turned points must have the same shape.");
    }
}

}  // namespace

void register_neighbours(nb::module_& m) {
    nb::class_<NeighbourSearch>(m, "NeighbourSearch", "Known points, arranged so that the nearest are found soon.")
        .def("__init__",
             [](NeighbourSearch* search, const Matrix<double>& known, const Matrix<float>& turned) {
                 check_alike(known, turned);
                 if (known.size() == 0 || known.shape(0) > 0xffffffffU) {
                     throw std::invalid_argument("There must be a point and a column, and at most 2^32 - 1 points.");
                 }
                 const nb::gil_scoped_release release;
                 std::construct_at(search, all_of(known), all_of(turned), known.shape(1));
             })
        .def(
            "find",
            [](const NeighbourSearch& search, const Matrix<double>& asked, const Matrix<float>& turned,
               std::size_t n_neighbours, bool are_known, int n_threads) {
                check_alike(asked, turned);
                const std::size_t n_asked = asked.shape(0);
                const bool is_sound = asked.shape(1) == search.n_columns() && n_asked <= 0xffffffffU &&
                                      n_neighbours + (are_known ? 1 : 0) <= search.n_known() &&
                                      (!are_known || n_asked == search.n_known());
                if (!is_sound) throw std::invalid_argument("The asked points do not fit the known ones.");
                Neighbours found = Interruption().run([&](const Stop& stop) {
                    return search.find(all_of(asked), all_of(turned), n_neighbours, are_known, n_threads, stop);
                });
                return nb::make_tuple(to_numpy(std::move(found.distances), {n_asked, n_neighbours}),
                                      to_numpy(std::move(found.rows), {n_asked, n_neighbours}));
            },
            "Distances and rows of the nearest known points; with are_known, of each known point among the others.");
}

}  // namespace committee
