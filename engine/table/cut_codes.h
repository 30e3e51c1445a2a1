// Encodes new rows with the cuts of a model.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "table/table.h"

namespace committee {

// The cuts of a column in buckets of equal width. They speed up the search in columns of many cuts, when many values
// are searched. All cuts in the buckets before a value's own are below the value, and all cuts in the buckets after it
// are above.
class CutBuckets {
  public:
    // Has no buckets if there are few cuts, or if the range of the cuts is not a finite, normal number.
    CutBuckets() = default;
    explicit CutBuckets(const Column& column);

    bool empty() const { return starts_.empty(); }
    std::uint32_t start_of(double value) const { return starts_[bucket_of(value)]; }
    void fetch_start_of(double value) const { __builtin_prefetch(starts_.data() + bucket_of(value)); }
    std::uint32_t n_steps() const { return n_steps_; }
    void find_codes(const Column& column, std::span<const double> values, std::span<std::uint16_t> out) const;

  private:
    // A missing value gets an arbitrary bucket, because the caller ignores the result.
    std::size_t bucket_of(double value) const {
        const double place = (value - lowest_) * buckets_per_unit_;
        return static_cast<std::size_t>(std::min(std::max(0.0, place), static_cast<double>(starts_.size() - 1)));
    }

    double lowest_ = 0, buckets_per_unit_ = 0;
    std::uint32_t n_steps_ = 0;          // of the search in the fullest bucket
    std::vector<std::uint16_t> starts_;  // the number of cuts in the buckets before each
};

// Encodes rows. Prepares buckets if n_rows is large enough to make up for their cost.
class Encoder {
  public:
    Encoder(const Binning& binning, std::size_t n_rows, int n_threads);

    // Encodes rows [begin, begin + n). Writes the codes by row, `stride` apart, and by column, n apart. Returns whether
    // any code is missing.
    template <class Code>
    bool encode(std::span<const ColumnView> columns, std::size_t begin, std::size_t n, Code* by_row, std::size_t stride,
                Code* by_column) const;

    // Encodes one row. The binary searches of several columns advance together. Returns whether any code is missing.
    template <class Code>
    bool encode_row(std::span<const ColumnView> columns, std::size_t row, Code* codes) const;

  private:
    void find_codes_of(std::size_t j, const ColumnView& view, std::size_t begin, std::span<std::uint16_t> out) const;

    const Binning& binning_;
    std::vector<CutBuckets> buckets_;  // by column; empty for few rows
};

}  // namespace committee
