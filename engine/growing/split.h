// Step two of growing: finds the best split of a column. In: entries in order of code, the totals of the node, and the
// limits on a split. Out: a candidate. It does not read the rows.
#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "growing/histogram.h"
#include "tree/node_statistics.h"

namespace committee {

// Splits of a node are compared by their merit. The merit of a split with an empty side is NaN, which never compares as
// greater.
inline constexpr double worst_merit = -std::numeric_limits<double>::infinity();

struct Candidate {
    double merit = worst_merit;
    double left_weight = 0;
    std::uint32_t column = 0;
    std::uint32_t threshold = 0;  // of a numeric column: codes <= threshold go left
    bool is_category = false;
    bool missing_right = false;
    bool is_perfect = false;                // both children are pure
    std::vector<std::uint16_t> left_codes;  // of a categorical column, without missing
    std::vector<std::uint16_t> branches;    // the categories of a split into more than two, 0 for missing

    bool is_found() const { return merit > worst_merit; }
    void forget() {
        merit = worst_merit;
        is_perfect = false;
    }
};

struct Limits {
    std::uint32_t min_rows = 1;
    std::uint64_t min_weight = 0;
    int direction = 0;  // of a monotonic constraint: the right child's value must be >= (1) or <= (-1) the left's
    double lower = -std::numeric_limits<double>::infinity();  // bounds on the values below a constrained node
    double upper = std::numeric_limits<double>::infinity();

    bool is_free() const { return min_rows <= 1 && min_weight == 0 && direction == 0 && !is_bounded(); }
    bool is_bounded() const {
        return lower > -std::numeric_limits<double>::infinity() || upper < std::numeric_limits<double>::infinity();
    }

    bool keeps_values(double left, double right) const {
        if (direction == 0 && !is_bounded()) return true;
        if (direction > 0 && left > right) return false;
        if (direction < 0 && left < right) return false;
        return left >= lower && left <= upper && right >= lower && right <= upper;
    }
};

// The rows of a node that is to be split. A cursor marks a boundary: the entries before it are on the left, the others
// on the right. It is small enough to stay in registers.
template <class Stat, Criterion criterion>
class Sides {
  public:
    using Item = typename Stat::Item;

    explicit Sides(Item total)
        : total_(total), weight_(Stat::weight(total)), score_(Stat::template score<criterion>(total)) {}

    class Cursor {
      public:
        explicit Cursor(const Sides& sides) : sides_(&sides) {}

        [[gnu::always_inline]] void move_left(const Item& item) { left_ = left_ + item; }
        double left_weight() const { return Stat::weight(left_); }
        double right_weight() const { return sides_->weight_ - left_weight(); }

        // The variance between the sides, which is half the gain of gini for two classes. With s and w the sums of
        // target and weight, it is (s_left w_right - s_right w_left)^2 / (w_left w_right w). Swapping the sides does
        // not change a bit.
        [[gnu::always_inline]] double merit() const {
            const double left = left_weight(), right = right_weight();
            if constexpr (by_variance) {
                const double difference = Stat::sum(left_) * right - Stat::sum(sides_->total_ - left_) * left;
                return difference * difference / (left * right);
            } else {
                if (left == 0 || right == 0) return std::numeric_limits<double>::quiet_NaN();
                return Stat::template score<criterion>(left_) +
                       Stat::template score<criterion>(sides_->total_ - left_) - sides_->score_;
            }
        }

        bool keeps(const Limits& limits) const {
            return limits.keeps_values(Stat::value(left_), Stat::value(sides_->total_ - left_));
        }
        bool is_perfect() const {
            if constexpr (std::is_same_v<Stat, TwoClasses>) {
                return Stat::is_pure(left_) && Stat::is_pure(sides_->total_ - left_);
            } else {
                return false;
            }
        }

      private:
        const Sides* sides_;
        Item left_{};
    };

    Cursor start() { return Cursor(*this); }

    double gain(double merit) const {
        return by_variance ? merit / weight_ * (criterion == Criterion::gini ? 2 : 1) : merit;
    }
    // The merit of a split into several branches, given the sum of their scores.
    double merit_of(double scores) const {
        const double gain = scores - score_;
        return by_variance ? gain * weight_ / (criterion == Criterion::gini ? 2 : 1) : gain;
    }
    double weight() const { return weight_; }
    double score() const { return score_; }
    const Item& total() const { return total_; }
    // The rounding error of a gain: its terms are those of two classes and their sum, in the node and on both sides.
    double rounding() const { return sums_logarithms(criterion) ? rounding_of(9) : 0; }

    static constexpr bool by_variance = criterion == Criterion::gini || criterion == Criterion::squared_error;

  private:
    Item total_;
    double weight_;
    double score_;
};

template <Criterion criterion>
class Sides<ManyClasses, criterion> {
  public:
    using Item = ManyClasses::Item;

    explicit Sides(std::size_t n_classes) : left_(n_classes), right_(n_classes), all_(n_classes) {}

    void reset(std::span<const Item> items) {
        std::ranges::fill(all_, 0);
        sum_ = {};
        for (const Item item : items) sum_.change(all_[ManyClasses::item_class(item)], ManyClasses::item_weight(item));
        score_ = sum_.score(all_);
    }

    class Cursor {
      public:
        explicit Cursor(Sides& sides) : sides_(&sides), right_sum_(sides.sum_) {}

        [[gnu::always_inline]] void move_left(Item item) {
            const std::uint32_t label = ManyClasses::item_class(item);
            const std::int64_t weight = ManyClasses::item_weight(item);
            if constexpr (criterion == Criterion::gini) {
                // The term of the right side shrinks from (all - left)^2 to (all - left - weight)^2.
                const std::int64_t right = std::int64_t{sides_->all_[label]} - sides_->left_[label];
                right_sum_.terms -= weight * (2 * right - weight);
                right_sum_.weight -= weight;
            } else {
                right_sum_.change(sides_->right_[label], -weight);
            }
            left_sum_.change(sides_->left_[label], weight);
        }
        // Moves a whole bin, given the weights of its classes.
        [[gnu::always_inline]] void move_bin_left(const std::uint32_t* weights) {
            std::uint32_t* left = sides_->left_.data();
            const std::size_t n_classes = sides_->left_.size();
            if constexpr (criterion == Criterion::gini) {
                const std::uint32_t* all = sides_->all_.data();
                std::uint64_t left_terms = 0, right_terms = 0;
                std::uint32_t moved = 0;
                for (std::size_t k = 0; k < n_classes; ++k) {
                    left[k] += weights[k];
                    moved += weights[k];
                    const std::uint32_t right = all[k] - left[k];
                    left_terms += std::uint64_t{left[k]} * left[k];
                    right_terms += std::uint64_t{right} * right;
                }
                left_sum_ = {left_sum_.weight + moved, static_cast<std::int64_t>(left_terms)};
                right_sum_ = {right_sum_.weight - moved, static_cast<std::int64_t>(right_terms)};
            } else {
                for (std::uint32_t k = 0; k < n_classes; ++k) {
                    if (weights[k] > 0) move_left(ManyClasses::item(weights[k], k));
                }
            }
        }

        double left_weight() const { return static_cast<double>(left_sum_.weight); }
        double right_weight() const { return static_cast<double>(right_sum_.weight); }

        [[gnu::always_inline]] double merit() const {
            const double left = left_weight(), right = right_weight();
            if constexpr (criterion == Criterion::gini) {
                return (static_cast<double>(left_sum_.terms) * right + static_cast<double>(right_sum_.terms) * left) /
                       (left * right);
            } else {
                if (left == 0 || right == 0) return std::numeric_limits<double>::quiet_NaN();
                return left_sum_.score(sides_->left_) + right_sum_.score(sides_->right_) - sides_->score_;
            }
        }

        bool keeps(const Limits&) const { return true; }
        bool is_perfect() const { return left_sum_.is_pure() && right_sum_.is_pure(); }

      private:
        Sides* sides_;
        ClassSum<criterion> left_sum_, right_sum_;
    };

    static constexpr bool by_variance = false;

    Cursor start() {
        std::ranges::fill(left_, 0);
        if (criterion != Criterion::gini) std::ranges::copy(all_, right_.begin());
        return Cursor(*this);
    }

    double gain(double merit) const {
        return criterion == Criterion::gini ? merit - static_cast<double>(sum_.terms) / weight() : merit;
    }
    double merit_of(double scores) const {
        const double gain = scores - score_;
        return criterion == Criterion::gini ? gain + static_cast<double>(sum_.terms) / weight() : gain;
    }
    double weight() const { return static_cast<double>(sum_.weight); }
    double score() const { return score_; }
    std::span<const std::uint32_t> class_weights() const { return all_; }
    double rounding() const {
        if constexpr (!sums_logarithms(criterion)) return 0;
        const std::ptrdiff_t n_absent = std::ranges::count(all_, 0U);
        return rounding_of(3 * (all_.size() - static_cast<std::size_t>(n_absent) + 1));
    }

  private:
    std::vector<std::uint32_t> left_, right_, all_;
    ClassSum<criterion> sum_;
    double score_ = 0;
};

inline constexpr std::size_t abreast = 8;

// Moves the cursor through entries[begin, end) and records the best position. Calls take(e) if a split after entry e is
// better than `best`.
template <class Stat, Criterion criterion, class Take>
void sweep(const Entries<Stat>& entries, std::size_t begin, std::size_t end, std::uint32_t rows_left,
           std::uint32_t n_rows, const Limits& limits, typename Sides<Stat, criterion>::Cursor cursor, Candidate& best,
           Take take) {
    using Cursor = typename Sides<Stat, criterion>::Cursor;
    double best_merit = best.merit;
    Cursor best_cursor = cursor;
    std::size_t found = end;
    auto remember = [&](std::size_t e, double merit, const Cursor& here) {
        found = e;
        best_merit = merit;
        best_cursor = here;
    };
    const auto* items = entries.items.data();
    const std::uint16_t* codes = entries.codes.data();
    // Bins of many classes have class weights; all other entries have an item.
    constexpr bool many = std::is_same_v<Stat, ManyClasses>;
    auto move_item = [items](Cursor& here, std::size_t e) { here.move_left(items[e]); };
    auto move_bin = [&](Cursor& here, std::size_t e) {
        if constexpr (many) {
            here.move_bin_left(entries.class_weights_of(e));
        } else {
            here.move_left(items[e]);
        }
    };
    auto sweep_freely = [&](auto is_boundary, auto move) {
        std::size_t e = begin;
        Cursor here = cursor;
        if constexpr (!std::is_same_v<Stat, ManyClasses>) {
            // Computes several merits at a time. Improvements are rare, so only a group that has one is examined entry
            // by entry.
            for (; e + abreast < end; e += abreast) {
                const Cursor before = here;
                std::array<double, abreast> merits;
                for (std::size_t k = 0; k < abreast; ++k) {
                    here.move_left(items[e + k]);
                    merits[k] = here.merit();
                }
                bool is_any_better = false;
                for (const double merit : merits) is_any_better |= merit > best_merit;
                if (!is_any_better) continue;
                here = before;
                for (std::size_t k = 0; k < abreast; ++k) {
                    here.move_left(items[e + k]);
                    if (merits[k] > best_merit && is_boundary(e + k)) remember(e + k, merits[k], here);
                }
            }
        }
        for (; e + 1 < end; ++e) {
            move(here, e);
            const double merit = here.merit();
            if ((merit > best_merit) & is_boundary(e)) remember(e, merit, here);
        }
    };
    if (limits.is_free() && entries.are_bins) {
        sweep_freely([](std::size_t) { return true; }, move_bin);
    } else if (limits.is_free()) {
        sweep_freely([codes](std::size_t e) { return codes[e] != codes[e + 1]; }, move_item);
    } else {
        const double least = std::max(static_cast<double>(limits.min_weight), 1.0);
        for (std::size_t e = begin; e + 1 < end; ++e) {
            entries.are_bins ? move_bin(cursor, e) : move_item(cursor, e);
            rows_left += entries.counts[e];
            if (entries.last_code(e) == entries.last_code(e + 1)) continue;
            if (limits.min_rows > 1 && (rows_left < limits.min_rows || n_rows - rows_left < limits.min_rows)) continue;
            if (cursor.left_weight() < least || cursor.right_weight() < least || !cursor.keeps(limits)) continue;
            const double merit = cursor.merit();
            if (merit > best_merit) remember(e, merit, cursor);
        }
    }
    if (found == end) return;
    best.merit = best_merit;
    best.left_weight = best_cursor.left_weight();
    best.is_perfect = best_cursor.is_perfect();
    take(found);
}

// Finds the best threshold of a numeric column. Missing values are tried on both sides.
template <class Stat, Criterion criterion>
void find_threshold(const Entries<Stat>& entries, bool has_missing, std::uint32_t n_rows, const Limits& limits,
                    Sides<Stat, criterion>& sides, Candidate& best) {
    if (has_missing) {
        std::size_t n_missing = 0;
        while (n_missing < entries.size && entries.last_code(n_missing) == 0) ++n_missing;
        sweep<Stat, criterion>(entries, n_missing, entries.size, 0, n_rows, limits, sides.start(), best,
                               [&](std::size_t e) {
                                   best.threshold = entries.last_code(e);
                                   best.missing_right = true;
                               });
    }
    sweep<Stat, criterion>(entries, 0, entries.size, 0, n_rows, limits, sides.start(), best, [&](std::size_t e) {
        best.threshold = entries.last_code(e);
        best.missing_right = false;
    });
}

}  // namespace committee
