#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "check.h"
#include "numbers/packed_bytes.h"
#include "numbers/random.h"

using namespace committee;

namespace {

constexpr Requirement require{"These are not numbers"};

template <class Element>
std::vector<std::uint8_t> packed(const std::vector<Element>& values) {
    PackedWriter writer;
    if constexpr (std::is_same_v<Element, double>) {
        writer.doubles(values);
    } else {
        writer.integers(values);
    }
    return writer.take();
}

template <class Element>
std::vector<Element> unpacked(const std::vector<std::uint8_t>& bytes) {
    PackedReader reader(bytes, require);
    std::vector<Element> values;
    if constexpr (std::is_same_v<Element, double>) {
        reader.doubles(values);
    } else {
        reader.integers(values);
    }
    reader.finish();
    return values;
}

template <class Element>
bool is_refused(const std::vector<std::uint8_t>& bytes) {
    try {
        unpacked<Element>(bytes);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

template <class Integer>
void integers_survive() {
    Random random(1, Purpose::split);
    const int most_bits = std::min(std::numeric_limits<Integer>::digits, widest);
    for (int n_bits = 1; n_bits <= most_bits; ++n_bits) {
        for (const std::size_t n : {0, 1, 7, 8, 9, 100}) {
            std::vector<Integer> values;
            for (std::size_t i = 0; i < n; ++i) {
                values.push_back(static_cast<Integer>(random.below(std::uint64_t{1} << n_bits)));
            }
            const auto bytes = packed(values);
            check(unpacked<Integer>(bytes) == values);
            check(bytes.size() <= 2 + (n * static_cast<std::size_t>(n_bits) + 7) / 8);
        }
    }
}

void doubles_survive_to_the_last_bit() {
    Random random(2, Purpose::split);
    std::vector<double> many, few, halves, sparse(1000, 0.0);
    for (int i = 0; i < 1000; ++i) {
        many.push_back(random.uniform());
        halves.push_back(i + 0.5);
        few.push_back(static_cast<double>(random.below(7)) / 7);
    }
    sparse[3] = 0.25;
    sparse[999] = 1;
    check(unpacked<double>(packed(many)) == many && packed(many).size() < 8 * many.size() + 20);
    check(unpacked<double>(packed(few)) == few && packed(few).size() < 500);
    check(unpacked<double>(packed(halves)) == halves && packed(halves).size() < 4 * halves.size());
    check(unpacked<double>(packed(sparse)) == sparse && packed(sparse).size() < 200);
    check(unpacked<double>(packed(std::vector<double>{})).empty());
    const std::vector<double> special{-0.0, 0.0, std::numeric_limits<double>::infinity(), 5e-324,
                                      std::numeric_limits<double>::quiet_NaN()};
    const auto back = unpacked<double>(packed(special));
    for (std::size_t i = 0; i < special.size(); ++i) {
        check(std::bit_cast<std::uint64_t>(back[i]) == std::bit_cast<std::uint64_t>(special[i]));
    }
}

void damaged_bytes_are_refused() {
    const std::vector<std::uint32_t> values{1, 2, 300};
    auto bytes = packed(values);
    check(!is_refused<std::uint32_t>(bytes));
    check(is_refused<std::uint8_t>(bytes), "the integers are too wide");
    bytes.pop_back();
    check(is_refused<std::uint32_t>(bytes), "cut off");
    bytes = packed(values);
    bytes.push_back(0);
    check(is_refused<std::uint32_t>(bytes), "bytes after the end");
    for (const std::uint8_t width : {0, 57, 255}) {
        bytes = packed(values);
        bytes[1] = width;
        check(is_refused<std::uint32_t>(bytes), "a width that is not valid");
    }
    bytes = packed(values);
    bytes[0] = 100;
    check(is_refused<std::uint32_t>(bytes), "more integers than bytes");
    check(is_refused<std::uint32_t>(std::vector<std::uint8_t>(20, 255)), "a size that does not end");
    bool refused = false;
    try {
        packed(std::vector<std::uint64_t>{std::uint64_t{1} << widest});
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    check(refused);
}

void random_bits_never_do_harm() {
    Random random(3, Purpose::split);
    const std::vector<double> values{0, 0, 0, 0.5, 0.5, 0.25, 0};
    const auto good = packed(values);
    int n_accepted = 0;
    for (int trial = 0; trial < 2000; ++trial) {
        auto bad = good;
        bad[random.below(bad.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
        n_accepted += is_refused<double>(bad) ? 0 : 1;
    }
    check(n_accepted > 0 && n_accepted < 2000);
}

}  // namespace

int main() {
    integers_survive<std::uint8_t>();
    integers_survive<std::uint16_t>();
    integers_survive<std::uint32_t>();
    integers_survive<std::uint64_t>();
    doubles_survive_to_the_last_bit();
    damaged_bytes_are_refused();
    random_bits_never_do_harm();
    return report();
}
