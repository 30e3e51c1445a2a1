#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

#include "check.h"
#include "numbers/random.h"
#include "table/row_order.h"

using namespace committee;

namespace {

void check_sorted(const std::vector<double>& numbers, const char* what) {
    const Stop never;
    Polls polls(never);
    std::vector<std::uint32_t> rows(numbers.size());
    std::iota(rows.begin(), rows.end(), 0U);
    RowSorter().sort(numbers, rows, polls);
    std::vector<bool> is_there(numbers.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        is_there[rows[i]] = true;
        check(i == 0 || numbers[rows[i - 1]] <= numbers[rows[i]], what);
    }
    for (const bool each : is_there) check(each, "all rows are in the result");
}

std::vector<double> drawn(std::size_t n, double offset, double range) {
    Random random(7, Purpose::sample);
    std::vector<double> numbers;
    for (std::size_t i = 0; i < n; ++i) numbers.push_back(offset + range * (random.uniform() - 0.5));
    return numbers;
}

void test_numbers_of_all_kinds_are_sorted() {
    check_sorted({}, "none");
    check_sorted({3}, "one");
    check_sorted({2, -1, 0.5}, "few");
    check_sorted(drawn(1000, 0, 2), "both signs");
    check_sorted(drawn(40000, 0, 2), "many");
    check_sorted(std::vector<double>(1000, 4), "equal");
    std::vector<double> whole = drawn(1000, 0, 10);
    for (double& number : whole) number = static_cast<double>(static_cast<int>(number));
    check_sorted(whole, "few values");
}

void test_numbers_far_from_zero_are_sorted() {
    check_sorted(drawn(1000, 1e12, 1), "equal leading bits");
    std::vector<double> numbers = drawn(1000, 1e12, 1e-3);
    numbers[500] = -1;
    check_sorted(numbers, "all numbers except one differ only in their last bits");
}

void test_infinities_and_zeros_are_sorted() {
    std::vector<double> numbers = drawn(1000, 0, 1e-300);
    numbers[1] = std::numeric_limits<double>::infinity();
    numbers[2] = -numbers[1];
    for (std::size_t i = 10; i < 20; ++i) numbers[i] = i % 2 == 0 ? 0.0 : -0.0;
    check_sorted(numbers, "infinities and zeros");
}

}  // namespace

int main() {
    test_numbers_of_all_kinds_are_sorted();
    test_numbers_far_from_zero_are_sorted();
    test_infinities_and_zeros_are_sorted();
    return report();
}
