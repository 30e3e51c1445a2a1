#include <array>
#include <cmath>
#include <vector>

#include "check.h"
#include "numbers/random.h"
#include "tree/node_statistics.h"

using namespace committee;

namespace {

bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::max(1.0, std::abs(b)); }

// The weighted impurity of class weights, as defined in textbooks.
double impurity(Criterion criterion, std::span<const std::uint32_t> weights) {
    double all = 0, most = 0, result = 0;
    for (const double weight : weights) {
        all += weight;
        most = std::max(most, weight);
    }
    if (all == 0) return 0;
    if (criterion == Criterion::error) return all - most;
    for (const double weight : weights) {
        const double share = weight / all;
        if (criterion == Criterion::gini) result += all * share * (1 - share);
        if (criterion == Criterion::entropy && share > 0) result -= all * share * std::log2(share);
    }
    return result;
}

void x_log_x_is_rounded_to_the_last_bit() {
    check(fixed_xlogx(0) == 0 && fixed_xlogx(1) == 0);
    check(fixed_xlogx(2) == 2LL << 20);
    check(fixed_xlogx(1024) == 10240LL << 20);
    // The precomputed table ends at 4096.
    for (const std::uint64_t x : {3ULL, 4095ULL, 4096ULL, 4097ULL, (1ULL << 31) - 1}) {
        const auto value = static_cast<double>(x);
        check(std::abs(static_cast<double>(fixed_xlogx(x)) * 0x1.0p-20 - value * std::log2(value)) < 1e-4);
    }
}

void one_addition_sums_two_classes() {
    const auto total = TwoClasses::item(3, 0) + TwoClasses::item(4, 1) + TwoClasses::item(5, 1);
    check(TwoClasses::weight(total) == 12 && TwoClasses::sum(total) == 9);
    check(TwoClasses::value(total) == 0.75);
    check(total - TwoClasses::item(5, 1) == TwoClasses::item(3, 0) + TwoClasses::item(4, 1));
    check(!TwoClasses::is_pure(total));
    check(TwoClasses::is_pure(TwoClasses::item(3, 0)) && TwoClasses::is_pure(TwoClasses::item(3, 1)));
    check(TwoClasses::only_if(true, total) == total && TwoClasses::only_if(false, total) == 0);
    const auto largest = TwoClasses::item(0x7fffffffU, 1);
    check(TwoClasses::weight(largest) == 0x7fffffff && TwoClasses::sum(largest) == 0x7fffffff);
}

template <Criterion criterion>
void the_score_of_two_classes_is_minus_the_impurity() {
    for (const auto& weights : {std::array{3U, 9U}, std::array{5U, 5U}, std::array{4U, 0U}, std::array{70000U, 1U}}) {
        const auto item = TwoClasses::item(weights[0], 0) + TwoClasses::item(weights[1], 1);
        check(is_near(TwoClasses::score<criterion>(item), -impurity(criterion, weights)), "two classes");
    }
}

template <Criterion criterion>
void sums_over_many_classes_are_updated_with_every_change() {
    Random random(1, Purpose::split);
    std::vector<std::uint32_t> weights(5, 0);
    ClassSum<criterion> sum;
    for (int step = 0; step < 300; ++step) {
        std::uint32_t& weight = weights[random.below(weights.size())];
        const auto by = static_cast<std::int64_t>(random.below(50)) - std::min<std::int64_t>(weight, 20);
        sum.change(weight, by);
        check(is_near(sum.score(weights), -impurity(criterion, weights)), "many classes");
    }
    // Remove the weight of all classes except one.
    for (std::size_t k = 1; k < weights.size(); ++k) sum.change(weights[k], -std::int64_t{weights[k]});
    sum.change(weights[0], 7);
    check(sum.is_pure() == (criterion != Criterion::error));
    check(is_near(sum.score(weights), 0));
    sum.change(weights[1], 1);
    check(!sum.is_pure());
}

void an_item_of_many_classes_holds_a_class_and_a_weight() {
    const auto item = ManyClasses::item(0xffffffffU, 0xfffffffeU);
    check(ManyClasses::item_weight(item) == 0xffffffffU && ManyClasses::item_class(item) == 0xfffffffeU);
}

void means_add_and_subtract() {
    const Mean::Item a{-6, 2}, b{10, 3};
    const Mean::Item both = a + b;
    check(both.sum == 4 && both.weight == 5);
    check((both - b).sum == a.sum && (both - b).weight == a.weight);
    check(Mean::value(both) == 0.8 && Mean::weight(both) == 5 && Mean::sum(both) == 4);
    check(Mean::only_if(true, both).sum == 4 && Mean::only_if(false, both).weight == 0);
}

void the_score_of_a_mean_orders_splits_as_the_impurity_does() {
    // Targets 1, 2 | 6, 9: a split increases the score by as much as it decreases the squared error.
    const Mean::Item left{3, 2}, right{15, 2};
    const double gain = Mean::score<Criterion::squared_error>(left) + Mean::score<Criterion::squared_error>(right) -
                        Mean::score<Criterion::squared_error>(left + right);
    check(is_near(gain, 41 - (0.5 + 4.5)));
    const double poisson = Mean::score<Criterion::poisson>(left) + Mean::score<Criterion::poisson>(right) -
                           Mean::score<Criterion::poisson>(left + right);
    check(is_near(poisson, 3 * std::log(1.5) + 15 * std::log(7.5) - 18 * std::log(4.5)));
    check(std::isinf(Mean::score<Criterion::poisson>({0, 3})), "a leaf of zeros is impossible");
}

}  // namespace

int main() {
    x_log_x_is_rounded_to_the_last_bit();
    one_addition_sums_two_classes();
    the_score_of_two_classes_is_minus_the_impurity<Criterion::gini>();
    the_score_of_two_classes_is_minus_the_impurity<Criterion::entropy>();
    the_score_of_two_classes_is_minus_the_impurity<Criterion::error>();
    sums_over_many_classes_are_updated_with_every_change<Criterion::gini>();
    sums_over_many_classes_are_updated_with_every_change<Criterion::entropy>();
    sums_over_many_classes_are_updated_with_every_change<Criterion::error>();
    an_item_of_many_classes_holds_a_class_and_a_weight();
    means_add_and_subtract();
    the_score_of_a_mean_orders_splits_as_the_impurity_does();
    return report();
}
