// The codes of new rows, by the cuts of a model.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.h"

namespace committee {

// The cuts of a column in buckets of equal width, for columns of so many cuts that a search for each of many values
// would go far. A value lies behind all cuts of the buckets before its own, and before all cuts of those behind.
class CutBuckets {
  public:
    // Without buckets if the cuts are few, or too far apart to be counted in equal steps.
    CutBuckets() = default;
    explicit CutBuckets(const Column& column);

    bool empty() const { return starts_.empty(); }
    std::uint32_t start_of(double value) const { return starts_[bucket_of(value)]; }
    void fetch_start_of(double value) const { __builtin_prefetch(starts_.data() + bucket_of(value)); }
    std::uint32_t n_steps() const { return n_steps_; }
    void find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out) const;

  private:
    // A missing value gets a bucket like any other.
    std::size_t bucket_of(double value) const {
        const double place = (value - lowest_) * buckets_per_unit_;
        return static_cast<std::size_t>(std::min(std::max(0.0, place), static_cast<double>(starts_.size() - 1)));
    }

    double lowest_ = 0, buckets_per_unit_ = 0;
    std::uint32_t n_steps_ = 0;          // of the search through the fullest bucket
    std::vector<std::uint16_t> starts_;  // how many cuts lie in the buckets before each
};

// Prepared for as many rows as will come.
class Encoder {
  public:
    Encoder(const Binning& binning, std::size_t n_rows, int n_threads);

    // Writes the codes of rows [begin, begin + n) by row, rows `stride` apart, and by column, columns n apart. True if
    // some are missing.
    template <class Code>
    bool encode(std::span<const ColumnView> columns, std::size_t begin, std::size_t n, Code* by_row, std::size_t stride,
                Code* by_column) const;

    // The codes of one row. The columns are searched side by side. True if some are missing.
    template <class Code>
    bool encode_row(std::span<const ColumnView> columns, std::size_t row, Code* codes) const;

  private:
    void find_codes_of(std::size_t j, const ColumnView& view, std::size_t begin, std::span<std::uint16_t> out) const;

    const Binning& binning_;
    std::vector<CutBuckets> buckets_;  // per column; empty for few rows
};

}  // namespace committee
