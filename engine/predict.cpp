#include "predict.h"

#include <array>
#include <cmath>
#include <utility>

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

template <class Code>
std::size_t rows_of_a_block(std::size_t n_columns, std::size_t n_rows, int n_threads) {
    const std::size_t fitting = block_bytes / std::max<std::size_t>(n_columns * sizeof(Code), 1);
    const auto n_shares = static_cast<std::size_t>(std::max(n_threads, 1));
    return std::clamp(std::min(fitting, (n_rows + n_shares - 1) / n_shares), group_rows, most_block_rows);
}

// Calls body(first row, CodeBlock, thread) for blocks of encoded rows.
template <class Code, class Body>
void for_each_block(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                    Body body) {
    const std::size_t n_columns = columns.size();
    const std::size_t block_rows = rows_of_a_block<Code>(n_columns, n_rows, n_threads);
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

// The first score that tree t adds to.
std::size_t offset_of(const Forest& forest, std::size_t t) { return forest.turns ? t % forest.n_scores : 0; }

void start_scores(const Forest& forest, std::size_t n_rows, double* scores) {
    for (std::size_t i = 0; i < n_rows; ++i) std::ranges::copy(forest.start, scores + i * forest.n_scores);
}

template <class Code>
void add_trees(const Forest& forest, CodeBlock<Code> block, std::size_t first, std::size_t last, Rule rule,
               double* scores) {
    std::vector<std::uint32_t> leaves(block.n_rows);
    for (std::size_t t = first; t < last; ++t) {
        const Tree& tree = forest.trees[t];
        find_leaves(tree, block, leaves.data());
        double* to = scores + offset_of(forest, t);
        for (std::size_t i = 0; i < block.n_rows; ++i) {
            add_vote(tree, leaves[i], forest.leaf_size(), rule, to + i * forest.n_scores);
        }
    }
}

}  // namespace

Forest voting_forest(Binning binning, std::size_t n_outputs, bool is_classifier) {
    Forest forest;
    forest.binning = std::move(binning);
    forest.n_outputs = forest.n_scores = n_outputs;
    forest.is_classifier = is_classifier;
    forest.start.assign(n_outputs, 0.0);
    return forest;
}

Forest without_trees(const Forest& forest) {
    Forest bare = voting_forest(forest.binning, forest.n_outputs, forest.is_classifier);
    bare.n_scores = forest.n_scores;
    bare.turns = forest.turns;
    bare.start = forest.start;
    bare.link = forest.link;
    bare.scale = forest.scale;
    return bare;
}

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
    const bool in_place = forest.n_scores == forest.n_outputs;
    with_code_type(forest, [&]<class Code>(Code) {
        constexpr std::size_t few_rows = 4;
        if (n_rows <= few_rows) {
            std::vector<Code> codes(columns.size());
            std::vector<std::uint32_t> leaves(forest.trees.size());
            std::vector<double> scores(forest.n_scores);
            for (std::size_t i = 0; i < n_rows; ++i) {
                std::ranges::copy(forest.start, scores.begin());
                encode_row(forest.binning, columns, i, codes.data());
                descend_trees<Code>(forest.trees, codes.data(), leaves.data());
                for (std::size_t t = 0; t < leaves.size(); ++t) {
                    add_vote(forest.trees[t], leaves[t], forest.leaf_size(), rule,
                             scores.data() + offset_of(forest, t));
                }
                link_scores(forest, 1, scores.data(), out + i * forest.n_outputs);
            }
            return;
        }
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            std::vector<double> own(in_place ? 0 : block.n_rows * forest.n_scores);
            double* decision = out + begin * forest.n_outputs;
            double* scores = in_place ? decision : own.data();
            start_scores(forest, block.n_rows, scores);
            add_trees(forest, block, 0, forest.trees.size(), rule, scores);
            link_scores(forest, block.n_rows, scores, decision);
        });
    });
}

void predict_scores(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out) {
    with_code_type(forest, [&]<class Code>(Code) {
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            double* scores = out + begin * forest.n_scores;
            if (first == 0) {
                start_scores(forest, block.n_rows, scores);
            } else {
                std::fill_n(scores, block.n_rows * forest.n_scores, 0.0);
            }
            add_trees(forest, block, first, last, Rule::mean, scores);
        });
    });
}

std::size_t count_stages(const Forest& forest, std::size_t trees_per_stage) {
    return (forest.trees.size() + trees_per_stage - 1) / trees_per_stage;
}

void predict_stages(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows,
                    std::size_t trees_per_stage, int n_threads, double* out) {
    const std::size_t n_stages = count_stages(forest, trees_per_stage);
    with_code_type(forest, [&]<class Code>(Code) {
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            const std::size_t size = block.n_rows * forest.n_scores;
            for (std::size_t stage = 0; stage < n_stages; ++stage) {
                double* scores = out + (stage * n_rows + begin) * forest.n_scores;
                if (stage == 0) {
                    start_scores(forest, block.n_rows, scores);
                } else {
                    std::copy_n(scores - n_rows * forest.n_scores, size, scores);
                }
                const std::size_t first = stage * trees_per_stage;
                add_trees(forest, block, first, std::min(first + trees_per_stage, forest.trees.size()), Rule::mean,
                          scores);
            }
        });
    });
}

void add_scores(const Forest& forest, const Table& table, std::size_t first, std::size_t last, int n_threads,
                double* scores) {
    const bool has_missing = std::ranges::count(table.has_missing, true) > 0;
    std::visit(
        [&]<class Code>(const Codes<Code>& codes) {
            const std::size_t rows = rows_of_a_block<Code>(codes.n_columns, codes.n_rows, n_threads);
            for_each_task((codes.n_rows + rows - 1) / rows, n_threads, {}, [&](std::size_t task, int) {
                const std::size_t begin = task * rows, n = std::min(rows, codes.n_rows - begin);
                const CodeBlock<Code> block{codes.row(begin), codes.n_columns, n, nullptr, has_missing};
                add_trees(forest, block, first, last, Rule::mean, scores + begin * forest.n_scores);
            });
        },
        table.codes);
}

void link_scores(const Forest& forest, std::size_t n_rows, const double* scores, double* out) {
    apply_link(forest.link, forest.scale, forest.trees.size(), n_rows, forest.n_scores, scores, out);
}

void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out) {
    const std::size_t size = forest.leaf_size();
    with_code_type(forest, [&]<class Code>(Code) {
        for_each_block<Code>(forest, columns, n_rows, n_threads, [&](std::size_t begin, CodeBlock<Code> block, int) {
            std::vector<std::uint32_t> leaves(block.n_rows);
            for (std::size_t t = 0; t < forest.trees.size(); ++t) {
                const Tree& tree = forest.trees[t];
                find_leaves(tree, block, leaves.data());
                for (std::size_t i = 0; i < block.n_rows; ++i) {
                    std::copy_n(tree.values.data() + address_of(tree.nodes[leaves[i]]) * size, size,
                                out + ((t * n_rows) + begin + i) * size);
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

}  // namespace committee
