#include "table/fingerprint.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "numbers/random.h"
#include "table/binning.h"

namespace committee {

std::array<std::uint64_t, 2> fingerprint(std::span<const ColumnView> columns, std::size_t n_rows, const Stop& stop) {
    // In a row-major matrix, columns share cache lines. A block of rows is therefore read for all columns before the
    // next.
    constexpr std::size_t block = 512;
    constexpr std::uint64_t missing = std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN());
    std::array<double, block> values;
    std::array<std::uint64_t, block> keys;
    std::vector<std::array<std::uint64_t, 2>> sums(columns.size());
    Polls polls(stop);
    // One multiplication per value is enough, because the keys of the rows and the final sums are mixed well.
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    for (std::size_t begin = 0; begin < n_rows; begin += block) {
        const std::size_t n = std::min(block, n_rows - begin);
        polls.after(n * columns.size());
        for (std::size_t i = 0; i < n; ++i) keys[i] = mix(begin + i);
        for (std::size_t j = 0; j < columns.size(); ++j) {
            read_values(columns[j], begin, std::span(values).first(n));
            auto [sum, parity] = sums[j];
            for (std::size_t i = 0; i < n; ++i) {
                const double value = values[i];
                const std::uint64_t bits = value == value ? std::bit_cast<std::uint64_t>(value) : missing;
                const std::uint64_t product = (bits ^ keys[i]) * odd;
                sum += product ^ (product >> 32);
                parity ^= product;
            }
            sums[j] = {sum, parity};
        }
    }
    std::array<std::uint64_t, 2> all = {mix(n_rows), mix(columns.size())};
    for (const auto& [sum, parity] : sums) all = {mix(all[0] ^ sum), mix(all[1] ^ parity)};
    return all;
}

}  // namespace committee
