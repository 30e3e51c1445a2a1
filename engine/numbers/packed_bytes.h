// Arrays of numbers as bytes, for files. Every integer takes as many bits as the largest one of its array. Doubles are
// stored without the zeros that end all of them, or as places in a sorted list of the distinct ones if that is smaller.
// If most of them are 0, a bit for each marks those that are not, and only these are stored.
//
// PackedWriter and PackedReader have the same functions, so one function `visit(stream)` of the arrays of a model
// writes and reads them. Bytes that are read are not trusted: the reader throws std::invalid_argument if they end too
// early, and takes memory in proportion to their number.
#pragma once
#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "numbers/flat_arrays.h"

namespace committee {

// Bits, eight to a byte.
inline bool bit_at(std::span<const std::uint8_t> bytes, std::size_t at) {
    return ((bytes[at / 8] >> (at % 8)) & 1) != 0;
}
inline void set_bit(std::span<std::uint8_t> bytes, std::size_t at, bool bit) {
    if (bit) bytes[at / 8] = static_cast<std::uint8_t>(bytes[at / 8] | (1U << (at % 8)));
}

// The number of bits of every integer of an array. A word of 64 bits contains an integer that starts at any bit of its
// first byte, so no integer is wider than 56 bits.
inline constexpr int widest = 56;
inline constexpr std::uint8_t not_shifted = 255;
inline int width_for(std::uint64_t largest) {
    if (largest >> widest != 0) throw std::invalid_argument("An integer is too large to be packed.");
    return std::max(static_cast<int>(std::bit_width(largest)), 1);
}
inline std::size_t bytes_of(std::size_t n, int width) { return (n * static_cast<std::size_t>(width) + 7) / 8; }

// The distinct values of an array in the order of their first places, and the place of each value among them.
struct Listed {
    std::vector<std::uint64_t> distinct;
    std::vector<std::uint32_t> places;
    bool is_shorter = true;
};

// The first bits of a product depend on all bits of the factors, also if the value ends with zeros.
inline std::uint64_t hash_of(std::uint64_t value, int n_bits) { return value * 0x9e3779b97f4a7c15U >> (64 - n_bits); }

// Estimates the number of distinct values of an array from those with one of 64 hashes.
template <class Element>
std::size_t estimate_distinct(const std::vector<Element>& values) {
    constexpr int n_bits = 6;
    std::vector<std::uint64_t> some;
    for (const Element each : values) {
        const auto value = std::bit_cast<std::uint64_t>(each);
        if (hash_of(value, n_bits) == 0) some.push_back(value);
    }
    std::ranges::sort(some);
    return static_cast<std::size_t>(std::ranges::unique(some).begin() - some.begin()) << n_bits;
}

// Lists the distinct values of an array. Gives up when is_shorter(n_distinct) does not hold, or if no value repeats.
template <class IsShorter>
Listed list_distinct(const std::vector<std::uint64_t>& values, IsShorter is_shorter) {
    constexpr std::uint32_t empty = std::numeric_limits<std::uint32_t>::max();
    constexpr std::size_t many = 1 << 12;
    const bool all_rise = std::ranges::adjacent_find(values, std::ranges::greater_equal()) == values.end();
    if (all_rise || (values.size() > many && !is_shorter(estimate_distinct(values)))) return {{}, {}, false};
    Listed listed;
    listed.places.reserve(values.size());
    // A hash table with linear probing, at most half full. It holds places in the list.
    std::vector<std::uint32_t> table(2 * std::bit_ceil(std::min(values.size(), many)), empty);
    const auto slot_of = [&](std::uint64_t value) {
        std::size_t slot = hash_of(value, std::countr_zero(table.size()));
        while (table[slot] != empty && listed.distinct[table[slot]] != value) slot = (slot + 1) & (table.size() - 1);
        return slot;
    };
    for (const std::uint64_t value : values) {
        const std::size_t slot = slot_of(value);
        if (table[slot] == empty) {
            const auto place = static_cast<std::uint32_t>(listed.distinct.size());
            if (!is_shorter(listed.distinct.size() + 1)) return {{}, {}, false};
            listed.places.push_back(place);
            listed.distinct.push_back(value);
            table[slot] = place;
            if (2 * listed.distinct.size() > table.size()) {
                table.assign(2 * table.size(), empty);
                for (std::uint32_t each = 0; each <= place; ++each) table[slot_of(listed.distinct[each])] = each;
            }
        } else {
            listed.places.push_back(table[slot]);
        }
    }
    return listed;
}

class PackedWriter {
  public:
    static constexpr bool reads = false;

    template <class Scalar>
    void scalar(const Scalar& value) {
        add(&value, 1);
    }

    template <std::unsigned_integral Integer>
    void integers(const std::vector<Integer>& values) {
        const std::uint64_t largest = values.empty() ? 0 : std::ranges::max(values);
        size(values.size());
        const int width = width_for(largest);
        scalar(static_cast<std::uint8_t>(width));
        const std::size_t begin = bytes_.size(), end = begin + bytes_of(values.size(), width);
        bytes_.resize(end + sizeof(std::uint64_t));
        std::uint8_t* at = bytes_.data() + begin;
        std::uint64_t word = 0;
        int n_bits = 0;
        for (const std::uint64_t value : values) {
            word |= value << n_bits;
            n_bits += width;
            std::memcpy(at, &word, sizeof word);
            at += n_bits / 8;
            word >>= n_bits / 8 * 8;
            n_bits %= 8;
        }
        bytes_.resize(end);
    }

    void doubles(std::span<const double> values) {
        std::vector<std::uint64_t> bits(values.size());
        if (!values.empty()) std::memcpy(bits.data(), values.data(), values.size_bytes());
        const auto n_zeros = static_cast<std::size_t>(std::ranges::count(bits, 0U));
        const bool are_sparse = n_zeros > bits.size() / 2;
        scalar(static_cast<std::uint8_t>(are_sparse));
        if (are_sparse) {
            std::vector<std::uint8_t> marks((bits.size() + 7) / 8);
            for (std::size_t i = 0; i < bits.size(); ++i) set_bit(marks, i, bits[i] != 0);
            size(bits.size());
            add(marks.data(), marks.size());
            std::erase(bits, 0U);
        }
        put_bits(std::move(bits));
    }

    // Appends the bytes of another writer.
    void append(const PackedWriter& other) { bytes_.insert(bytes_.end(), other.bytes_.begin(), other.bytes_.end()); }

    std::size_t n_bytes() const { return bytes_.size(); }
    std::vector<std::uint8_t> take() { return std::move(bytes_); }

  private:
    void put_bits(std::vector<std::uint64_t> bits) {
        std::uint64_t all = 0;
        for (const std::uint64_t each : bits) all |= each;
        const int shift = all == 0 ? 0 : std::countr_zero(all);
        const bool are_short = (all >> shift) >> widest == 0;
        const int width = are_short ? width_for(all >> shift) : 64;
        const auto listed_bytes = [&](std::size_t n_distinct) {
            return bytes_of(n_distinct, width) + bytes_of(bits.size(), width_for(n_distinct));
        };
        Listed listed = list_distinct(
            bits, [&](std::size_t n_distinct) { return listed_bytes(n_distinct) < bytes_of(bits.size(), width); });
        scalar(static_cast<std::uint8_t>(listed.is_shorter));
        scalar(static_cast<std::uint8_t>(are_short ? shift : not_shifted));
        put_shifted(std::move(listed.is_shorter ? listed.distinct : bits), are_short, shift);
        if (listed.is_shorter) integers(listed.places);
    }

    void put_shifted(std::vector<std::uint64_t> bits, bool are_short, int shift) {
        if (are_short) {
            for (std::uint64_t& each : bits) each >>= shift;
            integers(bits);
        } else {
            size(bits.size());
            add(bits.data(), bits.size());
        }
    }

    // Seven bits to a byte, and a leading 1 in all bytes but the last.
    void size(std::uint64_t n) {
        for (; n >= 128; n >>= 7) bytes_.push_back(static_cast<std::uint8_t>(128 | n));
        bytes_.push_back(static_cast<std::uint8_t>(n));
    }

    template <class Element>
    void add(const Element* values, std::size_t n) {
        const auto* first = reinterpret_cast<const std::uint8_t*>(values);
        bytes_.insert(bytes_.end(), first, first + n * sizeof(Element));
    }

    std::vector<std::uint8_t> bytes_;
};

class PackedReader {
  public:
    static constexpr bool reads = true;

    PackedReader(std::span<const std::uint8_t> bytes, const Requirement& require) : left_(bytes), require_(require) {}

    template <class Scalar>
    void scalar(Scalar& value) {
        take(&value, 1);
    }

    template <std::unsigned_integral Integer>
    void integers(std::vector<Integer>& values) {
        const std::uint64_t n = size();
        std::uint8_t width = 0;
        scalar(width);
        require_(width > 0 && width <= 8 * sizeof(Integer) && width <= widest, "the width of its numbers is not valid");
        require_(n <= 8 * left_.size() / width, "it is cut off");
        std::vector<std::uint8_t> packed;
        take(packed, bytes_of(n, width));
        packed.resize(packed.size() + sizeof(std::uint64_t));
        values.resize(n);
        const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
        for (std::size_t i = 0, bit = 0; i < n; ++i, bit += width) {
            std::uint64_t word = 0;
            std::memcpy(&word, packed.data() + bit / 8, sizeof word);
            values[i] = static_cast<Integer>((word >> (bit % 8)) & mask);
        }
    }

    void doubles(std::vector<double>& values) {
        std::uint8_t are_sparse = 0;
        scalar(are_sparse);
        if (are_sparse == 0) return take_bits(values);
        const std::uint64_t n = size();
        std::vector<std::uint8_t> marks;
        take(marks, n / 8 + (n % 8 == 0 ? 0 : 1));
        std::vector<double> stored;
        take_bits(stored);
        values.assign(n, 0.0);
        std::size_t next = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (!bit_at(marks, i)) continue;
            require_(next < stored.size(), "a number is missing");
            values[i] = stored[next++];
        }
        require_(next == stored.size(), "it has too many numbers");
    }

    void finish() const { require_(left_.empty(), "it has bytes after its end"); }
    const Requirement& require() const { return require_; }

  private:
    void take_bits(std::vector<double>& values) {
        std::uint8_t are_listed = 0;
        scalar(are_listed);
        std::vector<double> known = take_shifted();
        if (are_listed == 0) {
            values = std::move(known);
            return;
        }
        std::vector<std::uint32_t> places;
        integers(places);
        require_(std::ranges::all_of(places, [&](std::uint32_t place) { return place < known.size(); }),
                 "a number is not in its list");
        values.resize(places.size());
        std::ranges::transform(places, values.begin(), [&](std::uint32_t place) { return known[place]; });
    }

    std::vector<double> take_shifted() {
        std::uint8_t shift = 0;
        scalar(shift);
        std::vector<double> values;
        if (shift == not_shifted) {
            take(values, size());
            return values;
        }
        require_(shift < 64, "its numbers are shifted too far");
        std::vector<std::uint64_t> bits;
        integers(bits);
        values.resize(bits.size());
        std::ranges::transform(bits, values.begin(),
                               [=](std::uint64_t each) { return std::bit_cast<double>(each << shift); });
        return values;
    }

    std::uint64_t size() {
        std::uint64_t n = 0;
        std::uint8_t byte = 128;
        for (int shift = 0; byte >= 128; shift += 7) {
            require_(shift < 63, "a size is too large");
            scalar(byte);
            n |= std::uint64_t{byte & 127U} << shift;
        }
        return n;
    }

    template <class Element>
    void take(Element* values, std::size_t n) {
        require_(n <= left_.size() / sizeof(Element), "it is cut off");
        if (n > 0) std::memcpy(values, left_.data(), n * sizeof(Element));
        left_ = left_.subspan(n * sizeof(Element));
    }

    template <class Element>
    void take(std::vector<Element>& values, std::uint64_t n) {
        require_(n <= left_.size() / sizeof(Element), "it is cut off");
        values.resize(n);
        take(values.data(), n);
    }

    std::span<const std::uint8_t> left_;
    const Requirement& require_;
};

// Offsets are stored as the sizes of the parts between them.
struct Offsets {
    std::vector<std::uint64_t>& values;
};

// 32-bit indices, among which -1 has a meaning of its own.
template <class Index>
struct Indices {
    std::vector<Index>& values;
};

template <class Stream, class Scalar>
void visit_part(Stream& stream, Scalar& scalar) {
    if constexpr (requires { scalar.visit(stream); }) {
        scalar.visit(stream);
    } else {
        stream.scalar(scalar);
    }
}

template <class Stream>
void visit_part(Stream& stream, bool& flag) {
    std::uint8_t byte = flag ? 1 : 0;
    stream.scalar(byte);
    flag = byte != 0;
}

template <class Stream, std::unsigned_integral Integer>
void visit_part(Stream& stream, std::vector<Integer>& integers) {
    stream.integers(integers);
}

template <class Stream>
void visit_part(Stream& stream, std::vector<double>& doubles) {
    stream.doubles(doubles);
}

template <class Stream>
void visit_part(Stream& stream, Offsets offsets) {
    std::vector<std::uint64_t> sizes;
    for (std::size_t i = 1; i < offsets.values.size(); ++i) {
        sizes.push_back(offsets.values[i] - offsets.values[i - 1]);
    }
    stream.integers(sizes);
    if constexpr (Stream::reads) {
        offsets.values.assign(1, 0);
        for (const std::uint64_t size : sizes) {
            const std::uint64_t last = offsets.values.back();
            stream.require()(size <= std::numeric_limits<std::uint64_t>::max() - last, "a part is too large");
            offsets.values.push_back(last + size);
        }
    }
}

template <class Stream, class Index>
void visit_part(Stream& stream, Indices<Index> indices) {
    std::vector<std::uint32_t> shifted;
    for (const Index index : indices.values) shifted.push_back(static_cast<std::uint32_t>(index) + 1U);
    stream.integers(shifted);
    if constexpr (Stream::reads) {
        indices.values.clear();
        for (const std::uint32_t each : shifted) indices.values.push_back(static_cast<Index>(each - 1U));
    }
}

// Visits scalars, arrays, and structs that have a function `visit`, in turn.
template <class Stream, class... Parts>
void visit_parts(Stream& stream, Parts&&... parts) {
    (visit_part(stream, parts), ...);
}

template <class Arrays>
std::vector<std::uint8_t> to_bytes(Arrays arrays) {
    PackedWriter writer;
    arrays.visit(writer);
    return writer.take();
}

// Throws std::invalid_argument if the bytes are damaged. The arrays are as unchecked as those of a file.
template <class Arrays>
Arrays from_bytes(std::span<const std::uint8_t> bytes, const Requirement& require) {
    Arrays arrays;
    PackedReader reader(bytes, require);
    arrays.visit(reader);
    reader.finish();
    return arrays;
}

}  // namespace committee
