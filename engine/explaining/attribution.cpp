#include "explaining/attribution.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "explaining/quadrature.h"
#include "explaining/tree_source.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// Eight rows, as vectors. The functions return by reference, because the calling convention of wide vectors depends on
// the machine.
struct EightRows {
    using Number [[gnu::vector_size(64)]] = double;
    using Mask [[gnu::vector_size(64)]] = std::int64_t;
    using Taken [[gnu::vector_size(32)]] = std::int32_t;
    static constexpr std::size_t count = n_lanes;

    [[gnu::always_inline]] static void spread(double x, Number& out) { out = Number{x, x, x, x, x, x, x, x}; }
    [[gnu::always_inline]] static void compare(const std::int32_t* taken, std::int32_t branch, Mask& out) {
        Taken each;
        std::memcpy(&each, taken, sizeof each);
        out = __builtin_convertvector(each == branch, Mask);
    }
    [[gnu::always_inline]] static void set_all(Mask& out) { out = Mask{-1, -1, -1, -1, -1, -1, -1, -1}; }
    [[gnu::always_inline]] static bool is_zero(const Number& x) {
        for (std::size_t i = 0; i < n_lanes; ++i) {
            if (x[i] != 0) return false;
        }
        return true;
    }
};

// One row. The compiler uses vectors of quadrature points.
struct OneRow {
    using Number = double;
    using Mask = std::int64_t;
    static constexpr std::size_t count = 1;

    [[gnu::always_inline]] static void spread(double x, Number& out) { out = x; }
    [[gnu::always_inline]] static void compare(const std::int32_t* taken, std::int32_t branch, Mask& out) {
        out = *taken == branch ? -1 : 0;
    }
    [[gnu::always_inline]] static void set_all(Mask& out) { out = -1; }
    [[gnu::always_inline]] static bool is_zero(const Number& x) { return x == 0; }
};

// A vector type cannot be the argument of a template without losing its alignment.
struct alignas(64) Eight {
    EightRows::Number numbers;
};
struct alignas(64) EightMasks {
    EightRows::Mask masks;
};

// What a row contributes at the quadrature points, for every branch and every state of a row. A factor updates the
// product of the parent. A term is the weight of the product in the attribution of the branch's player, less that of
// the next branch above of the same player, whose term also counts the leaves below this branch.
//
// The states: the row takes the branch and all branches above of the same player (taken); it leaves the player's
// branches here (left), or above (passed), where the factor is `pass` and the term 0; its value is missing (missing).
class Tables {
  public:
    void fill(const Branches& list, const Quadrature& rule, std::span<const double> shares);

    const double* of(std::size_t node, std::size_t kind) const {
        return numbers_.data() + (node * n_kinds_ + kind) * n_points_;
    }
    double pass(std::size_t node) const { return shares_[node]; }
    std::size_t n_points() const { return n_points_; }

    static constexpr std::size_t taken_factor = 0, taken_term = 1, left_factor = 2, left_term = 3, missing_factor = 4,
                                 missing_term = 5;

  private:
    std::size_t n_points_ = 0, n_kinds_ = 0;
    std::vector<double> numbers_, rest_, part_, left_;
    std::span<const double> shares_;
};

// shares: by node, the share of the rows outside of the coalition that takes its branch.
void Tables::fill(const Branches& list, const Quadrature& rule, std::span<const double> shares) {
    n_points_ = rule.size();
    n_kinds_ = list.splits_missing ? 6 : 4;
    shares_ = shares;
    numbers_.resize(list.nodes.size() * n_kinds_ * n_points_);
    // The products of shares and of fractions over the branches of a player, by depth.
    rest_.resize(list.depth + 1);
    part_.resize(list.depth + 1);
    left_.resize(n_points_);
    for (std::size_t q = 0; q < n_points_; ++q) left_[q] = -(rule.weights[q] / (1 - rule.points[q]));
    const double* __restrict t = rule.points.data();
    const double* __restrict w = rule.weights.data();
    const double* __restrict left = left_.data();
    for (std::size_t i = 1; i < list.nodes.size(); ++i) {
        const Branches::Node& node = list.nodes[i];
        double* __restrict out = numbers_.data() + i * n_kinds_ * n_points_;
        const double above = node.above > 0 ? rest_[node.above] : 1;
        const double z = rest_[node.depth] = above * shares[i];
        if (node.above == 0) {
            for (std::size_t q = 0; q < n_points_; ++q) {
                const double factor = z + t[q] * (1 - z);
                out[q] = factor;
                out[n_points_ + q] = w[q] * ((1 - z) / factor);
                out[2 * n_points_ + q] = z * (1 - t[q]);
                out[3 * n_points_ + q] = left[q];
            }
        } else {
            for (std::size_t q = 0; q < n_points_; ++q) {
                const double factor = z + t[q] * (1 - z), before = above + t[q] * (1 - above);
                const double counted = w[q] * ((1 - above) / before);
                out[q] = factor / before;
                out[n_points_ + q] = w[q] * ((1 - z) / factor) - counted;
                out[2 * n_points_ + q] = z * (1 - t[q]) / before;
                out[3 * n_points_ + q] = left[q] - counted;
            }
        }
        if (!list.splits_missing) continue;
        const double part_above = node.above > 0 ? part_[node.above] : 1;
        const double part = part_[node.depth] = part_above * node.fraction;
        for (std::size_t q = 0; q < n_points_; ++q) {
            const double factor = z + t[q] * (part - z), before = above + t[q] * (part_above - above);
            // Without a factor, no leaf below is reached.
            out[4 * n_points_ + q] = before > 0 ? factor / before : 0;
            out[5 * n_points_ + q] =
                factor > 0 ? w[q] * ((part - z) / factor) - w[q] * ((part_above - above) / before) : 0;
        }
    }
}

// The nodes on the path to the current one, by depth.
struct Scratch {
    std::vector<Eight> products, sums;  // by depth and point; sums also by output
    std::vector<EightMasks> takes, goes, misses;
    std::vector<std::uint32_t> path;

    void resize(std::size_t depth, std::size_t n_points, std::size_t n_outputs) {
        if (products.size() < (depth + 1) * n_points) products.resize((depth + 1) * n_points);
        if (sums.size() < (depth + 1) * n_points * n_outputs) sums.resize((depth + 1) * n_points * n_outputs);
        if (path.size() > depth) return;
        takes.resize(depth + 1);
        goes.resize(depth + 1);
        misses.resize(depth + 1);
        path.resize(depth + 1);
    }
};

// One traversal of a tree with the rows of a group, for outputs [first_output, first_output + n_outputs).
struct Walk {
    const Branches& list;
    const Tables& tables;
    const std::int32_t* taken;  // by split and lane
    std::size_t first_output;
    bool can_vanish;  // whether no row of the group may reach some leaves
    Eight* out;       // by player, `stride` apart, and output
    std::size_t stride;
};

template <class Group, std::size_t n_outputs, bool splits_missing>
class Walker {
  public:
    using Number = typename Group::Number;
    using Mask = typename Group::Mask;

    [[gnu::always_inline]] Walker(const Walk& walk, Scratch& scratch)
        : walk_(walk),
          n_points_(walk.tables.n_points()),
          products_(reinterpret_cast<Number*>(scratch.products.data())),
          sums_(reinterpret_cast<Number*>(scratch.sums.data())),
          takes_(reinterpret_cast<Mask*>(scratch.takes.data())),
          goes_(reinterpret_cast<Mask*>(scratch.goes.data())),
          misses_(reinterpret_cast<Mask*>(scratch.misses.data())),
          path_(scratch.path.data()) {}

    [[gnu::always_inline]] void run() {
        for (std::size_t q = 0; q < n_points_; ++q) Group::spread(1, products_[q]);
        const auto& nodes = walk_.list.nodes;
        std::size_t depth = 0;
        for (std::size_t i = 1; i < nodes.size();) {
            const Branches::Node& node = nodes[i];
            for (; depth >= node.depth; --depth) close(depth);
            enter(i, node);
            const bool is_unreached = walk_.can_vanish && Group::is_zero(products_[node.depth * n_points_]);
            if (is_unreached) {
                i = node.end;
            } else if (node.leaf != Branches::no_leaf) {
                add_leaf(i, node);
                ++i;
            } else {
                depth = node.depth;
                path_[depth] = static_cast<std::uint32_t>(i);
                Number* sums = sums_ + depth * n_points_ * n_outputs;
                for (std::size_t q = 0; q < n_points_ * n_outputs; ++q) sums[q] = Number{};
                ++i;
            }
        }
        for (; depth > 0; --depth) close(depth);
    }

  private:
    [[gnu::always_inline]] void enter(std::size_t i, const Branches::Node& node) {
        const std::size_t d = node.depth;
        const std::int32_t* taken = walk_.taken + node.split * n_lanes;
        Mask takes;
        Group::compare(taken, node.branch, takes);
        if (node.above == 0) {
            Group::set_all(goes_[d]);
        } else {
            goes_[d] = takes_[node.above];
            takes &= takes_[node.above];
        }
        takes_[d] = takes;
        const Number* __restrict from = products_ + (d - 1) * n_points_;
        Number* __restrict to = products_ + d * n_points_;
        const Mask goes = goes_[d];
        Number pass;
        Group::spread(walk_.tables.pass(i), pass);
        const double* __restrict taken_factor = walk_.tables.of(i, Tables::taken_factor);
        const double* __restrict left_factor = walk_.tables.of(i, Tables::left_factor);
        if constexpr (splits_missing) {
            Group::compare(taken, takes_every, misses_[d]);
            const Mask misses = misses_[d];
            const double* missing_factor = walk_.tables.of(i, Tables::missing_factor);
            for (std::size_t q = 0; q < n_points_; ++q) {
                Number if_taken, if_left, if_missing;
                Group::spread(taken_factor[q], if_taken);
                Group::spread(left_factor[q], if_left);
                Group::spread(missing_factor[q], if_missing);
                to[q] = from[q] * (misses ? if_missing : (takes ? if_taken : (goes ? if_left : pass)));
            }
        } else if (node.above == 0) {
            for (std::size_t q = 0; q < n_points_; ++q) {
                Number if_taken, if_left;
                Group::spread(taken_factor[q], if_taken);
                Group::spread(left_factor[q], if_left);
                to[q] = from[q] * (takes ? if_taken : if_left);
            }
        } else {
            for (std::size_t q = 0; q < n_points_; ++q) {
                Number if_taken, if_left;
                Group::spread(taken_factor[q], if_taken);
                Group::spread(left_factor[q], if_left);
                to[q] = from[q] * (takes ? if_taken : (goes ? if_left : pass));
            }
        }
    }

    // The terms of a branch.
    struct Terms {
        const double* taken;
        const double* left;
        const double* missing;
    };

    [[gnu::always_inline]] Terms terms_of(std::size_t i) const {
        return {walk_.tables.of(i, Tables::taken_term), walk_.tables.of(i, Tables::left_term),
                splits_missing ? walk_.tables.of(i, Tables::missing_term) : nullptr};
    }

    [[gnu::always_inline]] void choose(const Terms& terms, std::size_t d, std::size_t q, Number& out) const {
        Number if_taken, if_left;
        Group::spread(terms.taken[q], if_taken);
        Group::spread(terms.left[q], if_left);
        const Number none = {};
        out = takes_[d] ? if_taken : (goes_[d] ? if_left : none);
        if constexpr (splits_missing) {
            Number if_missing;
            Group::spread(terms.missing[q], if_missing);
            out = misses_[d] ? if_missing : out;
        }
    }

    [[gnu::always_inline]] void add_leaf(std::size_t i, const Branches::Node& node) {
        const std::size_t d = node.depth;
        const double* values = walk_.list.values.data() + node.leaf * walk_.list.n_outputs + walk_.first_output;
        const Number* __restrict products = products_ + d * n_points_;
        Number* __restrict above = sums_ + (d - 1) * n_points_ * n_outputs;
        const Terms terms = terms_of(i);
        Number integral = {};
        for (std::size_t q = 0; q < n_points_; ++q) {
            Number term;
            choose(terms, d, q, term);
            integral += products[q] * term;
            for (std::size_t k = 0; k < n_outputs; ++k) above[q * n_outputs + k] += products[q] * values[k];
        }
        for (std::size_t k = 0; k < n_outputs; ++k) add(node.player, k, integral * values[k]);
    }

    // Adds the attribution of a branch to an inner node, after its subtree.
    [[gnu::always_inline]] void close(std::size_t d) {
        if (d == 0) return;
        const std::size_t i = path_[d];
        const Number* __restrict sums = sums_ + d * n_points_ * n_outputs;
        Number* __restrict above = sums_ + (d - 1) * n_points_ * n_outputs;
        const Terms terms = terms_of(i);
        Number integrals[n_outputs] = {};
        for (std::size_t q = 0; q < n_points_; ++q) {
            Number term;
            choose(terms, d, q, term);
            for (std::size_t k = 0; k < n_outputs; ++k) {
                integrals[k] += sums[q * n_outputs + k] * term;
                above[q * n_outputs + k] += sums[q * n_outputs + k];
            }
        }
        const std::uint32_t player = walk_.list.nodes[i].player;
        for (std::size_t k = 0; k < n_outputs; ++k) add(player, k, integrals[k]);
    }

    [[gnu::always_inline]] void add(std::uint32_t player, std::size_t k, const Number& attribution) {
        *reinterpret_cast<Number*>(walk_.out + player * walk_.stride + k) += attribution;
    }

    const Walk& walk_;
    std::size_t n_points_;
    Number* products_;
    Number* sums_;
    Mask *takes_, *goes_, *misses_;  // goes: takes all branches above of the same player
    std::uint32_t* path_;
};

template <class Group, std::size_t n_outputs, bool splits_missing>
[[gnu::always_inline]] inline void walk_group(const Walk& walk, Scratch& scratch) {
    Walker<Group, n_outputs, splits_missing>(walk, scratch).run();
}

using WalkGroup = void (*)(const Walk&, Scratch&);

#if defined(__x86_64__)
template <class Group, std::size_t n_outputs, bool splits_missing>
[[gnu::target("avx512f,avx512vl,avx512dq")]] void walk_wide(const Walk& walk, Scratch& scratch) {
    walk_group<Group, n_outputs, splits_missing>(walk, scratch);
}
template <class Group, std::size_t n_outputs, bool splits_missing>
[[gnu::target("avx2")]] void walk_medium(const Walk& walk, Scratch& scratch) {
    walk_group<Group, n_outputs, splits_missing>(walk, scratch);
}
#endif
template <class Group, std::size_t n_outputs, bool splits_missing>
void walk_plain(const Walk& walk, Scratch& scratch) {
    walk_group<Group, n_outputs, splits_missing>(walk, scratch);
}

// All of them return the same bits.
template <class Group, std::size_t n_outputs, bool splits_missing>
WalkGroup fastest_walk() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
        return walk_wide<Group, n_outputs, splits_missing>;
    }
    if (__builtin_cpu_supports("avx2")) return walk_medium<Group, n_outputs, splits_missing>;
#endif
    return walk_plain<Group, n_outputs, splits_missing>;
}

template <class Group, bool splits_missing>
WalkGroup walk_for(std::size_t n_outputs) {
    if (n_outputs >= 4) return fastest_walk<Group, 4, splits_missing>();
    if (n_outputs >= 2) return fastest_walk<Group, 2, splits_missing>();
    return fastest_walk<Group, 1, splits_missing>();
}

// Adds the mean score of the leaves that the shares reach.
void add_base(const Branches& list, std::span<const double> shares, double* base) {
    std::vector<double> reached(list.depth + 1, 1);
    for (std::size_t i = 0; i < list.nodes.size(); ++i) {
        const Branches::Node& node = list.nodes[i];
        if (i > 0) reached[node.depth] = reached[node.depth - 1] * shares[i];
        if (node.leaf == Branches::no_leaf) continue;
        for (std::size_t k = 0; k < list.n_outputs; ++k) {
            base[k] += reached[node.depth] * list.values[node.leaf * list.n_outputs + k];
        }
    }
}

std::size_t rows_of_a_block(std::size_t n_rows, std::size_t most_splits, int n_threads) {
    constexpr std::size_t most_routes = std::size_t{1} << 17, least = 64, most = 256;
    const std::size_t fitting = std::clamp(most_routes / most_splits, least, most);
    const auto n_shares = static_cast<std::size_t>(std::max(n_threads, 1));
    const std::size_t share = (n_rows + n_shares - 1) / n_shares;
    return std::max((std::min(fitting, share) + n_lanes - 1) / n_lanes * n_lanes, n_lanes);
}

// Walks a tree with all groups of a block and all outputs.
template <class Group>
void walk_block(const Branches& list, const Tables& tables, const Routes& routes, std::size_t n_rows, bool can_vanish,
                std::size_t first_score, std::size_t n_scores, std::size_t n_players, Scratch& scratch, Eight* sums) {
    for (std::size_t g = 0; g < (n_rows + n_lanes - 1) / n_lanes; ++g) {
        for (std::size_t k = 0; k < list.n_outputs;) {
            const std::size_t n_left = list.n_outputs - k;
            const WalkGroup walk = list.splits_missing ? walk_for<Group, true>(n_left) : walk_for<Group, false>(n_left);
            walk({list, tables, routes.group(g), k, can_vanish, sums + g * n_players * n_scores + first_score + k,
                  n_scores},
                 scratch);
            k += n_left >= 4 ? 4 : n_left >= 2 ? 2 : 1;
        }
    }
}

// What a thread reuses for every tree.
struct Own {
    Branches list;
    Routes routes, other_routes;
    std::vector<Quadrature> rules;  // by number of points; empty until it is needed
    Tables tables;
    Scratch scratch;
    std::vector<double> shares;
    std::vector<Eight> sums;

    const Quadrature& rule(const Branches& of) {
        const std::size_t n_points = std::max<std::size_t>((of.most_players + 1) / 2, 1);
        if (rules.size() <= n_points) rules.resize(n_points + 1);
        if (rules[n_points].size() == 0) rules[n_points] = make_quadrature(n_points);
        return rules[n_points];
    }
};

template <class Source>
Attributions attribute_rows(const Source& source, const Players& players, const TableRows& rows,
                            const TableRows& background, int n_threads, const Stop& stop) {
    const std::size_t n_scores = source.n_scores(), n_background = background.n_rows;
    const std::size_t block_rows = rows_of_a_block(rows.n_rows, source.most_splits(), n_threads);
    const std::size_t n_blocks = std::max<std::size_t>((rows.n_rows + block_rows - 1) / block_rows, 1);
    auto list_tree = [&](std::size_t t) { return source.list(t, players, n_background == 0); };
    // For one block, each tree is listed when it is walked, so that its list stays in the cache.
    std::vector<Branches> lists(n_blocks > 1 ? source.n_trees() : 0);
    for_each_task(lists.size(), n_threads, stop, [&](std::size_t t, int) { lists[t] = list_tree(t); });
    const auto others = source.read(background, 0, n_background);
    const double share = n_background > 0 ? 1 / static_cast<double>(n_background) : 1;

    const std::size_t width = players.count * n_scores;
    Attributions result{std::vector<double>(rows.n_rows * width), std::vector<double>(n_scores)};
    std::vector<Own> owned(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_task(n_blocks, n_threads, stop, [&](std::size_t task, int thread) {
        const std::size_t begin = task * block_rows, n = std::min(block_rows, rows.n_rows - begin);
        Own& own = owned[static_cast<std::size_t>(thread)];
        const auto block = source.read(rows, begin, n);
        own.sums.assign((n + n_lanes - 1) / n_lanes * width, Eight{});
        for (std::size_t t = 0; t < source.n_trees(); ++t) {
            if (lists.empty()) own.list = list_tree(t);
            const Branches& list = lists.empty() ? own.list : lists[t];
            const Quadrature& rule = own.rule(list);
            const std::size_t first_score = source.first_score(t);
            block.route(list, t, own.routes);
            own.scratch.resize(list.depth, rule.size(), std::min<std::size_t>(list.n_outputs, 4));
            std::vector<double> base(list.n_outputs);
            auto walk = [&](bool can_vanish) {
                if (task == 0) add_base(list, own.shares, base.data());
                if (list.splits.empty()) return;
                own.tables.fill(list, rule, own.shares);
                auto* walked = n == 1 ? walk_block<OneRow> : walk_block<EightRows>;
                walked(list, own.tables, own.routes, n, can_vanish, first_score, n_scores, players.count, own.scratch,
                       own.sums.data());
                stop.poll();
            };
            if (n_background == 0) {
                share_of_weights(list, own.shares);
                walk(list.splits_missing);
            } else {
                others.route(list, t, own.other_routes);
            }
            for (std::size_t b = 0; b < n_background; ++b) {
                share_of_row(list, own.other_routes, b, own.shares);
                walk(true);
            }
            if (task != 0) continue;
            for (std::size_t k = 0; k < list.n_outputs; ++k) result.base[first_score + k] += share * base[k];
        }
        for (std::size_t i = 0; i < n; ++i) {
            const Eight* sums = own.sums.data() + i / n_lanes * width;
            double* out = result.by_player.data() + (begin + i) * width;
            for (std::size_t j = 0; j < width; ++j) {
                double number;
                std::memcpy(&number, reinterpret_cast<const char*>(sums + j) + i % n_lanes * sizeof number,
                            sizeof number);
                out[j] = share * number;
            }
        }
    });
    for (std::size_t k = 0; k < n_scores; ++k) result.base[k] += source.start(k);
    return result;
}

}  // namespace

Attributions attribute(const Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                       const TableRows& background, int n_threads, const Stop& stop) {
    return with_source(forest, rule, rows.n_rows, n_threads, [&](const auto& source) {
        return attribute_rows(source, players, rows, background, n_threads, stop);
    });
}

Attributions attribute(const C45Forest& forest, const Players& players, Rule rule, const TableRows& rows,
                       const TableRows& background, int n_threads, const Stop& stop) {
    return attribute_rows(C45Source{forest, rule, find_used(forest)}, players, rows, background, n_threads, stop);
}

}  // namespace committee
