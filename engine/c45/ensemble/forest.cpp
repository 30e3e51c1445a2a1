#include "c45/ensemble/forest.h"

#include <algorithm>

#include "c45/ensemble/row_block.h"
#include "prediction/crisp_vote.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

constexpr std::size_t block_rows = 256;

// Calls body(tree, first row, votes of a block of rows) for trees [first, last).
template <class Body>
void for_each_vote(const C45Forest& forest, std::span<const ColumnView> views, std::size_t n_rows, std::size_t first,
                   std::size_t last, int n_threads, const Stop& stop, Body body) {
    const std::vector<bool> is_used = find_used(forest);
    for_each_task((n_rows + block_rows - 1) / block_rows, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t begin = task * block_rows, n = std::min(block_rows, n_rows - begin);
        const RowBlock block(forest, is_used, views, begin, n);
        std::vector<double> votes(n * forest.n_classes);
        for (std::size_t t = first; t < last; ++t) {
            predict_c45(forest.trees[t], block.columns(), 0, n, votes.data(), stop);
            body(t, begin, votes);
        }
    });
}

void sum_votes(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
               std::size_t last, bool are_crisp, int n_threads, double* out, const Stop& stop) {
    const std::size_t n = forest.n_classes;
    std::fill_n(out, n_rows * n, 0.0);
    for_each_vote(forest, columns, n_rows, first, last, n_threads, stop,
                  [&](std::size_t t, std::size_t begin, const std::vector<double>& votes) {
                      const double weight = forest.weights.empty() ? 1 : forest.weights[t];
                      for (std::size_t at = 0; at < votes.size(); at += n) {
                          const double* vote = votes.data() + at;
                          double* sums = out + begin * n + at;
                          if (are_crisp) {
                              add_crisp_vote(weight, vote, n, sums);
                          } else {
                              for (std::size_t c = 0; c < n; ++c) sums[c] += weight * vote[c];
                          }
                      }
                  });
}

}  // namespace

std::size_t C45Forest::n_bytes() const {
    std::size_t total = n_categories.size() * sizeof(std::int32_t) + weights.size() * sizeof(double);
    for (const C45Tree& tree : trees) total += tree.n_bytes();
    return total;
}

C45Forest without_trees(const C45Forest& forest) { return {forest.n_classes, forest.n_categories, {}, {}}; }

void predict(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, Rule rule, int n_threads,
             double* out, const Stop& stop) {
    const bool are_crisp = forest.are_crisp || rule == Rule::majority;
    sum_votes(forest, columns, n_rows, 0, forest.trees.size(), are_crisp, n_threads, out, stop);
    apply_link(forest.link, forest.scale, forest.trees.size(), n_rows, forest.n_classes, out, out);
}

void predict_scores(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, std::size_t first,
                    std::size_t last, int n_threads, double* out, const Stop& stop) {
    sum_votes(forest, columns, n_rows, first, last, forest.are_crisp, n_threads, out, stop);
}

void predict_votes(const C45Forest& forest, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                   double* out, const Stop& stop) {
    for_each_vote(forest, columns, n_rows, 0, forest.trees.size(), n_threads, stop,
                  [&](std::size_t t, std::size_t begin, const std::vector<double>& votes) {
                      std::ranges::copy(votes, out + (t * n_rows + begin) * forest.n_classes);
                  });
}

}  // namespace committee
