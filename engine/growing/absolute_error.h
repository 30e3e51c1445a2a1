// The absolute error of the rows of a node from their median, for regression. The class of an item is the rank of its
// target among the distinct targets of the table. Two Fenwick trees over the targets of the node, one for each side of
// a split, find a median after each row that moves to the left.
#pragma once
#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "growing/split.h"
#include "growing/tree_growth.h"
#include "tree/node_statistics.h"

namespace committee {

// The distinct targets in increasing order.
struct Levels {
    std::vector<std::int64_t> fixed;
    std::vector<double> numbers;

    explicit Levels(const Target& target) {
        std::vector<std::pair<std::int64_t, double>> all;
        for (std::size_t i = 0; i < target.fixed.size(); ++i) all.emplace_back(target.fixed[i], target.numbers[i]);
        std::ranges::sort(all);
        for (const auto& [value, number] : all) {
            if (!fixed.empty() && fixed.back() == value) continue;
            fixed.push_back(value);
            numbers.push_back(number);
        }
    }

    std::uint32_t rank_of(std::int64_t value) const {
        return static_cast<std::uint32_t>(std::ranges::lower_bound(fixed, value) - fixed.begin());
    }
};

// A multiset of targets with weights, of which the median is known after each change.
class WeightedTargets {
  public:
    void clear(std::size_t n_levels) {
        n_levels_ = n_levels;
        nodes_.assign(n_levels + 1, {});
        all_ = {};
    }

    // Adds weight to a level, or removes it. height: the distance of its target from the lowest of the node.
    void add(std::size_t level, std::uint64_t weight, std::uint64_t height) {
        const Sums change{weight, weight * height};
        all_ += change;
        for (std::size_t i = level + 1; i <= n_levels_; i += i & (~i + 1)) nodes_[i] += change;
    }

    std::uint64_t weight() const { return all_.weight; }
    std::uint64_t weight_up_to(std::size_t level) const {
        std::uint64_t sum = 0;
        for (std::size_t i = level + 1; i > 0; i &= i - 1) sum += nodes_[i].weight;
        return sum;
    }

    // The lower median, and the sums of the levels below it.
    struct Median {
        std::size_t level;
        std::uint64_t weight;
        std::uint64_t height;
    };

    Median median() const {
        Median found{0, 0, 0};
        std::size_t at = 0;
        for (std::size_t step = std::bit_floor(n_levels_); step > 0; step /= 2) {
            const std::size_t next = at + step;
            if (next > n_levels_ || 2 * (found.weight + nodes_[next].weight) >= all_.weight) continue;
            at = next;
            found.weight += nodes_[next].weight;
            found.height += nodes_[next].height;
        }
        found.level = at;
        return found;
    }

    // The weighted sum of the distances from the median, whose height is given by level.
    double absolute_error(std::span<const std::uint64_t> heights) const {
        const Median below = median();
        const std::uint64_t middle = heights[below.level];
        const std::uint64_t above_weight = all_.weight - below.weight, above_height = all_.height - below.height;
        return static_cast<double>((middle * below.weight - below.height) + (above_height - middle * above_weight));
    }

  private:
    struct Sums {
        std::uint64_t weight = 0;
        std::uint64_t height = 0;

        Sums& operator+=(const Sums& other) {
            weight += other.weight;
            height += other.height;
            return *this;
        }
    };

    std::size_t n_levels_ = 0;
    Sums all_;
    std::vector<Sums> nodes_;
};

template <>
class Sides<ManyClasses, Criterion::absolute_error> {
  public:
    using Item = ManyClasses::Item;

    explicit Sides(const Target& target) : levels_(target), place_of_(levels_.fixed.size()) {}

    const Levels& levels() const { return levels_; }

    void reset(std::span<const Item> items) {
        present_.clear();
        for (const Item item : items) present_.push_back(ManyClasses::item_class(item));
        std::ranges::sort(present_);
        present_.erase(std::ranges::unique(present_).begin(), present_.end());
        heights_.clear();
        for (std::size_t place = 0; place < present_.size(); ++place) {
            place_of_[present_[place]] = static_cast<std::uint32_t>(place);
            // Unsigned, because the distance of two targets may exceed the range of a signed number.
            heights_.push_back(static_cast<std::uint64_t>(levels_.fixed[present_[place]]) -
                               static_cast<std::uint64_t>(levels_.fixed[present_[0]]));
        }
        all_.clear(present_.size());
        for (const Item item : items) move(item, all_, 1);
        score_ = -all_.absolute_error(heights_);
    }

    class Cursor {
      public:
        explicit Cursor(Sides& sides) : sides_(&sides) {}

        void move_left(Item item) {
            left_weight_ += ManyClasses::item_weight(item);
            sides_->move(item, sides_->left_, 1);
            sides_->move(item, sides_->right_, ~std::uint64_t{0});
        }
        // Rows are never summed to bins for this criterion.
        void move_bin_left(const std::uint32_t*) { assert(false); }

        double left_weight() const { return static_cast<double>(left_weight_); }
        double right_weight() const { return sides_->weight() - left_weight(); }

        double merit() const {
            if (left_weight_ == 0 || left_weight_ == sides_->all_.weight()) {
                return std::numeric_limits<double>::quiet_NaN();
            }
            return -sides_->score_ - sides_->left_.absolute_error(sides_->heights_) -
                   sides_->right_.absolute_error(sides_->heights_);
        }

        bool keeps(const Limits&) const { return true; }
        bool is_perfect() const { return false; }

      private:
        Sides* sides_;
        std::uint64_t left_weight_ = 0;
    };

    Cursor start() {
        left_.clear(present_.size());
        right_ = all_;
        return Cursor(*this);
    }

    double gain(double merit) const { return merit; }
    double weight() const { return static_cast<double>(all_.weight()); }
    double score() const { return score_; }
    double rounding() const { return 0; }

    // The median of the rows of the node; the mean of both if two are in the middle.
    double median() const {
        const std::size_t level = all_.median().level;
        const double lower = levels_.numbers[present_[level]];
        if (2 * all_.weight_up_to(level) != all_.weight()) return lower;
        return lower / 2 + levels_.numbers[present_[level + 1]] / 2;
    }

    static constexpr bool by_variance = false;

  private:
    void move(Item item, WeightedTargets& to, std::uint64_t sign) const {
        const std::uint32_t place = place_of_[ManyClasses::item_class(item)];
        to.add(place, sign * ManyClasses::item_weight(item), heights_[place]);
    }

    Levels levels_;
    std::vector<std::uint32_t> place_of_;  // by rank, of the node's targets
    std::vector<std::uint32_t> present_;   // the ranks of the node's targets in increasing order
    std::vector<std::uint64_t> heights_;   // of these targets above the lowest
    WeightedTargets all_, left_, right_;
    double score_ = 0;
};

}  // namespace committee
