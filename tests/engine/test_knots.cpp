#include "check.h"
#include "knots.h"

using namespace committee;

namespace {

Column evenly_spaced(std::uint32_t n_bins) {
    Column column;
    column.n_bins = n_bins;
    for (std::uint32_t i = 1; i < n_bins; ++i) column.cuts.push_back(i + 0.5);
    column.lowest = 1;
    column.highest = n_bins;
    return column;
}

void a_share_of_the_way_gives_the_code_at_that_share() {
    const Knots few(evenly_spaced(100));
    check(few.code_between(1, 100, 0.0) == 1);
    check(few.code_between(1, 100, 0.5) == 50);
    check(few.code_between(20, 40, 0.5) == 30);
    const Knots many(evenly_spaced(60000));
    const std::uint32_t middle = many.code_between(1, 60000, 0.5);
    check(middle > 29900 && middle < 30100, "straight lines between the knots");
}

void a_code_always_separates_the_lowest_from_the_highest() {
    const Knots knots(evenly_spaced(5000));
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t code = knots.code_between(4990, 5000, i / 1000.0);
        check(code >= 4990 && code < 5000);
    }
    check(knots.code_between(7, 8, 0.999) == 7);
}

void infinite_values_are_drawn_by_code() {
    Column column = evenly_spaced(10);
    column.highest = std::numeric_limits<double>::infinity();
    const Knots knots(column);
    check(knots.code_between(1, 10, 0.5) == 5);
}

}  // namespace

int main() {
    a_share_of_the_way_gives_the_code_at_that_share();
    a_code_always_separates_the_lowest_from_the_highest();
    infinite_values_are_drawn_by_code();
    return report();
}
