#include "boosting/tree/split_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <type_traits>

#include "numbers/random.h"

namespace committee {
namespace {

// With fewer additions than this, waking up the other threads takes longer than the work.
constexpr std::size_t worth_sharing = 40'000;
// An even number, because rows are added in pairs.
constexpr std::size_t rows_between_polls = 65'536;

// Draws a share of the columns, at least one, without replacement. The result is sorted.
std::vector<std::uint32_t> draw(std::span<const std::uint32_t> from, double share, std::uint64_t key, Purpose purpose) {
    std::vector<std::uint32_t> drawn(from.begin(), from.end());
    const auto wanted = static_cast<std::size_t>(std::lround(share * static_cast<double>(drawn.size())));
    const std::size_t n = std::clamp<std::size_t>(wanted, 1, drawn.size());
    Random random(key, purpose);
    for (std::size_t i = 0; i < n; ++i) std::swap(drawn[i], drawn[i + random.below(drawn.size() - i)]);
    drawn.resize(n);
    std::ranges::sort(drawn);
    return drawn;
}

}  // namespace

bool BoostTreeParameters::is_monotonic() const {
    return std::ranges::any_of(monotonic, [](std::int8_t direction) { return direction != 0; });
}

bool contains(const std::vector<std::uint32_t>& interaction, std::uint32_t column) {
    return std::ranges::find(interaction, column) != interaction.end();
}

template <class Code>
NodeSearch<Code>::NodeSearch(const Table& table, const BoostTreeParameters& parameters, const RowParts& parts,
                             ThreadTeam& team)
    : table_(table),
      codes_(std::get<Codes<Code>>(table.codes)),
      parameters_(parameters),
      parts_(parts),
      team_(team),
      shape_(*table.binning),
      slots_(1),
      scratch_(static_cast<std::size_t>(team.size()), Scratch(team.stop())) {
    for (std::size_t j = 0; j < table.n_columns(); ++j) {
        const std::uint32_t n_bins = table.binning->columns[j].n_bins;
        is_constant_.push_back(n_bins == 0 || (n_bins == 1 && !table.has_missing[j]) ? 1 : 0);
    }
    if constexpr (std::is_same_v<Code, std::uint8_t>) {
        // UnusualCodes adds whole rows, so it needs one thread that uses all columns. It would double the memory of
        // large tables.
        constexpr std::size_t most_codes = std::size_t{1} << 22;
        if (team.size() > 1 || parameters.colsample_bytree < 1 || codes_.by_row.size() > most_codes) return;
        const std::vector<UsualCode> usual = usual_codes(codes_);
        unusual_ = UnusualCodes(shape_, codes_, usual);
        for (std::size_t j = 0; j < usual.size(); ++j) {
            if (codes_.n_rows - usual[j].n_rows < parameters.min_samples_leaf) is_constant_[j] = 1;
        }
    }
}

template <class Code>
void NodeSearch<Code>::start_tree(const WordScale& scale, std::uint64_t key) {
    scale_ = scale;
    limits_ = {.lambda = parameters_.reg_lambda * scale.hessian,
               .alpha = parameters_.reg_alpha * scale.gradient,
               .min_hessian = std::ceil(std::max(parameters_.min_child_weight * scale.hessian, 1.0)),
               .min_rows = std::max(static_cast<double>(parameters_.min_samples_leaf), 1.0),
               .cat_smooth = parameters_.cat_smooth * scale.hessian,
               .max_cat_to_onehot = parameters_.max_cat_to_onehot,
               .is_bounded = parameters_.is_monotonic(),
               .is_drawn = parameters_.random_thresholds};
    if (parameters_.colsample_bytree == 1 && !shares_.empty()) return;
    const auto n_all = static_cast<std::uint32_t>(table_.n_columns());
    columns_.clear();
    if (parameters_.colsample_bytree < 1) {
        columns_.resize(n_all);
        std::iota(columns_.begin(), columns_.end(), 0U);
        columns_ = draw(columns_, parameters_.colsample_bytree, key, Purpose::columns);
    }
    const auto n = columns_.empty() ? n_all : static_cast<std::uint32_t>(columns_.size());
    const auto share = [&](std::uint32_t begin, std::uint32_t end) {
        if (columns_.empty()) return ColumnShare{begin, end, {}};
        return ColumnShare{0, 0, std::span<const std::uint32_t>(columns_).subspan(begin, end - begin)};
    };
    all_columns_ = share(0, n);
    n_columns_ = n;
    n_bins_ = 0;
    all_columns_.for_each([&](std::uint32_t j) { n_bins_ += shape_.widths[j]; });
    shares_.clear();
    const auto n_shares = std::min<std::size_t>(n, scratch_.size());
    for (std::size_t s = 0; s < n_shares; ++s) {
        shares_.push_back(
            share(static_cast<std::uint32_t>(n * s / n_shares), static_cast<std::uint32_t>(n * (s + 1) / n_shares)));
    }
}

template <class Code>
bool NodeSearch<Code>::may_split(const BoostNode& node) const {
    return node.depth < parameters_.max_depth && static_cast<double>(node.n_rows) >= 2 * limits_.min_rows &&
           scale_.fields.hessian(node.sum) >= 2 * limits_.min_hessian;
}

template <class Code>
double NodeSearch<Code>::value(const BoostNode& node) const {
    if (node.n_rows == 0) return 0;
    return limits_of(node).value(scale_.fields.gradient(node.sum), scale_.fields.hessian(node.sum));
}

template <class Code>
BoostLimits NodeSearch<Code>::limits_of(const BoostNode& node) const {
    BoostLimits limits = limits_;
    limits.lower = node.lower;
    limits.upper = node.upper;
    return limits;
}

template <class Code>
void NodeSearch<Code>::find(BoostNode& root, const Word* known) {
    want(wanted_[0], &root);
    if (is_small(root)) return find_collected(wanted_[0]);
    root.slot = take_slot();
    Word* histogram = slots_[root.slot].data();
    if (known != nullptr) std::copy_n(known, shape_.size, histogram);
    for_each_share(root.n_rows * n_columns_, [&](const ColumnShare& share, std::size_t which, int thread) {
        if (known == nullptr) fill(share, root, histogram);
        search(share, which, thread, histogram, nullptr, wanted_[0]);
    });
    settle(wanted_[0]);
}

template <class Code>
void NodeSearch<Code>::find(BoostNode& parent, BoostNode& smaller, BoostNode& larger, bool wants_smaller,
                            bool wants_larger) {
    want(wanted_[0], wants_smaller ? &smaller : nullptr);
    want(wanted_[1], wants_larger ? &larger : nullptr);
    if (is_small(larger)) {
        release(parent);
        for (Wanted& wanted : wanted_) find_collected(wanted);
        return;
    }
    if (!wants_smaller && !wants_larger) return release(parent);
    larger.slot = std::exchange(parent.slot, 0);
    if (is_small(smaller) || !wants_smaller) {
        find_collected(wanted_[0]);
        if (wants_larger) {
            Word* histogram = slots_[larger.slot].data();
            const std::size_t work = smaller.n_rows * n_columns_ + n_bins_;
            for_each_share(work, [&](const ColumnShare& share, std::size_t which, int thread) {
                subtract_rows(share, smaller, larger.sum, histogram);
                search(share, which, thread, histogram, nullptr, wanted_[1]);
            });
        }
    } else {
        smaller.slot = take_slot();
        Word *of_smaller = slots_[smaller.slot].data(), *of_larger = slots_[larger.slot].data();
        const std::size_t work = smaller.n_rows * n_columns_ + 2 * n_bins_;
        for_each_share(work, [&](const ColumnShare& share, std::size_t which, int thread) {
            fill(share, smaller, of_smaller);
            search(share, which, thread, of_smaller, nullptr, wanted_[0]);
            if (!wants_larger) return;
            subtract(shape_, share, of_smaller, of_larger);
            search(share, which, thread, of_larger, nullptr, wanted_[1]);
        });
        settle(wanted_[0]);
    }
    settle(wanted_[1]);
    for (BoostNode* node : {&smaller, &larger}) {
        if (node->gain == 0) release(*node);
    }
}

template <class Code>
void NodeSearch<Code>::release(BoostNode& node) {
    if (node.slot != 0) free_slots_.push_back(node.slot);
    node.slot = 0;
}

template <class Code>
void NodeSearch<Code>::want(Wanted& wanted, BoostNode* node) {
    wanted.node = node;
    if (node == nullptr) return;
    wanted.limits = limits_of(*node);
    wanted.found.resize(shares_.size());
    for (BoostSplit& split : wanted.found) split.score = -1;
    if (parameters_.colsample_bynode == 1 && parameters_.interactions.empty()) return;
    wanted.is_drawn.assign(table_.n_columns(), parameters_.interactions.empty() ? 1 : 0);
    for (const std::uint32_t set : node->interactions) {
        for (const std::uint32_t j : parameters_.interactions[set]) wanted.is_drawn[j] = 1;
    }
    std::vector<std::uint32_t> allowed;
    all_columns_.for_each([&](std::uint32_t j) {
        if (wanted.is_drawn[j] != 0) allowed.push_back(j);
    });
    if (parameters_.colsample_bynode == 1 || allowed.empty()) return;
    wanted.is_drawn.assign(table_.n_columns(), 0);
    for (const std::uint32_t j : draw(allowed, parameters_.colsample_bynode, node->key, Purpose::split))
        wanted.is_drawn[j] = 1;
}

// Calls body(columns, share index, thread): for every share on its own thread, or for all columns on this thread if
// there is little work.
template <class Code>
template <class Body>
void NodeSearch<Code>::for_each_share(std::size_t work, Body body) {
    if (work < worth_sharing) return body(all_columns_, std::size_t{0}, 0);
    team_.run(shares_.size(), [&](std::size_t which, int thread) { body(shares_[which], which, thread); });
}

template <class Code>
void NodeSearch<Code>::fill(const ColumnShare& share, const BoostNode& node, Word* histogram) const {
    clear(shape_, share, histogram);
    add(share, node, 1, node.sum, histogram);
}

// Subtracts the rows of a node. The remaining rows sum to `rest`.
template <class Code>
void NodeSearch<Code>::subtract_rows(const ColumnShare& share, const BoostNode& node, Word rest,
                                     Word* histogram) const {
    add(share, node, Word{0} - 1, rest, histogram);
}

// Adds the words of a node's rows times a factor. Afterwards the rows of the histogram sum to `total`.
template <class Code>
void NodeSearch<Code>::add(const ColumnShare& share, const BoostNode& node, Word factor, Word total,
                           Word* histogram) const {
    if constexpr (std::is_same_v<Code, std::uint8_t>) {
        for (std::size_t part = 0; part < parts_.n_parts(); ++part) {
            const auto rows = parts_.rows(node.id, node.depth, part);
            const Word* words = parts_.words(node.id, node.depth, part);
            for (std::size_t begin = 0; begin < rows.size(); begin += rows_between_polls) {
                if (begin > 0) team_.stop().poll();
                const auto some = rows.subspan(begin, std::min(rows.size() - begin, rows_between_polls));
                const auto value = [of_some = words + begin, factor](std::size_t i) { return of_some[i] * factor; };
                if (unusual_.empty()) {
                    add_rows(shape_, codes_, share, some.data(), some.size(), value, histogram);
                } else {
                    unusual_.add_rows(some, value, histogram);
                }
            }
        }
        if (!unusual_.empty()) unusual_.complete(shape_, total, histogram);
    }
}

template <class Code>
bool NodeSearch<Code>::is_searched(std::uint32_t column, const Wanted& wanted) const {
    return is_constant_[column] == 0 && (wanted.is_drawn.empty() || wanted.is_drawn[column] != 0);
}

template <class Code>
void NodeSearch<Code>::search(const ColumnShare& share, std::size_t which, int thread, const Word* sums,
                              const std::uint32_t* counts, Wanted& wanted) {
    if (wanted.node == nullptr) return;
    Scratch& own = scratch_[static_cast<std::size_t>(thread)];
    share.for_each([&](std::uint32_t j) {
        if (!is_searched(j, wanted)) return;
        const std::uint32_t at = shape_.offsets[j];
        if (!unusual_.empty() && is_too_light(unusual_.unusual_sum(j, sums + at, wanted.node->sum))) return;
        const BinSums bins{sums + at, counts == nullptr ? nullptr : counts + at, nullptr, shape_.padded_width(j)};
        search_column(j, own, wanted, bins, wanted.found[which]);
    });
}

// Whether rows are too few for a side of a split, or their hessian is too small.
template <class Code>
bool NodeSearch<Code>::is_too_light(Word sum) const {
    const WordFields& fields = scale_.fields;
    return fields.hessian(sum) < limits_.min_hessian || (fields.counts() && fields.count(sum) < limits_.min_rows);
}

template <class Code>
void NodeSearch<Code>::search_column(std::uint32_t column, Scratch& own, const Wanted& wanted, const BinSums& bins,
                                     BoostSplit& best) const {
    const BoostNode& node = *wanted.node;
    const bool is_category = table_.binning->columns[column].is_category;
    const auto find = [&](const BoostLimits& limits) {
        own.search.find(bins, column, is_category, {node.sum, node.n_rows}, scale_.fields, limits, best);
    };
    if (!limits_.is_bounded && !limits_.is_drawn) return find(wanted.limits);
    BoostLimits limits = wanted.limits;
    limits.direction = parameters_.direction(column);
    if (limits.is_drawn) limits.draw = Random(derive_key(node.key, column), Purpose::threshold).next();
    find(limits);
}

// If true, collecting the bins of the few rows is faster than searching all bins.
template <class Code>
bool NodeSearch<Code>::is_small(const BoostNode& node) const {
    if constexpr (std::is_same_v<Code, std::uint16_t>) return true;
    return node.n_rows * n_columns_ * 4 <= n_bins_;
}

// Searches without histograms: the bins of every column are collected from the rows.
template <class Code>
void NodeSearch<Code>::find_collected(Wanted& wanted) {
    if (wanted.node == nullptr) return;
    const BoostNode& node = *wanted.node;
    for_each_share(node.n_rows * n_columns_ * 8, [&](const ColumnShare& share, std::size_t which, int thread) {
        Scratch& own = scratch_[static_cast<std::size_t>(thread)];
        own.collector.start(codes_, share, parts_, node.id, node.depth);
        std::size_t place = 0;
        share.for_each([&](std::uint32_t j) {
            own.polls.after(8 * node.n_rows);
            const std::size_t at = place++;
            if (!is_searched(j, wanted)) return;
            const BinSums bins = own.collector.collect(codes_, j, at, shape_.widths[j]);
            search_column(j, own, wanted, bins, wanted.found[which]);
        });
    });
    settle(wanted);
}

// Repeats the search with row counts per bin.
template <class Code>
void NodeSearch<Code>::find_counted(Wanted& wanted) {
    if constexpr (std::is_same_v<Code, std::uint8_t>) {
        const BoostNode& node = *wanted.node;
        for (BoostSplit& split : wanted.found) split.score = -1;
        counts_.resize(shape_.size);
        for_each_share(node.n_rows * n_columns_ + n_bins_, [&](const ColumnShare& share, std::size_t which,
                                                               int thread) {
            clear(shape_, share, counts_.data());
            for (std::size_t part = 0; part < parts_.n_parts(); ++part) {
                const auto rows = parts_.rows(node.id, node.depth, part);
                add_rows(
                    shape_, codes_, share, rows.data(), rows.size(), [](std::size_t) { return 1U; }, counts_.data());
            }
            search(share, which, thread, slots_[node.slot].data(), counts_.data(), wanted);
        });
    }
}

// Chooses the best split over all shares; the first column wins ties.
template <class Code>
void NodeSearch<Code>::settle(Wanted& wanted) {
    if (wanted.node == nullptr) return;
    BoostNode& node = *wanted.node;
    const auto better = [](const BoostSplit& a, const BoostSplit& b) { return a.score < b.score; };
    auto best = std::ranges::max_element(wanted.found, better);
    if (node.slot != 0 && may_break_min_rows(*best, node)) {
        find_counted(wanted);
        best = std::ranges::max_element(wanted.found, better);
    }
    node.gain = 0;
    if (!best->is_found()) return;
    const double own = wanted.limits.score(scale_.fields.gradient(node.sum), scale_.fields.hessian(node.sum));
    const double gain = (best->score - own) * scale_.hessian / (scale_.gradient * scale_.gradient);
    constexpr double rounding = 1e-10;
    if (best->score - own <= rounding * std::abs(own) || gain < parameters_.min_split_gain) return;
    node.gain = gain;
    std::swap(node.split, *best);
}

// If rows are not counted, a side with a large enough hessian has enough rows. With a smaller hessian this is unknown.
template <class Code>
bool NodeSearch<Code>::may_break_min_rows(const BoostSplit& split, const BoostNode& node) const {
    const WordFields& fields = scale_.fields;
    if (fields.counts() || limits_.min_rows <= 1 || !split.is_found()) return false;
    const std::int32_t lighter = std::min(fields.hessian(split.left), fields.hessian(node.sum - split.left));
    return lighter < limits_.min_rows * scale_.largest_hessian;
}

template <class Code>
std::size_t NodeSearch<Code>::take_slot() {
    if (free_slots_.empty()) {
        slots_.emplace_back(shape_.size);
        return slots_.size() - 1;
    }
    const std::size_t slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
}

template class NodeSearch<std::uint8_t>;
template class NodeSearch<std::uint16_t>;

}  // namespace committee
