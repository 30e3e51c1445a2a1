#include <cmath>
#include <limits>

#include "check.h"
#include "growing/value_lines.h"

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

void a_share_of_the_range_gives_the_code_at_that_share() {
    const ValueLines few(evenly_spaced(100));
    check(few.code_between(1, 100, 0.0) == 1);
    check(few.code_between(1, 100, 0.5) == 50);
    check(few.code_between(20, 40, 0.5) == 30);
    const ValueLines many(evenly_spaced(60000));
    const std::uint32_t middle = many.code_between(1, 60000, 0.5);
    check(middle > 29900 && middle < 30100, "values are interpolated linearly");
}

void a_code_always_separates_the_lowest_from_the_highest() {
    const ValueLines lines(evenly_spaced(5000));
    for (int i = 0; i < 1000; ++i) {
        const std::uint32_t code = lines.code_between(4990, 5000, i / 1000.0);
        check(code >= 4990 && code < 5000);
    }
    check(lines.code_between(7, 8, 0.999) == 7);
}

void infinite_values_are_interpolated_by_code() {
    Column column = evenly_spaced(10);
    column.highest = std::numeric_limits<double>::infinity();
    const ValueLines lines(column);
    check(lines.code_between(1, 10, 0.5) == 5);
}

void a_search_in_steps_gives_the_same_code() {
    for (const std::uint32_t n_bins : {2U, 255U, 511U, 512U, 60000U, 65535U}) {
        const ValueLines lines(evenly_spaced(n_bins));
        for (const std::uint32_t lowest : {1U, n_bins / 3 + 1, n_bins - 1}) {
            for (const double share : {0.0, 0.3, 0.999}) {
                const double value = lines.value_between(lowest, n_bins, share);
                std::uint32_t line = 0;
                for (std::uint32_t step = ValueLines::most_lines / 2; step > 0; step /= 2)
                    line = lines.step_on(line, step, value);
                const std::uint32_t code = lines.code_on(line, lowest, n_bins, share, value);
                check(code == lines.code_between(lowest, n_bins, share) && code >= lowest && code < n_bins);
                const double expected = lowest + share * (n_bins - lowest);
                check(std::abs(code - expected) <= 1 + n_bins / 256.0,
                      "evenly spaced values map to evenly spaced codes");
            }
        }
    }
}

}  // namespace

int main() {
    a_share_of_the_range_gives_the_code_at_that_share();
    a_code_always_separates_the_lowest_from_the_highest();
    infinite_values_are_interpolated_by_code();
    a_search_in_steps_gives_the_same_code();
    return report();
}
