// From rows to leaves, scores and decisions. Rows go in blocks that fit the cache beside one tree; a single row goes
// through all trees at once, several side by side, so that their cache misses overlap.
//
// A forest and a booster are one model: every tree adds the values of a row's leaf to the row's scores, and a link
// turns the scores into the decision. A forest starts at 0 and takes the mean.
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
    double scale = 1;  // by which the link multiplies the scores

    // How many numbers a leaf holds.
    std::size_t leaf_size() const { return turns ? 1 : n_scores; }
    std::size_t nbytes() const;
};

// A forest that decides by the mean of its trees' votes; without trees yet.
Forest voting_forest(Binning binning, std::size_t n_outputs, bool is_classifier);

// The same model before its first tree.
Forest without_trees(const Forest& forest);

// Two at a time: the compiler, left alone, first asks of every few numbers whether they lie apart.
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

// Adds the numbers of a leaf (size), or its vote for the largest of them, to sums.
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

// Whatever follows and takes a stop throws Stopped if a poll says so.

// The decision, (n_rows, n_outputs): the scores of all trees after the link. The majority is for link mean only.
void predict(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop = {});

// A model that is asked for single rows again and again: its cuts lie in buckets. The forest must outlive it. Any
// number of threads may ask at the same time.
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

// The scores, (n_rows, n_scores), of trees [first, last): with the start if the first tree is among them.
void predict_scores(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop = {});

// Trees in stages of as many each, but for the last stage, perhaps.
struct Stages {
    std::size_t first;  // trees [first, last)
    std::size_t last;
    std::size_t n_trees;  // of a stage

    std::size_t count() const { return (last - first + n_trees - 1) / n_trees; }
};

// The scores after every stage, (n_stages, n_rows, n_scores), from those before the first: null is the start.
void predict_stages(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, const Stages& stages,
                    const double* before, int n_threads, double* out, const Stop& stop = {});

// The decision for some rows of scores. The two may be one array if they are of one shape.
void link_scores(const Forest& forest, std::size_t n_rows, const double* scores, double* out);

// What every tree adds, (n_trees, n_rows, leaf_size).
void predict_votes(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop = {});

// The leaf of every row in every tree, (n_rows, n_trees).
void apply(const Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
           std::uint32_t* out, const Stop& stop = {});

}  // namespace committee
