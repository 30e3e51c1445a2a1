#include "adaboost/adaboost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "numbers/random.h"
#include "threads/thread_team.h"
#include "tree/cut_recoding.h"

namespace committee {
namespace {

constexpr std::size_t block_rows = 16384;
// With less work than this, starting a thread takes longer than the work.
constexpr std::size_t cells_of_a_thread = std::size_t{1} << 18;
constexpr double one = 0x1.0p60;  // the total weight, in fixed point
constexpr double smallest_unit = std::numeric_limits<double>::min();

// Rounds a nonnegative number.
std::int64_t rounded(double number) { return static_cast<std::int64_t>(number + 0.5); }

// The weight of the rows that a member predicts correctly and wrongly, in fixed point.
struct MemberScore {
    std::int64_t right = 0;
    std::int64_t wrong = 0;
    bool is_perfect = true;

    MemberScore& operator+=(const MemberScore& other) {
        right += other.right;
        wrong += other.wrong;
        is_perfect = is_perfect && other.is_perfect;
        return *this;
    }
    double error() const {
        return static_cast<double>(wrong) / (static_cast<double>(wrong) + static_cast<double>(right));
    }
    // right / wrong, both at least the smallest weight.
    double odds() const {
        return static_cast<double>(std::max<std::int64_t>(right, 1)) /
               static_cast<double>(std::max<std::int64_t>(wrong, 1));
    }
};

class AdaBooster {
  public:
    AdaBooster(const Table& table, const Target& target, std::span<const double> y, Distribution distribution,
               const AdaBoostParameters& parameters, int n_threads, const Stop& stop)
        : target_(target),
          y_(y),
          parameters_(parameters),
          stop_(stop),
          team_(std::min(n_threads, 1 + static_cast<int>(table.n_rows() * table.n_columns() / cells_of_a_thread)),
                &stop),
          n_rows_(table.n_rows()),
          width_(parameters.scheme == Scheme::m2 ? target.n_classes - 1 : 1),
          counts_(std::move(distribution.counts)),
          units_(std::move(distribution.units)),
          n_draws_(std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0})),
          grower_(table, target, parameters.member, n_draws_, team_),
          weights_(n_rows_),
          values_(n_rows_),
          is_wrong_(n_rows_) {
        if (n_draws_ == 0) throw std::invalid_argument("No row has a positive weight.");
        if (parameters.scheme == Scheme::r2) {
            losses_.resize(n_rows_);
            double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
            for (std::size_t row = 0; row < n_rows_; ++row) {
                if (counts_[row] == 0) continue;
                lowest = std::min(lowest, y_[row]);
                highest = std::max(highest, y_[row]);
            }
            rounding_ = (highest / 2 - lowest / 2) * 0x1.0p-25;
        }
    }

    AdaBoosted run(const std::function<bool(std::size_t)>& after_round) {
        weigh([](std::size_t, std::size_t) { return 1.0; });
        try {
            make_members(after_round);
        } catch (const Stopped&) {
            boosted_.stopped = true;
        }
        boosted_.members = std::move(grower_.trees);
        boosted_.c45_members = std::move(grower_.c45_trees);
        boosted_.importances = std::move(grower_.importances);
        boosted_.units = std::move(units_);
        if (!parameters_.member.c45) drop_unused_cuts(boosted_.members, team_.size());
        return std::move(boosted_);
    }

  private:
    // Polls while a member is grown and scored. The rest of a round is short, and is not interrupted because it changes
    // the distribution.
    void make_members(const std::function<bool(std::size_t)>& after_round) {
        for (std::uint32_t round = 0; round < parameters_.n_rounds && !boosted_.is_over; ++round) {
            grower_.grow(weights_, derive_key(parameters_.seed, parameters_.first_round + round));
            const MemberScore score = score_member();
            const bool is_first = parameters_.first_round + round == 0;
            const bool is_reversed = parameters_.negative_votes && score.right == 0;
            const bool is_perfect = score.is_perfect || is_reversed;
            boosted_.is_over = is_perfect || is_no_better_than_chance(score);
            if (boosted_.is_over && !is_perfect && !is_first) break;
            const double last = is_reversed ? -1 : last_vote(score);
            const double vote = boosted_.is_over ? last : vote_of(score);
            if (parameters_.keep_weights) keep_weights();
            if (!boosted_.is_over) reweigh(score, vote);
            grower_.keep();
            boosted_.errors.push_back(score.error());
            boosted_.votes.push_back(vote);
            if (after_round && after_round(round + 1)) throw Stopped{};
        }
    }

    // Calls body(begin, end, block) for blocks of rows.
    template <class Body>
    void for_each_block(Body body) const {
        team_.run(n_blocks(), [&](std::size_t block, int) {
            body(block * block_rows, std::min(n_rows_, (block + 1) * block_rows), block);
        });
    }
    std::size_t n_blocks() const { return (n_rows_ + block_rows - 1) / block_rows; }

    // Sums row_of(row) over the rows that are used.
    template <class Result, class RowOf>
    Result sum_rows(RowOf row_of) const {
        return sum_rows<Result>([](std::size_t, std::size_t) {}, row_of);
    }

    // The same, after calling prepare(begin, end) for each block.
    template <class Result, class Prepare, class RowOf>
    Result sum_rows(Prepare prepare, RowOf row_of) const {
        std::vector<Result> sums(n_blocks());
        for_each_block([&](std::size_t begin, std::size_t end, std::size_t block) {
            prepare(begin, end);
            Result sum{};
            for (std::size_t row = begin; row < end; ++row) {
                if (counts_[row] > 0) sum += row_of(row);
            }
            sums[block] = sum;
        });
        Result total{};
        for (const Result& sum : sums) total += sum;
        return total;
    }

    // Multiplies the units by factor_of(row, place) and converts them to the members' fixed-point weights, with a mean
    // of about 2^30 / n_rows. No weight becomes 0.
    template <class FactorOf>
    void weigh(FactorOf factor_of) {
        const auto n = static_cast<double>(n_draws_);
        const double scale = std::ldexp(n, 29 - std::ilogb(n));
        for_each_block([&](std::size_t begin, std::size_t end, std::size_t) {
            for (std::size_t row = begin; row < end; ++row) {
                double unit = 0;
                for (std::size_t place = row * width_; place < (row + 1) * width_; ++place) {
                    units_[place] = std::max(units_[place] * factor_of(row, place), smallest_unit);
                    unit += units_[place];
                }
                // Weights stay below 2^31, and vectors convert 32-bit integers faster.
                weights_[row] =
                    counts_[row] * static_cast<std::uint32_t>(std::max(1, static_cast<int>(unit * scale + 0.5)));
            }
        });
    }

    auto values_finder() {
        return [&](std::size_t begin, std::size_t end) {
            stop_.poll();
            grower_.find_values(begin, end, values_.data());
        };
    }

    MemberScore score_member() {
        switch (parameters_.scheme) {
            case Scheme::m2:
                return score_plausibilities();
            case Scheme::r2:
                return score_numbers();
            default:
                return score_labels();
        }
    }

    // Up to half of the rows may be wrong, so the loop avoids the unpredictable branch.
    MemberScore score_labels() {
        find_labels();
        const auto finder = values_finder();
        std::vector<MemberScore> scores(n_blocks());
        for_each_block([&](std::size_t begin, std::size_t end, std::size_t block) {
            finder(begin, end);
            std::int64_t all = 0, wrong = 0, n_wrong = 0;
            for (std::size_t row = begin; row < end; ++row) {
                const std::int64_t is_wrong = labels_[values_[row]] != target_.labels[row] ? 1 : 0;
                const std::int64_t weight = rounded(units_[row] * one) * counts_[row];
                all += weight;
                wrong += weight & -is_wrong;
                n_wrong += counts_[row] * is_wrong;
                is_wrong_[row] = static_cast<std::uint8_t>(is_wrong);
            }
            scores[block] = {all - wrong, wrong, n_wrong == 0};
        });
        return std::accumulate(scores.begin(), scores.end(), MemberScore{},
                               [](MemberScore a, const MemberScore& b) { return a += b; });
    }

    void find_labels() {
        const std::size_t n_classes = target_.n_classes;
        labels_.resize(grower_.values().size() / n_classes);
        for (std::size_t value = 0; value < labels_.size(); ++value) {
            const double* votes = grower_.values().data() + value * n_classes;
            labels_[value] = static_cast<std::uint32_t>(std::max_element(votes, votes + n_classes) - votes);
        }
    }

    // The label of an element of units_: the wrong labels of the row, in order.
    std::uint32_t label_at(std::size_t row, std::size_t place) const {
        const auto label = static_cast<std::uint32_t>(place - row * width_);
        return label + (label >= target_.labels[row] ? 1 : 0);
    }
    const double* plausibilities(std::size_t row) const {
        return grower_.values().data() + std::size_t{values_[row]} * target_.n_classes;
    }

    // The pseudo-loss: the weight of (row, wrong label) times (1 - h(row, label) + h(row, wrong label)) / 2.
    MemberScore score_plausibilities() {
        return sum_rows<MemberScore>(values_finder(), [&](std::size_t row) {
            const double* h = plausibilities(row);
            const double own = h[target_.labels[row]];
            MemberScore score;
            for (std::size_t place = row * width_; place < (row + 1) * width_; ++place) {
                const double loss = (1 - own + h[label_at(row, place)]) / 2;
                score.wrong += rounded(units_[place] * loss * one);
                score.right += rounded(units_[place] * (1 - loss) * one);
                score.is_perfect = score.is_perfect && loss == 0;
            }
            score.wrong *= counts_[row];
            score.right *= counts_[row];
            return score;
        });
    }

    MemberScore score_numbers() {
        const std::vector<double>& numbers = grower_.values();
        struct Largest {
            double error = 0;
            Largest& operator+=(const Largest& other) {
                error = std::max(error, other.error);
                return *this;
            }
        };
        const Largest largest = sum_rows<Largest>(values_finder(), [&](std::size_t row) -> Largest {
            const double error = std::abs(numbers[values_[row]] - y_[row]);
            losses_[row] = error > rounding_ ? error : 0;
            return {losses_[row]};
        });
        return sum_rows<MemberScore>([&](std::size_t row) -> MemberScore {
            const double loss = losses_[row] = row_loss(largest.error > 0 ? losses_[row] / largest.error : 0);
            return {rounded(units_[row] * (1 - loss) * one) * counts_[row],
                    rounded(units_[row] * loss * one) * counts_[row], loss == 0};
        });
    }

    double row_loss(double share) const {
        switch (parameters_.loss) {
            case RowLoss::square:
                return share * share;
            case RowLoss::exponential:
                return 1 - std::exp(-share);
            default:
                return share;
        }
    }

    bool is_no_better_than_chance(const MemberScore& score) const {
        switch (parameters_.scheme) {
            case Scheme::samme: {
                const auto chance = static_cast<__int128>(score.right) * (target_.n_classes - 1);
                return parameters_.negative_votes ? score.wrong == chance : score.wrong >= chance;
            }
            case Scheme::r2:
                return score.wrong >= score.right;
            default:
                return score.wrong > score.right;
        }
    }

    double vote_of(const MemberScore& score) const {
        const double log_odds = std::log(score.odds());
        switch (parameters_.scheme) {
            case Scheme::samme:
                return parameters_.learning_rate * (log_odds + std::log(target_.n_classes - 1.0));
            case Scheme::r2:
                return parameters_.learning_rate * log_odds;
            default:
                return log_odds;
        }
    }

    double last_vote(const MemberScore& score) const {
        const bool is_by_odds = parameters_.scheme == Scheme::m1 || parameters_.scheme == Scheme::m2;
        return score.is_perfect && is_by_odds ? std::log(2 * static_cast<double>(n_draws_) + 1) : 1;
    }

    // Computes the distribution of the next round: weights of correct rows are multiplied by exp(-vote), those of rows
    // with loss 1/2 by its square root.
    void reweigh(const MemberScore& score, double vote) {
        const double lighter = parameters_.scheme == Scheme::m1 ? 1 / score.odds() : std::exp(-vote);
        switch (parameters_.scheme) {
            case Scheme::m2:
                reweigh_mislabels(lighter);
                break;
            case Scheme::r2:
                normalise([&](std::size_t row, std::size_t) { return std::pow(lighter, 1 - losses_[row]); });
                break;
            default: {
                const double wrong =
                    one / (static_cast<double>(score.right) * lighter + static_cast<double>(score.wrong));
                const double factors[2] = {lighter * wrong, wrong};
                weigh([&](std::size_t row, std::size_t) { return factors[is_wrong_[row]]; });
            }
        }
    }

    // lighter^((1 + h(label) - h(wrong label)) / 2), from a table of square roots.
    void reweigh_mislabels(double lighter) {
        const std::vector<double>& values = grower_.values();
        std::vector<double> roots(values.size());
        for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = std::pow(lighter, values[i] / 2);
        const double half = std::sqrt(lighter);
        normalise([&](std::size_t row, std::size_t place) {
            const double* root = roots.data() + std::size_t{values_[row]} * target_.n_classes;
            return half * root[target_.labels[row]] / root[label_at(row, place)];
        });
    }

    template <class FactorOf>
    void normalise(FactorOf factor_of) {
        const auto total = static_cast<double>(sum_rows<std::int64_t>([&](std::size_t row) {
            std::int64_t sum = 0;
            for (std::size_t place = row * width_; place < (row + 1) * width_; ++place) {
                units_[place] *= factor_of(row, place);
                sum += rounded(units_[place] * one);
            }
            return sum * counts_[row];
        }));
        weigh([=](std::size_t, std::size_t) { return one / total; });
    }

    void keep_weights() {
        for (std::size_t row = 0; row < n_rows_; ++row) {
            const double unit = std::accumulate(units_.begin() + static_cast<std::ptrdiff_t>(row * width_),
                                                units_.begin() + static_cast<std::ptrdiff_t>((row + 1) * width_), 0.0);
            boosted_.weights.push_back(counts_[row] * unit);
        }
    }

    const Target& target_;
    std::span<const double> y_;
    const AdaBoostParameters& parameters_;
    const Stop& stop_;
    mutable ThreadTeam team_;
    std::size_t n_rows_;
    std::size_t width_;  // units per row
    std::vector<std::uint32_t> counts_;
    std::vector<double> units_;
    std::uint64_t n_draws_;  // the number of rows with repetitions
    MemberGrower grower_;
    std::vector<std::uint32_t> weights_;  // fixed-point, for the grower
    std::vector<std::uint32_t> values_;   // by row: the index of its leaf's value
    std::vector<std::uint32_t> labels_;   // by leaf value
    std::vector<std::uint8_t> is_wrong_;  // 1 for every row whose label differs from that of its leaf
    std::vector<double> losses_;          // by row, for r2
    double rounding_ = 0;                 // smaller errors of r2 are rounding errors of the fixed-point target
    AdaBoosted boosted_;
};

}  // namespace

AdaBoosted boost_adaptively(const Table& table, const Target& target, std::span<const double> y,
                            Distribution distribution, const AdaBoostParameters& parameters, int n_threads,
                            const std::function<bool(std::size_t)>& after_round, const Stop& stop) {
    return AdaBooster(table, target, y, std::move(distribution), parameters, n_threads, stop).run(after_round);
}

}  // namespace committee
