#include "encode.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "binning.h"
#include "thread_team.h"

namespace committee {

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
    n_steps_ = static_cast<std::size_t>(std::bit_width(fullest));
}

// A missing value gets a bucket like any other.
std::size_t CutBuckets::bucket_of(double value) const {
    const double place = (value - lowest_) * buckets_per_unit_;
    return static_cast<std::size_t>(std::min(std::max(0.0, place), static_cast<double>(starts_.size() - 1)));
}

void CutBuckets::find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out) const {
    constexpr std::size_t side_by_side = 16;
    const double* cuts = column.cuts.data();
    const auto n_cuts = static_cast<std::uint32_t>(column.cuts.size());
    std::array<std::uint32_t, side_by_side> below;
    for (std::size_t begin = 0; begin < values.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, values.size() - begin);
        const double* value = values.data() + begin;
        for (std::size_t i = 0; i < n; ++i) below[i] = starts_[bucket_of(value[i])];
        for (std::uint32_t step = 1U << n_steps_; (step >>= 1U) > 0;) {
            for (std::size_t i = 0; i < n; ++i) {
                below[i] += cuts[std::min(below[i] + step, n_cuts) - 1] < value[i] ? step : 0U;
            }
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

template <class Code>
bool Encoder::encode(std::span<const ColumnView> columns, std::size_t begin, std::size_t n, Code* by_row,
                     Code* by_column) const {
    std::array<double, 256> values;
    std::array<std::uint16_t, 256> found;
    bool has_missing = false;
    const std::size_t n_columns = columns.size();
    for (std::size_t j = 0; j < n_columns; ++j) {
        const Column& column = binning_.columns[j];
        if (!column.is_used) continue;
        for (std::size_t from = 0; from < n; from += values.size()) {
            const std::size_t count = std::min(values.size(), n - from);
            Code* to = by_row + from * n_columns + j;
            Code* beside = by_column + j * n + from;
            if (column.is_category) {
                read_categories(columns[j], begin + from, column.n_bins, {found.data(), count});
            } else {
                read_values(columns[j], begin + from, {values.data(), count});
                if (buckets_.empty() || buckets_[j].empty()) {
                    find_codes(column, {values.data(), count}, {found.data(), count});
                } else {
                    buckets_[j].find_codes(column, {values.data(), count}, {found.data(), count});
                }
            }
            for (std::size_t i = 0; i < count; ++i) {
                beside[i] = static_cast<Code>(found[i]);
                to[i * n_columns] = beside[i];
                has_missing |= found[i] == 0;
            }
        }
    }
    return has_missing;
}

template <class Code>
void encode_row(const Binning& binning, std::span<const ColumnView> columns, std::size_t row, Code* codes) {
    constexpr std::size_t side_by_side = 32;
    std::array<double, side_by_side> values;
    std::array<const double*, side_by_side> below;
    std::array<std::size_t, side_by_side> sizes;
    for (std::size_t begin = 0; begin < columns.size(); begin += side_by_side) {
        const std::size_t n = std::min(side_by_side, columns.size() - begin);
        std::size_t most = 0;
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning.columns[begin + j];
            if (!column.is_category) read_values(columns[begin + j], row, {&values[j], 1});
            below[j] = column.cuts.data();
            sizes[j] = column.is_used ? column.cuts.size() : 0;
            most = std::max(most, sizes[j]);
        }
        for (; most > 0; most /= 2) {
            for (std::size_t j = 0; j < n; ++j) {
                if (sizes[j] == 0) continue;
                const std::size_t half = (sizes[j] + 1) / 2;
                below[j] += below[j][half - 1] < values[j] ? half : 0;
                sizes[j] -= half;
            }
        }
        for (std::size_t j = 0; j < n; ++j) {
            const Column& column = binning.columns[begin + j];
            std::uint16_t code = 0;
            if (column.is_category) {
                read_categories(columns[begin + j], row, column.n_bins, {&code, 1});
            } else if (!std::isnan(values[j]) && column.n_bins > 0) {
                code = static_cast<std::uint16_t>(1 + (below[j] - column.cuts.data()));
            }
            codes[begin + j] = static_cast<Code>(code);
        }
    }
}

template bool Encoder::encode(std::span<const ColumnView>, std::size_t, std::size_t, std::uint8_t*,
                              std::uint8_t*) const;
template bool Encoder::encode(std::span<const ColumnView>, std::size_t, std::size_t, std::uint16_t*,
                              std::uint16_t*) const;
template void encode_row(const Binning&, std::span<const ColumnView>, std::size_t, std::uint8_t*);
template void encode_row(const Binning&, std::span<const ColumnView>, std::size_t, std::uint16_t*);

}  // namespace committee
