// Predicts: finds the leaves, scores and decisions of rows. Rows are processed in blocks that fit in the cache next to
// one tree. A single row descends several trees together, so that their cache misses overlap.
//
// Forests and boosted models share one class: every tree adds the values of a row's leaf to the row's scores, and a
// link converts the scores to the decision. A forest starts at 0 and takes the mean.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "prediction/leaf_search.h"
#include "prediction/link.h"
#include "table/cut_codes.h"
#include "table/table.h"
#include "threads/stop.h"
#include "tree/tree.h"

namespace committee {

enum class Rule : std::uint8_t { mean, majority };

struct Forest {
    Binning binning;
    std::size_t n_outputs = 1;
    bool is_classifier = false;
    std::vector<Tree> trees;

    std::size_t n_scores = 1;
    bool turns = false;               // true: a leaf holds one number, which tree t adds to score t % n_scores
    std::vector<double> start = {0};  // the scores before the first tree
    Link link = Link::mean;
    double scale = 1;  // multiplies the scores in the link

    // The number of values in a leaf.
    std::size_t leaf_size() const { return turns ? 1 : n_scores; }
    std::size_t nbytes() const;
};

// An empty forest that decides by the mean of its trees' votes.
Forest voting_forest(Binning binning, std::size_t n_outputs, bool is_classifier);

// The same model without its trees.
Forest without_trees(const Forest& forest);

// Adds two numbers at a time. Otherwise the compiler would check whether the arrays overlap.
inline void add_values(const double* values, std::size_t n, double* sums) {
    using Pair [[gnu::vector_size(16)]] = double;
    std::size_t k = 0;
    for (; k + 2 <= n; k += 2) {
        Pair added, sum;
        std::memcpy(&added, values + k, sizeof added);
        std::memcpy(&sum, sums + k, sizeof sum);
        sum += added;
        std::memcpy(sums + k, &sum, sizeof sum);
    }
    if (k < n) sums[k] += values[k];
}

// Adds the values of a leaf to the sums, or 1 to the sum of the largest value.
inline void add_vote(const double* value, std::size_t size, Rule rule, double* sums) {
    if (rule == Rule::majority) {
        sums[std::max_element(value, value + size) - value] += 1;
    } else {
        add_values(value, size, sums);
    }
}
inline void add_vote(const TreeView& tree, std::uint32_t leaf, std::size_t size, Rule rule, double* sums) {
    add_vote(tree.values + address_of(tree.nodes[leaf]) * size, size, rule, sums);
}

// All functions below that take a stop throw Stopped if a poll requests it.

// The decisions, (n_rows, n_outputs): the link of the scores of all trees. Rule::majority requires Link::mean.
void predict(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop = {});

// A model prepared for many predictions of single rows: its cuts are in buckets. The forest must outlive it. Any number
// of threads may call it at the same time.
class Prepared {
  public:
    Prepared(const Forest& forest, Rule rule);

    const Forest& forest() const { return forest_; }
    void predict(std::span<const ColumnView> columns, std::size_t n_rows, double* out, const Stop& stop = {}) const;

  private:
    const Forest& forest_;
    Rule rule_;
    Encoder encoder_;
    std::vector<TreeView> trees_;
};

// The scores, (n_rows, n_scores), of trees [first, last). They include the start scores if first is 0.
void predict_scores(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop = {});

// Trees in stages of equal size; the last stage may be smaller.
struct Stages {
    std::size_t first;  // trees [first, last)
    std::size_t last;
    std::size_t n_trees;  // per stage

    std::size_t count() const { return (last - first + n_trees - 1) / n_trees; }
};

// The scores after every stage, (n_stages, n_rows, n_scores). before: the scores before the first stage, or nullptr for
// the start scores.
void predict_stages(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, const Stages& stages,
                    const double* before, int n_threads, double* out, const Stop& stop = {});

// The decisions for n_rows rows of scores. `scores` and `out` may be the same array if they have the same shape.
void link_scores(const Forest& forest, std::size_t n_rows, const double* scores, double* out);

// The values that every tree adds, (n_trees, n_rows, leaf_size).
void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop = {});

// The leaf of every row in every tree, (n_rows, n_trees).
void apply(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out, const Stop& stop = {});

}  // namespace committee
