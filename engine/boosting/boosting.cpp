#include "boosting/boosting.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <type_traits>
#include <utility>

#include "boosting/output_direction.h"
#include "boosting/row_draws.h"
#include "boosting/tree/root_histograms.h"
#include "growing/row_sampling.h"
#include "numbers/exact_sum.h"
#include "numbers/random.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// The largest leaf value. It keeps the derivatives of diverging scores within the range of a float.
constexpr double largest_value = 1e30;

// The number of threads that a tree of a table can keep busy. Below, the number for all trees of a round.
std::size_t threads_in_a_tree(const Table& table, int n_threads) {
    constexpr std::size_t codes_per_thread = 250'000;
    const std::size_t most = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), table.n_columns());
    return std::clamp<std::size_t>(table.n_rows() * table.n_columns() / codes_per_thread, 1,
                                   std::max<std::size_t>(most, 1));
}

std::size_t threads_over_trees(const Table& table, std::size_t n_trees, int n_threads) {
    constexpr std::size_t codes_per_thread = 60'000;
    const std::size_t most = std::min(static_cast<std::size_t>(std::max(n_threads, 1)), n_trees);
    return std::clamp<std::size_t>(n_trees * table.n_rows() * table.n_columns() / codes_per_thread, 1, most);
}

// The size of the blocks in which gradients and losses are computed. It does not depend on the number of threads.
std::size_t rows_of_a_block(std::size_t n_rows) {
    constexpr std::size_t least = 128, n_blocks = 16;
    return std::clamp((n_rows / n_blocks + least - 1) / least * least, least, block_rows);
}

template <class Code>
class Rounds {
  public:
    Rounds(BoostSample& training, std::optional<BoostSample>& validation, const BoostParameters& parameters,
           const CustomGradients& custom, int n_threads, const Stop& stop)
        : training_(training),
          validation_(validation),
          parameters_(parameters),
          objective_(parameters.objective),
          measured_(parameters.objective),
          custom_(custom),
          table_(*training.table),
          n_rows_(table_.n_rows()),
          n_scores_(objective_.n_scores()),
          n_outputs_(parameters.is_multi_output ? n_scores_ : 1),
          n_trees_(n_scores_ / n_outputs_),
          grows_side_by_side_(is_better_side_by_side(n_threads)),
          team_(static_cast<int>(grows_side_by_side_ ? threads_over_trees(table_, n_trees_, n_threads)
                                                     : threads_in_a_tree(table_, n_threads)),
                &stop),
          alone_(1, &stop),
          draws_(table_, training.observed, parameters.subsample, n_threads, stop) {
        const std::size_t n_growers = grows_side_by_side_ ? static_cast<std::size_t>(team_.size()) : 1;
        for (std::size_t i = 0; i < n_growers; ++i) {
            growers_.push_back(
                std::make_unique<BoostGrower<Code>>(table_, parameters.tree, grows_side_by_side_ ? alone_ : team_));
        }
        if constexpr (std::is_same_v<Code, std::uint8_t>) {
            if (grows_side_by_side_ && RootHistograms::is_worthwhile(table_, n_trees_)) {
                roots_.emplace(table_, std::get<Codes<Code>>(table_.codes), n_trees_);
            }
        }
        own_.resize(roots_ ? n_trees_ : n_growers);
        turns_.resize(n_trees_);
        std::iota(turns_.begin(), turns_.end(), 0U);
        gradients_.gradient.resize(n_rows_ * n_scores_);
        gradients_.hessian.resize(n_rows_ * n_scores_);
        blocks_.resize(count_blocks(n_rows_));
        measured_.adapt_to_median(training.observed);
        const auto weights = training.observed.weights;
        if (objective_.takes_newton_steps()) curvatures_.resize(gradients_.hessian.size());
        const bool are_ones = objective_.has_constant_hessian() || objective_.takes_newton_steps();
        has_constant_hessian_ =
            are_ones && std::ranges::all_of(weights, [](double weight) { return weight == 1 || !(weight > 0); });
        if (weights.empty()) return;
        fixed_weights_ = fixed_weights(weights);
        weight_unit_ = unit_of(weights);
    }

    Boosted run(const AfterRound& after_round) {
        Boosted result;
        const bool stops_early = parameters_.n_iter_no_change > 0;
        const std::vector<double> initial = stops_early ? training_.scores : std::vector<double>();
        const LossParts parts = parts_of(training_);
        const LossParts validation_parts = validation_ ? parts_of(*validation_) : LossParts{};
        const auto& watched = validation_ ? result.validation_loss : result.train_loss;
        for (std::uint32_t round = 0;; ++round) {
            bool is_over = round == parameters_.n_rounds || result.stopped;
            objective_.adapt(training_.observed, training_.scores.data());
            double loss = 0;
            try {
                if (!is_over) loss = differentiate(parts);
            } catch (const Stopped&) {
                result.stopped = is_over = true;
            }
            const bool is_measured = !is_over && !objective_.adapts();
            result.train_loss.push_back(is_measured ? loss : mean_loss(training_, parts));
            if (validation_) result.validation_loss.push_back(mean_loss(*validation_, validation_parts));
            if (is_over || (stops_early && is_flat(watched))) break;
            const std::size_t first = result.trees.size();
            result.trees.resize(first + n_trees_);
            gains_.resize(first + n_trees_);
            try {
                grow_round(round, std::span(result.trees).subspan(first));
            } catch (const Stopped&) {
                result.trees.resize(first);
                training_.scores.clear();
                result.stopped = true;
                break;
            }
            if (validation_) add_trees(std::span<const Tree>(result.trees).subspan(first), *validation_);
            result.stopped = after_round && after_round(round + 1, result.trees);
        }
        result.n_rounds = static_cast<std::uint32_t>(result.train_loss.size()) - 1;
        if (stops_early) keep_best(watched, initial, result);
        result.scores = std::move(training_.scores);
        result.totals = totals_of(result.trees.size());
        return result;
    }

  private:
    // The part of a sample's total loss that does not depend on the scores, and the total weight.
    struct LossParts {
        double fixed = 0;
        double weight = 1;
    };

    // The trees of a round are independent. They are grown in parallel if that keeps all threads busy, and otherwise
    // one after another by all threads.
    bool is_better_side_by_side(int n_threads) const {
        if (n_trees_ == 1) return false;
        const std::size_t n = threads_over_trees(table_, n_trees_, n_threads);
        const std::size_t n_turns = (n_trees_ + n - 1) / n;
        return threads_in_a_tree(table_, n_threads) == 1 || 4 * n_trees_ >= 3 * n * n_turns;
    }

    // Computes the gradients of all rows at the current scores. Returns the mean loss.
    double differentiate(const LossParts& parts) {
        if (objective_.loss == Loss::custom) custom_(training_.scores, gradients_);
        for_each_block(n_rows_, [&](std::size_t block, std::size_t begin, std::size_t end) {
            fill_gradients(objective_, training_.observed, training_.scores.data(), begin, end, gradients_,
                           blocks_[block]);
            if (objective_.takes_newton_steps()) flatten(begin, end, blocks_[block]);
        });
        totals_.assign(n_scores_, {});
        double loss = parts.fixed;
        for (const BlockTotals& block : blocks_) {
            loss += block.loss;
            for (std::size_t k = 0; k < n_scores_; ++k) totals_[k].add(block.by_score[k]);
        }
        return loss / parts.weight;
    }

    // Stores the hessians of rows [begin, end) for the steps of leaves, and replaces them by weights for the trees.
    void flatten(std::size_t begin, std::size_t end, BlockTotals& totals) {
        for (std::size_t k = 0; k < n_scores_; ++k) {
            const float* gradient = gradients_.gradient.data() + k * n_rows_;
            float* hessian = gradients_.hessian.data() + k * n_rows_;
            std::copy(hessian + begin, hessian + end, curvatures_.data() + k * n_rows_ + begin);
            for (std::size_t row = begin; row < end; ++row) {
                hessian[row] = static_cast<float>(std::max(training_.observed.weight(row), 0.0));
            }
            totals.by_score[k] = committee::totals_of(gradient + begin, hessian + begin, end - begin);
        }
    }

    double mean_loss(const BoostSample& sample, const LossParts& parts) {
        const std::size_t n_rows = sample.table->n_rows();
        std::vector<double> losses(count_blocks(n_rows));
        for_each_block(n_rows, [&](std::size_t block, std::size_t begin, std::size_t end) {
            losses[block] = block_loss(measured_, sample.observed, sample.scores.data(), begin, end);
        });
        double loss = parts.fixed;
        for (const double of_block : losses) loss += of_block;
        return loss / parts.weight;
    }

    LossParts parts_of(const BoostSample& sample) const {
        double weight = 0;
        for (const double of_row : sample.observed.weights) weight += std::max(of_row, 0.0);
        if (sample.observed.weights.empty()) weight = static_cast<double>(sample.table->n_rows());
        return {fixed_loss(objective_, sample.observed), weight};
    }

    template <class Body>
    void for_each_block(std::size_t n_rows, Body body) {
        run_in_blocks(team_, n_rows, rows_of_a_block(n_rows), body);
    }

    static std::size_t count_blocks(std::size_t n_rows) {
        const std::size_t size = rows_of_a_block(n_rows);
        return (n_rows + size - 1) / size;
    }

    void grow_round(std::uint32_t round, std::span<Tree> trees) {
        const std::size_t first = round * n_trees_;
        const auto grow = [&](std::size_t k, int thread) {
            const std::size_t index = grows_side_by_side_ ? static_cast<std::size_t>(thread) : 0;
            DrawnRows& own = own_[roots_ ? k : index];
            if (!roots_) draws_.draw(key_of(first + k), own);
            trees[k] = grow_tree(*growers_[index], own, k, first + k);
        };
        if (!grows_side_by_side_) {
            for (std::size_t k = 0; k < n_trees_; ++k) grow(k, 0);
            return;
        }
        if (roots_) fill_roots(first);
        // Starts with the trees that were largest in the previous round, so that the threads finish together.
        if (round > 0) {
            std::ranges::stable_sort(turns_, std::greater(),
                                     [&](std::size_t k) { return gains_[first - n_trees_ + k].size(); });
        }
        team_.run(n_trees_, [&](std::size_t turn, int thread) { grow(turns_[turn], thread); });
    }

    void fill_roots(std::size_t first) {
        std::vector<BoostRows> rows;
        std::vector<WordScale> scales;
        if (draws_.are_needed()) {
            team_.run(n_trees_, [&](std::size_t k, int) { draws_.draw(key_of(first + k), own_[k]); });
        }
        for (std::size_t k = 0; k < n_trees_; ++k) {
            rows.push_back(rows_of(own_[k], k));
            scales.push_back(scale_of(k));
        }
        roots_->fill(rows, scales, team_);
    }

    // The key of a tree, given its number.
    std::uint64_t key_of(std::uint64_t number) const {
        return derive_key(parameters_.seed, parameters_.first_round * n_trees_ + number);
    }

    // Grows tree k of a round: the tree of score k, or of all scores.
    Tree grow_tree(BoostGrower<Code>& grower, const DrawnRows& own, std::size_t k, std::uint64_t number) {
        const std::uint64_t key = key_of(number);
        Tree tree = parameters_.is_multi_output ? grow_multi_output(grower, own, key, gains_[number])
                                                : grow_for_score(grower, own, k, key, gains_[number]);
        double* scores = training_.scores.data() + k * n_rows_;
        if (objective_.needs_line_search()) search_steps(grower, scores, tree);
        if (objective_.takes_newton_steps()) take_newton_steps(grower, k, tree);
        if (!fixed_weights_.empty()) weigh_leaves(grower, tree);
        const double rate = parameters_.learning_rate * objective_.step();
        for (double& value : tree.values) value = std::clamp(value * rate, -largest_value, largest_value);
        ThreadTeam& team = grows_side_by_side_ ? alone_ : team_;
        team.run(grower.parts().n_parts(), [&](std::size_t part, int) {
            grower.for_each_leaf(part, [&](std::size_t leaf, std::span<const std::uint32_t> leaf_rows) {
                for (std::size_t output = 0; output < n_outputs_; ++output) {
                    const double value = tree.values[leaf * n_outputs_ + output];
                    double* of_output = scores + output * n_rows_;
                    for (const std::uint32_t row : leaf_rows) of_output[row] += value;
                }
            });
        });
        const auto& codes = std::get<Codes<Code>>(table_.codes);
        for (std::size_t begin = 0; begin < own.absent.size(); begin += block_rows) {
            const auto rows = std::span(own.absent).subspan(begin, std::min(block_rows, own.absent.size() - begin));
            add_values(tree, table_, {codes.by_row.data(), codes.n_columns, rows.size(), rows.data()}, 0, scores);
        }
        return tree;
    }

    Tree grow_for_score(BoostGrower<Code>& grower, const DrawnRows& own, std::size_t k, std::uint64_t key,
                        std::vector<SplitGain>& gains) {
        BoostRows rows = rows_of(own, k);
        if (roots_) rows.histogram = roots_->of_tree(k);
        return grower.grow(rows, scale_of(k), key, gains);
    }

    BoostRows rows_of(const DrawnRows& own, std::size_t k) const {
        return {gradients_.gradient.data() + k * n_rows_, gradients_.hessian.data() + k * n_rows_, own.takes_part};
    }
    WordScale scale_of(std::size_t k) const { return scale_for(totals_[k], n_rows_, has_constant_hessian_); }

    // The splits fit one direction; the leaf values are computed for all scores.
    Tree grow_multi_output(BoostGrower<Code>& grower, const DrawnRows& own, std::uint64_t key,
                           std::vector<SplitGain>& gains) {
        const auto direction = draw_direction(gradients_, n_scores_, key, team_);
        const GradientTotals totals = project(gradients_, direction, team_, along_);
        const BoostRows rows{along_.gradient.data(), along_.hessian.data(), own.takes_part};
        Tree tree = grower.grow(rows, scale_for(totals, n_rows_, false), key, gains);
        const std::size_t n_parts = grower.parts().n_parts();
        std::vector<LeafSums> sums(n_parts, LeafSums(gradients_, totals_, tree.values.size()));
        team_.run(n_parts, [&](std::size_t part, int) {
            grower.for_each_leaf(part, [&](std::size_t leaf, std::span<const std::uint32_t> leaf_rows) {
                sums[part].add(leaf, leaf_rows);
            });
        });
        for (std::size_t part = 1; part < n_parts; ++part) sums[0].add(sums[part]);
        tree.values = sums[0].steps(parameters_.tree.reg_lambda, parameters_.tree.reg_alpha);
        return tree;
    }

    // Total gain and number of splits by column, of the first n_trees trees.
    SplitTotals totals_of(std::size_t n_trees) const {
        SplitTotals totals{std::vector(table_.n_columns(), 0.0), std::vector(table_.n_columns(), 0.0)};
        for (std::size_t t = 0; t < n_trees; ++t) {
            for (const auto& [column, gain] : gains_[t]) {
                totals.gain[column] += gain;
                totals.n_splits[column] += 1;
            }
        }
        return totals;
    }

    void search_steps(const BoostGrower<Code>& grower, const double* scores, Tree& tree) {
        std::vector<std::vector<Weighted>> residuals(tree.values.size());
        for (std::size_t part = 0; part < grower.parts().n_parts(); ++part) {
            grower.for_each_leaf(part, [&](std::size_t leaf, std::span<const std::uint32_t> rows) {
                for (const std::uint32_t row : rows) {
                    residuals[leaf].emplace_back(training_.observed.numbers[row] - scores[row],
                                                 training_.observed.weight(row));
                }
            });
        }
        team_.run(residuals.size(), [&](std::size_t leaf, int) {
            team_.stop().poll();
            tree.values[leaf] = line_search(objective_, residuals[leaf]);
        });
        if (parameters_.tree.is_monotonic()) keep_monotonic(parameters_.tree, tree);
    }

    // The sums are exact, so that they do not depend on the parts.
    void take_newton_steps(const BoostGrower<Code>& grower, std::size_t k, Tree& tree) const {
        const float* gradient = gradients_.gradient.data() + k * n_rows_;
        const float* hessian = curvatures_.data() + k * n_rows_;
        const auto exact = [&](const float* values) {
            double largest = 0;
            for (std::size_t row = 0; row < n_rows_; ++row) {
                largest = std::max(largest, std::abs(static_cast<double>(values[row])));
            }
            return ExactSum(largest, n_rows_);
        };
        std::vector<ExactSum> gradients(tree.values.size(), exact(gradient)),
            hessians(tree.values.size(), exact(hessian));
        for (std::size_t part = 0; part < grower.parts().n_parts(); ++part) {
            grower.for_each_leaf(part, [&](std::size_t leaf, std::span<const std::uint32_t> rows) {
                for (const std::uint32_t row : rows) {
                    gradients[leaf].add(gradient[row]);
                    hessians[leaf].add(hessian[row]);
                }
            });
        }
        for (std::size_t leaf = 0; leaf < tree.values.size(); ++leaf) {
            const double curvature = hessians[leaf].value() + parameters_.tree.reg_lambda;
            tree.values[leaf] = curvature > 0 ? -gradients[leaf].value() / curvature : 0;
        }
        if (parameters_.tree.is_monotonic()) keep_monotonic(parameters_.tree, tree);
    }

    // Sums the weights of the rows of each leaf. Without weights, the grower has counted the rows.
    void weigh_leaves(const BoostGrower<Code>& grower, Tree& tree) {
        const std::size_t n_leaves = tree.nodes.size() / 2 + 1;
        std::vector<std::uint64_t> weights(grower.parts().n_parts() * n_leaves);
        ThreadTeam& team = grows_side_by_side_ ? alone_ : team_;
        team.run(grower.parts().n_parts(), [&](std::size_t part, int) {
            grower.for_each_leaf(part, [&](std::size_t leaf, std::span<const std::uint32_t> rows) {
                std::uint64_t sum = 0;
                for (const std::uint32_t row : rows) sum += fixed_weights_[row];
                weights[part * n_leaves + leaf] = sum;
            });
        });
        tree.leaf_weights = {{}, weight_unit_};
        for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
            std::uint64_t sum = 0;
            for (std::size_t at = leaf; at < weights.size(); at += n_leaves) sum += weights[at];
            append_weight(tree.leaf_weights.codes, sum);
        }
    }

    // Adds the values of a tree to the scores of a block of rows: the listed rows, or those from `first` on.
    void add_values(const Tree& tree, const Table& table, CodeBlock<Code> block, std::size_t first,
                    double* scores) const {
        std::array<std::uint32_t, block_rows> leaves;
        block.has_missing = std::ranges::count(table.has_missing, true) > 0;
        find_leaves(tree, block, leaves.data());
        for (std::size_t output = 0; output < n_outputs_; ++output, scores += table.n_rows()) {
            for (std::size_t i = 0; i < block.n_rows; ++i) {
                const std::size_t row = block.rows == nullptr ? first + i : block.rows[i];
                scores[row] += tree.values[address_of(tree.nodes[leaves[i]]) * n_outputs_ + output];
            }
        }
    }

    // Adds the trees of some rounds to the scores of all rows.
    void add_trees(std::span<const Tree> trees, BoostSample& sample) {
        const Table& table = *sample.table;
        const auto& codes = std::get<Codes<Code>>(table.codes);
        for_each_block(table.n_rows(), [&](std::size_t, std::size_t begin, std::size_t end) {
            const CodeBlock<Code> block{codes.row(begin), codes.n_columns, end - begin};
            for (std::size_t t = 0; t < trees.size(); ++t) {
                add_values(trees[t], table, block, begin, sample.scores.data() + t % n_trees_ * table.n_rows());
            }
        });
    }

    // True if none of the last n_iter_no_change losses is lower than the best before them by more than tol.
    bool is_flat(std::span<const double> losses) const {
        const std::size_t n_last = parameters_.n_iter_no_change;
        if (losses.size() <= n_last) return false;
        const auto last = losses.last(n_last), before = losses.first(losses.size() - n_last);
        return std::ranges::min(last) >= std::ranges::min(before) - parameters_.tol;
    }

    // Removes the rounds after the best one. Keeps at least one round, unless a warm start already has some.
    void keep_best(std::span<const double> losses, const std::vector<double>& initial, Boosted& result) {
        const std::size_t n_kept = parameters_.first_round > 0 ? 0 : 1;
        if (losses.size() <= n_kept) return;
        const auto best = static_cast<std::uint32_t>(std::ranges::min_element(losses.subspan(n_kept)) - losses.begin());
        if (best == result.n_rounds) return;
        result.n_rounds = best;
        result.trees.resize(best * n_trees_);
        if (training_.scores.empty()) return;
        training_.scores = initial;
        add_trees(result.trees, training_);
    }

    BoostSample& training_;
    std::optional<BoostSample>& validation_;
    const BoostParameters& parameters_;
    Objective objective_;
    Objective measured_;  // reports losses; its delta is fixed, because Huber's delta would shrink with the residuals
    const CustomGradients& custom_;
    const Table& table_;
    std::size_t n_rows_, n_scores_;
    std::size_t n_outputs_;  // of a tree
    std::size_t n_trees_;    // of a round
    bool grows_side_by_side_;
    ThreadTeam team_, alone_;
    RowDraws draws_;
    std::vector<std::unique_ptr<BoostGrower<Code>>> growers_;
    std::vector<DrawnRows> own_;  // by thread; by tree if the roots are computed first
    std::optional<RootHistograms> roots_;
    std::vector<std::size_t> turns_;             // the order in which the trees of a round are grown
    std::vector<std::vector<SplitGain>> gains_;  // by tree
    Gradients gradients_;
    std::vector<float> curvatures_;  // the hessians, if trees fit the gradients
    Gradients along_;                // gradients along the direction of a multi-output tree
    std::vector<BlockTotals> blocks_;
    std::vector<GradientTotals> totals_;  // by score
    bool has_constant_hessian_ = false;
    std::vector<std::uint32_t> fixed_weights_;  // of the rows, or empty
    double weight_unit_ = 1;
};

}  // namespace

Boosted boost(BoostSample training, std::optional<BoostSample> validation, const BoostParameters& parameters,
              const CustomGradients& custom, int n_threads, const AfterRound& after_round, const Stop& stop) {
    return std::visit(
        [&]<class Code>(const Codes<Code>&) {
            return Rounds<Code>(training, validation, parameters, custom, n_threads, stop).run(after_round);
        },
        training.table->codes);
}

Link link_of(const Objective& objective) {
    switch (objective.loss) {
        case Loss::poisson:
        case Loss::gamma:
        case Loss::tweedie:
            return Link::exponential;
        default:
            if (objective.n_classes == 0) return Link::identity;
            if (objective.n_classes == 2) return Link::logistic;
            return objective.loss == Loss::logit && objective.one_versus_all ? Link::shares_of_logistics
                                                                             : Link::softmax;
    }
}

}  // namespace committee
