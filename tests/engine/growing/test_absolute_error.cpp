#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "growing/absolute_error.h"
#include "numbers/random.h"

using namespace committee;

namespace {

struct Row {
    double y;
    std::uint32_t weight;
};

double error_from(const std::vector<Row>& rows, double middle) {
    double sum = 0;
    for (const Row& row : rows) sum += row.weight * std::abs(row.y - middle);
    return sum;
}

// One of the targets always has the lowest error.
double lowest_error(const std::vector<Row>& rows) {
    double lowest = std::numeric_limits<double>::infinity();
    for (const Row& row : rows) lowest = std::min(lowest, error_from(rows, row.y));
    return lowest;
}

void the_merit_of_each_split_is_the_decrease_of_the_absolute_error() {
    Random random(1, Purpose::split);
    for (std::size_t n = 2; n < 40; ++n) {
        std::vector<Row> rows;
        Target target;
        target.lowest = -50;
        target.highest = 50;
        for (std::size_t i = 0; i < n; ++i) {
            const auto y = static_cast<std::int64_t>(random.below(20)) - 10;
            rows.push_back({static_cast<double>(y), 1 + static_cast<std::uint32_t>(random.below(5))});
            target.fixed.push_back(y);
            target.numbers.push_back(static_cast<double>(y));
        }
        Sides<ManyClasses, Criterion::absolute_error> sides(target);
        std::vector<ManyClasses::Item> items;
        for (std::size_t i = 0; i < n; ++i) {
            items.push_back(ManyClasses::item(rows[i].weight, sides.levels().rank_of(target.fixed[i])));
        }
        // A node with some of the rows comes first, so that the buffers have been used.
        sides.reset({items.data(), n / 2 + 1});
        sides.reset(items);
        check(-sides.score() == lowest_error(rows));
        check(error_from(rows, sides.median()) == lowest_error(rows));
        auto cursor = sides.start();
        for (std::size_t i = 0; i + 1 < n; ++i) {
            cursor.move_left(items[i]);
            const std::vector<Row> left(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(i) + 1);
            const std::vector<Row> right(rows.begin() + static_cast<std::ptrdiff_t>(i) + 1, rows.end());
            check(cursor.merit() == lowest_error(rows) - lowest_error(left) - lowest_error(right));
        }
        cursor.move_left(items[n - 1]);
        check(std::isnan(cursor.merit()));
    }
}

void the_median_of_two_middle_rows_is_their_mean() {
    Target target;
    target.fixed = {4, 1, 8, 2};
    target.numbers = {4, 1, 8, 2};
    Sides<ManyClasses, Criterion::absolute_error> sides(target);
    const auto median_with = [&](std::vector<std::uint32_t> weights) {
        std::vector<ManyClasses::Item> items;
        for (std::size_t i = 0; i < weights.size(); ++i) {
            items.push_back(ManyClasses::item(weights[i], sides.levels().rank_of(target.fixed[i])));
        }
        sides.reset(items);
        return sides.median();
    };
    check(median_with({1, 1, 1, 1}) == 3);
    check(median_with({1, 1, 1}) == 4);
    check(median_with({1, 1, 3, 1}) == 6);
    check(median_with({1, 1, 9, 1}) == 8);
}

}  // namespace

int main() {
    the_merit_of_each_split_is_the_decrease_of_the_absolute_error();
    the_median_of_two_middle_rows_is_their_mean();
    return report();
}
