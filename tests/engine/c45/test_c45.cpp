// Tests of C4.5: arithmetic, choice of splits, missing values, pruning, and arrays that are not a tree.
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "c45/arithmetic.h"
#include "c45/c45.h"
#include "c45/growth.h"
#include "c45/pruning.h"
#include "c45/split.h"
#include "check.h"

using namespace committee;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

bool is_near(double a, double b, double slack = 1e-9) { return std::abs(a - b) < slack; }

C45Column numbers(const std::vector<double>& values) { return {values, {}, C45Column::is_number}; }
C45Column categories(const std::vector<std::int32_t>& codes, std::int32_t n) { return {{}, codes, n}; }

std::vector<double> predict(const C45Tree& tree, std::vector<C45Column> columns, std::size_t n_rows) {
    std::vector<double> votes(n_rows * static_cast<std::size_t>(tree.n_classes));
    predict_c45(tree, columns, 0, n_rows, votes.data());
    return votes;
}

C45Settings unpruned() {
    C45Settings settings;
    settings.pruning = C45Pruning::none;
    return settings;
}

// The rows of one column as the root of a sample.
template <class Weight>
c45::Sample<Weight> make_root(const std::vector<std::int32_t>& classes, const std::vector<double>& weights) {
    c45::Sample<Weight> sample;
    for (std::size_t i = 0; i < classes.size(); ++i) {
        sample.row.push_back(static_cast<std::uint32_t>(i));
        sample.instances.push_back(static_cast<std::uint32_t>(i));
        c45::Label<Weight> label;
        label.class_code = static_cast<decltype(label.class_code)>(classes[i]);
        label.weight = static_cast<decltype(label.weight)>(weights[i]);
        sample.label.push_back(label);
    }
    return sample;
}

template <class Weight>
c45::Split split_one(const C45Column& column, const std::vector<std::int32_t>& classes, std::size_t n_classes) {
    const std::vector<double> weights(classes.size(), 1.0);
    c45::Sample<Weight> sample = make_root<Weight>(classes, weights);
    const Stop never;
    Polls polls(never);
    std::vector<c45::Values> values(1);
    sample.sorted.resize(1);
    if (column.n_categories == C45Column::is_number) {
        c45::SortedColumn sorted = c45::ColumnSorter().sort(column.numbers, sample.row, polls);
        values[0] = sorted.values;
        sample.sorted[0] = sorted.entries;
    }
    std::vector<Weight> class_weights(n_classes);
    for (const std::int32_t c : classes) class_weights[static_cast<std::size_t>(c)] += 1;
    const auto total = static_cast<double>(classes.size());
    const c45::Entropy entropy(total, classes.size());
    c45::SplitChooser chooser(std::span(&column, 1), values, n_classes, 2, total, entropy, polls);
    return chooser.choose(c45::NodeRows<Weight>{sample, 0, classes.size(), class_weights, total});
}

void test_terms_are_w_log2_w() {
    const c45::Entropy entropy(100, 100);
    check(entropy.term(8U) == 24.0, "8 log2 8");
    check(entropy.term(0U) == 0.0 && entropy.term(1e-7) == 0.0, "empty");
    check(is_near(entropy.term(0.5), -0.5), "half a row");
    check(entropy.term(7U) == entropy.term(7.0), "counts and weights agree");
}

void test_sums_on_the_grid_do_not_depend_on_their_order() {
    const c45::Grid grid(10);
    double up = 0;
    double down = 0;
    for (int i = 1; i <= 100; ++i) up += grid.round(0.1 / i);
    for (int i = 100; i >= 1; --i) down += grid.round(0.1 / i);
    check(up == down, "same bits");
    check(is_near(grid.round(0.1), 0.1, 1e-13), "close to the number");
    check(grid.round(3) == 3, "integers are unchanged");
    check(grid.round_weight(1e-30) > 0 && grid.round_weight(0) == 0, "positive weights stay positive");
    check(grid.round(grid.round_weight(1e-30)) == grid.round_weight(1e-30), "the weight is on the grid");
}

void test_normal_quantile() {
    check(is_near(c45::upper_normal_quantile(0.25), 0.6744897501960817, 1e-14), "a quarter");
    check(is_near(c45::upper_normal_quantile(0.025), 1.959963984540054, 1e-13), "two and a half percent");
    check(is_near(c45::upper_normal_quantile(0.5), 0, 1e-14), "a half");
}

// 6 (1 - 0.25^(1/6)) = 1.2378 for no error in 6 rows: the first example of Quinlan's section 4.2 (0.206 per row).
void test_pessimistic_errors() {
    const c45::ErrorEstimate estimate(0.25);
    check(is_near(estimate.extra(6, 0), 6 * (1 - std::pow(0.25, 1.0 / 6))), "no error in six");
    check(is_near(estimate.extra(6, 0) / 6, 0.206, 5e-4), "Quinlan's 0.206");
    check(is_near(estimate.extra(9, 0) / 9, 0.143, 5e-4), "Quinlan's 0.143");
    check(is_near(estimate.extra(1, 0), 0.75), "no error in one");
    check(is_near(estimate.extra(2, 2), 0), "all wrong");
    check(is_near(estimate.extra(2, 1.7), 0.3), "nearly all wrong");
    // f = 1.5 / 16, z = 0.67449: (f + z2/32 + z sqrt(f/16 - f2/16 + z2/1024)) / (1 + z2/16) = 0.159132 / 1.028434.
    check(is_near(estimate.extra(16, 1), 16 * 0.159132 / 1.028434 - 1, 1e-4), "one error in sixteen");
    check(is_near(estimate.extra(16, 0.5), (estimate.extra(16, 0) + estimate.extra(16, 1)) / 2), "half an error");
    check(estimate(std::vector<double>{0.0, 0.0}) == 0, "an empty node");
    check(is_near(estimate(std::vector<double>{15.0, 1.0}), 1 + estimate.extra(16, 1)), "errors are added");
}

void test_majority_is_the_first_among_ties() {
    check(c45::find_majority(std::vector<double>{1, 2, 2}) == 1, "the first among ties");
    check(c45::find_majority(std::vector<double>{2, 2 + 1e-9}) == 0, "equal within the tolerance");
    check(c45::count_errors(std::vector<double>{1, 5, 2}) == 3, "the weight of the other classes");
}

// The column outlook of the golf table: a gain of 0.246 bits and a split information of 1.577 bits.
void test_gain_ratio_of_categories() {
    const std::vector<std::int32_t> outlook{1, 1, 2, 3, 3, 3, 2, 1, 1, 3, 1, 2, 2, 3};
    const std::vector<std::int32_t> play{0, 0, 1, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0};
    const c45::Split split = split_one<std::uint32_t>(categories(outlook, 3), play, 2);
    check(split.column == 0, "splits");
    check(is_near(split.gain, 0.24674981977443894), "gain");
    check(is_near(split.ratio, 0.24674981977443894 / 1.5774062828523452), "gain ratio");
    check(is_near(split_one<double>(categories(outlook, 3), play, 2).ratio, split.ratio),
          "weights give the same as counts");
}

// Ten rows with one change of class: the gain is 1 bit minus log2(7) / 10 for the choice among 7 thresholds.
void test_thresholds_cost_bits() {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const std::vector<std::int32_t> y{0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    for (const c45::Split& split : {split_one<std::uint32_t>(numbers(x), y, 2), split_one<double>(numbers(x), y, 2)}) {
        check(is_near(split.gain, 1 - std::log2(7.0) / 10), "corrected gain");
        check(is_near(split.ratio, split.gain), "two halves have one bit of split information");
        check(split.rank_below == 4 && split.rank_above == 5, "between 5 and 6");
    }
    // A third class without rows tests the code for more than two classes.
    check(is_near(split_one<std::uint32_t>(numbers(x), y, 3).gain, 1 - std::log2(7.0) / 10), "many classes");
}

// Rows with a missing value reduce the gain and count as a side in the entropy of the split.
void test_missing_values_lower_the_gain() {
    const std::vector<std::int32_t> x{1, 1, 2, 2, 0};
    const std::vector<std::int32_t> y{0, 0, 1, 1, 0};
    const c45::Split split = split_one<std::uint32_t>(categories(x, 2), y, 2);
    check(is_near(split.gain, 4.0 / 5), "four fifths of a bit");
    const double own = -(2 * 0.4 * std::log2(0.4) + 0.2 * std::log2(0.2));
    check(is_near(split.ratio, split.gain / own), "missing values count as a third side");
}

void test_one_large_branch_is_not_a_split() {
    const std::vector<std::int32_t> x{1, 1, 1, 2};
    const std::vector<std::int32_t> y{0, 0, 0, 1};
    check(split_one<std::uint32_t>(categories(x, 2), y, 2).column == c45::Split::none, "one row in a branch");
}

void test_thresholds_are_values_of_the_table() {
    const std::vector<double> values{1, 2, 3, 4, 10};
    check(c45::choose_threshold(values, 0, 4) == 4, "the largest value up to the midpoint");
    check(c45::choose_threshold(values, 3, 4) == 4, "no value in between");
    check(c45::choose_threshold(values, 0, 2) == 2, "the midpoint itself");
    check(c45::choose_threshold(std::vector<double>{0.56, 0.561, 0.562}, 0, 2) == 0.561, "the midpoint up to rounding");
    check(c45::choose_threshold(std::vector<double>{-infinity, infinity}, 0, 1) == -infinity, "between infinities");
    check(c45::choose_threshold(std::vector<double>{1, infinity}, 0, 1) == 1, "below infinity");
    const double next = std::nextafter(1.0, 2.0);
    check(c45::choose_threshold(std::vector<double>{1, next}, 0, 1) == 1, "adjacent doubles");
}

void test_columns_are_sorted() {
    std::vector<double> x;
    std::vector<std::uint32_t> rows;
    for (std::uint32_t i = 0; i < 1000; ++i) {
        // Equal in the upper half of the bits, different in the lower half.
        x.push_back(i % 7 == 0 ? nan : ((i * 7919) % 1000 - 500.0) * (i % 2 == 0 ? 1 : 1e-12));
        rows.push_back(i);
    }
    x[1] = -0.0;
    x[3] = 0.0;
    x[5] = -infinity;
    const Stop never;
    Polls polls(never);
    const c45::SortedColumn column = c45::ColumnSorter().sort(x, rows, polls);
    check(column.entries.size() == x.size(), "all rows");
    for (std::size_t i = 1; i < x.size(); ++i) {
        const double before = x[column.entries[i - 1].instance];
        const double after = x[column.entries[i].instance];
        check(std::isnan(after) || before <= after, "increasing, missing last");
        check((column.entries[i - 1].rank == column.entries[i].rank) == (before == after || std::isnan(before)),
              "one rank per value");
    }
    for (std::size_t i = 1; i < column.values.sorted.size(); ++i) {
        check(column.values.sorted[i - 1] < column.values.sorted[i], "distinct values");
    }
}

// C4.5 does not split between values within 1e-5, but columns of tiny numbers must still be split.
void test_close_values() {
    const std::vector<std::int32_t> y{0, 0, 0, 0, 1, 1, 1, 1};
    const std::vector<double> close{1, 2, 3, 4, 4.000001, 5, 6, 7};
    const c45::Split split = split_one<std::uint32_t>(numbers(close), y, 2);
    check(split.rank_below != 3, "not between 4 and 4.000001");
    std::vector<double> tiny;
    for (const double i : {1, 2, 3, 4, 5, 6, 7, 8}) tiny.push_back(i * 1e-9);
    check(split_one<std::uint32_t>(numbers(tiny), y, 2).rank_below == 3, "tiny numbers are split");
}

// Six rows have a value of x and are split 4 : 2. The seventh row has none and is sent down both branches, with weights
// of two thirds and one third.
void test_a_row_with_a_missing_value_goes_down_all_branches() {
    const std::vector<std::int32_t> x{1, 1, 1, 1, 2, 2, 0};
    const std::vector<std::int32_t> y{0, 0, 0, 0, 1, 1, 1};
    const std::vector<double> weights(7, 1.0);
    const std::vector<C45Column> columns{categories(x, 2)};
    const C45Tree tree = grow_c45(columns, y, 2, weights, unpruned());
    check(tree.n_nodes() == 3 && tree.n_leaves() == 2, "one split");
    check(is_near(tree.classes(1)[0], 4) && is_near(tree.classes(1)[1], 2.0 / 3),
          "two thirds of the weight on the left");
    check(is_near(tree.classes(2)[0], 0) && is_near(tree.classes(2)[1], 2 + 1.0 / 3), "one third on the right");
    const std::vector<double> votes = predict(tree, columns, 7);
    check(is_near(votes[0], 4 / (4 + 2.0 / 3)), "a row with a value");
    check(is_near(votes[12], 4.0 / 7) && is_near(votes[13], 3.0 / 7), "a row without a value gets the mean");
}

// Below a split on a missing value, fractions of rows are split like rows: numbers stay sorted, and weights are
// fractions.
void test_fractions_of_rows_are_split_again() {
    const std::vector<std::int32_t> x{1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 0};
    const std::vector<double> z{1, 2, 3, 4, 5, 6, 1, 2, 3, 4, nan, 6, 2.5, 4.5};
    const std::vector<std::int32_t> y{0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2, 0, 1};
    const std::vector<double> weights(14, 1.0);
    const std::vector<C45Column> columns{categories(x, 2), numbers(z)};
    const C45Tree tree = grow_c45(columns, y, 3, weights, unpruned());
    check(tree.column[0] == 0, "x is split first");
    check(tree.column[1] == 1 && tree.threshold[1] == 3, "z is next, with half rows at 2.5 and 4.5");
    const auto low = static_cast<std::size_t>(tree.branches(1)[0]);
    check(is_near(tree.weight(low), 3.5), "three rows and a half");
    check(is_near(tree.weight(1) + tree.weight(2), 14), "the total weight is unchanged");
}

void test_an_empty_branch_votes_like_its_parent() {
    const std::vector<std::int32_t> x{1, 1, 1, 3, 3};
    const std::vector<std::int32_t> y{0, 0, 0, 1, 1};
    const std::vector<double> weights(5, 1.0);
    const C45Tree tree = grow_c45(std::vector{categories(x, 3)}, y, 2, weights, unpruned());
    check(tree.n_leaves() == 3 && tree.n_nodes() == 3, "the empty branch counts as a leaf");
    const std::vector<std::int32_t> unseen{2};
    const std::vector<double> votes = predict(tree, {categories(unseen, 3)}, 1);
    check(is_near(votes[0], 0.6) && is_near(votes[1], 0.4), "three rows of five");
}

void test_collapse_cuts_what_saves_no_error() {
    C45Tree tree;
    tree.n_classes = 2;
    tree.n_categories = {C45Column::is_number};
    tree.column = {0, C45Tree::is_leaf, C45Tree::is_leaf};
    tree.threshold = {1, 0, 0};
    tree.first_branch = {0, 0, 0};
    tree.branch = {1, 2};
    tree.distribution = {8, 2, 5, 0, 3, 2};
    check(find_error(tree).empty(), "a tree");
    c45::collapse(tree);
    check(c45::pack(tree).n_nodes() == 1, "two errors with and without the split");
    tree.column[0] = 0;
    tree.distribution = {8, 2, 7, 0, 1, 2};
    c45::collapse(tree);
    check(c45::pack(tree).n_nodes() == 3, "one error fewer");
}

// Quinlan's example of section 4.2: leaves of 6, 9 and 1 rows without errors are expected to make 6 * 0.206 + 9 * 0.143
// + 1 * 0.750 = 3.273 errors; one leaf of all 16 rows with one error makes 16 * 0.155 = 2.476.
void test_pessimistic_pruning_replaces_a_subtree_by_a_leaf() {
    std::vector<std::int32_t> x(16, 1);
    std::vector<std::int32_t> y(16, 0);
    for (std::size_t i = 6; i < 15; ++i) x[i] = 2;
    x[15] = 3;
    y[15] = 1;
    const std::vector<double> weights(16, 1.0);
    const std::vector<C45Column> columns{categories(x, 3)};
    C45Settings settings = unpruned();
    check(grow_c45(columns, y, 2, weights, settings).n_leaves() == 3, "grown");
    settings.pruning = C45Pruning::pessimistic;
    check(grow_c45(columns, y, 2, weights, settings).n_leaves() == 1, "pruned");
}

// The root splits off two rows and saves one error. The split below it is worth keeping and is raised.
void test_subtree_raising_moves_the_largest_branch_up() {
    C45Tree tree;
    tree.n_classes = 2;
    tree.n_categories = {2, C45Column::is_number};
    tree.column = {0, C45Tree::is_leaf, 1, C45Tree::is_leaf, C45Tree::is_leaf};
    tree.threshold = {0, 0, 5, 0, 0};
    tree.first_branch = {0, 0, 2, 0, 0};
    tree.branch = {1, 2, 3, 4};
    tree.distribution = {11, 11, 1, 1, 10, 10, 10, 0, 0, 10};
    std::vector<std::int32_t> x(22, 2);
    std::vector<double> z(22, 1.0);
    std::vector<std::int32_t> y(22, 0);
    std::vector<c45::WeightedRow> rows;
    for (std::size_t i = 0; i < 22; ++i) {
        if (i >= 11) z[i] = 9;
        if (i >= 11) y[i] = 1;
        if (i % 11 == 0) x[i] = 1;
        rows.push_back({static_cast<std::uint32_t>(i), 1.0});
    }
    const std::vector<C45Column> columns{categories(x, 2), numbers(z)};
    C45Tree kept = tree;
    const Stop never;
    Polls polls(never);
    c45::prune_pessimistically(kept, columns, y, c45::Grid(22), 0.25, false, rows, polls);
    check(kept.column[0] == 0, "the root is unchanged without raising");
    c45::prune_pessimistically(tree, columns, y, c45::Grid(22), 0.25, true, rows, polls);
    tree = c45::pack(tree);
    check(tree.n_nodes() == 3 && tree.column[0] == 1, "the branch has become the root");
    check(tree.classes(1)[0] == 11 && tree.classes(2)[1] == 11, "the branch has all rows");
}

void test_reduced_error_pruning_uses_held_out_rows() {
    const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5, 6.5, 7.5};
    std::vector<std::int32_t> y{0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 1};
    const std::vector<double> weights(12, 1.0);
    const std::vector<std::uint8_t> held_out{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1};
    C45Settings settings;
    settings.pruning = C45Pruning::reduced_error;
    const std::vector<C45Column> columns{numbers(x)};
    check(grow_c45(columns, y, 2, weights, settings, held_out).n_leaves() == 2, "the held-out rows agree");
    y[10] = y[11] = 0;
    check(grow_c45(columns, y, 2, weights, settings, held_out).n_leaves() == 1, "the held-out rows disagree");
}

bool is_same(const C45Tree& a, const C45Tree& b) {
    return a.column == b.column && a.threshold == b.threshold && a.branch == b.branch &&
           a.distribution == b.distribution;
}

// Numbers with ties, categories and missing values. The classes depend on both columns.
struct Made {
    std::vector<double> x;
    std::vector<double> z;
    std::vector<std::int32_t> c;
    std::vector<std::int32_t> y;
    std::vector<double> weights;

    std::vector<C45Column> columns() const { return {numbers(x), categories(c, 4), numbers(z)}; }
};

Made make_table(std::size_t n, std::size_t first, std::size_t step, bool is_weighted) {
    Made made;
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = (first + k * step) % n;  // a permutation of the rows if step and n have no common factor
        const auto a = static_cast<double>((i * 37) % 101);
        const auto b = static_cast<std::int32_t>((i * 53) % 5);
        made.x.push_back(i % 11 == 0 ? nan : a / 7);
        made.z.push_back(static_cast<double>((i * 17) % 29) * 0.1);
        made.c.push_back(b);
        made.y.push_back(((a > 50) != (b == 2)) ? 1 : (i % 13 == 0 ? 2 : 0));
        made.weights.push_back(is_weighted ? 0.1 + static_cast<double>(i % 7) * 0.3 : 1.0);
    }
    return made;
}

void test_row_order_changes_no_bit() {
    for (const bool is_weighted : {false, true}) {
        for (const C45Pruning pruning : {C45Pruning::none, C45Pruning::pessimistic}) {
            C45Settings settings;
            settings.pruning = pruning;
            const Made a = make_table(500, 0, 1, is_weighted);
            const Made b = make_table(500, 123, 77, is_weighted);
            const C45Tree first = grow_c45(a.columns(), a.y, 3, a.weights, settings);
            const C45Tree second = grow_c45(b.columns(), b.y, 3, b.weights, settings);
            check(first.n_leaves() > 5, "the tree is not trivial");
            check(is_same(first, second), "same bits");
            check(find_error(first).empty(), "a valid tree");
        }
    }
}

void test_weight_two_equals_two_rows() {
    const Made once = make_table(300, 0, 1, false);
    Made twice = once;
    Made weighted = once;
    for (std::size_t i = 0; i < 300; i += 3) {
        twice.x.push_back(once.x[i]);
        twice.z.push_back(once.z[i]);
        twice.c.push_back(once.c[i]);
        twice.y.push_back(once.y[i]);
        twice.weights.push_back(1);
        weighted.weights[i] = 2;
    }
    const C45Tree a = grow_c45(twice.columns(), twice.y, 3, twice.weights, {});
    const C45Tree b = grow_c45(weighted.columns(), weighted.y, 3, weighted.weights, {});
    check(a.n_leaves() > 5, "the tree is not trivial");
    check(a.column == b.column && a.threshold == b.threshold && a.branch == b.branch, "same splits");
    // Two fractions are rounded separately, one fraction of twice the weight only once.
    for (std::size_t i = 0; i < a.distribution.size(); ++i)
        check(is_near(a.distribution[i], b.distribution[i]), "weights");
}

void test_counts_and_weights_choose_the_same_root() {
    const Made counted = make_table(300, 0, 1, false);
    Made scaled = counted;
    for (double& weight : scaled.weights) weight = 8;  // too heavy for counts
    C45Settings settings = unpruned();
    const C45Tree a = grow_c45(counted.columns(), counted.y, 3, counted.weights, settings);
    settings.min_leaf_weight = 16;
    const C45Tree b = grow_c45(scaled.columns(), scaled.y, 3, scaled.weights, settings);
    check(a.column[0] == b.column[0] && a.threshold[0] == b.threshold[0], "same root");
}

void test_rows_of_weight_zero_are_ignored() {
    Made made = make_table(300, 0, 1, false);
    const C45Tree without = grow_c45(made.columns(), made.y, 3, made.weights, {});
    for (int i = 0; i < 50; ++i) {
        made.x.push_back(i * 0.01);
        made.z.push_back(-i);
        made.c.push_back(1 + i % 4);
        made.y.push_back(2);
        made.weights.push_back(0);
    }
    check(is_same(without, grow_c45(made.columns(), made.y, 3, made.weights, {})), "same bits");
}

// A chain of nested intervals could be as deep as the number of rows.
void test_depth_is_bounded() {
    std::vector<double> x;
    std::vector<std::int32_t> y;
    for (int i = 0; i < 6000; ++i) {
        x.push_back(i);
        y.push_back((i / 2) % 2);
    }
    C45Settings settings;
    settings.min_leaf_weight = 1;
    const C45Tree tree = grow_c45(std::vector{numbers(x)}, y, 2, std::vector<double>(6000, 1.0), settings);
    for (const std::int32_t depth : tree.depths()) check(depth <= static_cast<std::int32_t>(max_c45_depth), "depth");
}

void test_arrays_that_are_not_a_tree_are_found() {
    const Made made = make_table(300, 0, 1, false);
    const C45Tree tree = grow_c45(made.columns(), made.y, 3, made.weights, {});
    check(find_error(tree).empty(), "a tree");
    const auto is_refused = [&](auto change) {
        C45Tree broken = tree;
        change(broken);
        check(!find_error(broken).empty(), "the error is found");
    };
    is_refused([](C45Tree& t) { t.n_classes = 0; });
    is_refused([](C45Tree& t) { t.n_classes = 2; });
    is_refused([](C45Tree& t) { t.n_categories.clear(); });
    is_refused([](C45Tree& t) { t.n_categories[1] = -2; });
    is_refused([](C45Tree& t) { t.n_categories[1] = 1000; });
    is_refused([](C45Tree& t) { t.column[0] = 3; });
    is_refused([](C45Tree& t) { t.column[0] = -2; });
    is_refused([](C45Tree& t) { t.column[0] = C45Tree::is_leaf; });
    is_refused([](C45Tree& t) { t.threshold.pop_back(); });
    is_refused([](C45Tree& t) { t.threshold[0] = nan; });
    is_refused([](C45Tree& t) { t.first_branch[0] = -5; });
    is_refused([](C45Tree& t) { t.first_branch[0] = 1 << 30; });
    is_refused([](C45Tree& t) { t.branch.push_back(1); });
    is_refused([](C45Tree& t) { t.branch.pop_back(); });
    is_refused([](C45Tree& t) { t.branch[0] = 0; });
    is_refused([](C45Tree& t) { t.branch[0] = -7; });
    is_refused([](C45Tree& t) { t.branch[0] = t.branch[1]; });
    is_refused([](C45Tree& t) { t.branch[0] = static_cast<std::int32_t>(t.n_nodes()); });
    is_refused([](C45Tree& t) { t.distribution[0] = -1; });
    is_refused([](C45Tree& t) { t.distribution[0] = nan; });
    is_refused([](C45Tree& t) { t.distribution[0] = infinity; });
    is_refused([](C45Tree& t) { t.distribution.pop_back(); });
    is_refused([](C45Tree& t) { t = C45Tree{}; });
}

}  // namespace

int main() {
    test_terms_are_w_log2_w();
    test_sums_on_the_grid_do_not_depend_on_their_order();
    test_normal_quantile();
    test_pessimistic_errors();
    test_majority_is_the_first_among_ties();
    test_gain_ratio_of_categories();
    test_thresholds_cost_bits();
    test_missing_values_lower_the_gain();
    test_one_large_branch_is_not_a_split();
    test_thresholds_are_values_of_the_table();
    test_columns_are_sorted();
    test_close_values();
    test_a_row_with_a_missing_value_goes_down_all_branches();
    test_fractions_of_rows_are_split_again();
    test_an_empty_branch_votes_like_its_parent();
    test_collapse_cuts_what_saves_no_error();
    test_pessimistic_pruning_replaces_a_subtree_by_a_leaf();
    test_subtree_raising_moves_the_largest_branch_up();
    test_reduced_error_pruning_uses_held_out_rows();
    test_row_order_changes_no_bit();
    test_weight_two_equals_two_rows();
    test_counts_and_weights_choose_the_same_root();
    test_rows_of_weight_zero_are_ignored();
    test_depth_is_bounded();
    test_arrays_that_are_not_a_tree_are_found();
    return report();
}
