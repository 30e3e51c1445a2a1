#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "table/encoding.h"

using namespace committee;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void every_encoding_follows_its_formula() {
    const std::vector<double> numbers = {1, nan, 9, std::numeric_limits<double>::infinity(), 1e300};
    const std::vector<std::int32_t> codes = {0, 2, 1, 2, 2};
    const std::vector<ColumnView> columns = {{numbers.data(), 8, ElementType::f64},
                                             {codes.data(), 4, ElementType::i32}};
    const TableEncoding encoding{{5, 0},
                                 {{Encoding::scaled, 0, 1, 2},
                                  {Encoding::compressed, 0, 1, 2},
                                  {Encoding::position, 0, 1, 5},
                                  {Encoding::indicator, 1, 2, 0},
                                  {Encoding::missing, 0, 0, 0}}};
    const auto found = encode_table<double>(encoding, columns, 5, 1);
    const double filled[] = {1, 5, 9, 5, 1e140};
    for (std::size_t i = 0; i < 5; ++i) {
        const double scaled = std::min((filled[i] - 1) / 2, 1e100);
        check(found[5 * i] == scaled);
        check(std::abs(found[5 * i + 1] - scaled / std::sqrt(1 + scaled / 3 * (scaled / 3))) < 1e-12);
        check(found[5 * i + 2] == std::min((filled[i] - 1) / 5, 1.0) - 0.5);
        check(found[5 * i + 3] == (codes[i] == 2 ? 1 : 0));
        check(found[5 * i + 4] == (i == 1 || i == 3 ? 1 : 0));
    }
}

void neither_threads_nor_other_rows_change_a_row() {
    std::vector<double> numbers(5000);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i));
    const std::vector<ColumnView> columns = {{numbers.data(), 8, ElementType::f64}};
    const TableEncoding encoding{{0}, {{Encoding::compressed, 0, 0.1, 0.3}}};
    const auto all = encode_table<float>(encoding, columns, 5000, 3);
    for (const std::size_t i : {0U, 77U, 4999U}) {
        const std::vector<ColumnView> row = {{numbers.data() + i, 8, ElementType::f64}};
        check(encode_table<float>(encoding, row, 1, 1)[0] == all[i]);
    }
}

}  // namespace

int main() {
    every_encoding_follows_its_formula();
    neither_threads_nor_other_rows_change_a_row();
    return report();
}
