#include "adaboost_member.h"

#include <algorithm>

#include "descend.h"
#include "prune.h"

namespace committee {

MemberGrower::MemberGrower(const Table& table, const Target& target, const MemberParameters& parameters,
                           std::uint64_t n_draws, ThreadTeam& team)
    : table_(table),
      target_(target),
      parameters_(parameters),
      n_draws_(n_draws),
      stop_(team.stop()),
      has_missing_(std::ranges::find(table.has_missing, true) != table.has_missing.end()) {
    if (parameters.resample) {
        bootstrap_.emplace(table, target, std::span<const std::uint32_t>{}, team.size(), team.stop());
        drawn_.resize(table.n_rows());
    }
    if (parameters.is_stump) {
        grow_stump_ = make_stump_grower(table, target, parameters.grow.criterion, false, team);
    } else {
        grow_tree_ = make_grower(table, target, parameters.grow, team.stop());
    }
}

Tree MemberGrower::grow(std::span<const std::uint32_t> weights, std::uint64_t key) {
    if (parameters_.resample) {
        std::ranges::fill(drawn_, 0);
        bootstrap_->draw(key, n_draws_, weights, drawn_, stop_);
        weights = drawn_;
    }
    if (parameters_.is_stump) {
        Tree tree = grow_stump_(weights, {});
        tree.importances.assign(table_.n_columns(), 0.0);
        if (!is_leaf(tree.nodes[0])) tree.importances[column_of(tree.nodes[0])] = 1;
        look_up_codes(tree);
        return tree;
    }
    seen_rows_.clear();
    seen_weights_.clear();
    for (std::uint32_t row = 0; row < weights.size(); ++row) {
        if (weights[row] == 0) continue;
        seen_rows_.push_back(row);
        seen_weights_.push_back(weights[row]);
    }
    Tree tree = grow_tree_(seen_rows_, seen_weights_, key, {});
    if (parameters_.ccp_alpha == 0) return tree;
    return prune_grown(tree, parameters_.ccp_alpha, target_.n_outputs(), table_.n_columns());
}

void MemberGrower::find_values(const Tree& tree, std::size_t begin, std::size_t end, std::uint32_t* values) const {
    std::visit(
        [&]<class Code>(const Codes<Code>& codes) {
            if (parameters_.is_stump) {
                const Code* code_of = codes.column(stump_column_);
                for (std::size_t row = begin; row < end; ++row) values[row] = values_by_code_[code_of[row]];
            } else {
                const std::size_t n = end - begin;
                find_leaves(tree, CodeBlock<Code>{codes.row(begin), codes.n_columns, n, nullptr, has_missing_},
                            values + begin);
                for (std::size_t row = begin; row < end; ++row) values[row] = address_of(tree.nodes[values[row]]);
            }
        },
        table_.codes);
}

// A stump asks about one column: every code has its leaf.
void MemberGrower::look_up_codes(const Tree& tree) {
    stump_column_ = is_leaf(tree.nodes[0]) ? 0 : column_of(tree.nodes[0]);
    values_by_code_.resize(table_.binning->columns[stump_column_].n_bins + std::size_t{1});
    for (std::uint32_t code = 0; code < values_by_code_.size(); ++code) {
        std::uint32_t node = 0;
        while (!is_leaf(tree.nodes[node])) node = next_node(tree.nodes[node], code, tree.sets.data());
        values_by_code_[code] = address_of(tree.nodes[node]);
    }
}

}  // namespace committee
