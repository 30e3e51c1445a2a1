#include "rotation/axes.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "growing/row_sampling.h"
#include "numbers/random.h"
#include "table/binning.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t block_rows = 4096;

std::size_t count_blocks(std::size_t n_rows) { return (n_rows + block_rows - 1) / block_rows; }

// Calls body(first row, number of rows) for each block.
template <class Body>
void for_each_block(std::size_t n_rows, Body body) {
    for (std::size_t begin = 0; begin < n_rows; begin += block_rows) body(begin, std::min(block_rows, n_rows - begin));
}

// Finds the range of a numeric column over the rows of positive weight. Infinities are ignored.
void find_number_axis(const ColumnView& column, std::uint32_t j, std::size_t n_rows,
                      std::span<const std::uint32_t> weights, Polls& polls, std::vector<Axis>& found) {
    double low = std::numeric_limits<double>::infinity(), high = -low;
    bool has_infinity = false;
    std::vector<double> values;
    for_each_block(n_rows, [&](std::size_t begin, std::size_t n) {
        polls.after(n);
        values.resize(n);
        read_values(column, begin, values);
        for (std::size_t i = 0; i < n; ++i) {
            if (std::isnan(values[i]) || (!weights.empty() && weights[begin + i] == 0)) continue;
            has_infinity = has_infinity || std::isinf(values[i]);
            if (std::isinf(values[i])) continue;
            low = std::min(low, values[i]);
            high = std::max(high, values[i]);
        }
    });
    if (!(low < high) && !has_infinity) return;
    if (!(low <= high)) low = high = 0;
    const double range = high - low;
    found.push_back({j, 0, low, std::isfinite(range) ? (range > 0 ? range : 1) : std::numeric_limits<double>::max()});
}

void find_category_axes(const ColumnView& column, std::uint32_t j, std::uint32_t n_categories, std::size_t n_rows,
                        std::span<const std::uint32_t> weights, Polls& polls, std::vector<Axis>& found) {
    std::vector<std::size_t> counts(n_categories + 1, 0);
    std::vector<std::uint16_t> codes;
    for_each_block(n_rows, [&](std::size_t begin, std::size_t n) {
        polls.after(n);
        codes.resize(n);
        read_categories(column, begin, n_categories, codes);
        for (std::size_t i = 0; i < n; ++i) {
            if (weights.empty() || weights[begin + i] > 0) ++counts[codes[i]];
        }
    });
    std::vector<std::uint32_t> seen;
    for (std::uint32_t k = 1; k <= n_categories; ++k) {
        if (counts[k] > 0) seen.push_back(k);
    }
    if (seen.size() < 2) return;
    if (seen.size() == 2) seen.erase(seen.begin());
    for (const std::uint32_t k : seen) found.push_back({j, k});
}

double place(const Axis& axis, double value) {
    // Clamping avoids infinities later: infinity minus infinity would be NaN, which means missing.
    return std::isnan(value) ? nan : std::clamp((value - axis.low) / axis.range, -furthest, furthest);
}

std::uint64_t hash_of(std::uint64_t before, double value) {
    return (before ^ std::bit_cast<std::uint64_t>(value)) * 0xff51afd7ed558ccdU + (before >> 29);
}

std::uint64_t target_hash(const Target& target, std::size_t row) {
    return mix(target.n_classes > 0 ? target.labels[row] : static_cast<std::uint64_t>(target.fixed[row]));
}

// Sorts rows by class, then by content, then by weight. Rows of weight 0 are put last or dropped.
std::vector<std::uint32_t> order_rows(const Target& target, std::span<const std::uint32_t> weights,
                                      bool with_weightless, std::span<const std::uint64_t> hashes, int n_threads,
                                      const Stop& stop) {
    std::vector<std::uint32_t> rows = order_by_hash(hashes, n_threads, stop, weights);
    const auto part_of = [&](std::uint32_t row) -> std::size_t {
        if (!weights.empty() && weights[row] == 0) return std::max<std::size_t>(target.n_classes, 1);
        return target.n_classes > 0 ? target.labels[row] : 0;
    };
    std::vector<std::vector<std::uint32_t>> parts(std::max<std::size_t>(target.n_classes, 1) + 1);
    for (const std::uint32_t row : rows) parts[part_of(row)].push_back(row);
    rows.clear();
    for (const auto& part : parts) {
        if (&part != &parts.back() || with_weightless) rows.insert(rows.end(), part.begin(), part.end());
    }
    return rows;
}

// The targets of some rows, in their order.
Target reordered(const Target& target, std::span<const std::uint32_t> rows) {
    Target result = target;
    result.labels.clear();
    result.fixed.clear();
    result.numbers.clear();
    for (const std::uint32_t row : rows) {
        if (target.n_classes > 0) {
            result.labels.push_back(target.labels[row]);
        } else {
            result.fixed.push_back(target.fixed[row]);
            result.numbers.push_back(target.numbers[row]);
        }
    }
    return result;
}

}  // namespace

bool read_axes(const Axes& axes, std::span<const ColumnView> columns, std::size_t begin, std::size_t n_rows,
               const AxisLayout& layout) {
    std::vector<double> values(n_rows);
    std::vector<std::uint16_t> codes;
    bool has_missing = false;
    for (std::size_t a = 0; a < axes.size(); ++a) {
        const Axis& axis = axes.list[a];
        double* out = layout.out + a * layout.axis_stride;
        if (axis.category == 0) {
            read_values(columns[axis.column], begin, values);
            for (std::size_t i = 0; i < n_rows; ++i) {
                has_missing = has_missing || std::isnan(values[i]);
                out[i * layout.row_stride] = place(axis, values[i]);
            }
            continue;
        }
        if (a == 0 || axes.list[a - 1].column != axis.column) {
            codes.resize(n_rows);
            read_categories(columns[axis.column], begin, axes.n_categories[axis.column], codes);
        }
        for (std::size_t i = 0; i < n_rows; ++i) {
            has_missing = has_missing || codes[i] == 0;
            out[i * layout.row_stride] = codes[i] == 0 ? nan : (codes[i] == axis.category ? 1 : 0);
        }
    }
    return has_missing;
}

Axes find_axes(std::span<const ColumnView> columns, std::span<const std::uint32_t> n_categories, std::size_t n_rows,
               std::span<const std::uint32_t> weights, int n_threads, const Stop& stop) {
    std::vector<std::vector<Axis>> found(columns.size());
    for_each_task(columns.size(), n_threads, stop, [&](std::size_t j, int) {
        Polls polls(stop);
        const auto column = static_cast<std::uint32_t>(j);
        if (n_categories[j] == 0) {
            find_number_axis(columns[j], column, n_rows, weights, polls, found[j]);
        } else {
            find_category_axes(columns[j], column, n_categories[j], n_rows, weights, polls, found[j]);
        }
    });
    Axes axes{{n_categories.begin(), n_categories.end()}, {}};
    for (const auto& part : found) axes.list.insert(axes.list.end(), part.begin(), part.end());
    return axes;
}

AxisTable make_axis_table(const Axes& axes, std::span<const ColumnView> columns, const Target& target,
                          std::span<const std::uint32_t> weights, bool with_weightless, int n_threads,
                          const Stop& stop) {
    const std::size_t n_rows = target.n_classes > 0 ? target.labels.size() : target.fixed.size();
    AxisTable table;
    table.n_axes = axes.size();
    std::vector<double> values(n_rows * axes.size());
    std::vector<std::uint64_t> hashes(n_rows);
    for_each_task(count_blocks(n_rows), n_threads, stop, [&](std::size_t task, int) {
        const std::size_t begin = task * block_rows, n = std::min(block_rows, n_rows - begin);
        read_axes(axes, columns, begin, n, {values.data() + begin, 1, n_rows});
        for (std::size_t i = begin; i < begin + n; ++i) {
            std::uint64_t hash = target_hash(target, i);
            for (std::size_t a = 0; a < axes.size(); ++a) hash = hash_of(hash, values[a * n_rows + i]);
            hashes[i] = mix(hash);
        }
    });
    table.rows = order_rows(target, weights, with_weightless, hashes, n_threads, stop);

    // Reorders and compacts the axes in place, one after another. With fewer rows, each axis moves towards the start.
    std::vector<double> spare(table.rows.size());
    table.has_missing.resize(axes.size());
    for (std::size_t a = 0; a < axes.size(); ++a) {
        stop.poll();
        const double* from = values.data() + a * n_rows;
        for (std::size_t i = 0; i < spare.size(); ++i) spare[i] = from[table.rows[i]];
        std::ranges::copy(spare, values.begin() + static_cast<std::ptrdiff_t>(a * spare.size()));
        table.has_missing[a] = std::ranges::any_of(spare, [](double value) { return std::isnan(value); });
    }
    values.resize(axes.size() * spare.size());
    table.values = std::move(values);

    table.target = reordered(target, table.rows);
    table.class_starts.assign(std::max<std::size_t>(target.n_classes, 1) + 1, 0);
    for (const std::uint32_t row : table.rows) {
        if (!weights.empty() && weights[row] == 0) continue;
        ++table.n_rows;
        ++table.class_starts[(target.n_classes > 0 ? target.labels[row] : 0) + 1];
        if (!weights.empty()) table.weights.push_back(weights[row]);
    }
    for (std::size_t k = 1; k < table.class_starts.size(); ++k) table.class_starts[k] += table.class_starts[k - 1];
    return table;
}

}  // namespace committee
