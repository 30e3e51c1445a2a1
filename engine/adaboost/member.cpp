#include "adaboost/member.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "prediction/leaf_search.h"
#include "tree/pruning.h"

namespace committee {

MemberGrower::MemberGrower(const Table& table, const Target& target, const MemberParameters& parameters,
                           std::uint64_t n_draws, ThreadTeam& team)
    : table_(table),
      target_(target),
      parameters_(parameters),
      n_draws_(n_draws),
      n_threads_(team.size()),
      stop_(team.stop()),
      has_missing_(std::ranges::find(table.has_missing, true) != table.has_missing.end()) {
    if (parameters.c45) {
        c45_grower_.emplace(*parameters.c45, parameters.c45_settings, team.size(), team.stop());
        c45_trees.n_classes = target.n_classes;
        for (const C45Column& column : parameters.c45->columns) c45_trees.n_categories.push_back(column.n_categories);
        return;
    }
    trees = voting_forest(*table.binning, target.n_outputs(), target.n_classes > 0);
    if (parameters.is_stump) {
        grow_stump_ = make_stump_grower(table, target, parameters.grow.criterion, false, team);
    } else {
        grow_tree_ = make_grower(table, target, parameters.grow, team.stop());
    }
}

void MemberGrower::grow(std::span<const std::uint32_t> weights, std::uint64_t key) {
    if (parameters_.resample) {
        draw(weights, key);
        weights = drawn_;
    }
    if (parameters_.c45) return grow_c45(weights, key);
    if (parameters_.is_stump) {
        tree_ = grow_stump_(weights, {});
        tree_.leaf_weights.unit = weight_unit();
        tree_.importances.assign(table_.n_columns(), 0.0);
        if (!is_leaf(tree_.nodes[0])) tree_.importances[column_of(tree_.nodes[0])] = 1;
        return look_up_codes();
    }
    seen_rows_.clear();
    seen_weights_.clear();
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
        if (weights[row] == 0) continue;
        seen_rows_.push_back(row);
        seen_weights_.push_back(weights[row]);
    }
    tree_ = grow_tree_({seen_rows_, seen_weights_}, key, {});
    tree_.leaf_weights.unit = weight_unit();
    if (parameters_.ccp_alpha > 0) {
        tree_ = prune_grown(tree_, parameters_.ccp_alpha, target_.n_outputs(), table_.n_columns());
    }
}

// Rows of equal content are sorted by their first weights. The order stays valid, because all of them are reweighted by
// the same factor.
void MemberGrower::draw(std::span<const std::uint32_t> weights, std::uint64_t key) {
    if (by_content_.empty()) by_content_ = order_by_content(table_, contents_of(target_), n_threads_, stop_, weights);
    drawn_by_.clear();
    for (const std::uint32_t row : by_content_) drawn_by_.push_back(weights[row]);
    drawn_.assign(table_.n_rows(), 0);
    const std::uint64_t end = by_content_.size();
    draw_bag({by_content_, {&end, 1}, {&n_draws_, 1}, drawn_by_, {}}, key, drawn_, stop_);
}

// The weights of a round are scaled to a mean of 1; for drawn rows, the counts are used.
double MemberGrower::weight_unit() const {
    return parameters_.resample ? 1 : std::ldexp(1.0, std::ilogb(static_cast<double>(n_draws_)) - 29);
}

// C4.5 interprets weights as numbers of rows.
void MemberGrower::grow_c45(std::span<const std::uint32_t> weights, std::uint64_t key) {
    const double unit = weight_unit();
    std::vector<double> own(weights.size());
    for (std::size_t row = 0; row < own.size(); ++row) own[row] = weights[row] * unit;
    c45_tree_ = c45_grower_->grow(own, key);
    placed_ = place_votes(c45_tree_, *parameters_.c45, stop_);
}

void MemberGrower::keep() {
    const std::vector<double> own = parameters_.c45 ? importances_of(c45_tree_) : std::move(tree_.importances);
    importances.insert(importances.end(), own.begin(), own.end());
    if (parameters_.c45) {
        c45_trees.trees.push_back(std::move(c45_tree_));
    } else {
        tree_.importances = {};
        trees.trees.push_back(std::move(tree_));
    }
}

void MemberGrower::find_values(std::size_t begin, std::size_t end, std::uint32_t* places) const {
    if (parameters_.c45) {
        std::copy(placed_.places.begin() + static_cast<std::ptrdiff_t>(begin),
                  placed_.places.begin() + static_cast<std::ptrdiff_t>(end), places + begin);
        return;
    }
    std::visit(
        [&]<class Code>(const Codes<Code>& codes) {
            if (parameters_.is_stump) {
                const Code* code_of = codes.column(stump_column_);
                for (std::size_t row = begin; row < end; ++row) places[row] = values_by_code_[code_of[row]];
            } else {
                const std::size_t n = end - begin;
                find_leaves(tree_, CodeBlock<Code>{codes.row(begin), codes.n_columns, n, nullptr, has_missing_},
                            places + begin);
                for (std::size_t row = begin; row < end; ++row) places[row] = address_of(tree_.nodes[places[row]]);
            }
        },
        table_.codes);
}

// A stump splits one column, so every code of this column leads to one leaf.
void MemberGrower::look_up_codes() {
    stump_column_ = is_leaf(tree_.nodes[0]) ? 0 : column_of(tree_.nodes[0]);
    values_by_code_.resize(table_.binning->columns[stump_column_].n_bins + std::size_t{1});
    for (std::uint32_t code = 0; code < values_by_code_.size(); ++code) {
        std::uint32_t node = 0;
        while (!is_leaf(tree_.nodes[node])) node = next_node(tree_.nodes[node], code, tree_.sets.data());
        values_by_code_[code] = address_of(tree_.nodes[node]);
    }
}

PlacedVotes place_votes(const C45Tree& tree, const C45Table& table, const Stop& stop) {
    constexpr std::uint32_t is_parted = std::numeric_limits<std::uint32_t>::max();
    const auto n_classes = static_cast<std::size_t>(tree.n_classes);
    PlacedVotes placed;
    placed.places.resize(table.classes.size());
    // The vote of a node is computed for the first row that ends there.
    std::vector<std::uint32_t> place_of(tree.n_nodes(), is_parted);
    std::vector<double> vote(n_classes);
    Polls polls(stop);
    for (std::uint32_t row = 0; row < placed.places.size(); ++row) {
        polls.after(64);
        const std::optional<std::size_t> node = find_node(tree, table.columns, row);
        std::uint32_t& place = placed.places[row];
        if (node && place_of[*node] != is_parted) {
            place = place_of[*node];
            continue;
        }
        place = static_cast<std::uint32_t>(placed.values.size() / n_classes);
        if (node) place_of[*node] = place;
        predict_c45(tree, table.columns, row, row + 1, vote.data());
        placed.values.insert(placed.values.end(), vote.begin(), vote.end());
    }
    return placed;
}

}  // namespace committee
