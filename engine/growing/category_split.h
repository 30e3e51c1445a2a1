// Step two of growing for categorical columns. In: the entries of a column. Out: its best set of categories.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "growing/histogram.h"
#include "growing/split.h"
#include "numbers/random.h"
#include "tree/node_statistics.h"

namespace committee {

// Finds the best set of categories to send left; missing counts as one more category. Categories are sorted and then
// split like numbers. For two classes and for means, sorting by value finds the best of all sets (Breiman et al. 1984,
// section 4.2.2). For many classes, sorting by the share of each of the heaviest classes is tried. For the absolute
// error, categories are sorted by median.
template <class Stat, Criterion criterion>
class CategorySearch {
  public:
    void find(const Entries<Stat>& entries, std::uint32_t n_rows, const Limits& limits, std::size_t n_classes,
              Sides<Stat, criterion>& sides, Candidate& best) {
        collect_groups(entries);
        if constexpr (criterion == Criterion::absolute_error) {
            for (Group& group : groups_) group.value = median_rank(entries, group);
            try_order(entries, n_rows, limits, sides, best);
        } else if constexpr (std::is_same_v<Stat, ManyClasses>) {
            for (const std::uint32_t label : heaviest_classes(sides.class_weights(), n_classes)) {
                for (Group& group : groups_) group.value = share_of_class(entries, group, label);
                try_order(entries, n_rows, limits, sides, best);
            }
        } else {
            for (Group& group : groups_) {
                typename Stat::Item sum{};
                for (std::size_t e = group.begin; e < group.end; ++e) sum = sum + entries.items[e];
                group.value = Stat::value(sum);
            }
            try_order(entries, n_rows, limits, sides, best);
        }
    }

    // One branch per category that has rows; missing counts as one more. The heaviest branch is the last.
    void find_branches(const Entries<Stat>& entries, const Limits& limits, std::size_t n_classes,
                       const Sides<Stat, criterion>& sides, Candidate& best) {
        collect_groups(entries);
        double scores = 0;
        for (Group& group : groups_) {
            const auto [weight, score] = weight_and_score(entries, group, n_classes);
            const std::uint32_t n_rows =
                std::accumulate(entries.counts.begin() + static_cast<std::ptrdiff_t>(group.begin),
                                entries.counts.begin() + static_cast<std::ptrdiff_t>(group.end), 0U);
            if (weight < std::max(static_cast<double>(limits.min_weight), 1.0)) return;
            if (limits.min_rows > 1 && n_rows < limits.min_rows) return;
            group.value = weight;
            scores += score;
        }
        if (groups_.size() < 2) return;
        const double merit = sides.merit_of(scores);
        if (!(merit > best.merit)) return;
        std::ranges::sort(groups_, [](const Group& a, const Group& b) {
            return a.value != b.value ? a.value < b.value : a.code < b.code;
        });
        best.merit = merit;
        best.is_perfect = false;
        best.branches.clear();
        for (const Group& group : groups_) best.branches.push_back(group.code);
    }

    // A random set: shuffles the categories that are present and sends a random number of them left, at least one to
    // each side.
    void draw(const Entries<Stat>& entries, std::uint32_t n_rows, const Limits& limits, Random& random,
              Sides<Stat, criterion>& sides, Candidate& best) {
        collect_groups(entries);
        for (Group& group : groups_) group.value = random.uniform();
        std::ranges::sort(groups_, {}, &Group::value);
        const std::size_t n_left = 1 + random.below(groups_.size() - 1);
        arrange(entries);
        auto cursor = sides.start();
        std::uint32_t rows_before = 0;
        std::size_t e = 0;
        for (; arranged_.codes[e] < n_left - 1; ++e) {
            cursor.move_left(arranged_.items[e]);
            rows_before += arranged_.counts[e];
        }
        std::size_t end = e;
        while (end < arranged_.size && arranged_.codes[end] < n_left) ++end;
        sweep<Stat, criterion>(arranged_, e, end + 1, rows_before, n_rows, limits, cursor, best,
                               [&](std::size_t) { take(n_left, best); });
    }

  private:
    struct Group {
        std::uint16_t code;
        std::size_t begin, end;
        double value;
    };

    void collect_groups(const Entries<Stat>& entries) {
        groups_.clear();
        for (std::size_t e = 0; e < entries.size;) {
            const std::size_t begin = e;
            const std::uint32_t code = entries.last_code(e);
            while (e < entries.size && entries.last_code(e) == code) ++e;
            if (!is_empty(entries, begin, e)) groups_.push_back({static_cast<std::uint16_t>(code), begin, e, 0});
        }
    }

    static bool is_empty(const Entries<Stat>& entries, std::size_t begin, std::size_t end) {
        if constexpr (std::is_same_v<Stat, ManyClasses>) {
            return false;
        } else {
            return std::all_of(entries.items.begin() + static_cast<std::ptrdiff_t>(begin),
                               entries.items.begin() + static_cast<std::ptrdiff_t>(end),
                               [](const auto& item) { return Stat::weight(item) == 0; });
        }
    }

    std::pair<double, double> weight_and_score(const Entries<Stat>& entries, const Group& group,
                                               std::size_t n_classes) {
        if constexpr (std::is_same_v<Stat, ManyClasses>) {
            class_weights_.assign(n_classes, 0);
            ClassSum<criterion> sum;
            for (std::size_t e = group.begin; e < group.end; ++e) {
                sum.change(class_weights_[ManyClasses::item_class(entries.items[e])],
                           ManyClasses::item_weight(entries.items[e]));
            }
            return {static_cast<double>(sum.weight), sum.score(class_weights_)};
        } else {
            typename Stat::Item sum{};
            for (std::size_t e = group.begin; e < group.end; ++e) sum = sum + entries.items[e];
            return {Stat::weight(sum), Stat::template score<criterion>(sum)};
        }
    }

    static double share_of_class(const Entries<Stat>& entries, const Group& group, std::uint32_t label) {
        std::uint64_t of_class = 0, all = 0;
        for (std::size_t e = group.begin; e < group.end; ++e) {
            const std::uint32_t weight = ManyClasses::item_weight(entries.items[e]);
            all += weight;
            if (ManyClasses::item_class(entries.items[e]) == label) of_class += weight;
        }
        return static_cast<double>(of_class) / static_cast<double>(all);
    }

    double median_rank(const Entries<Stat>& entries, const Group& group) {
        ranks_.clear();
        std::uint64_t weight = 0, below = 0;
        for (std::size_t e = group.begin; e < group.end; ++e) {
            ranks_.emplace_back(ManyClasses::item_class(entries.items[e]), ManyClasses::item_weight(entries.items[e]));
            weight += ranks_.back().second;
        }
        std::ranges::sort(ranks_);
        std::size_t i = 0;
        while (2 * (below + ranks_[i].second) < weight) below += ranks_[i++].second;
        return ranks_[i].first;
    }

    static std::vector<std::uint32_t> heaviest_classes(std::span<const std::uint32_t> weights, std::size_t n_classes) {
        constexpr std::size_t most = 16;
        std::vector<std::uint32_t> classes;
        for (std::uint32_t k = 0; k < n_classes; ++k) {
            if (weights[k] > 0) classes.push_back(k);
        }
        std::ranges::stable_sort(classes, [&](auto a, auto b) { return weights[a] > weights[b]; });
        classes.resize(std::min(classes.size(), most));
        return classes;
    }

    // Reorders the entries by group, with the position of the group in place of the code.
    void arrange(const Entries<Stat>& entries) {
        arranged_.reserve(entries.size);
        arranged_.size = 0;
        arranged_.are_bins = false;
        for (std::size_t g = 0; g < groups_.size(); ++g) {
            for (std::size_t e = groups_[g].begin; e < groups_[g].end; ++e) {
                arranged_.push(static_cast<std::uint16_t>(g), entries.items[e], entries.counts[e]);
            }
        }
    }

    void try_order(const Entries<Stat>& entries, std::uint32_t n_rows, const Limits& limits,
                   Sides<Stat, criterion>& sides, Candidate& best) {
        std::ranges::sort(groups_, [](const Group& a, const Group& b) {
            return a.value != b.value ? a.value < b.value : a.code < b.code;
        });
        arrange(entries);
        std::size_t n_left = 0;
        sweep<Stat, criterion>(arranged_, 0, arranged_.size, 0, n_rows, limits, sides.start(), best,
                               [&](std::size_t e) { n_left = arranged_.codes[e] + std::size_t{1}; });
        if (n_left > 0) take(n_left, best);
    }

    void take(std::size_t n_left, Candidate& best) const {
        best.is_category = true;
        best.missing_right = true;
        best.left_codes.clear();
        for (std::size_t g = 0; g < n_left; ++g) {
            if (groups_[g].code == 0) {
                best.missing_right = false;
            } else {
                best.left_codes.push_back(groups_[g].code);
            }
        }
    }

    std::vector<Group> groups_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks_;  // of the targets of a group, with weights
    std::vector<std::uint32_t> class_weights_;
    Entries<Stat> arranged_;
};

}  // namespace committee
