// Forests of both kinds as lists of branches, and the branches that rows take.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "c45/ensemble/row_block.h"
#include "explaining/branches.h"
#include "explaining/players.h"
#include "table/cut_codes.h"

namespace committee {

inline constexpr std::size_t n_lanes = 8;
inline constexpr std::int32_t takes_every = -1;  // all branches, because the value is missing

// The branches that rows take at the splits of a tree, by group of eight rows, split and lane.
struct Routes {
    std::size_t n_splits = 0;
    std::vector<std::int32_t> taken;

    void resize(std::size_t n_rows, std::size_t splits) {
        n_splits = splits;
        taken.resize((n_rows + n_lanes - 1) / n_lanes * n_splits * n_lanes);
    }
    const std::int32_t* group(std::size_t g) const { return taken.data() + g * n_splits * n_lanes; }
    std::int32_t at(std::size_t row, std::size_t split) const {
        return group(row / n_lanes)[split * n_lanes + row % n_lanes];
    }
    // branch_of(row) of rows [0, n_rows), and of rows up to the next multiple of eight.
    template <class BranchOf>
    void set(std::size_t split, std::size_t n_rows, BranchOf branch_of) {
        for (std::size_t begin = 0; begin < n_rows; begin += n_lanes) {
            std::int32_t* to = taken.data() + begin * n_splits + split * n_lanes;
            for (std::size_t i = 0; i < n_lanes; ++i) to[i] = branch_of(begin + i);
        }
    }
};

// The codes of a block of rows, by column.
template <class Code>
struct CodedRows {
    const Forest& forest;
    std::size_t n_rows = 0;
    std::vector<Code> by_column;

    CodedRows(const Forest& trees, const Encoder& encoder, std::span<const ColumnView> columns, std::size_t begin,
              std::size_t n)
        : forest(trees), n_rows(n), by_column(n * columns.size() + n_lanes) {
        const std::size_t stride = CodeLine<Code>::stride(columns.size());
        std::vector<CodeLine<Code>> by_row(CodeLine<Code>::n_lines(n * stride));
        encoder.encode(columns, begin, n, by_row.data()->codes.data(), stride, by_column.data());
    }

    void route(const Branches& list, std::size_t t, Routes& routes) const {
        const Tree& tree = forest.trees[t];
        routes.resize(n_rows, list.splits.size());
        for (std::size_t split = 0; split < list.splits.size(); ++split) {
            const NodeWord word = tree.nodes[list.splits[split]];
            // The last group may read up to seven codes of the next column, whose rows are ignored.
            const Code* codes = by_column.data() + column_of(word) * n_rows;
            if (is_category(word)) {
                const std::uint32_t left = tree.sets[address_of(word)];
                routes.set(split, n_rows, [&](std::size_t i) {
                    return static_cast<std::int32_t>(next_category_node(word, codes[i], tree.sets.data()) - left);
                });
            } else {
                const std::uint32_t left = address_of(word);
                routes.set(split, n_rows, [&](std::size_t i) {
                    return static_cast<std::int32_t>(next_number_node<true>(word, codes[i]) - left);
                });
            }
        }
    }
};

struct ForestSource {
    const Forest& forest;
    Rule rule;
    Encoder encoder;

    std::size_t n_trees() const { return forest.trees.size(); }
    std::size_t n_scores() const { return forest.n_scores; }
    std::size_t first_score(std::size_t t) const { return forest.turns ? t % forest.n_scores : 0; }
    double start(std::size_t k) const { return forest.start[k]; }
    std::size_t most_splits() const {
        std::size_t most = 1;
        for (const Tree& tree : forest.trees) most = std::max(most, tree.nodes.size() / 2);
        return most;
    }
    Branches list(std::size_t t, const Players& players, bool has_fractions) const {
        return list_branches(forest, t, players.of_column, rule, has_fractions);
    }
};

template <class Code>
struct CodedSource : ForestSource {
    CodedRows<Code> read(const TableRows& rows, std::size_t begin, std::size_t n) const {
        return CodedRows<Code>(forest, encoder, rows.columns, begin, n);
    }
};

struct C45Rows {
    const C45Forest& forest;
    RowBlock block;
    std::size_t n_rows;

    void route(const Branches& list, std::size_t t, Routes& routes) const {
        const C45Tree& tree = forest.trees[t];
        routes.resize(n_rows, list.splits.size());
        for (std::size_t split = 0; split < list.splits.size(); ++split) {
            const std::size_t node = list.splits[split];
            const C45Column& column = block.columns()[static_cast<std::size_t>(tree.column[node])];
            routes.set(split, n_rows, [&](std::size_t i) {
                const std::size_t branch = choose_branch(tree, node, column, std::min(i, n_rows - 1));
                return branch == takes_all ? takes_every : static_cast<std::int32_t>(branch);
            });
        }
    }
};

struct C45Source {
    const C45Forest& forest;
    Rule rule;
    std::vector<bool> is_used;

    std::size_t n_trees() const { return forest.trees.size(); }
    std::size_t n_scores() const { return forest.n_classes; }
    std::size_t first_score(std::size_t) const { return 0; }
    double start(std::size_t) const { return 0; }
    std::size_t most_splits() const {
        std::size_t most = 1;
        for (const C45Tree& tree : forest.trees) most = std::max(most, tree.n_nodes());
        return most;
    }
    Branches list(std::size_t t, const Players& players, bool) const {
        return list_branches(forest.trees[t], players.of_column, forest.are_crisp || rule == Rule::majority,
                             forest.weights.empty() ? 1 : forest.weights[t]);
    }
    C45Rows read(const TableRows& rows, std::size_t begin, std::size_t n) const {
        return {forest, RowBlock(forest, is_used, rows.columns, begin, n), n};
    }
};

// The shares of one background row: 1 for the branches that it takes.
inline void share_of_row(const Branches& list, const Routes& routes, std::size_t row, std::vector<double>& shares) {
    shares.resize(list.nodes.size());
    for (std::size_t i = 1; i < list.nodes.size(); ++i) {
        const Branches::Node& node = list.nodes[i];
        const std::int32_t taken = routes.at(row, node.split);
        shares[i] = taken == takes_every ? node.fraction : taken == node.branch ? 1 : 0;
    }
}

// The shares of the training weight that take each branch.
inline void share_of_weights(const Branches& list, std::vector<double>& shares) {
    shares.resize(list.nodes.size());
    for (std::size_t i = 0; i < list.nodes.size(); ++i) shares[i] = list.nodes[i].fraction;
}

// Calls body(source).
template <class Body>
auto with_source(const Forest& forest, Rule rule, std::size_t n_rows, int n_threads, Body body) {
    ForestSource source{forest, rule, Encoder(forest.binning, n_rows, n_threads)};
    if (forest.binning.is_wide()) return body(CodedSource<std::uint16_t>{std::move(source)});
    return body(CodedSource<std::uint8_t>{std::move(source)});
}

}  // namespace committee
