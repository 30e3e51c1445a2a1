#include <cmath>
#include <numeric>

#include "adaboost/adaboost.h"
#include "check.h"
#include "growing/row_sampling.h"
#include "small_tables.h"

using namespace committee;

namespace {

Distribution uniform(std::size_t n_rows, std::size_t width = 1) {
    const double unit = 1 / static_cast<double>(n_rows * width);
    return {std::vector<std::uint32_t>(n_rows, 1), std::vector<double>(n_rows * width, unit)};
}

AdaBoostParameters stumps(Scheme scheme, std::uint32_t n_rounds) {
    AdaBoostParameters parameters;
    parameters.scheme = scheme;
    parameters.n_rounds = n_rounds;
    parameters.member.is_stump = true;
    parameters.member.grow.criterion = Criterion::entropy;
    parameters.keep_weights = true;
    return parameters;
}

AdaBoosted boost(const SmallTable& small, const Target& target, Distribution start,
                 const AdaBoostParameters& parameters, int n_threads = 1) {
    return boost_adaptively(small.bin({}, 255), target, {}, std::move(start), parameters, n_threads, {});
}

bool same(const AdaBoosted& a, const AdaBoosted& b) {
    return same_trees(a.members, b.members) && a.errors == b.errors && a.votes == b.votes && a.units == b.units;
}

void right_and_wrong_rows_have_equal_weights_after_a_round() {
    const SmallTable small({random_numbers(200, 1), random_numbers(200, 2, true)}, {random_codes(200, 5, 3, true)}, 5);
    const Target target = labels_target(2, random_labels(200, 2, 4));
    const AdaBoosted boosted = boost(small, target, uniform(200), stumps(Scheme::m1, 6));
    check(boosted.errors.size() == 6 && !boosted.is_over);
    for (std::size_t t = 0; t + 1 < 6; ++t) {
        Forest alone = without_trees(boosted.members);
        alone.trees.push_back(boosted.members.trees[t]);
        const auto votes = decisions(alone, small);
        double wrong = 0, next = 0;
        for (std::size_t i = 0; i < 200; ++i) {
            const bool is_wrong = (votes[2 * i + 1] > votes[2 * i]) != (target.labels[i] == 1);
            wrong += is_wrong ? boosted.weights[t * 200 + i] : 0;
            next += is_wrong ? boosted.weights[(t + 1) * 200 + i] : 0;
        }
        check(std::abs(wrong - boosted.errors[t]) < 1e-14);
        check(std::abs(next - 0.5) < 1e-14);
        check(std::abs(boosted.votes[t] - std::log((1 - wrong) / wrong)) < 1e-12);
    }
}

void the_mislabel_distribution_sums_to_one_and_pseudo_losses_are_below_one_half() {
    const SmallTable small({{1, 2, 3, 4, 5, 6, 7, 8}});
    const Target target = labels_target(3, {0, 0, 1, 1, 1, 2, 2, 2});
    AdaBoostParameters parameters = stumps(Scheme::m2, 3);
    const AdaBoosted boosted = boost(small, target, uniform(8, 2), parameters);
    check(boosted.errors.size() == 3);
    check(boosted.units.size() == 16);
    check(std::abs(std::accumulate(boosted.units.begin(), boosted.units.end(), 0.0) - 1) < 1e-14);
    for (const double error : boosted.errors) check(error > 0 && error < 0.5);
}

void a_row_of_count_two_equals_two_rows() {
    const SmallTable counted({{1, 2, 3, 4, 5, 6}}), repeated({{1, 2, 2, 3, 4, 5, 5, 6}});
    const Target few = labels_target(2, {0, 1, 0, 1, 1, 0}), many = labels_target(2, {0, 1, 1, 0, 1, 1, 1, 0});
    const Distribution start{{1, 2, 1, 1, 2, 1}, std::vector<double>(6, 0.125)};
    for (const bool resample : {false, true}) {
        AdaBoostParameters parameters = stumps(Scheme::m1, 4);
        parameters.member.resample = resample;
        const AdaBoosted a = boost(counted, few, start, parameters);
        const AdaBoosted b = boost(repeated, many, uniform(8), parameters);
        check(a.errors == b.errors && a.votes == b.votes);
        check(same_trees(a.members, b.members));
    }
}

void rows_of_count_zero_are_ignored() {
    const SmallTable more({{1, 9, 2, 3, 4}}), fewer({{1, 2, 3, 4}});
    const Distribution start{{1, 0, 1, 1, 1}, {0.25, 0, 0.25, 0.25, 0.25}};
    const AdaBoosted a = boost(more, labels_target(2, {0, 1, 1, 0, 1}), start, stumps(Scheme::m1, 3));
    const AdaBoosted b = boost(fewer, labels_target(2, {0, 1, 0, 1}), uniform(4), stumps(Scheme::m1, 3));
    check(a.errors == b.errors && a.votes == b.votes);
}

void threads_and_interruptions_change_nothing() {
    const std::size_t n = 40000;
    std::vector<std::vector<double>> columns;
    for (std::uint64_t j = 0; j < 16; ++j) columns.push_back(random_numbers(n, j, j % 2 == 0));
    const SmallTable small(columns);
    for (const Scheme scheme : {Scheme::m1, Scheme::samme, Scheme::m2}) {
        const std::uint32_t n_classes = scheme == Scheme::m1 ? 2 : 3;
        const Target target = labels_target(n_classes, random_labels(n, n_classes, 99));
        const Distribution start = uniform(n, scheme == Scheme::m2 ? 2 : 1);
        AdaBoostParameters parameters = stumps(scheme, 4);
        parameters.member.resample = scheme == Scheme::samme;
        const AdaBoosted whole = boost(small, target, start, parameters);
        check(!whole.errors.empty());
        for (const int n_threads : {2, 3, 7}) check(same(whole, boost(small, target, start, parameters, n_threads)));
        parameters.n_rounds = 2;
        const AdaBoosted first = boost(small, target, start, parameters);
        parameters.first_round = 2;
        const AdaBoosted second = boost(small, target, {start.counts, first.units}, parameters);
        if (whole.errors.size() == 4) check(second.errors[1] == whole.errors[3] && second.units == whole.units);
    }
}

void numbers_are_weighted_by_their_share_of_the_largest_error() {
    const SmallTable small({{1, 2, 3, 4}});
    const std::vector<double> y{0, 2, 10, 14};
    AdaBoostParameters parameters = stumps(Scheme::r2, 2);
    parameters.member.grow.criterion = Criterion::squared_error;
    const Target target = fixed_target(y, {}, 1 << 30, false);
    const AdaBoosted boosted = boost_adaptively(small.bin(), target, y, uniform(4), parameters, 1, {});
    // The stump predicts 1, 1, 12, 12, so the errors are 1, 1, 2, 2.
    check(std::abs(boosted.errors[0] - 0.75) < 1e-6);
    check(boosted.is_over && boosted.votes == std::vector<double>{1},
          "no better than chance, but kept because it is the first");
    parameters.loss = RowLoss::square;
    parameters.learning_rate = 0.5;
    const std::vector<double> skewed{0, 1, 1, 1};
    const AdaBoosted other =
        boost_adaptively(small.bin(), fixed_target(skewed, {}, 1 << 30, false), skewed, uniform(4), parameters, 1, {});
    check(other.is_over && other.errors == std::vector<double>{0}, "a perfect stump");
}

void a_perfect_member_and_a_bad_one_end_the_run() {
    const SmallTable small({{1, 2, 3, 4}}), constant({{1, 1, 1}});
    const AdaBoosted perfect = boost(small, labels_target(2, {0, 0, 1, 1}), uniform(4), stumps(Scheme::m1, 5));
    check(perfect.is_over && perfect.errors == std::vector<double>{0});
    check(perfect.votes == std::vector<double>{std::log(9.0)});
    const AdaBoosted bad = boost(constant, labels_target(3, {0, 1, 2}), uniform(3), stumps(Scheme::m1, 5));
    check(bad.is_over && bad.votes == std::vector<double>{1} && bad.errors[0] > 0.6);
}

void weighted_votes_sum_to_the_decision() {
    const SmallTable small({random_numbers(100, 5)});
    const Target target = labels_target(2, random_labels(100, 2, 6));
    const AdaBoosted boosted = boost(small, target, uniform(100), stumps(Scheme::m1, 5));
    const Forest crisp = weigh_votes(boosted.members, boosted.votes, true, Link::share, 1);
    const Forest soft = weigh_votes(boosted.members, boosted.votes, false, Link::share, 1);
    const auto shares = decisions(crisp, small), plausible = decisions(soft, small);
    for (std::size_t i = 0; i < 100; ++i) {
        double votes = 0, plausibility = 0, all = 0;
        for (std::size_t t = 0; t < boosted.votes.size(); ++t) {
            Forest alone = without_trees(boosted.members);
            alone.trees.push_back(boosted.members.trees[t]);
            const auto said = decisions(alone, small);
            votes += said[2 * i + 1] > said[2 * i] ? boosted.votes[t] : 0;
            plausibility += boosted.votes[t] * said[2 * i + 1];
            all += boosted.votes[t];
        }
        check(std::abs(shares[2 * i + 1] - votes / all) < 1e-12);
        check(std::abs(plausible[2 * i + 1] - plausibility / all) < 1e-12);
    }
}

void a_stop_ends_the_run_after_a_round() {
    const SmallTable small({random_numbers(100, 5)});
    const Target target = labels_target(2, random_labels(100, 2, 6));
    const AdaBoosted boosted = boost_adaptively(small.bin(), target, {}, uniform(100), stumps(Scheme::m1, 50), 1,
                                                [](std::size_t n_done) { return n_done == 3; });
    check(boosted.stopped && boosted.errors.size() == 3);
}

}  // namespace

int main() {
    right_and_wrong_rows_have_equal_weights_after_a_round();
    the_mislabel_distribution_sums_to_one_and_pseudo_losses_are_below_one_half();
    a_row_of_count_two_equals_two_rows();
    rows_of_count_zero_are_ignored();
    threads_and_interruptions_change_nothing();
    numbers_are_weighted_by_their_share_of_the_largest_error();
    a_perfect_member_and_a_bad_one_end_the_run();
    weighted_votes_sum_to_the_decision();
    a_stop_ends_the_run_after_a_round();
    return report();
}
