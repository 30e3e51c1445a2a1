#include "predict.h"

#include <array>
#include <atomic>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "binning.h"
#include "thread_team.h"

namespace committee {
namespace {

// Rows of a group go down a tree together: enough of them to hide the latency of memory, few enough for the first
// cache.
constexpr std::size_t group_rows = 256;
constexpr std::size_t block_bytes = std::size_t{1} << 17;
constexpr std::size_t most_block_rows = 4096;

// One step down. A row at its leaf stays there; no branch is guessed wrong, and the next node is on its way to the
// cache while the other rows of the group take their step. False at a leaf.
template <class Code, bool has_missing>
[[gnu::always_inline]] inline bool step_numbers(const NodeWord* nodes, const Code* row, std::uint32_t& at) {
    const NodeWord word = nodes[at];
    const std::uint32_t next = next_number_node<has_missing>(word, row[column_of(word)]);
    at = static_cast<std::int64_t>(word) < 0 ? at : next;
    __builtin_prefetch(nodes + at);
    return static_cast<std::int64_t>(word) >= 0;
}

template <class Code>
bool step_anywhere(const Tree& tree, const Code* row, std::uint32_t& at) {
    const NodeWord* nodes = tree.nodes.data();
    if (tree.sets.empty()) return step_numbers<Code, true>(nodes, row, at);
    const NodeWord word = nodes[at];
    if (!is_leaf(word)) at = next_node(word, row[column_of(word)], tree.sets.data());
    return !is_leaf(word);
}

// Rows that have reached a leaf drop out of the list of those still on their way.
template <class Code, class Step>
void descend(CodeBlock<Code> block, std::uint32_t* leaves, Step step) {
    std::array<const Code*, group_rows> rows;
    std::array<std::uint32_t, group_rows> at;
    std::array<std::uint8_t, group_rows> on_their_way;
    for (std::size_t begin = 0; begin < block.n_rows; begin += group_rows) {
        const std::size_t n = std::min(group_rows, block.n_rows - begin);
        for (std::size_t i = 0; i < n; ++i) {
            rows[i] = block.row(begin + i);
            at[i] = 0;
            on_their_way[i] = static_cast<std::uint8_t>(i);
        }
        for (std::size_t n_on = n; n_on > 0;) {
            std::size_t n_still = 0;
            for (std::size_t k = 0; k < n_on; ++k) {
                const std::uint8_t i = on_their_way[k];
                on_their_way[n_still] = i;
                n_still += step(rows[i], at[i]) ? 1 : 0;
            }
            n_on = n_still;
        }
        std::copy_n(at.begin(), n, leaves + begin);
    }
}

// One row through all trees side by side, so that the memory they wait for comes together.
template <class Code>
void descend_trees(std::span<const Tree> trees, const Code* row, std::uint32_t* leaves) {
    std::array<std::uint8_t, group_rows> on_their_way;
    std::array<const NodeWord*, group_rows> nodes;
    for (std::size_t begin = 0; begin < trees.size(); begin += group_rows) {
        const std::size_t n = std::min(group_rows, trees.size() - begin);
        bool has_sets = false;
        for (std::size_t t = 0; t < n; ++t) {
            on_their_way[t] = static_cast<std::uint8_t>(t);
            nodes[t] = trees[begin + t].nodes.data();
            has_sets |= !trees[begin + t].sets.empty();
            leaves[begin + t] = 0;
            __builtin_prefetch(nodes[t]);
        }
        for (std::size_t n_on = n; n_on > 0;) {
            std::size_t n_still = 0;
            for (std::size_t k = 0; k < n_on; ++k) {
                const std::uint8_t t = on_their_way[k];
                std::uint32_t& at = leaves[begin + t];
                on_their_way[n_still] = t;
                const bool moved =
                    has_sets ? step_anywhere(trees[begin + t], row, at) : step_numbers<Code, true>(nodes[t], row, at);
                n_still += moved ? 1 : 0;
            }
            n_on = n_still;
        }
    }
}

// Writes the codes of rows [begin, begin + n) into row-major codes. True if some are missing.
template <class Code>
bool encode(const Binning& binning, std::span<const ColumnView> columns, std::size_t begin, std::size_t n,
            Code* codes) {
    std::array<double, 256> values;
    std::array<std::uint16_t, 256> found;
    bool has_missing = false;
    const std::size_t n_columns = columns.size();
    for (std::size_t j = 0; j < n_columns; ++j) {
        const Column& column = binning.columns[j];
        if (!column.is_used) continue;
        for (std::size_t from = 0; from < n; from += values.size()) {
            const std::size_t count = std::min(values.size(), n - from);
            Code* to = codes + from * n_columns + j;
            if (column.is_category) {
                read_categories(columns[j], begin + from, column.n_bins, {found.data(), count});
            } else {
                read_values(columns[j], begin + from, {values.data(), count});
                find_codes(column, {values.data(), count}, {found.data(), count});
            }
            for (std::size_t i = 0; i < count; ++i) {
                to[i * n_columns] = static_cast<Code>(found[i]);
                has_missing |= found[i] == 0;
            }
        }
    }
    return has_missing;
}

// The codes of one row: the columns are searched side by side.
template <class Code>
void encode_row(const Binning& binning, std::span<const ColumnView> columns, std::size_t row, Code* codes) {
    constexpr std::size_t side_by_side = 32;
    std::array<double, side_by_side> values;
    std::array<const double*, side_by_side> below;
    std::array<std::size_t, side_by_side> sizes;
    for (std::size_t begin = 0; begin < columns.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, columns.size() - begin);
        std::size_t most = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning.columns[begin + j];
            if (!column.is_category) read_values(columns[begin + j], row, {&values[j], 1});
            below[j] = column.cuts.data();
            sizes[j] = column.is_used ? column.cuts.size() : 0;
            most = std::max(most, sizes[j]);
        }
        for (; most > 0; most /= 2) {
            for (std::size_t j = 0; j < n; ++j) {
                if (sizes[j] == 0) continue;
                const std::size_t half = (sizes[j] + 1) / 2;
                below[j] += below[j][half - 1] < values[j] ? half : 0;
                sizes[j] -= half;
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning.columns[begin + j];
            std::uint16_t code = 0;
            if (column.is_category) {
                read_categories(columns[begin + j], row, column.n_bins, {&code, 1});
            } else if (!std::isnan(values[j]) && column.n_bins > 0) {
                code = static_cast<std::uint16_t>(1 + (below[j] - column.cuts.data()));
            }
            codes[begin + j] = static_cast<Code>(code);
        }
    }
}

// Calls body(first row, CodeBlock, thread) for blocks of encoded rows.
template <class Code, class Body>
void for_each_block(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                    Body body) {
    const std::size_t n_columns = columns.size();
    const std::size_t fitting = block_bytes / std::max<std::size_t>(n_columns * sizeof(Code), 1);
    const std::size_t shared = (n_rows + static_cast<std::size_t>(n_threads) - 1) / static_cast<std::size_t>(n_threads);
    const std::size_t block_rows = std::clamp(std::min(fitting, shared), group_rows, most_block_rows);
    const std::size_t n_blocks = (n_rows + block_rows - 1) / block_rows;
    std::vector<std::vector<Code>> codes(static_cast<std::size_t>(n_threads));
    for_each_task(n_blocks, n_threads, {}, [&](std::size_t task, int thread) {
        const std::size_t begin = task * block_rows;
        const std::size_t n = std::min(block_rows, n_rows - begin);
        auto& own = codes[static_cast<std::size_t>(thread)];
        own.resize(block_rows * n_columns);
        const bool has_missing = encode(forest.binning, columns, begin, n, own.data());
        body(begin, CodeBlock<Code>{own.data(), n_columns, n, nullptr, has_missing}, thread);
    });
}

template <class Body>
void with_code_type(const Forest& forest, Body body) {
    if (forest.binning.is_wide()) {
        body(std::uint16_t{});
    } else {
        body(std::uint8_t{});
    }
}

}  // namespace

std::size_t Forest::nbytes() const {
    std::size_t bytes = 0;
    for (const Column& column : binning.columns) bytes += column.cuts.size() * sizeof(double);
    for (const Tree& tree : trees) {
        bytes += tree.nodes.size() * sizeof(NodeWord) + tree.sets.size() * sizeof(std::uint32_t) +
                 tree.values.size() * sizeof(double) + tree.records.size() * sizeof(NodeRecord);
    }
    return bytes;
}

template <class Code>
void find_leaves(const Tree& tree, CodeBlock<Code> block, std::uint32_t* leaves) {
    const NodeWord* nodes = tree.nodes.data();
    if (!tree.sets.empty()) {
        descend(block, leaves, [&](const Code* row, std::uint32_t& at) { return step_anywhere(tree, row, at); });
    } else if (block.has_missing) {
        descend(block, leaves,
                [=](const Code* row, std::uint32_t& at) { return step_numbers<Code, true>(nodes, row, at); });
    } else {
        descend(block, leaves,
                [=](const Code* row, std::uint32_t& at) { return step_numbers<Code, false>(nodes, row, at); });
    }
}

template void find_leaves<std::uint8_t>(const Tree&, CodeBlock<std::uint8_t>, std::uint32_t*);
template void find_leaves<std::uint16_t>(const Tree&, CodeBlock<std::uint16_t>, std::uint32_t*);

void predict(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out) {
    const std::size_t n_outputs = forest.n_outputs;
    const auto n_trees = static_cast<double>(forest.trees.size());
    with_code_type(forest, [&]<class Code>(Code) {
        constexpr std::size_t few_rows = 4;
        if (n_rows <= few_rows) {
            std::vector<Code> codes(columns.size());
            std::vector<std::uint32_t> leaves(forest.trees.size());
            for (std::size_t i = 0; i < n_rows; ++i) {
                double* sums = out + i * n_outputs;
                std::fill_n(sums, n_outputs, 0.0);
                encode_row(forest.binning, columns, i, codes.data());
                descend_trees<Code>(forest.trees, codes.data(), leaves.data());
                for (std::size_t t = 0; t < leaves.size(); ++t)
                    add_vote(forest.trees[t], leaves[t], n_outputs, rule, sums);
                for (std::size_t k = 0; k < n_outputs; ++k) sums[k] /= n_trees;
            }
            return;
        }
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            std::vector<std::uint32_t> leaves(block.n_rows);
            double* sums = out + begin * n_outputs;
            std::fill_n(sums, block.n_rows * n_outputs, 0.0);
            for (const Tree& tree : forest.trees) {
                find_leaves(tree, block, leaves.data());
                for (std::size_t i = 0; i < block.n_rows; ++i)
                    add_vote(tree, leaves[i], n_outputs, rule, sums + i * n_outputs);
            }
            for (std::size_t i = 0; i < block.n_rows * n_outputs; ++i) sums[i] /= n_trees;
        });
    });
}

void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out) {
    const std::size_t n_outputs = forest.n_outputs;
    with_code_type(forest, [&]<class Code>(Code) {
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            std::vector<std::uint32_t> leaves(block.n_rows);
            for (std::size_t t = 0; t < forest.trees.size(); ++t) {
                const Tree& tree = forest.trees[t];
                find_leaves(tree, block, leaves.data());
                for (std::size_t i = 0; i < block.n_rows; ++i) {
                    std::copy_n(tree.values.data() + address_of(tree.nodes[leaves[i]]) * n_outputs, n_outputs,
                                out + ((t * n_rows) + begin + i) * n_outputs);
                }
            }
        });
    });
}

void apply(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out) {
    const std::size_t n_trees = forest.trees.size();
    with_code_type(forest, [&]<class Code>(Code) {
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            std::vector<std::uint32_t> leaves(block.n_rows);
            for (std::size_t t = 0; t < n_trees; ++t) {
                find_leaves(forest.trees[t], block, leaves.data());
                for (std::size_t i = 0; i < block.n_rows; ++i) out[(begin + i) * n_trees + t] = leaves[i];
            }
        });
    });
}

namespace {

// Rewrites the thresholds of one column of numbers by new_threshold(old).
template <class NewThreshold>
void renumber(Tree& tree, NewThreshold new_threshold) {
    for (NodeWord& word : tree.nodes) {
        if (is_leaf(word) || is_category(word)) continue;
        const std::uint32_t column = column_of(word);
        word =
            number_word(column, new_threshold(column, threshold_of(word)), missing_goes_right(word), address_of(word));
    }
}

}  // namespace

void drop_unused_cuts(Forest& forest, int n_threads) {
    auto& columns = forest.binning.columns;
    // used[j][t]: some node asks whether a code is <= t; then, how many of the thresholds <= t are asked about.
    std::vector<std::vector<std::uint32_t>> used(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) used[j].assign(columns[j].cuts.size() + 1, 0);
    std::vector<std::uint8_t> is_used(columns.size(), 0);
    for_each_task(forest.trees.size(), n_threads, {}, [&](std::size_t t, int) {
        for (const NodeWord word : forest.trees[t].nodes) {
            if (is_leaf(word)) continue;
            const std::uint32_t column = column_of(word), threshold = threshold_of(word);
            std::atomic_ref(is_used[column]).store(1, std::memory_order_relaxed);
            if (is_category(word) || threshold >= used[column].size()) continue;
            std::atomic_ref(used[column][threshold]).store(1, std::memory_order_relaxed);
        }
    });
    for (std::size_t j = 0; j < columns.size(); ++j) {
        Column& column = columns[j];
        column.is_used = is_used[j] != 0;
        if (column.is_category || column.n_bins == 0) continue;
        std::vector<double> cuts;
        used[j][0] = 0;
        for (std::size_t t = 1; t < used[j].size(); ++t) {
            if (used[j][t] != 0) cuts.push_back(column.cuts[t - 1]);
            used[j][t] = static_cast<std::uint32_t>(cuts.size());
        }
        column.n_bins = static_cast<std::uint32_t>(cuts.size()) + 1;
        column.cuts = std::move(cuts);
    }
    for_each_task(forest.trees.size(), n_threads, {}, [&](std::size_t t, int) {
        renumber(forest.trees[t], [&](std::uint32_t j, std::uint32_t threshold) {
            return threshold < used[j].size() ? used[j][threshold] : columns[j].n_bins;
        });
    });
}

void append_trees(Forest& forest, Forest more) {
    auto& columns = forest.binning.columns;
    std::vector<std::vector<double>> merged(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        std::ranges::set_union(columns[j].cuts, more.binning.columns[j].cuts, std::back_inserter(merged[j]));
    }
    auto renumber_all = [&](std::vector<Tree>& trees, const std::vector<Column>& old) {
        for (Tree& tree : trees) {
            renumber(tree, [&](std::uint32_t j, std::uint32_t t) -> std::uint32_t {
                if (t == 0) return 0;
                if (t > old[j].cuts.size()) return static_cast<std::uint32_t>(merged[j].size()) + 1;
                return 1 + static_cast<std::uint32_t>(std::ranges::lower_bound(merged[j], old[j].cuts[t - 1]) -
                                                      merged[j].begin());
            });
        }
    };
    renumber_all(forest.trees, columns);
    renumber_all(more.trees, more.binning.columns);
    for (std::size_t j = 0; j < columns.size(); ++j) {
        columns[j].is_used = columns[j].is_used || more.binning.columns[j].is_used;
        if (columns[j].is_category) continue;
        if (merged[j].size() >= 65535) throw std::length_error("The cuts of the two forests outgrow 16-bit codes.");
        columns[j].cuts = std::move(merged[j]);
        columns[j].n_bins = static_cast<std::uint32_t>(columns[j].cuts.size()) + 1;
    }
    std::ranges::move(more.trees, std::back_inserter(forest.trees));
}

}  // namespace committee
