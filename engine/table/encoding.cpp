#include "table/encoding.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "table/binning.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// Rows that are encoded together. Their outputs stay in the second cache.
constexpr std::size_t block_rows = 64;
// Blocks of a task, which make up for the cost of taking one.
constexpr std::size_t task_blocks = 16;

// The squares of clipped numbers are finite, before and after they are scaled.
constexpr double largest_number = 1e140, largest_scaled = 1e100;
constexpr double compressed_limit = 3.0;

using Block = std::array<double, block_rows>;

// As std::clamp, in a form that compiles to vector instructions without branches.
double clipped(double value, double low, double high) {
    const double above = value > low ? value : low;
    return above < high ? above : high;
}

double as_number(double value) {
    return std::isfinite(value) ? clipped(value, -largest_number, largest_number)
                                : std::numeric_limits<double>::quiet_NaN();
}

double scaled(double value, const EncodedColumn& output) {
    return clipped((value - output.shift) / output.scale, -largest_scaled, largest_scaled);
}

double compressed(double value) {
    const double ratio = value / compressed_limit;
    return value / std::sqrt(1 + ratio * ratio);
}

// Writes f(row) to every `width`-th place.
template <class Value, class Function>
void write(std::size_t n, std::size_t width, Value* out, Function f) {
    Block found;
    for (std::size_t i = 0; i < n; ++i) found[i] = f(i);
    for (std::size_t i = 0; i < n; ++i) out[i * width] = static_cast<Value>(found[i]);
}

template <class Value>
void encode_column(const EncodedColumn& output, const Block& numbers, const Block& filled, std::size_t n,
                   std::size_t width, Value* out) {
    switch (output.encoding) {
        case Encoding::scaled:
            return write(n, width, out, [&](std::size_t i) { return scaled(filled[i], output); });
        case Encoding::compressed:
            return write(n, width, out, [&](std::size_t i) { return compressed(scaled(filled[i], output)); });
        case Encoding::position:
            return write(n, width, out, [&](std::size_t i) {
                return clipped((filled[i] - output.shift) / output.scale, 0.0, 1.0) - 0.5;
            });
        case Encoding::indicator:
            return write(n, width, out, [&](std::size_t i) { return filled[i] == output.shift ? 1.0 : 0.0; });
        case Encoding::missing:
            return write(n, width, out, [&](std::size_t i) { return std::isnan(numbers[i]) ? 1.0 : 0.0; });
    }
}

}  // namespace

template <class Value>
std::vector<Value> encode_table(const TableEncoding& encoding, std::span<const ColumnView> columns, std::size_t n_rows,
                                int n_threads, const Stop& stop) {
    const std::size_t width = encoding.outputs.size();
    // The outputs by column, so that each column is read once.
    std::vector<std::vector<std::size_t>> outputs_of(columns.size());
    for (std::size_t j = 0; j < width; ++j) outputs_of[encoding.outputs[j].column].push_back(j);
    std::vector<Value> matrix(n_rows * width);
    constexpr std::size_t task_rows = task_blocks * block_rows;
    for_each_task((n_rows + task_rows - 1) / task_rows, n_threads, stop, [&](std::size_t task, int) {
        Block numbers, filled;
        const std::size_t end = std::min(n_rows, (task + 1) * task_rows);
        for (std::size_t begin = task * task_rows; begin < end; begin += block_rows) {
            const std::size_t n = std::min(block_rows, end - begin);
            for (std::size_t column = 0; column < columns.size(); ++column) {
                if (outputs_of[column].empty()) continue;
                read_values(columns[column], begin, {numbers.data(), n});
                for (std::size_t i = 0; i < n; ++i) {
                    numbers[i] = as_number(numbers[i]);
                    filled[i] = std::isnan(numbers[i]) ? encoding.fills[column] : numbers[i];
                }
                for (const std::size_t j : outputs_of[column]) {
                    encode_column(encoding.outputs[j], numbers, filled, n, width, matrix.data() + begin * width + j);
                }
            }
        }
    });
    return matrix;
}

template std::vector<float> encode_table<float>(const TableEncoding&, std::span<const ColumnView>, std::size_t, int,
                                                const Stop&);
template std::vector<double> encode_table<double>(const TableEncoding&, std::span<const ColumnView>, std::size_t, int,
                                                  const Stop&);

}  // namespace committee
