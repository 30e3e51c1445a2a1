#include "forest/packing.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "numbers/packed_bytes.h"
#include "tree/tree.h"

namespace committee {
namespace {

constexpr Requirement require{"This is not a forest"};

// The nodes of all trees, by kind of node and in their order.
struct PackedNodes {
    std::vector<std::uint32_t> columns;        // by node: 0 for a leaf, 1 + the column otherwise
    std::vector<std::uint8_t> sides;           // of inner nodes, eight to a byte: 1 if missing goes right
    std::vector<std::uint8_t> is_category;     // of inner nodes, likewise; empty if there are no categories
    std::vector<std::uint16_t> thresholds;     // of nodes that split numbers
    std::vector<std::uint32_t> sets;           // of nodes that split categories: the address of the set
    std::vector<std::uint32_t> left_children;  // of nodes that split numbers; empty if trees were grown depth first
    std::vector<std::uint32_t> values;  // of leaves: 0 for the next of the tree's own values, 1 + the value otherwise
    std::uint64_t n_shared = 0;         // values of a tree that come before its leaves' own

    template <class Stream>
    void visit(Stream& stream) {
        visit_parts(stream, columns, sides, is_category, thresholds, sets, left_children, values, n_shared);
    }
};

// The left children of a tree that is grown depth first, left before right, with the children of a node appended when
// it is split. 0 for leaves. is_inner(i) refers to node i of n_nodes.
template <class IsInner>
std::vector<std::uint32_t> depth_first_children(std::size_t n_nodes, IsInner is_inner) {
    std::vector<std::uint32_t> left(n_nodes, 0), stack(1, 0);
    std::uint32_t next = 1;
    while (!stack.empty()) {
        const std::uint32_t node = stack.back();
        stack.pop_back();
        if (node >= n_nodes || !is_inner(node)) continue;
        left[node] = next;
        stack.push_back(next + 1);
        stack.push_back(next);
        next += 2;
    }
    return left;
}

bool are_depth_first(const ForestArrays& arrays) {
    for (std::size_t t = 0; t + 1 < arrays.node_offsets.size(); ++t) {
        const auto nodes = part(arrays.nodes, arrays.node_offsets, t);
        const auto left = depth_first_children(nodes.size(), [&](std::size_t i) { return !is_leaf(nodes[i]); });
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (!is_leaf(nodes[i]) && !is_category(nodes[i]) && address_of(nodes[i]) != left[i]) return false;
        }
    }
    return true;
}

// The leaves of a tree have their own values in order, which come after the values that they share, if any.
std::vector<std::uint32_t> pack_values(const ForestArrays& arrays, std::uint64_t n_shared) {
    std::vector<std::uint32_t> values(arrays.nodes.size());
    std::size_t n_values = 0;
    for (std::size_t t = 0; t + 1 < arrays.node_offsets.size(); ++t) {
        std::uint64_t next = n_shared;
        for (const NodeWord word : part(arrays.nodes, arrays.node_offsets, t)) {
            // Whether a node is a leaf cannot be predicted, so there are no branches.
            const bool is_own = is_leaf(word), is_next = is_own && address_of(word) == next;
            values[n_values] = is_next ? 0 : address_of(word) + 1;
            n_values += is_own ? 1 : 0;
            next += is_next ? 1 : 0;
        }
    }
    values.resize(n_values);
    return values;
}

PackedNodes pack_nodes(const ForestArrays& arrays) {
    PackedNodes packed;
    const bool keeps_children = !are_depth_first(arrays);
    const bool has_categories = std::ranges::any_of(arrays.columns.is_category, [](auto each) { return each != 0; });
    const std::size_t n_nodes = arrays.nodes.size(), n_bytes = (n_nodes / 2 + 7) / 8;
    packed.columns.resize(n_nodes);
    packed.thresholds.reserve(n_nodes / 2);
    packed.sides.resize(n_bytes);
    packed.is_category.resize(has_categories ? n_bytes : 0);
    std::size_t n_inner = 0;
    for (std::size_t i = 0; i < n_nodes; ++i) {
        const NodeWord word = arrays.nodes[i];
        if (is_leaf(word)) continue;
        packed.columns[i] = column_of(word) + 1;
        set_bit(packed.sides, n_inner, missing_goes_right(word));
        if (has_categories) set_bit(packed.is_category, n_inner, is_category(word));
        ++n_inner;
        if (is_category(word)) {
            packed.sets.push_back(address_of(word));
            continue;
        }
        packed.thresholds.push_back(static_cast<std::uint16_t>(threshold_of(word)));
        if (keeps_children) packed.left_children.push_back(address_of(word));
    }
    packed.values = pack_values(arrays, 0);
    // Leaves of one class share one value per class, unless the trees have values for all nodes or are boosted.
    if (const std::uint32_t largest = packed.values.empty() ? 0 : std::ranges::max(packed.values); largest > 0) {
        if (std::vector<std::uint32_t> values = pack_values(arrays, arrays.n_outputs);
            std::ranges::max(values) < largest) {
            packed.values = std::move(values);
            packed.n_shared = arrays.n_outputs;
        }
    }
    return packed;
}

// Takes the elements of a vector in their order.
template <class Element>
class InTurn {
  public:
    explicit InTurn(const std::vector<Element>& elements) : elements_(elements) {}
    Element next() {
        require(at_ < elements_.size(), "a node is incomplete");
        return elements_[at_++];
    }

  private:
    const std::vector<Element>& elements_;
    std::size_t at_ = 0;
};

std::vector<NodeWord> unpack_nodes(const PackedNodes& packed, const std::vector<std::uint64_t>& offsets) {
    const std::size_t n_inner = packed.columns.size() - std::ranges::count(packed.columns, 0U);
    const std::size_t n_bytes = (packed.columns.size() / 2 + 7) / 8;
    require(n_inner <= 8 * n_bytes && packed.sides.size() == n_bytes &&
                (packed.is_category.empty() || packed.is_category.size() == n_bytes),
            "the sides of missing values do not fit the nodes");
    require(offsets.back() == packed.columns.size(), "the offsets of the nodes are out of order");
    std::vector<NodeWord> nodes;
    nodes.reserve(packed.columns.size());
    InTurn thresholds(packed.thresholds);
    InTurn sets(packed.sets), left_children(packed.left_children), values(packed.values);
    std::size_t inner = 0;
    for (std::size_t t = 0; t + 1 < offsets.size(); ++t) {
        const auto columns = part(packed.columns, offsets, t);
        std::vector<std::uint32_t> left;
        if (packed.left_children.empty()) {
            left = depth_first_children(columns.size(), [&](std::size_t i) { return columns[i] != 0; });
        }
        std::uint64_t own = packed.n_shared;
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (columns[i] == 0) {
                const std::uint32_t known = values.next();
                const std::uint64_t value = known == 0 ? own++ : known - 1;
                require(value <= max_address, "a leaf's value is out of bounds");
                nodes.push_back(leaf_word(static_cast<std::uint32_t>(value)));
                continue;
            }
            const std::uint32_t column = columns[i] - 1;
            require(column < max_columns, "a node splits on a column that does not exist");
            const bool missing_right = bit_at(packed.sides, inner);
            const bool splits_categories = !packed.is_category.empty() && bit_at(packed.is_category, inner);
            ++inner;
            const std::uint32_t address = splits_categories ? sets.next()
                                          : left.empty()    ? left_children.next()
                                                            : left[i];
            require(address <= max_address, "a child is out of bounds");
            nodes.push_back(splits_categories ? category_word(column, missing_right, address)
                                              : number_word(column, thresholds.next(), missing_right, address));
        }
    }
    return nodes;
}

// The numbers of one column have more in common than those of several, unless columns share values. The shorter form is
// written.
void visit_cuts(PackedWriter& writer, ColumnArrays& columns) {
    visit_parts(writer, Offsets{columns.cut_offsets});
    PackedWriter together, apart;
    for (std::size_t j = 0; j + 1 < columns.cut_offsets.size(); ++j) {
        apart.doubles(part(columns.cuts, columns.cut_offsets, j));
    }
    // Cuts of one column differ, so values repeat only in several columns.
    bool are_together = estimate_distinct(columns.cuts) < columns.cuts.size() / 8 * 7;
    if (are_together) together.doubles(columns.cuts);
    are_together = are_together && together.n_bytes() < apart.n_bytes();
    visit_parts(writer, are_together);
    writer.append(are_together ? together : apart);
}

void visit_cuts(PackedReader& reader, ColumnArrays& columns) {
    bool are_together = false;
    visit_parts(reader, Offsets{columns.cut_offsets}, are_together);
    for (std::size_t j = 0; j + 1 < (are_together ? 2 : columns.cut_offsets.size()); ++j) {
        std::vector<double> cuts;
        reader.doubles(cuts);
        append(columns.cuts, cuts);
    }
}

struct PackedForest {
    ForestArrays arrays;
    PackedNodes nodes;

    template <class Stream>
    void visit(Stream& stream) {
        ForestArrays& a = arrays;
        visit_parts(stream, a.n_outputs, a.is_classifier, a.turns, a.n_scores, a.start, a.link, a.scale,
                    Offsets{a.node_offsets}, nodes, a.sets, Offsets{a.set_offsets}, a.values, Offsets{a.value_offsets},
                    a.leaf_weights, a.impurities, a.weights, a.n_rows);
        visit_cuts(stream, a.columns);
        visit_parts(stream, a.columns.n_bins, a.columns.is_category, a.columns.is_used, a.columns.lowest,
                    a.columns.highest);
    }
};

}  // namespace

std::vector<std::uint8_t> pack(ForestArrays arrays) {
    PackedNodes nodes = pack_nodes(arrays);
    return to_bytes(PackedForest{std::move(arrays), std::move(nodes)});
}

ForestArrays unpack_forest(std::span<const std::uint8_t> bytes) {
    auto [arrays, nodes] = from_bytes<PackedForest>(bytes, require);
    arrays.nodes = unpack_nodes(nodes, arrays.node_offsets);
    return std::move(arrays);
}

}  // namespace committee
