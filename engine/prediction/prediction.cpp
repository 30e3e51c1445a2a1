#include "prediction/prediction.h"

#include <limits>
#include <type_traits>
#include <utility>

#include "threads/thread_team.h"

namespace committee {
namespace {

// Rows are encoded in large blocks, because a column's cuts stay in the cache while its values are encoded.
constexpr std::size_t made_bytes = std::size_t{1} << 22;
// Trees pass over smaller blocks of codes, which stay in the second cache.
constexpr std::size_t walked_bytes = std::size_t{1} << 19;

// The number of rows in a block, so that all threads get the same number of blocks.
template <class Code>
std::size_t rows_of_a_block(std::size_t block_bytes, std::size_t n_columns, std::size_t n_rows, int n_threads) {
    constexpr std::size_t fewest = 256;
    const std::size_t most = block_bytes / 32;
    const std::size_t fitting =
        std::clamp(block_bytes / std::max<std::size_t>(n_columns * sizeof(Code), 1), fewest, most);
    const auto n_shares = static_cast<std::size_t>(std::max(n_threads, 1));
    const std::size_t n_blocks = n_shares * ((n_rows + n_shares * fitting - 1) / (n_shares * fitting));
    const std::size_t rows = std::max((n_rows + n_blocks - 1) / n_blocks, fewest);
    return (rows + TopLevels<Code>::n_rows - 1) / TopLevels<Code>::n_rows * TopLevels<Code>::n_rows;
}

template <class Body>
void with_code_type(const Forest& forest, Body body) {
    if (forest.binning.is_wide()) {
        body(std::uint16_t{});
    } else {
        body(std::uint8_t{});
    }
}

// The approximate number of values read per row and tree.
constexpr std::size_t values_of_a_descent = 16;

// Calls body(first row, number of rows, reach) for blocks of rows. reach(t) returns the leaves of the block in tree t
// of [first, last).
template <class Body>
void for_each_block(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, const Stop& stop, Body body) {
    with_code_type(forest, [&]<class Code>(Code) {
        struct Own {
            std::vector<CodeLine<Code>> by_row;
            std::vector<Code> by_column;
            typename Descent<Code>::Scratch scratch;
            Polls polls;
        };
        const Descent<Code> descent(forest.trees, first, last, n_rows, columns.size(), n_threads, stop);
        const Encoder encoder(forest.binning, n_rows, n_threads);
        const std::size_t n_columns = columns.size();
        const std::size_t stride = CodeLine<Code>::stride(n_columns);
        const std::size_t made_rows = rows_of_a_block<Code>(made_bytes, n_columns, n_rows, n_threads);
        const std::size_t walked_rows = rows_of_a_block<Code>(walked_bytes, n_columns, made_rows, 1);
        std::vector<Own> owned(static_cast<std::size_t>(std::max(n_threads, 1)), Own{{}, {}, {}, Polls(stop)});
        for_each_task((n_rows + made_rows - 1) / made_rows, n_threads, stop, [&](std::size_t task, int thread) {
            const std::size_t begin = task * made_rows, n_made = std::min(made_rows, n_rows - begin);
            Own& own = owned[static_cast<std::size_t>(thread)];
            own.by_row.resize(CodeLine<Code>::n_lines(made_rows * stride));
            own.by_column.resize(made_rows * n_columns);
            Code* by_row = own.by_row.data()->codes.data();
            const bool has_missing = encoder.encode(columns, begin, n_made, by_row, stride, own.by_column.data());
            for (std::size_t from = 0; from < n_made; from += walked_rows) {
                const std::size_t n = std::min(walked_rows, n_made - from);
                const CodeBlock<Code> block{by_row + from * stride,      stride, n, nullptr, has_missing,
                                            own.by_column.data() + from, n_made};
                body(begin + from, n, [&](std::size_t t) {
                    own.polls.after(values_of_a_descent * n);
                    return descent.reach(t, block, own.scratch);
                });
            }
        });
    });
}

// The first score to which tree t adds.
std::size_t offset_of(const Forest& forest, std::size_t t) { return forest.turns ? t % forest.n_scores : 0; }

void start_scores(const Forest& forest, std::size_t n_rows, double* scores) {
    for (std::size_t i = 0; i < n_rows; ++i) std::ranges::copy(forest.start, scores + i * forest.n_scores);
}

// Whether the first `size` values of a tree are the unit vectors shared by its pure leaves. For few rows of many
// classes the check would cost more than it saves.
bool starts_with_units(const Tree& tree, std::size_t size, std::size_t n_rows) {
    constexpr std::size_t least_rows = 8;  // per class
    if (n_rows < least_rows * size || tree.values.size() < size * size) return false;
    for (std::size_t k = 0; k < size * size; ++k) {
        if (tree.values[k] != (k % (size + 1) == 0 ? 1.0 : 0.0)) return false;
    }
    return true;
}

// Adds the values of trees [first, last) to the scores of a block.
template <class Reach>
void add_trees(const Forest& forest, std::size_t n_rows, const Reach& reach, std::size_t first, std::size_t last,
               Rule rule, double* scores) {
    // The smallest sizes are compile-time constants, so that the compiler unrolls their loops.
    auto add = [&](const TreeView& tree, const Reached& reached, auto size, double* to) {
        for (std::size_t k = 0; k < n_rows; ++k) {
            add_vote(tree, reached.leaves[k], size, rule, to + reached.row(k) * forest.n_scores);
        }
    };
    // For a pure leaf, only one score changes.
    auto add_pure = [&](const TreeView& tree, const Reached& reached, std::size_t size, double* to) {
        for (std::size_t k = 0; k < n_rows; ++k) {
            double* sums = to + reached.row(k) * forest.n_scores;
            const std::uint32_t value = address_of(tree.nodes[reached.leaves[k]]);
            if (value < size) {
                sums[value] += 1;
            } else {
                add_vote(tree.values + value * size, size, rule, sums);
            }
        }
    };
    for (std::size_t t = first; t < last; ++t) {
        const Reached reached = reach(t);
        double* to = scores + offset_of(forest, t);
        switch (forest.leaf_size()) {
            case 1:
                add(TreeView(forest.trees[t]), reached, std::integral_constant<std::size_t, 1>(), to);
                break;
            case 2:
                add(TreeView(forest.trees[t]), reached, std::integral_constant<std::size_t, 2>(), to);
                break;
            default:
                if (starts_with_units(forest.trees[t], forest.leaf_size(), n_rows)) {
                    add_pure(TreeView(forest.trees[t]), reached, forest.leaf_size(), to);
                } else {
                    add(TreeView(forest.trees[t]), reached, forest.leaf_size(), to);
                }
        }
    }
}

constexpr std::size_t few_rows = 4;

// Predicts a few rows, each by descending several trees together.
template <class Code>
void predict_few(const Forest& forest, std::span<const TreeView> trees, const Encoder& encoder,
                 std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, double* out) {
    std::vector<Code> codes(columns.size());
    std::vector<std::uint32_t> leaves(trees.size());
    std::vector<double> scores(forest.n_scores);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::ranges::copy(forest.start, scores.begin());
        const bool has_missing = encoder.encode_row(columns, i, codes.data());
        descend_trees<Code>(trees, codes.data(), has_missing, leaves.data());
        for (std::size_t t = 0; t < leaves.size(); ++t) {
            add_vote(trees[t], leaves[t], forest.leaf_size(), rule, scores.data() + offset_of(forest, t));
        }
        link_scores(forest, 1, scores.data(), out + i * forest.n_outputs);
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
                 tree.values.size() * sizeof(double) + tree.leaf_weights.codes.size() +
                 tree.records.size() * sizeof(NodeRecord);
    }
    return bytes;
}

void predict(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop) {
    if (n_rows <= few_rows) {
        const Encoder encoder(forest.binning, n_rows, 1);
        const std::vector<TreeView> trees(forest.trees.begin(), forest.trees.end());
        with_code_type(
            forest, [&]<class Code>(Code) { predict_few<Code>(forest, trees, encoder, columns, n_rows, rule, out); });
        return;
    }
    const std::size_t n_trees = forest.trees.size();
    const bool in_place = forest.n_scores == forest.n_outputs;
    for_each_block(forest, columns, n_rows, 0, n_trees, n_threads, stop,
                   [&](std::size_t begin, std::size_t n, auto reach) {
                       std::vector<double> own(in_place ? 0 : n * forest.n_scores);
                       double* decision = out + begin * forest.n_outputs;
                       double* scores = in_place ? decision : own.data();
                       start_scores(forest, n, scores);
                       add_trees(forest, n, reach, 0, n_trees, rule, scores);
                       link_scores(forest, n, scores, decision);
                   });
}

Prepared::Prepared(const Forest& forest, Rule rule)
    : forest_(forest),
      rule_(rule),
      encoder_(forest.binning, std::numeric_limits<std::size_t>::max(), 1),
      trees_(forest.trees.begin(), forest.trees.end()) {}

void Prepared::predict(std::span<const ColumnView> columns, std::size_t n_rows, double* out, const Stop& stop) const {
    if (n_rows > few_rows) return committee::predict(forest_, columns, n_rows, rule_, 1, out, stop);
    with_code_type(
        forest_, [&]<class Code>(Code) { predict_few<Code>(forest_, trees_, encoder_, columns, n_rows, rule_, out); });
}

void predict_scores(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop) {
    for_each_block(forest, columns, n_rows, first, last, n_threads, stop,
                   [&](std::size_t begin, std::size_t n, auto reach) {
                       double* scores = out + begin * forest.n_scores;
                       if (first == 0) {
                           start_scores(forest, n, scores);
                       } else {
                           std::fill_n(scores, n * forest.n_scores, 0.0);
                       }
                       add_trees(forest, n, reach, first, last, Rule::mean, scores);
                   });
}

void predict_stages(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, const Stages& stages,
                    const double* before, int n_threads, double* out, const Stop& stop) {
    const std::size_t n_scores = forest.n_scores;
    for_each_block(forest, columns, n_rows, stages.first, stages.last, n_threads, stop,
                   [&](std::size_t begin, std::size_t n, auto reach) {
                       for (std::size_t stage = 0; stage < stages.count(); ++stage) {
                           double* scores = out + (stage * n_rows + begin) * n_scores;
                           const double* so_far = stage > 0           ? scores - n_rows * n_scores
                                                  : before == nullptr ? nullptr
                                                                      : before + begin * n_scores;
                           if (so_far == nullptr) {
                               start_scores(forest, n, scores);
                           } else {
                               std::copy_n(so_far, n * n_scores, scores);
                           }
                           const std::size_t first = stages.first + stage * stages.n_trees;
                           const std::size_t last = std::min(first + stages.n_trees, stages.last);
                           add_trees(forest, n, reach, first, last, Rule::mean, scores);
                       }
                   });
}

void link_scores(const Forest& forest, std::size_t n_rows, const double* scores, double* out) {
    apply_link(forest.link, forest.scale, forest.trees.size(), n_rows, forest.n_scores, scores, out);
}

void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop) {
    const std::size_t n_trees = forest.trees.size(), size = forest.leaf_size();
    for_each_block(forest, columns, n_rows, 0, n_trees, n_threads, stop,
                   [&](std::size_t begin, std::size_t n, auto reach) {
                       for (std::size_t t = 0; t < n_trees; ++t) {
                           const Tree& tree = forest.trees[t];
                           const Reached reached = reach(t);
                           for (std::size_t k = 0; k < n; ++k) {
                               std::copy_n(tree.values.data() + address_of(tree.nodes[reached.leaves[k]]) * size, size,
                                           out + (t * n_rows + begin + reached.row(k)) * size);
                           }
                       }
                   });
}

void apply(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out, const Stop& stop) {
    const std::size_t n_trees = forest.trees.size();
    for_each_block(forest, columns, n_rows, 0, n_trees, n_threads, stop,
                   [&](std::size_t begin, std::size_t n, auto reach) {
                       for (std::size_t t = 0; t < n_trees; ++t) {
                           const Reached reached = reach(t);
                           for (std::size_t k = 0; k < n; ++k)
                               out[(begin + reached.row(k)) * n_trees + t] = reached.leaves[k];
                       }
                   });
}

}  // namespace committee
