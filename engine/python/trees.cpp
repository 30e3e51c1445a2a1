// Operations on grown trees: serialise, join, select, inspect, prune, predict quantiles. Also grows stumps.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <tuple>

#include "forest/packing.h"
#include "forest/quantiles.h"
#include "forest/state.h"
#include "python/arguments/arrays.h"
#include "python/arguments/named_arrays.h"
#include "python/arguments/names.h"
#include "python/arguments/stop.h"
#include "python/arguments/targets.h"
#include "tree/cut_recoding.h"
#include "tree/pruning.h"
#include "tree/stump.h"

namespace committee {
namespace {

nb::dict arrays_of(const Forest& forest) {
    ForestArrays arrays;
    {
        const nb::gil_scoped_release release;
        arrays = to_arrays(forest);
    }
    nb::dict result;
    result["n_outputs"] = to_numpy(std::vector<std::uint64_t>{arrays.n_outputs});
    result["is_classifier"] = to_numpy(std::vector<std::uint8_t>{arrays.is_classifier});
    result["n_scores"] = to_numpy(std::vector<std::uint64_t>{arrays.n_scores});
    result["turns"] = to_numpy(std::vector<std::uint8_t>{arrays.turns});
    result["start"] = to_numpy(std::move(arrays.start));
    result["link"] = to_numpy(std::vector<std::uint8_t>{arrays.link});
    result["scale"] = to_numpy(std::vector<double>{arrays.scale});
    result["nodes"] = to_numpy(std::move(arrays.nodes));
    result["node_offsets"] = to_numpy(std::move(arrays.node_offsets));
    result["sets"] = to_numpy(std::move(arrays.sets));
    result["set_offsets"] = to_numpy(std::move(arrays.set_offsets));
    result["values"] = to_numpy(std::move(arrays.values));
    result["value_offsets"] = to_numpy(std::move(arrays.value_offsets));
    result["impurities"] = to_numpy(std::move(arrays.impurities));
    result["weights"] = to_numpy(std::move(arrays.weights));
    result["n_rows"] = to_numpy(std::move(arrays.n_rows));
    put_leaf_weights(result, std::move(arrays.leaf_weights));
    put_columns(result, std::move(arrays.columns));
    return result;
}

Forest forest_of(const nb::dict& from) {
    ForestArrays arrays;
    arrays.n_outputs = read_scalar<std::uint64_t>(from, "n_outputs", "a forest");
    arrays.is_classifier = read_scalar<std::uint8_t>(from, "is_classifier", "a forest") != 0;
    arrays.n_scores = read_scalar<std::uint64_t>(from, "n_scores", "a forest");
    arrays.turns = read_scalar<std::uint8_t>(from, "turns", "a forest") != 0;
    arrays.start = read_vector<double>(from, "start", "a forest");
    arrays.link = read_scalar<std::uint8_t>(from, "link", "a forest");
    arrays.scale = read_scalar<double>(from, "scale", "a forest");
    arrays.nodes = read_vector<std::uint64_t>(from, "nodes", "a forest");
    arrays.node_offsets = read_vector<std::uint64_t>(from, "node_offsets", "a forest");
    arrays.sets = read_vector<std::uint32_t>(from, "sets", "a forest");
    arrays.set_offsets = read_vector<std::uint64_t>(from, "set_offsets", "a forest");
    arrays.values = read_vector<double>(from, "values", "a forest");
    arrays.value_offsets = read_vector<std::uint64_t>(from, "value_offsets", "a forest");
    arrays.impurities = read_vector<double>(from, "impurities", "a forest");
    arrays.weights = read_vector<double>(from, "weights", "a forest");
    arrays.n_rows = read_vector<std::uint64_t>(from, "n_rows", "a forest");
    arrays.leaf_weights = read_leaf_weights(from, "a forest");
    arrays.columns = read_columns(from, "a forest");
    const nb::gil_scoped_release release;
    return from_arrays(arrays);
}

nb::object packed(const Forest& forest) {
    std::vector<std::uint8_t> bytes;
    {
        const nb::gil_scoped_release release;
        bytes = pack(to_arrays(forest));
    }
    return to_numpy(std::move(bytes));
}

Forest unpacked(Vector<std::uint8_t> bytes) {
    const nb::gil_scoped_release release;
    return from_arrays(unpack_forest(as_span(bytes)));
}

void check_same_kind(const Forest& forest, const Forest& more) {
    const bool same_columns =
        std::ranges::equal(forest.binning.columns, more.binning.columns, [](const Column& a, const Column& b) {
            return a.is_category == b.is_category && (!a.is_category || a.n_bins == b.n_bins);
        });
    const bool both_recorded =
        forest.trees.empty() || more.trees.empty() || forest.trees[0].records.empty() == more.trees[0].records.empty();
    const bool same_scores = forest.n_scores == more.n_scores && forest.turns == more.turns &&
                             forest.link == more.link && forest.scale == more.scale;
    if (!same_columns || !both_recorded || !same_scores || forest.n_outputs != more.n_outputs ||
        forest.is_classifier != more.is_classifier) {
        throw std::invalid_argument("The two forests differ in their columns, outputs, links or records.");
    }
    if (forest.turns && forest.trees.size() % forest.n_scores != 0) {
        throw std::invalid_argument("The first forest ends in the middle of a round.");
    }
}

Forest join(const Forest& forest, const Forest& more) {
    check_same_kind(forest, more);
    const nb::gil_scoped_release release;
    Forest joined = forest;
    append_trees(joined, more);
    return joined;
}

Forest take_trees(const Forest& forest, std::size_t begin, std::size_t end) {
    check_range(forest, begin, end);
    if (begin == end) throw std::invalid_argument("There must be a tree to take.");
    if (forest.turns && begin % forest.n_scores != 0) {
        throw std::invalid_argument("Tree " + std::to_string(begin) + " is not the first tree of a round of " +
                                    std::to_string(forest.n_scores) + ".");
    }
    const nb::gil_scoped_release release;
    Forest taken = without_trees(forest);
    if (begin > 0) taken.start.assign(forest.n_scores, 0.0);
    const auto first = forest.trees.begin();
    taken.trees.assign(first + static_cast<std::ptrdiff_t>(begin), first + static_cast<std::ptrdiff_t>(end));
    drop_unused_cuts(taken, 1);
    return taken;
}

Forest select_columns(const Forest& forest, Vector<std::uint32_t> columns) {
    const auto seen = as_span(columns);
    if (seen.empty() || std::ranges::max(seen) >= forest.binning.columns.size()) {
        throw std::invalid_argument("The columns must be among the " + std::to_string(forest.binning.columns.size()) +
                                    " of the forest.");
    }
    const nb::gil_scoped_release release;
    return on_columns(forest, seen);
}

const Tree& tree_at(const Forest& forest, std::size_t tree) {
    check_tree(forest, tree);
    return forest.trees[tree];
}

// Whether a numeric split only separates missing from present values: either only missing values go left, or only
// missing values go right.
bool parts_missing(const Forest& forest, NodeWord word) {
    if (is_category(word)) return false;
    const std::uint32_t threshold = threshold_of(word);
    return threshold == 0 || threshold > forest.binning.columns[column_of(word)].cuts.size();
}

// -inf: only missing values go left; inf: all present values go left; NaN: a categorical node.
double threshold_value(const Forest& forest, NodeWord word) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    if (is_category(word)) return std::numeric_limits<double>::quiet_NaN();
    const auto& cuts = forest.binning.columns[column_of(word)].cuts;
    const std::uint32_t threshold = threshold_of(word);
    if (threshold == 0) return -infinity;
    return threshold > cuts.size() ? infinity : cuts[threshold - 1];
}

// The nodes of a tree, one array per attribute. `impurity`, `weight` and `n_rows` are None if the tree has no records.
struct NodeObjects {
    nb::object left, right, column, threshold, missing_right, only_missing, value;
    nb::object impurity = nb::none(), weight = nb::none(), n_rows = nb::none();
};

NodeObjects describe_tree(const Forest& forest, std::size_t index) {
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    const Tree& tree = tree_at(forest, index);
    const std::size_t n_nodes = tree.nodes.size(), size = forest.leaf_size();
    std::vector<std::int32_t> left(n_nodes, -1), right(n_nodes, -1), column(n_nodes, -1);
    std::vector<double> threshold(n_nodes, nan), value(n_nodes * size, nan);
    std::vector<std::uint8_t> missing_right(n_nodes, 0), only_missing(n_nodes, 0);
    for (std::size_t i = 0; i < n_nodes; ++i) {
        const NodeWord word = tree.nodes[i];
        if (is_leaf(word) || !tree.records.empty()) {
            const std::size_t at = is_leaf(word) ? address_of(word) : i;
            std::copy_n(tree.values.data() + at * size, size, value.data() + i * size);
        }
        if (is_leaf(word)) continue;
        left[i] = static_cast<std::int32_t>(left_child(tree, word));
        right[i] = left[i] + 1;
        column[i] = static_cast<std::int32_t>(column_of(word));
        threshold[i] = threshold_value(forest, word);
        missing_right[i] = missing_goes_right(word) ? 1 : 0;
        only_missing[i] = parts_missing(forest, word) ? 1 : 0;
    }
    NodeObjects result{.left = to_numpy(std::move(left)),
                       .right = to_numpy(std::move(right)),
                       .column = to_numpy(std::move(column)),
                       .threshold = to_numpy(std::move(threshold)),
                       .missing_right = to_numpy(std::move(missing_right)).attr("view")("bool"),
                       .only_missing = to_numpy(std::move(only_missing)).attr("view")("bool"),
                       .value = to_numpy(std::move(value), {n_nodes, size})};
    if (tree.records.empty()) return result;
    std::vector<double> impurity, weight;
    std::vector<std::int64_t> n_rows;
    for (const NodeRecord& record : tree.records) {
        impurity.push_back(record.impurity);
        weight.push_back(record.weight);
        n_rows.push_back(static_cast<std::int64_t>(record.n_rows));
    }
    result.impurity = to_numpy(std::move(impurity));
    result.weight = to_numpy(std::move(weight));
    result.n_rows = to_numpy(std::move(n_rows));
    return result;
}

nb::object left_categories(const Forest& forest, std::size_t index, std::size_t node) {
    const Tree& tree = tree_at(forest, index);
    if (node >= tree.nodes.size() || is_leaf(tree.nodes[node]) || !is_category(tree.nodes[node])) {
        throw std::invalid_argument("Node " + std::to_string(node) + " does not split a categorical column.");
    }
    const NodeWord word = tree.nodes[node];
    std::vector<std::int32_t> codes;
    for (std::uint32_t code = 1; code <= forest.binning.columns[column_of(word)].n_bins; ++code) {
        const bool goes_left = next_category_node(word, code, tree.sets.data()) == tree.sets[address_of(word)];
        if (goes_left) codes.push_back(static_cast<std::int32_t>(code));
    }
    return to_numpy(std::move(codes));
}

const Tree& only_tree(const Forest& forest) {
    if (forest.trees.size() != 1) throw std::invalid_argument("Only a forest of one tree can be pruned.");
    return forest.trees[0];
}

Forest prune_forest(const Forest& forest, double ccp_alpha) {
    if (!(ccp_alpha >= 0)) throw std::invalid_argument("ccp_alpha must be a number >= 0.");
    const nb::gil_scoped_release release;
    Forest pruned = without_trees(forest);
    pruned.trees.push_back(prune(only_tree(forest), ccp_alpha, forest.leaf_size()));
    drop_unused_cuts(pruned, 1);
    return pruned;
}

nb::tuple path_of(const Forest& forest) {
    PruningPath path;
    {
        const nb::gil_scoped_release release;
        path = pruning_path(only_tree(forest));
    }
    return nb::make_tuple(to_numpy(std::move(path.alphas)), to_numpy(std::move(path.impurities)));
}

using LeafRowsArrays = std::tuple<Vector<std::uint32_t>, Vector<std::uint32_t>, Vector<std::uint32_t>>;

nb::object quantiles_of(const Forest& forest, const std::vector<LeafRowsArrays>& leaf_rows, Vector<double> y,
                        const std::vector<AnyArray>& columns, std::size_t n_rows, Vector<double> quantiles,
                        int n_threads) {
    const auto views = checked_views(forest, columns, n_rows);
    const auto levels = as_span(quantiles);
    if (!std::ranges::all_of(levels, [](double level) { return level >= 0 && level <= 1; })) {
        throw std::invalid_argument("Quantiles must lie between 0 and 1.");
    }
    std::vector<LeafRowsView> lists;
    for (const auto& [offsets, rows, weights] : leaf_rows) {
        lists.push_back({as_span(offsets), as_span(rows), as_span(weights)});
    }
    std::vector<double> out(n_rows * levels.size());
    Interruption().run([&](const Stop& stop) {
        check_leaf_rows(forest, lists, as_span(y));
        predict_quantiles(forest, lists, as_span(y), views, n_rows, levels, n_threads, out.data(), stop);
    });
    return to_numpy(std::move(out), {n_rows, levels.size()});
}

Forest stump_of(const Table& table, AnyArray y, std::uint32_t n_classes, std::optional<Vector<std::uint32_t>> weights,
                std::uint64_t total_weight, double weight_unit, const std::string& criterion) {
    const auto fixed = weights ? as_span(*weights) : std::span<const std::uint32_t>{};
    if (y.ndim() != 1 || y.shape(0) != table.n_rows() || (weights && fixed.size() != table.n_rows())) {
        throw std::invalid_argument("The target and the weights must have a value per row of the table.");
    }
    const Criterion chosen = criteria.value(criterion);
    const Target target = read_target(y, n_classes, fixed, total_weight, false);
    Forest stump = Interruption().run([&](const Stop& stop) { return grow_stump(table, target, fixed, chosen, stop); });
    stump.trees[0].leaf_weights.unit = weight_unit;
    return stump;
}

}  // namespace

// Call after register_forest: this adds pickling to the class Forest.
void register_trees(nb::module_& m) {
    nb::borrow<nb::class_<Forest>>(m.attr("Forest"))
        .def(
            "node_weights",
            [](const Forest& forest, std::size_t tree) { return to_numpy(node_weights(tree_at(forest, tree))); },
            nb::arg("tree"))
        .def("packed", &packed)
        .def_static("from_packed", &unpacked, nb::arg("packed"))
        .def("__getstate__", &arrays_of)
        .def("__setstate__",
             [](Forest& forest, const nb::dict& arrays) { std::construct_at(&forest, forest_of(arrays)); });

    nb::class_<NodeObjects>(m, "TreeNodes", "The nodes of a tree, one array per attribute.")
        .def_ro("left", &NodeObjects::left)
        .def_ro("right", &NodeObjects::right)
        .def_ro("column", &NodeObjects::column)
        .def_ro("threshold", &NodeObjects::threshold)
        .def_ro("missing_right", &NodeObjects::missing_right)
        .def_ro("only_missing", &NodeObjects::only_missing)
        .def_ro("value", &NodeObjects::value)
        .def_ro("impurity", &NodeObjects::impurity)
        .def_ro("weight", &NodeObjects::weight)
        .def_ro("n_rows", &NodeObjects::n_rows);
    m.def("forest_arrays", &arrays_of, nb::arg("forest"));
    m.def("forest_from_arrays", &forest_of, nb::arg("arrays"));
    m.def("append_trees", &join, nb::arg("forest"), nb::arg("more"));
    m.def("take_trees", &take_trees, nb::arg("forest"), nb::arg("begin"), nb::arg("end"));
    m.def("on_columns", &select_columns, nb::arg("forest"), nb::arg("columns"));
    m.def("describe_tree", &describe_tree, nb::arg("forest"), nb::arg("tree"));
    m.def("left_categories", &left_categories, nb::arg("forest"), nb::arg("tree"), nb::arg("node"));
    m.def("prune_tree", &prune_forest, nb::arg("forest"), nb::arg("ccp_alpha"));
    m.def("pruning_path", &path_of, nb::arg("forest"));
    m.def("predict_quantiles", &quantiles_of, nb::arg("forest"), nb::arg("leaf_rows"), nb::arg("y"), nb::arg("columns"),
          nb::arg("n_rows"), nb::arg("quantiles"), nb::arg("n_threads"));
    m.def("grow_stump", &stump_of, nb::arg("table"), nb::arg("y"), nb::arg("n_classes"), nb::arg("weights").none(),
          nb::arg("total_weight"), nb::arg("weight_unit"), nb::arg("criterion"));
}

}  // namespace committee
