#include "prediction/leaf_search.h"

#include <algorithm>
#include <array>

#include "prediction/vector_descent.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// The number of nodes that fit in the second cache next to a block of rows.
constexpr std::size_t most_near_nodes = std::size_t{1} << 15;

// Rows that descend a tree together: enough to hide the latency of memory, few enough for the first cache.
constexpr std::size_t group_rows = 128;

// Moves a row one level down and prefetches its next node, which is not needed before the other rows of the group have
// moved. A row at a leaf stays there; this is computed without a branch, which would be unpredictable. Returns false at
// a leaf.
template <class Code, bool has_missing>
[[gnu::always_inline]] inline bool step_numbers(const NodeWord* nodes, const Code* row, std::uint32_t& at) {
    const NodeWord word = nodes[at];
    const std::uint32_t next = next_number_node<has_missing>(word, row[column_of(word)]);
    const auto stays = static_cast<std::uint32_t>(static_cast<std::int64_t>(word) >> 63);
    at = next ^ ((next ^ at) & stays);
    __builtin_prefetch(nodes + at);
    return stays == 0;
}

template <class Code>
bool step_anywhere(const TreeView& tree, const Code* row, std::uint32_t& at) {
    if (tree.sets == nullptr) return step_numbers<Code, true>(tree.nodes, row, at);
    const NodeWord word = tree.nodes[at];
    if (!is_leaf(word)) at = next_node(word, row[column_of(word)], tree.sets);
    return !is_leaf(word);
}

// Moves the rows of a group down until all are at leaves; step(i) returns whether row i can move on. The first steps
// move all rows, since hardly any row reaches its leaf so early. Afterwards, rows at leaves are removed from the list.
template <class Step>
void walk_group(std::size_t n, std::size_t first_steps, Step step) {
    std::array<std::uint8_t, group_rows> on_their_way;
    bool goes_on = true;
    for (std::size_t k = 0; k < first_steps && goes_on; ++k) {
        goes_on = false;
        for (std::size_t i = 0; i < n; ++i) goes_on |= step(i);
    }
    for (std::size_t i = 0; i < n; ++i) on_their_way[i] = static_cast<std::uint8_t>(i);
    for (std::size_t n_on = goes_on ? n : 0; n_on > 0;) {
        std::size_t n_still = 0;
        for (std::size_t k = 0; k < n_on; ++k) {
            const std::uint8_t i = on_their_way[k];
            on_their_way[n_still] = i;
            n_still += step(i) ? 1 : 0;
        }
        n_on = n_still;
    }
}

// Finds the leaves below the nodes in `nodes`.
template <class Code, class Step>
void descend(CodeBlock<Code> block, std::uint32_t* nodes, Step step) {
    constexpr std::size_t first_steps = 3;
    std::array<const Code*, group_rows> rows;
    for (std::size_t begin = 0; begin < block.n_rows; begin += group_rows) {
        const std::size_t n = std::min(group_rows, block.n_rows - begin);
        std::uint32_t* at = nodes + begin;
        for (std::size_t i = 0; i < n; ++i) rows[i] = block.row(begin + i);
        walk_group(n, first_steps, [&](std::size_t i) { return step(rows[i], at[i]); });
    }
}

template <class Code>
void descend_tree(const Tree& tree, CodeBlock<Code> block, std::uint32_t* at) {
    const NodeWord* nodes = tree.nodes.data();
    if (!tree.sets.empty()) {
        const TreeView view(tree);
        descend(block, at, [=](const Code* row, std::uint32_t& node) { return step_anywhere(view, row, node); });
    } else if (block.has_missing) {
        descend(block, at,
                [=](const Code* row, std::uint32_t& node) { return step_numbers<Code, true>(nodes, row, node); });
    } else {
        descend(block, at,
                [=](const Code* row, std::uint32_t& node) { return step_numbers<Code, false>(nodes, row, node); });
    }
}

// Prefetches a whole tree into the second cache, if it fits and the rows will visit most of its nodes. The top levels
// are evaluated meanwhile.
void fetch_nodes(const Tree& tree, std::size_t n_rows) {
    constexpr std::size_t nodes_of_a_line = 64 / sizeof(NodeWord);
    constexpr int second_cache = 2;
    if (tree.nodes.size() > std::min(most_near_nodes, 4 * n_rows)) return;
    for (std::size_t i = 0; i < tree.nodes.size(); i += nodes_of_a_line) {
        __builtin_prefetch(tree.nodes.data() + i, 0, second_cache);
    }
}

// Finds the leaves of one row in a group of trees.
template <class Step>
void descend_group(std::span<const TreeView> trees, std::uint32_t* at, Step step) {
    constexpr std::size_t first_steps = 8;
    for (std::size_t t = 0; t < trees.size(); ++t) {
        at[t] = 0;
        __builtin_prefetch(trees[t].nodes);
    }
    walk_group(trees.size(), first_steps, [&](std::size_t t) { return step(trees[t], at[t]); });
}

}  // namespace

template <class Code>
void find_leaves(const Tree& tree, CodeBlock<Code> block, std::uint32_t* leaves) {
    std::fill_n(leaves, block.n_rows, 0U);
    descend_tree(tree, block, leaves);
}

template <class Code>
void descend_trees(std::span<const TreeView> trees, const Code* row, bool has_missing, std::uint32_t* leaves) {
    for (std::size_t begin = 0; begin < trees.size(); begin += group_rows) {
        const auto group = trees.subspan(begin, std::min(group_rows, trees.size() - begin));
        const bool has_sets = std::ranges::any_of(group, [](const TreeView& tree) { return tree.sets != nullptr; });
        if (has_sets) {
            descend_group(group, leaves + begin,
                          [=](const TreeView& tree, std::uint32_t& at) { return step_anywhere(tree, row, at); });
        } else if (has_missing) {
            descend_group(group, leaves + begin, [=](const TreeView& tree, std::uint32_t& at) {
                return step_numbers<Code, true>(tree.nodes, row, at);
            });
        } else {
            descend_group(group, leaves + begin, [=](const TreeView& tree, std::uint32_t& at) {
                return step_numbers<Code, false>(tree.nodes, row, at);
            });
        }
    }
}

template <class Code>
Reached Descent<Code>::reach(std::size_t t, CodeBlock<Code> block, Scratch& scratch) const {
    const Tree& tree = trees_[t];
    scratch.leaves.resize(block.n_rows);
    if (tops_.empty() || !tops_[t - first_].levels.is_worth_evaluating()) {
        find_leaves(tree, block, scratch.leaves.data());
        return {nullptr, scratch.leaves.data()};
    }
    const Top& top = tops_[t - first_];
    const std::size_t n = block.n_rows - block.n_rows % TopLevels<Code>::n_rows;
    scratch.exits.resize(block.n_rows);
    fetch_nodes(tree, block.n_rows);
    find_exits(top.levels, block.by_column, block.stride, n, block.has_missing, scratch.exits.data());
    if (top.levels.is_whole) {
        for (std::size_t i = 0; i < n; ++i) scratch.leaves[i] = top.levels.exits[scratch.exits[i]];
        CodeBlock<Code> rest = block;
        rest.codes += n * block.row_stride;
        rest.n_rows -= n;
        find_leaves(tree, rest, scratch.leaves.data() + n);
        return {nullptr, scratch.leaves.data()};
    }
    // Rows with the same exit continue together, while their subtree is in the first cache.
    std::array<std::uint32_t, TopLevels<Code>::most_exits + 1> begins{};
    for (std::size_t i = 0; i < n; ++i) ++begins[scratch.exits[i] + 1U];
    for (std::size_t exit = 1; exit < begins.size(); ++exit) begins[exit] += begins[exit - 1];
    scratch.rows.resize(block.n_rows);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint8_t exit = scratch.exits[i];
        const std::uint32_t place = begins[exit]++;
        scratch.rows[place] = static_cast<std::uint32_t>(i);
        scratch.leaves[place] = top.levels.exits[exit];
    }
    for (std::size_t i = n; i < block.n_rows; ++i) {
        scratch.rows[i] = static_cast<std::uint32_t>(i);
        scratch.leaves[i] = 0;
    }
    // begins[exit] has been advanced to the end of each exit's rows.
    leave_top_levels(tree, top.below_exits, block, begins, scratch);
    return {scratch.rows.data(), scratch.leaves.data()};
}

template <class Code>
void Descent<Code>::leave_top_levels(const Tree& tree, std::span<const FiveLevels> below_exits,
                                     const CodeBlock<Code>& block, std::span<const std::uint32_t> ends,
                                     Scratch& scratch) const {
    // Rows below the same exit of the five levels continue together, while their codes are in a near cache. If an exit
    // has few rows, they continue together with those of the next exit.
    constexpr std::size_t rows_worth_a_walk = 256;
    // A walk prefetches the next nodes, so it is faster than vectors if the tree does not fit in the cache.
    const bool uses_vectors = tree.nodes.size() <= most_near_nodes && can_descend_vectors(tree, n_columns_);
    std::size_t begin = 0, walked = 0;
    auto walk_on = [&](std::size_t end) {
        const std::span rows(scratch.rows.data() + walked, end - walked);
        std::uint32_t* nodes = scratch.leaves.data() + walked;
        if (uses_vectors) {
            descend_vectors(tree, block.codes, block.row_stride, rows, nodes);
        } else {
            CodeBlock<Code> some = block;
            some.rows = rows.data();
            some.n_rows = rows.size();
            descend_tree(tree, some, nodes);
        }
        walked = end;
    };
    for (std::size_t exit = 0; exit < below_exits.size(); begin = ends[exit++]) {
        descend_five_levels(below_exits[exit], block.codes, block.row_stride, n_columns_,
                            {scratch.rows.data() + begin, ends[exit] - begin}, scratch.leaves.data() + begin);
        if (ends[exit] - walked >= rows_worth_a_walk) walk_on(ends[exit]);
    }
    walk_on(block.n_rows);
}

template <class Code>
Descent<Code>::Descent(std::span<const Tree> trees, std::size_t first, std::size_t last, std::size_t n_rows,
                       std::size_t n_columns, int n_threads, const Stop& stop)
    : trees_(trees), first_(first), n_columns_(n_columns) {
    constexpr std::size_t rows_worth_top_levels = 512, rows_worth_five_levels = 2048;
    if (n_rows < rows_worth_top_levels) return;
    tops_.resize(last - first);
    const bool has_five_levels = n_rows >= rows_worth_five_levels && can_descend_five_levels(n_columns);
    for_each_task(tops_.size(), n_threads, stop, [&](std::size_t i, int) {
        const Tree& tree = trees[first + i];
        auto& [levels, below_exits] = tops_[i];
        levels = make_top_levels<Code>(tree);
        if (!has_five_levels || levels.is_whole) return;
        for (std::size_t exit = 0; exit < levels.n_exits; ++exit)
            below_exits.push_back(make_five_levels(tree, levels.exits[exit]));
    });
}

template class Descent<std::uint8_t>;
template class Descent<std::uint16_t>;
template void find_leaves<std::uint8_t>(const Tree&, CodeBlock<std::uint8_t>, std::uint32_t*);
template void find_leaves<std::uint16_t>(const Tree&, CodeBlock<std::uint16_t>, std::uint32_t*);
template void descend_trees<std::uint8_t>(std::span<const TreeView>, const std::uint8_t*, bool, std::uint32_t*);
template void descend_trees<std::uint16_t>(std::span<const TreeView>, const std::uint16_t*, bool, std::uint32_t*);

}  // namespace committee
