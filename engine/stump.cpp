#include "stump.h"

#include <limits>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "recode.h"
#include "tree.h"

namespace committee {
namespace {

// Rows that take part, with their weights.
struct Branch {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> weights;

    void push(std::uint32_t row, std::uint32_t weight) {
        rows.push_back(row);
        weights.push_back(weight);
    }
};

Branch rows_with_weight(std::size_t n_rows, std::span<const std::uint32_t> weights) {
    Branch branch;
    for (std::uint32_t row = 0; row < n_rows; ++row) {
        const std::uint32_t weight = weights.empty() ? 1 : weights[row];
        if (weight > 0) branch.push(row, weight);
    }
    if (branch.rows.empty()) throw std::invalid_argument("No row has a positive weight.");
    return branch;
}

// Rows with a value in the column, and rows without.
std::pair<Branch, Branch> set_missing_apart(const Table& table, std::uint32_t column, const Branch& all) {
    Branch present, missing;
    std::visit(
        [&](const auto& codes) {
            const auto* code_of = codes.column(column);
            for (std::size_t i = 0; i < all.rows.size(); ++i) {
                (code_of[all.rows[i]] == 0 ? missing : present).push(all.rows[i], all.weights[i]);
            }
        },
        table.codes);
    return {std::move(present), std::move(missing)};
}

// A table of one of the columns.
Table column_alone(const Table& table, std::uint32_t column) {
    Table alone;
    auto binning = std::make_shared<Binning>();
    binning->columns.push_back(table.binning->columns[column]);
    alone.binning = std::move(binning);
    alone.has_missing = {static_cast<bool>(table.has_missing[column])};
    std::visit(
        [&]<class Code>(const Codes<Code>& codes) {
            const std::vector<Code> own(codes.column(column), codes.column(column) + codes.n_rows);
            alone.codes = Codes<Code>{codes.n_rows, 1, own, own};
        },
        table.codes);
    return alone;
}

Tree grow(const Table& table, const Target& target, const Branch& branch, Criterion criterion, std::uint32_t depth) {
    GrowParameters parameters;
    parameters.criterion = criterion;
    parameters.max_depth = depth;
    parameters.exact = true;
    parameters.keep_records = true;
    return make_grower(table, target, parameters)(branch.rows, branch.weights, 0);
}

double loss(const Tree& tree) {
    double sum = 0;
    for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
        if (is_leaf(tree.nodes[i])) sum += tree.records[i].impurity * tree.records[i].weight;
    }
    return sum;
}

// The branches of one column: a leaf for missing, a leaf or a split for the rest.
struct Split {
    std::uint32_t column = 0;
    Tree missing;
    Tree present;
    double loss = std::numeric_limits<double>::infinity();
};

Split find_split(const Table& table, const Target& target, const Branch& all, const Tree& whole, Criterion criterion) {
    Split best;
    for (std::uint32_t column = 0; column < table.n_columns(); ++column) {
        const auto [present, missing] = set_missing_apart(table, column, all);
        if (present.rows.empty()) continue;
        const Table alone = column_alone(table, column);
        Split split{column, whole, grow(alone, target, present, criterion, 1), 0};
        if (missing.rows.empty()) {
            if (split.present.nodes.size() == 1) continue;
            split.missing.records[0].weight = 0;
            split.missing.records[0].n_rows = 0;
        } else {
            split.missing = grow(alone, target, missing, criterion, 0);
        }
        split.loss = loss(split.missing) + loss(split.present);
        if (split.loss < best.loss) best = std::move(split);
    }
    return best;
}

void append(Tree& tree, const Tree& part) {
    tree.values.insert(tree.values.end(), part.values.begin(), part.values.end());
    tree.records.insert(tree.records.end(), part.records.begin(), part.records.end());
}

// Root 0, missing 1, the rest from 2 on.
Tree assemble(const Tree& whole, const Split& split, bool is_category_column) {
    Tree tree;
    append(tree, whole);
    append(tree, split.missing);
    append(tree, split.present);
    tree.sets = split.present.sets;
    if (is_category_column) {
        tree.nodes = {category_word(split.column, false, static_cast<std::uint32_t>(tree.sets.size())), leaf_word(1)};
        tree.sets.insert(tree.sets.end(), {1, 0, 0});
    } else {
        tree.nodes = {number_word(split.column, 0, false, 1), leaf_word(1)};
    }
    for (const NodeWord word : split.present.nodes) {
        if (is_leaf(word)) {
            tree.nodes.push_back(leaf_word(address_of(word) + 2));
        } else if (is_category(word)) {
            tree.sets[address_of(word)] += 2;
            tree.nodes.push_back(category_word(split.column, missing_goes_right(word), address_of(word)));
        } else {
            tree.nodes.push_back(
                number_word(split.column, threshold_of(word), missing_goes_right(word), address_of(word) + 2));
        }
    }
    return tree;
}

void check_criterion(const Target& target, Criterion criterion) {
    const bool is_for_classes =
        criterion == Criterion::gini || criterion == Criterion::entropy || criterion == Criterion::error;
    if (target.n_classes > 0 && !is_for_classes) {
        throw std::invalid_argument("A stump of classes takes gini, entropy or error.");
    }
    if (target.n_classes == 0 && criterion != Criterion::squared_error) {
        throw std::invalid_argument("A stump of numbers takes squared_error.");
    }
}

}  // namespace

Forest grow_stump(const Table& table, const Target& target, std::span<const std::uint32_t> weights,
                  Criterion criterion) {
    check_criterion(target, criterion);
    // Columns are compared in fixed-point units, whose squares neither overflow nor vanish.
    Target fixed = target;
    fixed.offset = 0;
    fixed.scale = 1;
    const Branch all = rows_with_weight(table.n_rows(), weights);
    Tree tree = grow(table, fixed, all, criterion, 0);
    const bool is_pure = tree.records[0].impurity == 0;
    if (!is_pure) {
        const Split split = find_split(table, fixed, all, tree, criterion);
        const bool is_found = split.loss < std::numeric_limits<double>::infinity();
        if (is_found) tree = assemble(tree, split, table.binning->columns[split.column].is_category);
    }
    for (double& value : tree.values) value = target.offset + value / target.scale;
    for (NodeRecord& record : tree.records) record.impurity /= target.scale * target.scale;
    Forest forest = voting_forest(*table.binning, target.n_outputs(), target.n_classes > 0);
    forest.trees.push_back(std::move(tree));
    drop_unused_cuts(forest, 1);
    return forest;
}

}  // namespace committee
