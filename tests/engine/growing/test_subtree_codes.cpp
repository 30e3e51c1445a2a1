#include <vector>

#include "check.h"
#include "growing/subtree_codes.h"

using namespace committee;

namespace {

// Code 10 * row + column.
Codes<std::uint16_t> numbered(std::size_t n_rows, std::size_t n_columns) {
    Codes<std::uint16_t> codes{n_rows, n_columns, {}, {}};
    for (std::size_t i = 0; i < n_rows; ++i) {
        for (std::size_t j = 0; j < n_columns; ++j) codes.by_row.push_back(static_cast<std::uint16_t>(10 * i + j));
    }
    return codes;
}

void a_row_is_identified_by_the_position_of_its_codes() {
    const auto codes = numbered(40, 5);
    LocalCodes<std::uint16_t> local;
    for (const std::vector<std::uint32_t>& of : {std::vector<std::uint32_t>{3, 4, 17, 38, 39}, {0}, {21, 20}}) {
        std::vector<std::uint32_t> rows = of;
        local.copy(codes, rows);
        for (std::size_t i = 0; i < of.size(); ++i) {
            check(local.place_of(rows[i]) == i);
            for (std::size_t j = 0; j < 5; ++j) check(local.columns().column(j)[rows[i]] == 10 * of[i] + j);
        }
    }
}

}  // namespace

int main() {
    a_row_is_identified_by_the_position_of_its_codes();
    return report();
}
