#include "table/binning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "table/row_order.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

template <class Element, class Out, class Convert>
void read_as(const ColumnView& column, std::size_t begin, std::span<Out> out, Convert convert) {
    const char* at = static_cast<const char*>(column.data) + static_cast<std::ptrdiff_t>(begin) * column.stride;
    for (Out& value : out) {
        Element element;
        std::memcpy(&element, at, sizeof element);
        value = convert(element);
        at += column.stride;
    }
}

template <class Out, class Convert>
void read(const ColumnView& column, std::size_t begin, std::span<Out> out, Convert convert) {
    switch (column.type) {
        case ElementType::f64:
            return read_as<double>(column, begin, out, convert);
        case ElementType::f32:
            return read_as<float>(column, begin, out, convert);
        case ElementType::i64:
            return read_as<std::int64_t>(column, begin, out, convert);
        case ElementType::i32:
            return read_as<std::int32_t>(column, begin, out, convert);
        case ElementType::i16:
            return read_as<std::int16_t>(column, begin, out, convert);
        case ElementType::i8:
            return read_as<std::int8_t>(column, begin, out, convert);
        case ElementType::u64:
            return read_as<std::uint64_t>(column, begin, out, convert);
        case ElementType::u32:
            return read_as<std::uint32_t>(column, begin, out, convert);
        case ElementType::u16:
            return read_as<std::uint16_t>(column, begin, out, convert);
        case ElementType::u8:
            return read_as<std::uint8_t>(column, begin, out, convert);
    }
}

// A cut with low <= cut < high between neighbouring values low < high. It is their middle unless rounding moves it
// outside.
double cut_between(double low, double high) {
    const double middle = low / 2 + high / 2;
    return low <= middle && middle < high ? middle : low;
}

struct Distinct {
    double value;
    std::uint64_t weight;
};

// The indices into `distinct` of the values that start a new bin, except the first.
std::vector<std::size_t> bin_starts(std::span<const Distinct> distinct, std::uint32_t max_bins) {
    std::vector<std::size_t> starts;
    if (distinct.size() <= max_bins) {
        for (std::size_t i = 1; i < distinct.size(); ++i) starts.push_back(i);
        return starts;
    }
    std::uint64_t total = 0;
    for (const Distinct& d : distinct) total += d.weight;
    std::uint64_t before = 0;
    std::uint64_t bin = 0;
    for (std::size_t i = 0; i < distinct.size(); ++i) {
        // Among max_bins bins of equal weight, take the one that contains the middle of this value's weight.
        const auto middle = static_cast<unsigned __int128>(2 * before + distinct[i].weight);
        const auto wanted = static_cast<std::uint64_t>(middle * max_bins / (2 * static_cast<unsigned __int128>(total)));
        if (i > 0 && wanted != bin) starts.push_back(i);
        bin = wanted;
        before += distinct[i].weight;
    }
    return starts;
}

// Buffers that a thread reuses for every column.
struct Scratch {
    std::vector<double> values;
    std::vector<std::uint32_t> rows;  // without missing values
    RowSorter sorter;
    std::vector<Distinct> distinct;
    std::vector<std::uint16_t> codes;
};

// Finds the cuts of a column from its sorted rows and writes the codes.
void bin_sorted(std::span<const std::uint32_t> weights, std::uint32_t max_bins, Scratch& scratch, Column& column) {
    const auto& values = scratch.values;
    auto& distinct = scratch.distinct;
    distinct.clear();
    for (std::size_t i = 0; i < scratch.rows.size();) {
        std::uint64_t weight = 0;
        const double value = values[scratch.rows[i]];
        for (; i < scratch.rows.size() && values[scratch.rows[i]] == value; ++i) {
            weight += weights.empty() ? 1 : weights[scratch.rows[i]];
        }
        if (weight > 0) distinct.push_back({value, weight});
    }
    if (distinct.empty()) return;
    const std::vector<std::size_t> starts = bin_starts(distinct, max_bins);
    column.cuts.reserve(starts.size());
    for (const std::size_t start : starts) {
        column.cuts.push_back(cut_between(distinct[start - 1].value, distinct[start].value));
    }
    column.n_bins = static_cast<std::uint32_t>(column.cuts.size()) + 1;
    column.lowest = distinct.front().value;
    column.highest = distinct.back().value;
    std::size_t code = 0;
    for (const std::uint32_t row : scratch.rows) {
        while (code < column.cuts.size() && column.cuts[code] < values[row]) ++code;
        scratch.codes[row] = static_cast<std::uint16_t>(code + 1);
    }
}

// Missing values (NaN) keep code 0.
void bin_numbers(const ColumnView& view, std::size_t n_rows, std::span<const std::uint32_t> weights,
                 std::uint32_t max_bins, Polls& polls, Scratch& scratch, Column& column) {
    scratch.values.resize(n_rows);
    scratch.codes.assign(n_rows, 0);
    read_values(view, 0, scratch.values);
    scratch.rows.clear();
    for (std::uint32_t i = 0; i < n_rows; ++i) {
        if (!std::isnan(scratch.values[i])) scratch.rows.push_back(i);
    }
    scratch.sorter.sort(scratch.values, scratch.rows, polls);
    polls.after(n_rows);
    bin_sorted(weights, max_bins, scratch, column);
}

template <class Code>
void transpose(Codes<Code>& codes, int n_threads, const Stop& stop) {
    constexpr std::size_t block = 64;
    codes.by_row.resize(codes.n_rows * codes.n_columns);
    const std::size_t n_tasks = (codes.n_rows + block - 1) / block;
    for_each_task(n_tasks, n_threads, stop, [&](std::size_t task, int) {
        const std::size_t end = std::min(codes.n_rows, (task + 1) * block);
        for (std::size_t j = 0; j < codes.n_columns; ++j) {
            const Code* from = codes.column(j);
            Code* to = codes.by_row.data() + j;
            for (std::size_t i = task * block; i < end; ++i) to[i * codes.n_columns] = from[i];
        }
    });
}

}  // namespace

void read_values(const ColumnView& column, std::size_t begin, std::span<double> out) {
    read(column, begin, out, [](auto element) { return static_cast<double>(element) + 0.0; });
}

void read_categories(const ColumnView& column, std::size_t begin, std::uint32_t n_bins, std::span<std::uint16_t> out) {
    read_as<std::int32_t>(column, begin, out, [n_bins](std::int32_t code) {
        return static_cast<std::uint16_t>(code < 0 || static_cast<std::uint32_t>(code) > n_bins ? 0 : code);
    });
}

void find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out) {
    // Several binary searches advance together with the same number of steps. Their cache misses overlap, and there is
    // no branch to mispredict. below[i] counts the cuts that are known to be below the value.
    constexpr std::size_t side_by_side = 16;
    const double* cuts = column.cuts.data();
    const std::size_t n_cuts = column.cuts.size();
    const std::uint16_t first = column.n_bins == 0 ? 0 : 1;
    for (std::size_t begin = 0; begin < values.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, values.size() - begin);
        const double* value = values.data() + begin;
        std::array<std::uint32_t, side_by_side> below{};
        for (std::size_t size = n_cuts; size > 0;) {
            const std::size_t half = (size + 1) / 2;
            for (std::size_t i = 0; i < n; ++i) {
                below[i] += cuts[below[i] + half - 1] < value[i] ? static_cast<std::uint32_t>(half) : 0U;
            }
            size -= half;
        }
        for (std::size_t i = 0; i < n; ++i) {
            out[begin + i] = std::isnan(value[i]) ? 0 : static_cast<std::uint16_t>(first + below[i]);
        }
    }
}

Table bin_table(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
                std::span<const std::uint32_t> weights, std::uint32_t max_bins, int n_threads, const Stop& stop,
                bool keep_cuts) {
    const std::size_t n_columns = columns.size();
    auto binning = std::make_shared<Binning>();
    binning->columns.resize(n_columns);

    // Codes are first written as 16 bits by column. They are converted to bytes if no column needs more.
    Codes<std::uint16_t> wide{n_rows, n_columns, {}, {}};
    wide.by_column.resize(n_rows * n_columns);
    std::vector<Scratch> scratch(static_cast<std::size_t>(std::max(n_threads, 1)));
    for_each_task(n_columns, n_threads, stop, [&](std::size_t j, int thread) {
        Polls polls(stop);
        Column& column = binning->columns[j];
        Scratch& own = scratch[static_cast<std::size_t>(thread)];
        const std::span<std::uint16_t> codes(wide.by_column.data() + j * n_rows, n_rows);
        if (n_categories[j] > 0) {
            column.is_category = true;
            column.n_bins = n_categories[j];
            read_categories(columns[j], 0, column.n_bins, codes);
        } else {
            bin_numbers(columns[j], n_rows, weights, max_bins, polls, own, column);
            std::ranges::copy(own.codes, codes.begin());
            if (!keep_cuts) column.cuts = std::vector<double>();
        }
    });
    scratch.clear();

    if (binning->is_wide()) return table_of(std::move(binning), std::move(wide), n_threads, stop);
    Codes<std::uint8_t> narrow{n_rows, n_columns, {wide.by_column.begin(), wide.by_column.end()}, {}};
    wide = {};
    return table_of(std::move(binning), std::move(narrow), n_threads, stop);
}

std::vector<double> find_cuts(const Table& table, std::size_t j, const ColumnView& values,
                              std::span<const std::uint32_t> weights, std::span<const std::uint16_t> bins) {
    constexpr std::size_t block = 4096;
    constexpr double infinity = std::numeric_limits<double>::infinity();
    const std::size_t n_rows = table.n_rows(), n_bins = table.binning->columns[j].n_bins;
    std::vector<double> lowest(n_bins + 1, infinity), highest(n_bins + 1, -infinity), read(block);
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        const std::size_t n = std::min(block, n_rows - begin);
        read_values(values, begin, {read.data(), n});
        std::visit(
            [&](const auto& codes) {
                const auto* code = codes.column(j) + begin;
                for (std::size_t i = 0; i < n; ++i) {
                    if (code[i] == 0 || (!weights.empty() && weights[begin + i] == 0)) continue;
                    lowest[code[i]] = std::min(lowest[code[i]], read[i]);
                    highest[code[i]] = std::max(highest[code[i]], read[i]);
                }
            },
            table.codes);
    }
    std::vector<double> cuts;
    cuts.reserve(bins.size());
    for (const std::uint16_t bin : bins) cuts.push_back(cut_between(highest[bin], lowest[bin + 1]));
    return cuts;
}

template <class Code>
Table table_of(std::shared_ptr<const Binning> binning, Codes<Code> codes, int n_threads, const Stop& stop) {
    std::vector<char> missing(codes.n_columns, 0);
    for_each_task(codes.n_columns, n_threads, stop, [&](std::size_t j, int) {
        const std::span<const Code> column(codes.column(j), codes.n_rows);
        missing[j] = std::ranges::find(column, Code{0}) != column.end();
    });
    transpose(codes, n_threads, stop);
    Table table;
    table.binning = std::move(binning);
    table.has_missing.assign(missing.begin(), missing.end());
    table.codes = std::move(codes);
    return table;
}

template Table table_of(std::shared_ptr<const Binning>, Codes<std::uint8_t>, int, const Stop&);
template Table table_of(std::shared_ptr<const Binning>, Codes<std::uint16_t>, int, const Stop&);

}  // namespace committee
