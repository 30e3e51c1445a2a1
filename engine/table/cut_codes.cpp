#include "table/cut_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "table/binning.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// rows of a column that are encoded at a time
constexpr std::size_t some_rows = 256;

// One step of a binary search, of length 2^step. Returns the number of cuts that are known to be below the value. It
// may exceed the number of cuts, so the caller limits it at the end. There is no branch to mispredict.
std::uint32_t step_on(std::span<const double> cuts, double value, std::uint32_t below, std::uint32_t step) {
    const std::uint32_t next = below + (1U << step);
    const double cut = cuts[std::min(next, static_cast<std::uint32_t>(cuts.size())) - 1];
    return below + (static_cast<std::uint32_t>(cut < value) << step);
}

}  // namespace

CutBuckets::CutBuckets(const Column& column) {
    constexpr std::size_t few_cuts = 256;
    const auto& cuts = column.cuts;
    if (cuts.size() < few_cuts) return;
    const std::size_t n_buckets = std::bit_floor(cuts.size());
    lowest_ = cuts.front();
    buckets_per_unit_ = static_cast<double>(n_buckets) / (cuts.back() - lowest_);
    if (!std::isfinite(lowest_) || !std::isnormal(buckets_per_unit_)) return;
    starts_.assign(n_buckets, 0);
    for (const double cut : cuts) {
        const std::size_t next = bucket_of(cut) + 1;
        if (next < n_buckets) ++starts_[next];
    }
    std::uint32_t fullest = 0, before = 0;
    for (std::uint16_t& start : starts_) {
        fullest = std::max<std::uint32_t>(fullest, start);
        before += start;
        start = static_cast<std::uint16_t>(before);
    }
    fullest = std::max(fullest, static_cast<std::uint32_t>(cuts.size()) - before);
    n_steps_ = static_cast<std::uint32_t>(std::bit_width(fullest));
}

void CutBuckets::find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out) const {
    constexpr std::size_t side_by_side = 64;
    const std::span<const double> cuts = column.cuts;
    const auto n_cuts = static_cast<std::uint32_t>(cuts.size());
    std::array<std::uint32_t, side_by_side> below;
    for (std::size_t begin = 0; begin < values.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, values.size() - begin);
        const double* value = values.data() + begin;
        for (std::size_t i = 0; i < n; ++i) {
            below[i] = starts_[bucket_of(value[i])];
            __builtin_prefetch(cuts.data() + below[i]);
        }
        for (std::uint32_t step = n_steps_; step-- > 0;) {
            for (std::size_t i = 0; i < n; ++i) below[i] = step_on(cuts, value[i], below[i], step);
        }
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t code = 1 + std::min(below[i], n_cuts);
            out[begin + i] = std::isnan(value[i]) ? 0 : static_cast<std::uint16_t>(code);
        }
    }
}

Encoder::Encoder(const Binning& binning, std::size_t n_rows, int n_threads) : binning_(binning) {
    std::size_t most_cuts = 0;
    for (const Column& column : binning.columns) most_cuts = std::max(most_cuts, column.cuts.size());
    if (n_rows < most_cuts / 2) return;
    buckets_.resize(binning.columns.size());
    for_each_task(buckets_.size(), n_threads, {},
                  [&](std::size_t j, int) { buckets_[j] = CutBuckets(binning.columns[j]); });
}

void Encoder::find_codes_of(std::size_t j, const ColumnView& view, std::size_t begin,
                            std::span<std::uint16_t> out) const {
    const Column& column = binning_.columns[j];
    if (column.is_category) return read_categories(view, begin, column.n_bins, out);
    std::array<double, some_rows> memory;
    const std::span values(memory.data(), out.size());
    read_values(view, begin, values);
    if (buckets_.empty() || buckets_[j].empty()) {
        find_codes(column, values, out);
    } else {
        buckets_[j].find_codes(column, values, out);
    }
}

template <class Code>
bool Encoder::encode(std::span<const ColumnView> columns, std::size_t begin, std::size_t n, Code* by_row,
                     std::size_t stride, Code* by_column) const {
    // The columns of a row-major matrix share cache lines, so several of them are read while these lines are in the
    // cache.
    constexpr std::size_t columns_of_a_line = 8;
    std::array<std::uint16_t, some_rows> found;
    bool has_missing = false;
    for (std::size_t first = 0; first < columns.size(); first += columns_of_a_line) {
        const std::size_t last = std::min(first + columns_of_a_line, columns.size());
        for (std::size_t from = 0; from < n; from += some_rows) {
            const std::size_t count = std::min(some_rows, n - from);
            for (std::size_t j = first; j < last; ++j) {
                if (!binning_.columns[j].is_used) continue;
                find_codes_of(j, columns[j], begin + from, {found.data(), count});
                Code* to = by_row + from * stride + j;
                Code* column_codes = by_column + j * n + from;
                for (std::size_t i = 0; i < count; ++i) {
                    column_codes[i] = static_cast<Code>(found[i]);
                    to[i * stride] = column_codes[i];
                    has_missing |= found[i] == 0;
                }
            }
        }
    }
    return has_missing;
}

template <class Code>
bool Encoder::encode_row(std::span<const ColumnView> columns, std::size_t row, Code* codes) const {
    constexpr std::size_t side_by_side = 32;
    std::array<double, side_by_side> values;
    std::array<std::uint32_t, side_by_side> below, n_steps;
    bool has_missing = false;
    for (std::size_t begin = 0; begin < columns.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, columns.size() - begin);
        std::uint32_t most_steps = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning_.columns[begin + j];
            below[j] = n_steps[j] = 0;
            if (column.is_category || !column.is_used) continue;
            read_values(columns[begin + j], row, {&values[j], 1});
            if (buckets_.empty() || buckets_[begin + j].empty()) {
                n_steps[j] = static_cast<std::uint32_t>(std::bit_width(column.cuts.size()));
            } else {
                n_steps[j] = buckets_[begin + j].n_steps();
                buckets_[begin + j].fetch_start_of(values[j]);
            }
            most_steps = std::max(most_steps, n_steps[j]);
        }
        for (std::size_t j = 0; j < n && !buckets_.empty(); ++j) {
            if (n_steps[j] == 0 || buckets_[begin + j].empty()) continue;
            below[j] = buckets_[begin + j].start_of(values[j]);
            __builtin_prefetch(binning_.columns[begin + j].cuts.data() + below[j]);
        }
        while (most_steps-- > 0) {
            for (std::size_t j = 0; j < n; ++j) {
                if (most_steps < n_steps[j])
                    below[j] = step_on(binning_.columns[begin + j].cuts, values[j], below[j], most_steps);
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning_.columns[begin + j];
            std::uint16_t code = 0;
            if (!column.is_used) {
                code = 1;
            } else if (column.is_category) {
                read_categories(columns[begin + j], row, column.n_bins, {&code, 1});
            } else if (!std::isnan(values[j]) && column.n_bins > 0) {
                code = static_cast<std::uint16_t>(1 + std::min<std::size_t>(below[j], column.cuts.size()));
            }
            has_missing |= code == 0;
            codes[begin + j] = static_cast<Code>(code);
        }
    }
    return has_missing;
}

template bool Encoder::encode(std::span<const ColumnView>, std::size_t, std::size_t, std::uint8_t*, std::size_t,
                              std::uint8_t*) const;
template bool Encoder::encode(std::span<const ColumnView>, std::size_t, std::size_t, std::uint16_t*, std::size_t,
                              std::uint16_t*) const;
template bool Encoder::encode_row(std::span<const ColumnView>, std::size_t, std::uint8_t*) const;
template bool Encoder::encode_row(std::span<const ColumnView>, std::size_t, std::uint16_t*) const;

}  // namespace committee
