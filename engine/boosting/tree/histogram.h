// Sums of words by column and bin. The bins of column j begin at offsets[j]. Usually all columns get the same space, an
// odd number of cache lines, so that columns of few bins do not map to the same cache sets. If the widths of the
// columns differ widely, each gets the space it needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "boosting/tree/gradient_words.h"
#include "table/table.h"

namespace committee {

struct HistogramShape {
    std::vector<std::uint32_t> widths;   // the number of bins of each column, with the bin of missing values
    std::vector<std::uint32_t> offsets;  // the first bin of each column
    std::uint32_t stride = 0;            // from column to column; 0 if it varies
    std::size_t size = 0;

    explicit HistogramShape(const Binning& binning) {
        std::uint32_t widest = 0;
        std::size_t total = 0;
        for (const Column& column : binning.columns) {
            widths.push_back(column.n_bins + 1);
            widest = std::max(widest, column.n_bins + 1);
            total += column.n_bins + 1;
        }
        const std::uint32_t even = whole_lines(widest);
        if (std::size_t{even} * widths.size() <= 2 * total + 64) stride = even;
        for (const std::uint32_t width : widths) {
            offsets.push_back(static_cast<std::uint32_t>(size));
            size += stride > 0 ? stride : whole_lines(width);
        }
    }

    // The number of bins of a column, rounded up to a whole cache line. The extra bins stay empty; they allow reading
    // several bins at a time.
    std::uint32_t padded_width(std::size_t column) const { return (widths[column] + 7) / 8 * 8; }
    // The end of the padded bins of a column.
    std::size_t end(std::size_t column) const { return offsets[column] + padded_width(column); }

    static std::uint32_t whole_lines(std::uint32_t width) { return ((width + 7) / 8 | 1U) * 8; }
};

// The columns of a task: [begin, end), or those listed.
struct ColumnShare {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::span<const std::uint32_t> listed;

    std::size_t size() const { return listed.size() + (end - begin); }

    template <class Body>
    void for_each(Body body) const {
        for (const std::uint32_t column : listed) body(column);
        for (std::uint32_t column = begin; column < end; ++column) body(column);
    }
};

// Distance of the prefetch, in rows. Lists of rows are allocated with this many extra elements.
inline constexpr std::size_t fetch_ahead = 16;

// Adds value(i) to the bins of row rows[i], for i in [0, n). Two rows are processed together, which uses the load and
// store units better.
template <class Sum, class Value>
void add_rows(const HistogramShape& shape, const Codes<std::uint8_t>& codes, const ColumnShare& share,
              const std::uint32_t* rows, std::size_t n, Value value, Sum* histogram) {
    const std::uint8_t* all = codes.by_row.data();
    const std::size_t width = codes.n_columns;
    const std::size_t stride = shape.stride;
    const auto add = [&](const std::uint8_t* first, const std::uint8_t* second, Sum one, Sum two) {
        if (!share.listed.empty()) {
            for (const std::uint32_t j : share.listed) {
                Sum* bins = histogram + shape.offsets[j];
                bins[first[j]] += one;
                bins[second[j]] += two;
            }
            return;
        }
        std::size_t j = share.begin;
        if (stride == 0) {
            for (; j < share.end; ++j) {
                Sum* bins = histogram + shape.offsets[j];
                bins[first[j]] += one;
                bins[second[j]] += two;
            }
            return;
        }
        Sum* bins = histogram + j * stride;
        for (; j + 4 <= share.end; j += 4, bins += 4 * stride) {
            for (std::size_t k = 0; k < 4; ++k) {
                bins[k * stride + first[j + k]] += one;
                bins[k * stride + second[j + k]] += two;
            }
        }
        for (; j < share.end; ++j, bins += stride) {
            bins[first[j]] += one;
            bins[second[j]] += two;
        }
    };
    const std::size_t ahead = share.listed.empty() ? share.begin : 0;
    std::size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        __builtin_prefetch(all + rows[i + fetch_ahead] * width + ahead);
        __builtin_prefetch(all + rows[i + fetch_ahead + 1] * width + ahead);
        add(all + rows[i] * width, all + rows[i + 1] * width, value(i), value(i + 1));
    }
    if (i < n) add(all + rows[i] * width, all + rows[i] * width, value(i), Sum{0});
}

// Calls body(begin, size) for every contiguous range of bins of the columns. The padding between columns is always 0.
template <class Body>
void for_each_stretch(const HistogramShape& shape, const ColumnShare& share, Body body) {
    for (const std::uint32_t j : share.listed) body(shape.offsets[j], shape.padded_width(j));
    if (share.begin < share.end) {
        body(shape.offsets[share.begin], shape.end(share.end - 1) - shape.offsets[share.begin]);
    }
}

template <class Sum>
void clear(const HistogramShape& shape, const ColumnShare& share, Sum* histogram) {
    for_each_stretch(shape, share,
                     [&](std::size_t begin, std::size_t size) { std::fill_n(histogram + begin, size, Sum{0}); });
}

// Turns the parent's histogram into the larger child's by subtraction. This costs the number of bins instead of the
// number of rows.
template <class Sum>
void subtract(const HistogramShape& shape, const ColumnShare& share, const Sum* smaller, Sum* parent) {
    for_each_stretch(shape, share, [&](std::size_t begin, std::size_t size) {
        for (std::size_t bin = begin; bin < begin + size; ++bin) parent[bin] -= smaller[bin];
    });
}

}  // namespace committee
