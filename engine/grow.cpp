#include "grow.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <queue>
#include <stdexcept>
#include <utility>

#include "histogram.h"
#include "partition.h"
#include "random.h"
#include "split.h"

namespace committee {
namespace {

// Rows of a subtree that gets a block of codes of its own.
constexpr std::size_t local_rows = 4096;

// A node that is not yet decided: the rows [begin, end) of the tree's row list.
struct Pending {
    bool is_local = false;  // its rows are numbered as in the local block
    std::uint32_t node = 0;
    std::uint32_t depth = 0;
    std::size_t begin = 0;
    std::size_t end = 0;
    std::uint64_t key = 0;
    double lower = -std::numeric_limits<double>::infinity();
    double upper = std::numeric_limits<double>::infinity();
};

// Values of a column at some 256 of its codes, with straight lines between: small enough to stay in the cache, where
// the cuts of all columns would not. The last line may end a little beyond the last code.
class Knots {
  public:
    explicit Knots(const Column& column) : bits_(std::bit_width(column.n_bins / 256)) {
        for (std::uint32_t code = 1; code < column.n_bins; code += 1U << bits_)
            values_.push_back(value_of_bin(column, code));
        values_.resize(std::max<std::size_t>(values_.size() + 1, 2), column.highest);
    }

    double value_of(std::uint32_t code) const {
        const std::size_t at = std::min<std::size_t>((code - 1) >> bits_, values_.size() - 2);
        const auto beyond = static_cast<double>(code - 1 - (static_cast<std::uint32_t>(at) << bits_));
        return values_[at] + std::ldexp(beyond, -bits_) * (values_[at + 1] - values_[at]);
    }

    // The last code whose value is not above this one.
    std::uint32_t code_of(double value) const {
        std::size_t at = 0;
        for (std::size_t size = values_.size() - 1; size > 1;) {
            const std::size_t half = size / 2;
            at += values_[at + half] <= value ? half : 0;
            size -= half;
        }
        const double part = (value - values_[at]) / (values_[at + 1] - values_[at]);
        return 1 + (static_cast<std::uint32_t>(at) << bits_) + static_cast<std::uint32_t>(std::ldexp(part, bits_));
    }

  private:
    static double value_of_bin(const Column& column, std::uint32_t code) {
        if (code <= 1) return column.lowest;
        return column.cuts[code - 2] / 2 + column.cuts[code - 1] / 2;
    }

    int bits_;
    std::vector<double> values_;
};

template <class Code, class Stat, Criterion criterion>
class Grower {
  public:
    using Item = typename Stat::Item;
    static constexpr bool many = std::is_same_v<Stat, ManyClasses>;

    Grower(const Table& table, const Target& target, const GrowParameters& parameters)
        : table_(table),
          codes_(std::get<Codes<Code>>(table.codes)),
          target_(target),
          parameters_(parameters),
          n_columns_(table.n_columns()),
          n_outputs_(target.n_outputs()),
          histogram_(target.n_classes, parameters.exact, parameters.min_samples_leaf > 1),
          sides_(first_sides()),
          columns_(n_columns_) {
        std::iota(columns_.begin(), columns_.end(), 0U);
        if (parameters.random_thresholds) {
            for (const Column& column : table.binning->columns)
                knots_.emplace_back(column.is_category ? Column{} : column);
        }
        n_tried_ =
            parameters.max_features == 0 ? n_columns_ : std::min<std::size_t>(parameters.max_features, n_columns_);
    }

    Tree grow(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> weights, std::uint64_t key) {
        start(rows, weights);
        const Pending root{.end = rows.size(), .key = key};
        if (parameters_.max_leaf_nodes == 0) {
            grow_depth_first(root);
        } else {
            grow_best_first(root);
        }
        return std::move(tree_);
    }

  private:
    // A pending node with the split that was found for it.
    struct Decided {
        Pending pending;
        Candidate split;
        double gain = 0;
        double weight = 0;
    };

    auto first_sides() const {
        if constexpr (many) {
            return Sides<Stat, criterion>(target_.n_classes);
        } else {
            return Sides<Stat, criterion>(Item{});
        }
    }

    void start(std::span<const std::uint32_t> rows, std::span<const std::uint32_t> weights) {
        tree_ = {};
        tree_.nodes.push_back(0);
        tree_.importances.assign(n_columns_, 0.0);
        if (parameters_.keep_records) {
            tree_.records.emplace_back();
        } else if (target_.n_classes > 0) {
            // Most leaves of a full tree are pure: they share one value per class.
            tree_.values.assign(n_outputs_ * n_outputs_, 0.0);
            for (std::size_t k = 0; k < n_outputs_; ++k) tree_.values[k * n_outputs_ + k] = 1.0;
        }
        rows_.assign(rows.begin(), rows.end());
        items_.resize(rows.size());
        node_codes_.resize(rows.size());
        total_weight_ = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            total_weight_ += weights[i];
            if constexpr (std::is_same_v<Stat, Mean>) {
                items_[i] = {target_.fixed[rows[i]] * std::int64_t{weights[i]}, weights[i]};
            } else {
                items_[i] = Stat::item(weights[i], target_.labels[rows[i]]);
            }
        }
        limits_.min_rows = parameters_.min_samples_leaf;
        limits_.min_weight = static_cast<std::uint64_t>(
            std::ceil(parameters_.min_weight_fraction_leaf * static_cast<double>(total_weight_)));
        pairs_are_simple_ = limits_.is_free() && parameters_.min_samples_split <= 2 && parameters_.monotonic.empty() &&
                            parameters_.min_impurity_decrease == 0 && !parameters_.needs_gain &&
                            !parameters_.keep_records &&
                            parameters_.max_depth == std::numeric_limits<std::uint32_t>::max() &&
                            criterion != Criterion::gain_ratio && criterion != Criterion::poisson;
        // min_impurity_decrease is a share of the tree's weight times an impurity in the target's own units.
        min_gain_ = parameters_.min_impurity_decrease * static_cast<double>(total_weight_) * target_.scale *
                    (criterion == Criterion::poisson ? 1 : target_.scale);
    }

    void grow_depth_first(const Pending& root) {
        stack_.assign(1, root);
        while (!stack_.empty()) {
            Pending pending = stack_.back();
            stack_.pop_back();
            if (!pending.is_local && pending.end - pending.begin <= local_rows) localise(pending);
            if (pending.end - pending.begin == 2 && pairs_are_simple_ && split_pair(pending)) continue;
            if (!decide(pending, found_)) continue;
            const auto [left, right] = divide(found_);
            stack_.push_back(right);
            stack_.push_back(left);
        }
    }

    // A subtree of few rows gets their codes in one small block, so that everything below is found in the nearest
    // caches.
    void localise(Pending& pending) {
        const std::size_t n = pending.end - pending.begin;
        local_codes_.resize(n_columns_ * n);
        n_local_ = n;
        std::uint32_t* rows = rows_.data() + pending.begin;
        constexpr std::size_t tile = 32;
        for (std::size_t begin = 0; begin < n; begin += tile) {
            const std::size_t end = std::min(n, begin + tile);
            for (std::size_t j = 0; j < n_columns_; ++j) {
                const Code* from = codes_.by_row.data() + j;
                for (std::size_t i = begin; i < end; ++i) local_codes_[j * n + i] = from[rows[i] * n_columns_];
            }
        }
        std::iota(rows, rows + n, 0U);
        pending.is_local = true;
    }

    const Code* column_codes(const Pending& pending, std::uint32_t column) const {
        return pending.is_local ? local_codes_.data() + column * n_local_ : codes_.column(column);
    }

    // Two rows of different targets: the first column that tells them apart is as good as any. A third of all nodes of
    // a full tree are such pairs; this finds the split that decide and divide would find. False: let them do it.
    bool split_pair(const Pending& pending) {
        const Item first = items_[pending.begin], second = items_[pending.begin + 1];
        if (is_same_target(first, second)) return false;
        Random random(pending.key, Purpose::columns);
        std::uint32_t column = 0, codes[2] = {0, 0};
        swaps_.clear();
        for (std::size_t visited = 0; visited < n_columns_ && codes[0] == codes[1]; ++visited) {
            column = draw_column(visited, random);
            const Code* of_column = column_codes(pending, column);
            codes[0] = of_column[rows_[pending.begin]];
            codes[1] = of_column[rows_[pending.begin + 1]];
        }
        undo_draws();
        if (codes[0] == codes[1] || codes[0] == 0 || codes[1] == 0 || table_.binning->columns[column].is_category)
            return false;
        const bool swapped = codes[0] > codes[1];
        const Item& low = swapped ? second : first;
        const Item& high = swapped ? first : second;
        const CodeRange range{std::min(codes[0], codes[1]), std::max(codes[0], codes[1])};
        std::uint32_t threshold = range.lowest + (range.highest - range.lowest) / 2;
        if (parameters_.random_thresholds) {
            Random position(derive_key(pending.key, column), Purpose::threshold);
            threshold = draw_code(column, range, position.uniform());
        }
        add_pair(pending, column, threshold, low, high);
        return true;
    }

    void add_pair(const Pending& pending, std::uint32_t column, std::uint32_t threshold, const Item& low,
                  const Item& high) {
        const auto left = add_children();
        tree_.nodes[pending.node] = number_word(column, threshold, weight_of(low) < weight_of(high), left);
        const Item both[2] = {low, high};
        for (std::uint32_t side = 0; side < 2; ++side) {
            if constexpr (many) {
                pure_class_ = ManyClasses::item_class(both[side]);
            } else {
                total_ = both[side];
                if constexpr (std::is_same_v<Stat, TwoClasses>) pure_class_ = both[side] >> 32 != 0 ? 1 : 0;
            }
            Pending leaf = pending;
            leaf.node = left + side;
            make_leaf(leaf, true);
        }
        double gain = 0;
        if constexpr (many) {
            sides_.reset(both);
            gain = -sides_.score();
        } else {
            Sides<Stat, criterion> sides(low + high);
            auto cursor = sides.start();
            cursor.move_left(low);
            gain = sides.gain(cursor.fraction());
        }
        tree_.importances[column] += gain / (target_.scale * target_.scale);
    }

    static bool is_same_target(const Item& a, const Item& b) {
        if constexpr (many) {
            return ManyClasses::item_class(a) == ManyClasses::item_class(b);
        } else {
            return Stat::value(a) == Stat::value(b);
        }
    }

    static double weight_of(const Item& item) {
        if constexpr (many) {
            return ManyClasses::item_weight(item);
        } else {
            return Stat::weight(item);
        }
    }

    // The column to be visited next, none of those before; see undo_draws.
    std::uint32_t draw_column(std::size_t visited, Random& random) {
        if (n_tried_ == n_columns_) return columns_[visited];
        const std::size_t other = visited + random.below(n_columns_ - visited);
        std::swap(columns_[visited], columns_[other]);
        swaps_.push_back(other);
        return columns_[visited];
    }

    // The order of the columns must not depend on the nodes that were grown before.
    void undo_draws() {
        for (std::size_t i = swaps_.size(); i-- > 0;) std::swap(columns_[i], columns_[swaps_[i]]);
        swaps_.clear();
    }

    std::uint32_t add_children() {
        const auto left = static_cast<std::uint32_t>(tree_.nodes.size());
        if (left + 1 > max_address)
            throw std::length_error("A tree outgrew the 67,108,863 nodes that a node can address.");
        tree_.nodes.resize(tree_.nodes.size() + 2);
        if (parameters_.keep_records) tree_.records.resize(tree_.nodes.size());
        return left;
    }

    void grow_best_first(const Pending& root) {
        auto worse = [](const Decided& a, const Decided& b) {
            return a.gain != b.gain ? a.gain < b.gain : a.pending.node > b.pending.node;
        };
        std::priority_queue<Decided, std::vector<Decided>, decltype(worse)> open(worse);
        auto offer = [&](const Pending& pending) {
            Decided decided;
            if (decide(pending, decided)) open.push(std::move(decided));
        };
        offer(root);
        std::uint32_t n_leaves = 1;
        while (!open.empty()) {
            Decided best = open.top();
            open.pop();
            if (n_leaves < parameters_.max_leaf_nodes) {
                ++n_leaves;
                const auto [left, right] = divide(best);
                offer(left);
                offer(right);
            } else {
                summarise(best.pending);
                make_leaf(best.pending);
            }
        }
    }

    // Sums up the node. True if it is pure.
    bool summarise(const Pending& pending) {
        const auto items = items_of(pending);
        if constexpr (many) {
            const std::uint32_t first = ManyClasses::item_class(items[0]);
            const bool pure =
                std::ranges::all_of(items, [=](Item item) { return ManyClasses::item_class(item) == first; });
            if (!pure || parameters_.keep_records) sides_.reset(items);
            pure_class_ = first;
            return pure;
        } else {
            total_ = sum_of(items);
            if constexpr (std::is_same_v<Stat, Mean>) {
                const std::int64_t first = items[0].sum / items[0].weight;
                return std::ranges::all_of(items, [=](const Item& item) { return item.sum == first * item.weight; });
            } else {
                pure_class_ = total_ >> 32 != 0 ? 1 : 0;
                return Stat::is_pure(total_);
            }
        }
    }

    // True if a split was found; else the node has become a leaf.
    bool decide(const Pending& pending, Decided& decided) {
        const std::size_t n_rows = pending.end - pending.begin;
        const bool pure = summarise(pending);
        if (parameters_.keep_records) record(pending);
        if (pure || pending.depth >= parameters_.max_depth || n_rows < parameters_.min_samples_split ||
            n_rows < 2 * std::size_t{parameters_.min_samples_leaf}) {
            make_leaf(pending, pure);
            return false;
        }
        if constexpr (!many) sides_ = Sides<Stat, criterion>(total_);
        decided.split.forget();
        search(pending, decided.split);
        if (!decided.split.is_found()) {
            make_leaf(pending);
            return false;
        }
        decided.gain = sides_.gain(decided.split.fraction);
        if (decided.gain < min_gain_ * (1 - 1e-12) || (parameters_.needs_gain && decided.gain <= smallest_gain())) {
            make_leaf(pending);
            return false;
        }
        decided.pending = pending;
        decided.weight = sides_.weight();
        return true;
    }

    // What counts as no gain at all: rounding.
    double smallest_gain() const { return 1e-12 * std::max(sides_.weight(), std::abs(sides_.score())); }

    // Visits columns in random order, as scikit-learn does: max_features of them, and on until one can be split.
    void search(const Pending& pending, Candidate& best) {
        Random random(pending.key, Purpose::columns);
        limits_.lower = pending.lower;
        limits_.upper = pending.upper;
        gain_ratio_candidates_.clear();
        for (std::size_t visited = 0; visited < n_columns_; ++visited) {
            if (visited >= n_tried_ && is_satisfied(best)) break;
            try_column(pending, draw_column(visited, random), best);
            // No other column can do better than two pure children, or one row each.
            if (best.is_perfect || (pending.end - pending.begin == 2 && best.is_found())) break;
        }
        undo_draws();
        if constexpr (criterion == Criterion::gain_ratio) choose_by_gain_ratio(best);
    }

    bool is_satisfied(const Candidate& best) const {
        if (!best.is_found() && gain_ratio_candidates_.empty()) return false;
        return !parameters_.needs_gain || (best.is_found() && sides_.gain(best.fraction) > smallest_gain());
    }

    void try_column(const Pending& pending, std::uint32_t column, Candidate& best) {
        const std::size_t n_rows = pending.end - pending.begin;
        const CodeRange range = gather_codes(column_codes(pending, column), {rows_.data() + pending.begin, n_rows},
                                             table_.has_missing[column], node_codes_.data());
        if (range.is_constant()) return;
        const std::span<const std::uint16_t> codes(node_codes_.data(), n_rows);
        limits_.direction = parameters_.monotonic.empty() ? 0 : parameters_.monotonic[column];
        constexpr bool by_ratio = criterion == Criterion::gain_ratio;
        Candidate& found = by_ratio ? column_best_ : best;
        if (by_ratio) column_best_.forget();
        const Fraction before = found.fraction;
        const bool is_category = table_.binning->columns[column].is_category;
        if (is_category) {
            histogram_.order(codes, items_of(pending), range, true, entries_);
            try_categories(pending, column, found);
        } else if (parameters_.random_thresholds) {
            draw_threshold(pending, column, codes, range, found);
        } else {
            histogram_.order(codes, items_of(pending), range, false, entries_);
            find_threshold<Stat, criterion>(entries_, range.has_missing, static_cast<std::uint32_t>(n_rows), limits_,
                                            sides_, found);
        }
        if (found.fraction.is_better_than(before)) {
            found.column = column;
            found.is_category = is_category;
        }
        if (by_ratio && found.is_found()) gain_ratio_candidates_.push_back(found);
    }

    void try_categories(const Pending& pending, std::uint32_t column, Candidate& found) {
        const auto n_rows = static_cast<std::uint32_t>(pending.end - pending.begin);
        if (parameters_.random_thresholds) {
            Random random(derive_key(pending.key, column), Purpose::threshold);
            categories_.draw(entries_, n_rows, limits_, random, sides_, found);
        } else {
            categories_.find(entries_, n_rows, limits_, target_.n_classes, sides_, found);
        }
    }

    // One threshold, uniform between the lowest and the highest value of the node (Geurts, Ernst and Wehenkel 2006).
    void draw_threshold(const Pending& pending, std::uint32_t column, std::span<const std::uint16_t> codes,
                        CodeRange range, Candidate& best) {
        Random random(derive_key(pending.key, column), Purpose::threshold);
        const bool missing_right = range.has_missing && (random.next() & 1) != 0;
        const std::uint32_t threshold = range.lowest == range.highest || range.highest == 0
                                            ? (missing_right ? range.highest : 0)
                                            : draw_code(column, range, random.uniform());
        auto cursor = sides_.start();
        const auto items = items_of(pending);
        const std::uint16_t shift = missing_right ? 1 : 0;
        const auto stored = static_cast<std::uint16_t>(threshold - shift);
        std::uint32_t rows_left = 0;
        auto goes_left = [=](std::uint16_t code) { return static_cast<std::uint16_t>(code - shift) <= stored; };
        if constexpr (many) {
            for (std::size_t i = 0; i < codes.size(); ++i) {
                if (!goes_left(codes[i])) continue;
                cursor.move_left(items[i]);
                ++rows_left;
            }
        } else {
            Item left{};
            for (std::size_t i = 0; i < codes.size(); ++i) {
                const bool is_left = goes_left(codes[i]);
                left = left + Stat::only_if(is_left, items[i]);
                rows_left += is_left ? 1 : 0;
            }
            cursor.move_left(left);
        }
        const auto n_rows = static_cast<std::uint32_t>(codes.size());
        const auto least = static_cast<double>(limits_.min_weight);
        if (rows_left < limits_.min_rows || n_rows - rows_left < limits_.min_rows) return;
        if (cursor.left_weight() < least || cursor.right_weight() < least || !cursor.keeps(limits_)) return;
        const Fraction fraction = cursor.fraction();
        if (!fraction.is_better_than(best.fraction)) return;
        best.fraction = fraction;
        best.left_weight = cursor.left_weight();
        best.is_perfect = cursor.is_perfect();
        best.threshold = threshold;
        best.missing_right = missing_right;
    }

    // A code whose values end at a point drawn uniformly between the node's lowest and highest value.
    std::uint32_t draw_code(std::uint32_t column, CodeRange range, double share) const {
        const Knots& knots = knots_[column];
        const double low = knots.value_of(range.lowest), high = knots.value_of(range.highest);
        const double value = low + share * (high - low);
        if (!std::isfinite(value))
            return range.lowest + static_cast<std::uint32_t>(share * (range.highest - range.lowest));
        return std::clamp(knots.code_of(value), range.lowest, range.highest - 1);
    }

    // Quinlan 1993, section 2.2: the best gain ratio among the columns of at least average gain.
    void choose_by_gain_ratio(Candidate& best) {
        double mean_gain = 0;
        for (const Candidate& candidate : gain_ratio_candidates_) mean_gain += sides_.gain(candidate.fraction);
        mean_gain /= static_cast<double>(std::max<std::size_t>(gain_ratio_candidates_.size(), 1));
        double best_ratio = -std::numeric_limits<double>::infinity();
        for (Candidate& candidate : gain_ratio_candidates_) {
            const double gain = sides_.gain(candidate.fraction);
            if (gain < mean_gain - smallest_gain()) continue;
            const double share = candidate.left_weight / sides_.weight();
            const double ratio = gain / -(share * std::log2(share) + (1 - share) * std::log2(1 - share));
            if (ratio > best_ratio) {
                best_ratio = ratio;
                best = std::move(candidate);
            }
        }
    }

    std::pair<Pending, Pending> divide(Decided& decided) {
        const Pending& parent = decided.pending;
        Candidate& split = decided.split;
        const std::size_t n_rows = parent.end - parent.begin;
        const Code* codes = column_codes(parent, split.column);
        const double right_weight = decided.weight - split.left_weight;
        if (split.is_category && split.left_weight > right_weight) swap_sides(parent, codes, split);
        const Divided divided = partition_.divide({rows_.data() + parent.begin, n_rows},
                                                  {items_.data() + parent.begin, n_rows}, codes, split);
        if (!split.is_category && !parameters_.random_thresholds) split.threshold = centred_threshold(split, divided);
        if (!divided.has_missing) split.missing_right = split.is_category || split.left_weight < right_weight;
        tree_.importances[split.column] += decided.gain / (target_.scale * target_.scale);

        const std::uint32_t left = add_children();
        tree_.nodes[parent.node] =
            split.is_category ? category_word(split.column, split.missing_right, add_set(left, split.left_codes))
                              : number_word(split.column, split.threshold, split.missing_right, left);
        Pending first = parent, second = parent;
        first.node = left;
        second.node = left + 1;
        first.depth = second.depth = parent.depth + 1;
        first.end = second.begin = parent.begin + divided.n_left;
        first.key = derive_key(parent.key, 0);
        second.key = derive_key(parent.key, 1);
        if constexpr (!many) {
            const int direction = parameters_.monotonic.empty() ? 0 : parameters_.monotonic[split.column];
            if (direction != 0) {
                const double bound = (Stat::value(sum_of(items_of(first))) + Stat::value(sum_of(items_of(second)))) / 2;
                (direction > 0 ? first.upper : first.lower) = bound;
                (direction > 0 ? second.lower : second.upper) = bound;
            }
        }
        return {first, second};
    }

    // Categories that the node has not seen go right, so the left side is made the lighter one.
    void swap_sides(const Pending& pending, const Code* codes, Candidate& split) {
        std::vector<char> is_taken(65536, 0);
        is_taken[0] = 1;
        for (const std::uint16_t code : split.left_codes) is_taken[code] = 1;
        split.left_codes.clear();
        for (std::size_t i = pending.begin; i < pending.end; ++i) {
            const std::uint16_t code = codes[rows_[i]];
            if (std::exchange(is_taken[code], 1) == 0) split.left_codes.push_back(code);
        }
        split.missing_right = !split.missing_right;
        split.left_weight = node_weight(pending) - split.left_weight;
    }

    std::uint32_t add_set(std::uint32_t left, const std::vector<std::uint16_t>& codes) {
        auto& sets = tree_.sets;
        const auto at = static_cast<std::uint32_t>(sets.size());
        const std::uint32_t first = codes.empty() ? 0 : std::ranges::min(codes) >> 5;
        const std::uint32_t n_words = codes.empty() ? 0 : (std::ranges::max(codes) >> 5) - first + 1;
        sets.resize(sets.size() + 3 + n_words, 0);
        if (sets.size() > max_address)
            throw std::length_error("A tree outgrew the 67,108,863 words that hold its categories.");
        sets[at] = left;
        sets[at + 1] = first;
        sets[at + 2] = n_words;
        for (const std::uint16_t code : codes) sets[at + 3 + (code >> 5) - first] |= 1U << (code & 31);
        return at;
    }

    void make_leaf(const Pending& pending, bool pure = false) {
        std::uint32_t at = 0;
        if (parameters_.keep_records) {
            at = pending.node;
        } else if (pure && target_.n_classes > 0) {
            at = pure_class_;
        } else {
            at = static_cast<std::uint32_t>(tree_.values.size() / n_outputs_);
            if (at > max_address)
                throw std::length_error("A tree outgrew the 67,108,863 values that a leaf can address.");
            append_value(pending, tree_.values);
        }
        tree_.nodes[pending.node] = leaf_word(at);
    }

    void append_value(const Pending& pending, std::vector<double>& values) const {
        if constexpr (many) {
            for (const std::uint32_t weight : sides_.class_weights()) values.push_back(weight / sides_.weight());
        } else {
            const double value = std::clamp(Stat::value(total_), pending.lower, pending.upper);
            if constexpr (std::is_same_v<Stat, Mean>) {
                values.push_back(target_.offset + value / target_.scale);
            } else {
                values.push_back(1 - value);
                values.push_back(value);
            }
        }
    }

    void record(const Pending& pending) {
        NodeRecord& record = tree_.records[pending.node];
        record.n_rows = pending.end - pending.begin;
        record.weight = node_weight(pending);
        record.impurity = impurity(pending);
        if (tree_.values.size() < tree_.nodes.size() * n_outputs_) tree_.values.resize(tree_.nodes.size() * n_outputs_);
        spare_value_.clear();
        append_value(pending, spare_value_);
        std::ranges::copy(spare_value_, tree_.values.begin() + static_cast<std::ptrdiff_t>(pending.node * n_outputs_));
    }

    double impurity(const Pending& pending) const {
        if constexpr (std::is_same_v<Stat, Mean>) {
            const double mean = Stat::value(total_);
            double sum = 0;
            for (const Item& item : items_of(pending)) {
                const auto weight = static_cast<double>(item.weight);
                const double y = static_cast<double>(item.sum) / weight;
                if constexpr (criterion == Criterion::poisson) {
                    sum += weight * ((y > 0 ? y * std::log(y / mean) : 0) - y + mean) / target_.scale;
                } else {
                    sum += weight * (y - mean) / target_.scale * ((y - mean) / target_.scale);
                }
            }
            return sum / Stat::weight(total_);
        } else if constexpr (many) {
            return -sides_.score() / sides_.weight() + 0.0;
        } else {
            return -Stat::template score<criterion>(total_) / Stat::weight(total_) + 0.0;
        }
    }

    std::span<const Item> items_of(const Pending& pending) const {
        return {items_.data() + pending.begin, pending.end - pending.begin};
    }

    static Item sum_of(std::span<const Item> items) {
        Item sum{};
        for (const Item& item : items) sum = sum + item;
        return sum;
    }

    double node_weight(const Pending& pending) const {
        if constexpr (many) {
            std::uint64_t weight = 0;
            for (const Item item : items_of(pending)) weight += ManyClasses::item_weight(item);
            return static_cast<double>(weight);
        } else {
            return Stat::weight(sum_of(items_of(pending)));
        }
    }

    const Table& table_;
    const Codes<Code>& codes_;
    const Target& target_;
    GrowParameters parameters_;
    std::size_t n_columns_;
    std::size_t n_outputs_;
    std::size_t n_tried_ = 0;
    Histogram<Stat> histogram_;
    Sides<Stat, criterion> sides_;
    CategorySearch<Stat, criterion> categories_;
    Partition<Item> partition_;
    Entries<Stat> entries_;
    Limits limits_;
    std::vector<Knots> knots_;

    Tree tree_;
    std::vector<std::uint32_t> rows_;
    std::vector<Item> items_;
    std::vector<std::uint16_t> node_codes_;
    std::vector<Code> local_codes_;
    std::size_t n_local_ = 0;
    std::uint64_t total_weight_ = 0;
    double min_gain_ = 0;
    bool pairs_are_simple_ = false;
    Item total_{};
    std::uint32_t pure_class_ = 0;
    Decided found_;
    Candidate column_best_;
    std::vector<Candidate> gain_ratio_candidates_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::size_t> swaps_;
    std::vector<Pending> stack_;
    std::vector<double> spare_value_;
};

template <class Code, class Stat, Criterion criterion>
GrowTree grower_of(const Table& table, const Target& target, const GrowParameters& parameters) {
    auto grower = std::make_shared<Grower<Code, Stat, criterion>>(table, target, parameters);
    return [grower](std::span<const std::uint32_t> rows, std::span<const std::uint32_t> weights, std::uint64_t key) {
        return grower->grow(rows, weights, key);
    };
}

template <class Code, class Stat>
GrowTree classes_grower(const Table& table, const Target& target, const GrowParameters& parameters) {
    switch (parameters.criterion) {
        case Criterion::entropy:
            return grower_of<Code, Stat, Criterion::entropy>(table, target, parameters);
        case Criterion::gain_ratio:
            return grower_of<Code, Stat, Criterion::gain_ratio>(table, target, parameters);
        case Criterion::error:
            return grower_of<Code, Stat, Criterion::error>(table, target, parameters);
        default:
            return grower_of<Code, Stat, Criterion::gini>(table, target, parameters);
    }
}

template <class Code>
GrowTree grower_for(const Table& table, const Target& target, const GrowParameters& parameters) {
    if (target.n_classes == 0) {
        return parameters.criterion == Criterion::poisson
                   ? grower_of<Code, Mean, Criterion::poisson>(table, target, parameters)
                   : grower_of<Code, Mean, Criterion::squared_error>(table, target, parameters);
    }
    return target.n_classes == 2 ? classes_grower<Code, TwoClasses>(table, target, parameters)
                                 : classes_grower<Code, ManyClasses>(table, target, parameters);
}

}  // namespace

GrowTree make_grower(const Table& table, const Target& target, const GrowParameters& parameters) {
    return std::holds_alternative<Codes<std::uint8_t>>(table.codes)
               ? grower_for<std::uint8_t>(table, target, parameters)
               : grower_for<std::uint16_t>(table, target, parameters);
}

}  // namespace committee
