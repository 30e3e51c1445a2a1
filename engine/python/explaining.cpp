// Attributions of scores to columns for Python.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <string>
#include <utility>

#include "explaining/attribution.h"
#include "explaining/interaction.h"
#include "python/arguments/arrays.h"
#include "python/arguments/bags.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"

namespace committee {
namespace {

std::vector<ColumnView> views_of(const Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows) {
    return checked_views(forest, columns, n_rows);
}

std::vector<ColumnView> views_of(const C45Forest& forest, const std::vector<AnyArray>& columns, std::size_t n_rows) {
    return typed_views(columns, n_rows, forest.n_categories.size(),
                       [&](std::size_t j) { return forest.n_categories[j] != C45Column::is_number; });
}

// The checked arguments of an explanation. Without background rows, n_background is 0 and the list is empty.
template <class Trees>
struct Request {
    const Trees& trees;
    std::vector<ColumnView> views, others;
    Players players;
    Rule rule;
    TableRows rows, background;
};

template <class Trees>
Request<Trees> read_request(const Trees& trees, const std::vector<AnyArray>& columns, std::size_t n_rows,
                            const Vector<std::uint32_t>& players, std::size_t n_players, const std::string& rule,
                            const std::vector<AnyArray>& background, std::size_t n_background) {
    Request<Trees> request{
        trees, views_of(trees, columns, n_rows), {}, {as_span(players), n_players}, rules.value(rule), {}, {}};
    if (n_background > 0) request.others = views_of(trees, background, n_background);
    const bool have_players = std::ranges::all_of(as_span(players), [&](auto player) { return player < n_players; });
    if (players.size() != request.views.size() || !have_players) {
        throw std::invalid_argument("Every column must belong to a player.");
    }
    request.rows = {request.views, n_rows};
    request.background = {request.others, n_background};
    return request;
}

// With of_pairs, the third object contains the interactions; otherwise it is None.
template <class Trees>
nb::tuple attributions_of(const Trees& trees, const std::vector<AnyArray>& columns, std::size_t n_rows,
                          const Vector<std::uint32_t>& players, std::size_t n_players, const std::string& rule,
                          const std::vector<AnyArray>& background, std::size_t n_background, bool of_pairs,
                          int n_threads) {
    const auto request = read_request(trees, columns, n_rows, players, n_players, rule, background, n_background);
    Attributions found;
    std::vector<double> pairs;
    Interruption().run([&](const Stop& stop) {
        found = attribute(trees, request.players, request.rule, request.rows, request.background, n_threads, stop);
        if (!of_pairs) return;
        pairs = interactions(trees, request.players, request.rule, request.rows, request.background, n_threads, stop);
    });
    const std::size_t n_scores = found.base.size();
    return nb::make_tuple(to_numpy(std::move(found.by_player), {n_rows, n_players, n_scores}),
                          to_numpy(std::move(found.base)),
                          of_pairs ? to_numpy(std::move(pairs), {n_rows, n_players, n_players, n_scores}) : nb::none());
}

nb::tuple attributions_of_tree(const C45Tree& tree, const std::vector<AnyArray>& columns, std::size_t n_rows,
                               const Vector<std::uint32_t>& players, std::size_t n_players, const std::string& rule,
                               const std::vector<AnyArray>& background, std::size_t n_background, bool of_pairs,
                               int n_threads) {
    const C45Forest forest{static_cast<std::size_t>(tree.n_classes), tree.n_categories, {tree}};
    return attributions_of(forest, columns, n_rows, players, n_players, rule, background, n_background, of_pairs,
                           n_threads);
}

constexpr Names<Link, n_links> links{"link",
                                     {{{"mean", Link::mean},
                                       {"identity", Link::identity},
                                       {"exponential", Link::exponential},
                                       {"logistic", Link::logistic},
                                       {"softmax", Link::softmax},
                                       {"share", Link::share},
                                       {"softmax_of_shares", Link::softmax_of_shares},
                                       {"shares_of_logistics", Link::shares_of_logistics}}}};

template <class Trees>
void register_attributions(nb::module_& m) {
    m.def("attribute", &attributions_of<Trees>, nb::arg("trees"), nb::arg("columns"), nb::arg("n_rows"),
          nb::arg("players"), nb::arg("n_players"), nb::arg("rule"), nb::arg("background"), nb::arg("n_background"),
          nb::arg("of_pairs"), nb::arg("n_threads"));
    // The link and the factor of the scores in it.
    m.def(
        "link_of", [](const Trees& trees) { return nb::make_tuple(links.name(trees.link), trees.scale); },
        nb::arg("trees"));
}

}  // namespace

void register_explaining(nb::module_& m) {
    register_attributions<Forest>(m);
    register_attributions<C45Forest>(m);
    m.def("attribute", &attributions_of_tree, nb::arg("trees"), nb::arg("columns"), nb::arg("n_rows"),
          nb::arg("players"), nb::arg("n_players"), nb::arg("rule"), nb::arg("background"), nb::arg("n_background"),
          nb::arg("of_pairs"), nb::arg("n_threads"));
}

}  // namespace committee
