#include "c45/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

namespace committee::c45 {

namespace {

// Entropies are sums of terms w log2 w: n H(classes) = term(n) - sum of term(class weights).
template <class Weight>
double sum_terms(const Entropy& entropy, std::span<const Weight> weights) {
    double result = 0;
    for (const Weight weight : weights) result += entropy.term(weight);
    return result;
}

template <class Weight>
std::vector<Weight> sum_known(const NodeRows<Weight>& node, std::span<const Entry> known) {
    std::vector<Weight> result(node.class_weights.size());
    for (const Entry& entry : known) {
        const Label<Weight> label = node.sample.label[entry.instance];
        result[static_cast<std::size_t>(label.class_code)] += label.weight;
    }
    return result;
}

struct Cut {
    std::size_t n_cuts = 0;  // with enough rows on both sides
    double before = 0;       // entropy times rows, of all rows; below, the sum over both sides of the best cut
    double after = 0;
    double side_terms = 0;
    std::uint32_t rank_below = 0;
    std::uint32_t rank_above = 0;
};

template <class Weight>
struct CutRules {
    Weight min_side;    // the minimum weight of a side
    double worthwhile;  // a cut must improve on the previous one by more than this
};

// With two classes and weights of 1, the class follows from the instance number.
struct FirstAndSecond {
    std::uint32_t n_first_class;

    Label<std::uint32_t> operator()(const Entry& entry) const {
        return {static_cast<std::uint16_t>(entry.instance >= n_first_class), 1};
    }
};

template <class Weight>
struct AnyLabel {
    const Label<Weight>* labels;

    Label<Weight> operator()(const Entry& entry) const { return labels[entry.instance]; }
};

// The innermost loop: it processes every row of every node once per numeric column. Whether two values are close is
// unpredictable. It is therefore checked immediately only for cuts that improve on the best one. For all others it is
// checked after the loop, when the number of cuts is needed. `doubtful` must have room for known.size() elements.
template <class Weight, class Labels, class Sides>
Cut find_cut(std::span<const Entry> known, const Labels label_of, const Weight n_known, Sides& sides,
             const Values& values, const CutRules<Weight> rules, const Entry** doubtful) {
    Cut best;
    best.before = sides.side_terms(0, n_known) - sides.class_terms();
    best.after = best.before;
    double bar = best.before - rules.worthwhile;
    std::size_t n_cuts = 0, n_doubtful = 0;
    Weight n_left = 0;
    const Entry* entry = known.data();
    const Entry* const last = entry + known.size() - 1;
    const auto move_left = [&](const Entry& moved) {
        const Label<Weight> label = label_of(moved);
        sides.move_left(static_cast<std::size_t>(label.class_code), label.weight);
        n_left += label.weight;
    };
    for (move_left(*entry); n_left < rules.min_side && entry != last; move_left(*entry)) ++entry;
    for (; entry != last && n_known - n_left >= rules.min_side; move_left(*++entry)) {
        const Entry &below = entry[0], &above = entry[1];
        if (below.rank == above.rank) continue;
        ++n_cuts;
        doubtful[n_doubtful] = entry;
        n_doubtful += below.is_close;
        const double side_terms = sides.side_terms(n_left, n_known - n_left);
        const double after = side_terms - sides.class_terms();
        if (after < bar && !(below.is_close && values.are_close(below.rank, above.rank))) [[unlikely]] {
            bar = after - rules.worthwhile;
            best = {0, best.before, after, side_terms, below.rank, above.rank};
        }
    }
    for (std::size_t i = 0; i < n_doubtful; ++i) n_cuts -= values.are_close(doubtful[i][0].rank, doubtful[i][1].rank);
    best.n_cuts = n_cuts;
    return best;
}

}  // namespace

SplitChooser::SplitChooser(std::span<const C45Column> columns, std::span<const Values> values, std::size_t n_classes,
                           double min_leaf_weight, double total_weight, const Entropy& entropy, Polls& polls)
    : columns_(columns),
      values_(values),
      n_classes_(n_classes),
      min_leaf_weight_(min_leaf_weight),
      entropy_(entropy),
      polls_(polls),
      has_many_categories_(columns.size()),
      weights_(entropy),
      splits_(columns.size()) {
    std::size_t most = 0;
    bool all_have_many = true;
    for (std::size_t j = 0; j < columns.size(); ++j) {
        const std::int32_t n = columns[j].n_categories;
        has_many_categories_[j] = n != C45Column::is_number && !is_greater(0.3 * total_weight, n);
        all_have_many = all_have_many && has_many_categories_[j];
        most = std::max(most, static_cast<std::size_t>(std::max(n, 0)));
    }
    if (all_have_many) has_many_categories_.assign(columns.size(), false);
    slots_.assign(most, -1);
}

template <class Weight>
Split SplitChooser::choose(const NodeRows<Weight>& node) {
    if constexpr (std::is_same_v<Weight, std::uint32_t>) node_terms_.prepare(entropy_, node.class_weights);
    double sum_of_gains = 0;
    std::size_t n_averaged = 0;
    for (std::size_t j = 0; j < columns_.size(); ++j) {
        polls_.after(node.end - node.begin);
        const bool is_number = columns_[j].n_categories == C45Column::is_number;
        splits_[j] = is_number ? split_numbers(node, j) : split_categories(node, j);
        if (splits_[j].column == Split::none || has_many_categories_[j]) continue;
        sum_of_gains += splits_[j].gain;
        ++n_averaged;
    }
    Split best;
    if (n_averaged == 0) return best;
    // C4.5's tolerance: a gain slightly below the average counts as average.
    const double least_gain = sum_of_gains / static_cast<double>(n_averaged) - 1e-3;
    for (const Split& split : splits_) {
        if (split.column == Split::none || split.gain < least_gain) continue;
        if (is_greater(split.ratio, best.ratio)) best = split;
    }
    return best;
}

template <class Weight>
Split SplitChooser::split_numbers(const NodeRows<Weight>& node, std::size_t column) {
    const std::span<const Entry> all(node.sample.sorted[column].data() + node.begin, node.end - node.begin);
    const auto known = all.first(static_cast<std::size_t>(
        std::ranges::partition_point(all, [](const Entry& entry) { return entry.rank != missing_rank; }) -
        all.begin()));
    std::vector<Weight> known_weights;
    std::span<const Weight> by_class = node.class_weights;
    if (known.size() < all.size()) by_class = known_weights = sum_known(node, known);
    const Weight n_known = std::accumulate(by_class.begin(), by_class.end(), Weight{0});
    const double tenth = 0.1 * static_cast<double>(n_known) / static_cast<double>(n_classes_);
    const double min_side = std::max(min_leaf_weight_, std::min(tenth, 25.0)) - tolerance;
    if (known.size() < 2 || 2 * min_side > static_cast<double>(n_known)) return {};
    constexpr bool is_count = std::is_same_v<Weight, std::uint32_t>;
    const CutRules<Weight> rules{static_cast<Weight>(is_count ? std::ceil(min_side) : min_side),
                                 tolerance * node.weight};
    doubtful_.resize(std::max(doubtful_.size(), known.size()));
    const AnyLabel<Weight> labels{node.sample.label.data()};
    const Cut cut = [&] {
        if constexpr (is_count) {
            const bool is_complete = known.size() == all.size();
            if (!is_complete) known_terms_.prepare(entropy_, by_class);
            const CountTerms& terms = is_complete ? node_terms_ : known_terms_;
            if (n_classes_ == 2) {
                TwoCounts two_counts(terms);
                if (node.sample.has_weights) {
                    return find_cut(known, labels, n_known, two_counts, values_[column], rules, doubtful_.data());
                }
                const FirstAndSecond classes{node.sample.n_first_class};
                return find_cut(known, classes, n_known, two_counts, values_[column], rules, doubtful_.data());
            }
            many_counts_.start(terms);
            return find_cut(known, labels, n_known, many_counts_, values_[column], rules, doubtful_.data());
        } else {
            weights_.start(by_class);
            return find_cut(known, labels, n_known, weights_, values_[column], rules, doubtful_.data());
        }
    }();
    if (cut.n_cuts == 0) return {};
    Split split;
    // The choice among n_cuts thresholds costs log2(n_cuts) bits (Quinlan 1996).
    split.gain = (cut.before - cut.after - std::log2(static_cast<double>(cut.n_cuts))) / node.weight;
    if (is_at_most(split.gain, 0)) return {};
    split.column = static_cast<std::int32_t>(column);
    split.ratio = split_ratio(split.gain, static_cast<double>(n_known), node.weight, cut.side_terms);
    split.rank_below = cut.rank_below;
    split.rank_above = cut.rank_above;
    return split;
}

template <class Weight>
Split SplitChooser::split_categories(const NodeRows<Weight>& node, std::size_t column) {
    const std::span<const std::int32_t> codes = columns_[column].codes;
    // Only categories in the node get a slot, so that columns of many categories are cheap in small nodes.
    present_.clear();
    std::vector<Weight> counts;
    for (std::size_t i = node.begin; i < node.end; ++i) {
        const std::uint32_t instance = node.sample.instances[i];
        const std::int32_t code = codes[node.sample.row[instance]];
        if (code == 0) continue;
        std::int32_t& slot = slots_[static_cast<std::size_t>(code - 1)];
        if (slot < 0) {
            slot = static_cast<std::int32_t>(present_.size());
            present_.push_back(code - 1);
            counts.resize(counts.size() + n_classes_);
        }
        const Label<Weight> label = node.sample.label[instance];
        counts[static_cast<std::size_t>(slot) * n_classes_ + static_cast<std::size_t>(label.class_code)] +=
            label.weight;
    }
    for (const std::int32_t category : present_) slots_[static_cast<std::size_t>(category)] = -1;

    std::vector<Weight> by_class(n_classes_);
    Weight n_known = 0;
    double inside = 0;
    double sides = 0;
    std::size_t n_large = 0;
    for (std::size_t slot = 0; slot < present_.size(); ++slot) {
        Weight n_side = 0;
        for (std::size_t c = 0; c < n_classes_; ++c) {
            const Weight count = counts[slot * n_classes_ + c];
            inside += entropy_.term(count);
            by_class[c] += count;
            n_side += count;
        }
        sides += entropy_.term(n_side);
        n_known += n_side;
        if (is_at_least(static_cast<double>(n_side), min_leaf_weight_)) ++n_large;
    }
    if (n_large < 2) return {};
    const double before = entropy_.term(n_known) - sum_terms<Weight>(entropy_, by_class);
    const double gained = before - (sides - inside);
    Split split;
    split.column = static_cast<std::int32_t>(column);
    split.gain = is_equal(gained, 0) ? 0 : gained / node.weight;
    split.ratio = split_ratio(split.gain, static_cast<double>(n_known), node.weight, sides);
    return split;
}

// Rows with a missing value count as one more side in the entropy of the split.
double SplitChooser::split_ratio(double gain, double known, double total, double sum_of_terms) const {
    const double own = entropy_.term(total) - sum_of_terms - entropy_.term(total - known);
    return is_equal(own, 0) ? 0 : gain / (own / total);
}

template Split SplitChooser::choose(const NodeRows<std::uint32_t>&);
template Split SplitChooser::choose(const NodeRows<double>&);

}  // namespace committee::c45
