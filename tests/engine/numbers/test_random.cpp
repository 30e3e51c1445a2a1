#include <set>

#include "check.h"
#include "numbers/random.h"

using namespace committee;

namespace {

void same_keys_give_the_same_numbers() {
    Random a(7, Purpose::bootstrap), b(7, Purpose::bootstrap);
    for (int i = 0; i < 100; ++i) check(a.next() == b.next());
}

void purposes_and_parts_of_a_key_change_the_numbers() {
    check(Random(7, Purpose::bootstrap).next() != Random(7, Purpose::split).next());
    std::set<std::uint64_t> keys;
    for (std::uint64_t key = 0; key < 50; ++key) {
        for (std::uint64_t part = 0; part < 50; ++part) keys.insert(derive_key(key, part));
    }
    check(keys.size() == 2500, "no two keys collide");
}

void below_draws_all_numbers_with_equal_frequency() {
    Random random(1, Purpose::split);
    int counts[7] = {};
    for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
    for (const int count : counts) check(count > 9500 && count < 10500);
    check(random.below(1) == 0);
}

void uniform_lies_in_the_half_open_unit_interval() {
    Random random(1, Purpose::split);
    double sum = 0;
    for (int i = 0; i < 10000; ++i) {
        const double number = random.uniform();
        check(number >= 0 && number < 1);
        sum += number;
    }
    check(sum > 4900 && sum < 5100);
}

}  // namespace

int main() {
    same_keys_give_the_same_numbers();
    purposes_and_parts_of_a_key_change_the_numbers();
    below_draws_all_numbers_with_equal_frequency();
    uniform_lies_in_the_half_open_unit_interval();
    return report();
}
