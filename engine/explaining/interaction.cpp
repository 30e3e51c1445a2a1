#include "explaining/interaction.h"

#include "explaining/quadrature.h"
#include "explaining/tree_source.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

constexpr std::size_t block_rows = 16;

// The path from the root to a node, for one row.
class Path {
  public:
    Path(const Branches& list, const Quadrature& rule)
        : list_(list),
          rule_(rule),
          nodes_(list.depth + 1),
          inside_(list.depth + 1, 1.0),
          outside_(list.depth + 1, 1.0),
          products_((list.depth + 1) * rule.size(), 1.0),
          ratios_((list.depth + 1) * rule.size()) {}

    // Goes to a node below the current path. Returns false if no row reaches its leaves.
    bool enter(const Branches::Node& node, std::int32_t taken, double share) {
        const std::size_t d = node.depth, n = rule_.size();
        nodes_[d] = &node;
        const double own = taken == takes_every ? node.fraction : taken == node.branch ? 1 : 0;
        const double o = inside_[d] = (node.above > 0 ? inside_[node.above] : 1) * own;
        const double z = outside_[d] = (node.above > 0 ? outside_[node.above] : 1) * share;
        if (o == 0 && z == 0) return false;
        for (std::size_t q = 0; q < n; ++q) {
            const double t = rule_.points[q], factor = z + t * (o - z);
            double before = 1;
            if (node.above > 0) {
                before = outside_[node.above] + t * (inside_[node.above] - outside_[node.above]);
            }
            products_[d * n + q] = products_[(d - 1) * n + q] * (factor / before);
            ratios_[d * n + q] = (o - z) / factor;
        }
        return true;
    }

    // Adds the interactions in a leaf: to out[(i * n_players + j) * n_scores + k].
    void add_leaf(const Branches::Node& leaf, std::size_t n_players, std::size_t n_scores, double share, double* out) {
        // The lowest branch of each player stands for all of them.
        last_.clear();
        for (std::size_t d = 1; d <= leaf.depth; ++d) {
            if (nodes_[d]->above > 0) std::erase(last_, nodes_[d]->above);
            last_.push_back(static_cast<std::uint32_t>(d));
        }
        const double* values = list_.values.data() + leaf.leaf * list_.n_outputs;
        const std::size_t n = rule_.size();
        for (std::size_t a = 0; a < last_.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                double integral = 0;
                for (std::size_t q = 0; q < n; ++q) {
                    integral += rule_.weights[q] * products_[leaf.depth * n + q] * ratios_[last_[a] * n + q] *
                                ratios_[last_[b] * n + q];
                }
                const std::size_t i = nodes_[last_[a]]->player, j = nodes_[last_[b]]->player;
                for (std::size_t k = 0; k < list_.n_outputs; ++k) {
                    const double half = share / 2 * values[k] * integral;
                    out[(i * n_players + j) * n_scores + k] += half;
                    out[(j * n_players + i) * n_scores + k] += half;
                }
            }
        }
    }

  private:
    const Branches& list_;
    const Quadrature& rule_;
    std::vector<const Branches::Node*> nodes_;  // by depth
    std::vector<double> inside_, outside_;      // o and z of the player of each branch, by depth
    std::vector<double> products_, ratios_;     // by depth and point
    std::vector<std::uint32_t> last_;
};

template <class Source>
std::vector<double> interactions_of(const Source& source, const Players& players, const TableRows& rows,
                                    const TableRows& background, int n_threads, const Stop& stop) {
    const std::size_t n_scores = source.n_scores(), n_background = background.n_rows;
    const std::size_t width = players.count * players.count * n_scores;
    const double share = n_background > 0 ? 1 / static_cast<double>(n_background) : 1;
    const auto others = source.read(background, 0, n_background);
    std::vector<double> result(rows.n_rows * width);
    std::vector<Branches> lists(source.n_trees());
    for_each_task(lists.size(), n_threads, stop,
                  [&](std::size_t t, int) { lists[t] = source.list(t, players, n_background == 0); });
    for_each_task((rows.n_rows + block_rows - 1) / block_rows, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t begin = task * block_rows, n = std::min(block_rows, rows.n_rows - begin);
        const auto block = source.read(rows, begin, n);
        Routes routes, other_routes;
        std::vector<double> shares;
        for (std::size_t t = 0; t < lists.size(); ++t) {
            const Branches& list = lists[t];
            const Quadrature rule = make_quadrature(std::max<std::size_t>((list.most_players + 1) / 2, 1));
            Path path(list, rule);
            block.route(list, t, routes);
            auto walk = [&] {
                for (std::size_t row = 0; row < n; ++row) {
                    for (std::size_t i = 1; i < list.nodes.size();) {
                        const Branches::Node& node = list.nodes[i];
                        if (!path.enter(node, routes.at(row, node.split), shares[i])) {
                            i = node.end;
                            continue;
                        }
                        if (node.leaf != Branches::no_leaf) {
                            path.add_leaf(node, players.count, n_scores, share,
                                          result.data() + (begin + row) * width + source.first_score(t));
                        }
                        ++i;
                    }
                    stop.poll();
                }
            };
            if (n_background == 0) {
                share_of_weights(list, shares);
                walk();
            } else {
                others.route(list, t, other_routes);
            }
            for (std::size_t b = 0; b < n_background; ++b) {
                share_of_row(list, other_routes, b, shares);
                walk();
            }
        }
    });
    return result;
}

}  // namespace

std::vector<double> interactions(const Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                                 const TableRows& background, int n_threads, const Stop& stop) {
    return with_source(forest, rule, rows.n_rows, n_threads, [&](const auto& source) {
        return interactions_of(source, players, rows, background, n_threads, stop);
    });
}

std::vector<double> interactions(const C45Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                                 const TableRows& background, int n_threads, const Stop& stop) {
    return interactions_of(C45Source{forest, rule, find_used(forest)}, players, rows, background, n_threads, stop);
}

}  // namespace committee
