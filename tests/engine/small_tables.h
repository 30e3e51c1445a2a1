// Small tables for the tests.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "growing/row_sampling.h"
#include "growing/tree_growth.h"
#include "numbers/random.h"
#include "prediction/prediction.h"
#include "table/binning.h"
#include "table/table.h"
#include "tree/cut_recoding.h"

namespace committee {

inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

// Numeric and categorical columns, with the views that the engine reads. Not copyable, because the views would dangle.
struct SmallTable {
    std::vector<std::vector<double>> numbers;
    std::vector<std::vector<std::int32_t>> categories;
    std::vector<std::uint32_t> n_categories;  // 0 for numeric columns, which come first
    std::vector<ColumnView> views;
    std::size_t n_rows = 0;

    explicit SmallTable(std::vector<std::vector<double>> columns, std::vector<std::vector<std::int32_t>> codes = {},
                        std::uint32_t n_codes = 0)
        : numbers(std::move(columns)), categories(std::move(codes)) {
        n_rows = numbers.empty() ? categories[0].size() : numbers[0].size();
        for (const auto& column : numbers) views.push_back({column.data(), sizeof(double), ElementType::f64});
        for (const auto& column : categories) views.push_back({column.data(), sizeof(std::int32_t), ElementType::i32});
        n_categories.assign(numbers.size(), 0);
        n_categories.resize(views.size(), n_codes);
    }
    SmallTable(const SmallTable&) = delete;
    SmallTable& operator=(const SmallTable&) = delete;

    Table bin(std::span<const std::uint32_t> weights = {}, std::uint32_t max_bins = 65535, int n_threads = 1) const {
        return bin_table(views, n_categories, n_rows, weights, max_bins, n_threads);
    }
};

// The code of one value, computed from the definition.
inline std::uint32_t naive_code(const Column& column, double value) {
    if (std::isnan(value) || column.n_bins == 0) return 0;
    return 1 + static_cast<std::uint32_t>(std::ranges::count_if(column.cuts, [=](double cut) { return cut < value; }));
}

// Numbers in [0, 1). With some_missing, about one in ten is missing.
inline std::vector<double> random_numbers(std::size_t n, std::uint64_t key, bool some_missing = false) {
    Random random(key, Purpose::split);
    std::vector<double> numbers(n);
    for (double& number : numbers) {
        number = random.uniform();
        if (some_missing && random.below(10) == 0) number = missing;
    }
    return numbers;
}

// Codes 1 .. n_codes. With some_missing, also 0 for missing.
inline std::vector<std::int32_t> random_codes(std::size_t n, std::uint32_t n_codes, std::uint64_t key,
                                              bool some_missing = false) {
    Random random(key, Purpose::split);
    std::vector<std::int32_t> codes(n);
    for (auto& code : codes) {
        code = static_cast<std::int32_t>(some_missing ? random.below(n_codes + 1) : 1 + random.below(n_codes));
    }
    return codes;
}

inline std::vector<std::uint32_t> random_labels(std::size_t n, std::uint32_t n_classes, std::uint64_t key) {
    Random random(key, Purpose::split);
    std::vector<std::uint32_t> labels(n);
    for (auto& label : labels) label = static_cast<std::uint32_t>(random.below(n_classes));
    return labels;
}

inline Target labels_target(std::uint32_t n_classes, std::vector<std::uint32_t> labels) {
    Target target;
    target.n_classes = n_classes;
    target.labels = std::move(labels);
    return target;
}

// Draws rows with replacement, along their order by content. Not copyable, because the drawing would dangle.
struct SmallBootstrap {
    std::vector<std::uint32_t> rows, weights;
    std::vector<std::uint64_t> ends, n_draws;
    Drawing drawing;

    SmallBootstrap(const Table& table, const Target& target, std::uint64_t n, std::span<const std::uint32_t> own = {})
        : rows(order_by_content(table, contents_of(target), 1, {}, own)), n_draws{n} {
        if (!own.empty()) std::erase_if(rows, [&](std::uint32_t row) { return own[row] == 0; });
        for (const std::uint32_t row : rows) weights.push_back(own.empty() ? 1 : own[row]);
        ends = {rows.size()};
        drawing = {rows, ends, n_draws, weights, {}};
    }
    SmallBootstrap(const SmallBootstrap&) = delete;
    SmallBootstrap& operator=(const SmallBootstrap&) = delete;
};

// Grows one tree from all rows of positive weight.
inline Tree grow_one(const Table& table, const Target& target, const GrowParameters& parameters,
                     std::span<const std::uint32_t> weights = {}, const SeenColumns& seen = {}) {
    std::vector<std::uint32_t> rows, own;
    for (std::uint32_t i = 0; i < table.n_rows(); ++i) {
        const std::uint32_t weight = weights.empty() ? 1 : weights[i];
        if (weight == 0) continue;
        rows.push_back(i);
        own.push_back(weight);
    }
    return make_grower(table, target, parameters, {})({rows, own}, 1, seen);
}

inline Forest forest_of(const Table& table, const Target& target, std::vector<Tree> trees) {
    Forest forest = voting_forest(*table.binning, target.n_outputs(), target.n_classes > 0);
    forest.trees = std::move(trees);
    return forest;
}

// A forest of three trees on two numeric columns and one categorical one, with missing values in all columns.
struct SmallForest {
    SmallTable small;
    Table table;
    Target target;
    Forest forest;

    explicit SmallForest(std::uint32_t max_bins, std::uint64_t key = 1)
        : small({random_numbers(700, key, true), random_numbers(700, key + 1, true)},
                {random_codes(700, 70, key + 2, true)}, 70),
          table(small.bin({}, max_bins)),
          target(labels_target(3, random_labels(700, 3, key + 3))) {
        std::vector<Tree> trees;
        for (std::uint32_t tree = 0; tree < 3; ++tree) {
            GrowParameters parameters;
            parameters.max_features = 1 + tree;
            parameters.max_depth = 4 + 4 * tree;
            trees.push_back(grow_one(table, target, parameters));
        }
        forest = forest_of(table, target, std::move(trees));
    }
};

inline std::vector<double> decisions(const Forest& forest, const SmallTable& table, int n_threads = 1,
                                     Rule rule = Rule::mean) {
    std::vector<double> out(table.n_rows * forest.n_outputs);
    predict(forest, table.views, table.n_rows, rule, n_threads, out.data());
    return out;
}

inline bool same_tree(const Tree& a, const Tree& b) {
    return a.nodes == b.nodes && a.sets == b.sets && a.values == b.values;
}

inline bool same_trees(const Forest& a, const Forest& b) {
    if (a.trees.size() != b.trees.size()) return false;
    for (std::size_t t = 0; t < a.trees.size(); ++t) {
        if (!same_tree(a.trees[t], b.trees[t])) return false;
    }
    return true;
}

}  // namespace committee
