// Trees on rotated axes, the forest they form, and its prediction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "c45/c45.h"
#include "prediction/prediction.h"
#include "rotation/axes.h"
#include "rotation/rotation.h"
#include "table/table.h"
#include "tree/tree.h"

namespace committee {

// A row goes left if its value in the component is at most the threshold. The two children are adjacent and come after
// their parent.
struct RotatedNode {
    static constexpr std::uint32_t is_leaf = std::numeric_limits<std::uint32_t>::max();

    double threshold = 0;
    std::uint32_t component = is_leaf;
    std::uint32_t address = 0;  // the left child; for a leaf, the index of its value
};

struct RotatedTree {
    Rotation rotation;
    std::vector<Component> components;  // of the rotation
    std::vector<RotatedNode> nodes;
    std::vector<double> values;  // n_outputs numbers each
    LeafWeights leaf_weights;

    // The leaf of a row that has a value on every axis.
    std::uint32_t find_leaf(const double* row) const {
        std::uint32_t at = 0;
        while (nodes[at].component != RotatedNode::is_leaf) {
            const RotatedNode& node = nodes[at];
            at = node.address + (turned(rotation, components[node.component], row) > node.threshold ? 1 : 0);
        }
        return at;
    }
    std::size_t n_bytes() const;
};

struct RotationForest {
    Axes axes;
    std::size_t n_outputs = 1;
    bool is_classifier = false;
    std::vector<RotatedTree> trees;

    std::size_t n_bytes() const;
};

// A grown tree, and the impurity decrease of the splits on each component, summed over rows.
struct GrownRotatedTree {
    RotatedTree tree;
    std::vector<double> gains;
};

// Converts trees that were grown with the components as columns: a C4.5 tree of numeric columns, or a binary tree with
// its cuts.
GrownRotatedTree rotated_tree(const C45Tree& tree, Rotation rotation);
GrownRotatedTree rotated_tree(const Tree& tree, const Binning& binning, Rotation rotation);

// The training weights of all nodes. Throws std::invalid_argument if they are unknown.
std::vector<double> node_weights(const RotatedTree& tree);

// A block of rows on their axes, row-major. Missing values are filled separately for each tree.
class AxisBlock {
  public:
    // `values` is (n_rows, n_axes), with NaN for missing values.
    AxisBlock(std::span<const double> values, std::size_t n_rows, std::size_t n_axes, bool has_missing)
        : values_(values), n_rows_(n_rows), n_axes_(n_axes), has_missing_(has_missing) {}

    // The rows with missing values replaced by the tree's own fill values. Valid until the next call.
    std::span<const double> filled_for(const RotatedTree& tree);
    std::size_t n_rows() const { return n_rows_; }
    std::size_t n_axes() const { return n_axes_; }

  private:
    std::span<const double> values_;
    std::size_t n_rows_, n_axes_;
    bool has_missing_;
    std::vector<double> filled_;
};

// All functions below throw Stopped if a poll requests it.

// The decisions, (n_rows, n_outputs): the mean of the votes, or the share of the trees that vote for each class.
void predict(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule,
             int n_threads, double* out, const Stop& stop = {});

// The vote of every tree, (n_trees, n_rows, n_outputs).
void predict_votes(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop = {});

// The leaf of every row in every tree, (n_rows, n_trees).
void apply(const RotationForest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out, const Stop& stop = {});

// Adds the values of a leaf to the sums, or 1 to the sum of the largest value.
void add_vote(const RotatedTree& tree, std::uint32_t leaf, std::size_t n_outputs, Rule rule, double* sums);

}  // namespace committee
