#include <cmath>
#include <set>
#include <vector>

#include "check.h"
#include "table/fingerprint.h"

using namespace committee;

namespace {

template <class Element>
ColumnView view(const std::vector<Element>& column, ElementType type) {
    return {column.data(), sizeof(Element), type};
}

auto of(const std::vector<std::vector<double>>& columns) {
    std::vector<ColumnView> views;
    for (const auto& column : columns) views.push_back(view(column, ElementType::f64));
    return fingerprint(views, columns.empty() ? 0 : columns[0].size());
}

void every_value_and_its_position_matters() {
    const std::set<std::array<std::uint64_t, 2>> found = {
        of({{1, 2, 3}, {4, 5, 6}}),
        of({{1, 2, 3}, {4, 5, 7}}),
        of({{2, 1, 3}, {4, 5, 6}}),
        of({{4, 5, 6}, {1, 2, 3}}),
        of({{1, 2}, {3, 4}}),
        of({{1, 2, 3}}),
        of({{0, 0, 0}}),
        of({{0, 0}}),
    };
    check(found.size() == 8, "no two of these tables have the same fingerprint");
}

void the_type_of_a_number_does_not_matter() {
    const std::vector<double> wide = {1, -2, 0};
    const std::vector<std::int8_t> narrow = {1, -2, 0};
    const std::vector<ColumnView> a = {view(wide, ElementType::f64)}, b = {view(narrow, ElementType::i8)};
    check(fingerprint(a, 3) == fingerprint(b, 3));
}

void all_nans_and_both_zeros_are_equal() { check(of({{std::nan("1"), 0.0}}) == of({{-std::nan("2"), -0.0}})); }

void rows_after_the_first_block_matter() {
    std::vector<double> many(2000, 1.0);
    const auto before = of({many});
    many.back() = 2;
    check(of({many}) != before);
}

}  // namespace

int main() {
    every_value_and_its_position_matters();
    the_type_of_a_number_does_not_matter();
    all_nans_and_both_zeros_are_equal();
    rows_after_the_first_block_matter();
    return report();
}
