#include "table/binned_rows.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "table/binning.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// Memory for the codes of n_rows rows.
template <class Code>
Codes<Code> empty_codes(std::size_t n_rows, std::size_t n_columns) {
    Codes<Code> codes{n_rows, n_columns, {}, {}};
    codes.by_column.resize(n_rows * n_columns);
    codes.by_row.resize(n_rows * n_columns);
    return codes;
}

template <class Code>
Table finished(const Table& like, Codes<Code> codes) {
    Table table;
    table.binning = like.binning;
    for (std::size_t j = 0; j < codes.n_columns; ++j) {
        const Code* column = codes.column(j);
        table.has_missing.push_back(std::find(column, column + codes.n_rows, Code{0}) != column + codes.n_rows);
    }
    table.codes = std::move(codes);
    return table;
}

}  // namespace

Table take_rows(const Table& table, std::span<const std::uint32_t> rows, const Stop& stop) {
    return std::visit(
        [&]<class Code>(const Codes<Code>& from) {
            Codes<Code> to = empty_codes<Code>(rows.size(), from.n_columns);
            Polls polls(stop);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                polls.after(from.n_columns);
                std::copy_n(from.row(rows[i]), from.n_columns, to.by_row.data() + i * from.n_columns);
            }
            for (std::size_t j = 0; j < from.n_columns; ++j) {
                polls.after(rows.size());
                const Code* column = from.column(j);
                Code* out = to.by_column.data() + j * rows.size();
                for (std::size_t i = 0; i < rows.size(); ++i) out[i] = column[rows[i]];
            }
            return finished(table, std::move(to));
        },
        table.codes);
}

Table encode_like(const Table& like, std::span<const ColumnView> columns, std::size_t n_rows, int n_threads,
                  const Stop& stop) {
    return std::visit(
        [&]<class Code>(const Codes<Code>&) {
            Codes<Code> to = empty_codes<Code>(n_rows, columns.size());
            for_each_task(columns.size(), n_threads, stop, [&](std::size_t j, int) {
                const Column& column = like.binning->columns[j];
                Polls polls(stop);
                std::array<double, 256> values;
                std::array<std::uint16_t, 256> found;
                for (std::size_t begin = 0; begin < n_rows; begin += found.size()) {
                    const std::size_t n = std::min(found.size(), n_rows - begin);
                    polls.after(n);
                    if (column.is_category) {
                        read_categories(columns[j], begin, column.n_bins, {found.data(), n});
                    } else {
                        read_values(columns[j], begin, {values.data(), n});
                        find_codes(column, {values.data(), n}, {found.data(), n});
                    }
                    for (std::size_t i = 0; i < n; ++i) {
                        const auto code = static_cast<Code>(found[i]);
                        to.by_column[j * n_rows + begin + i] = code;
                        to.by_row[(begin + i) * columns.size() + j] = code;
                    }
                }
            });
            return finished(like, std::move(to));
        },
        like.codes);
}

}  // namespace committee
