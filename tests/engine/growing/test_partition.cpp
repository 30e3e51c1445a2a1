#include <algorithm>

#include "check.h"
#include "growing/partition.h"

using namespace committee;

namespace {

struct Result {
    std::vector<std::uint32_t> rows;
    Divided divided;
};

// Divides rows 0 .. n - 1.
Result divide(const std::vector<std::uint16_t>& codes, const Candidate& split) {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint64_t> items;
    for (std::uint32_t i = 0; i < codes.size(); ++i) {
        rows.push_back(i);
        items.push_back(10 * i);
    }
    Partition<std::uint64_t> partition;
    const bool may_miss = std::ranges::find(codes, 0) != codes.end();
    const Divided divided = partition.divide(std::span(rows), std::span(items), codes.data(), may_miss, split);
    for (std::size_t i = 0; i < rows.size(); ++i) check(items[i] == 10 * rows[i], "items move with their rows");
    return {rows, divided};
}

void rows_keep_their_order_on_both_sides() {
    Candidate split;
    split.threshold = 2;
    const auto [rows, divided] = divide({3, 1, 0, 2, 5, 1}, split);
    check(divided.n_left == 4 && divided.has_missing);
    check(rows == std::vector<std::uint32_t>{1, 2, 3, 5, 0, 4});
}

void missing_goes_to_its_side() {
    Candidate split;
    split.threshold = 2;
    split.missing_right = true;
    const auto [rows, divided] = divide({3, 1, 0, 2}, split);
    check(divided.n_left == 2);
    check(rows == std::vector<std::uint32_t>{1, 3, 0, 2});
}

void many_rows_are_divided_correctly() {
    std::vector<std::uint16_t> codes;
    for (std::uint32_t i = 0; i < 3000; ++i) codes.push_back(static_cast<std::uint16_t>(1 + i % 7));
    Candidate split;
    split.threshold = 3;
    const auto [rows, divided] = divide(codes, split);
    for (std::size_t i = 0; i < rows.size(); ++i) check((codes[rows[i]] <= 3) == (i < divided.n_left));
    check(!divided.has_missing);
}

void categories_are_divided_by_their_set() {
    Candidate split;
    split.is_category = true;
    split.missing_right = true;
    split.left_codes = {2, 65535};
    check(divide({0, 2, 65535, 3}, split).rows == std::vector<std::uint32_t>{1, 2, 0, 3});
    split.missing_right = false;
    check(divide({0, 2, 65535, 3}, split).rows == std::vector<std::uint32_t>{0, 1, 2, 3});
}

void a_threshold_moves_to_the_middle_of_its_gap() {
    Candidate split;
    split.threshold = 3;
    const std::vector<std::uint16_t> codes{1, 3, 9, 12};
    split.threshold = centred_threshold(split, divide(codes, split).divided);
    check(split.threshold == 6);
    check(centred_threshold(split, divide(codes, split).divided) == 6, "the threshold does not move again");
}

void a_threshold_next_to_missing_rows_does_not_move() {
    Candidate split;
    split.threshold = 0;
    check(centred_threshold(split, divide({0, 4, 8}, split).divided) == 0);
    split.threshold = 8;
    split.missing_right = true;
    check(centred_threshold(split, divide({0, 4, 8}, split).divided) == 8);
}

}  // namespace

int main() {
    rows_keep_their_order_on_both_sides();
    missing_goes_to_its_side();
    many_rows_are_divided_correctly();
    categories_are_divided_by_their_set();
    a_threshold_moves_to_the_middle_of_its_gap();
    a_threshold_next_to_missing_rows_does_not_move();
    return report();
}
