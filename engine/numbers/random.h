// Counter-based random numbers. A number depends only on its keys (seed, member, node, purpose) and on its position in
// the stream, so any thread, process or resumed run draws the same numbers.
#pragma once
#include <cstdint>

namespace committee {

// The finaliser of SplitMix64 (Steele, Lea and Flood 2014): a bijection in which every input bit affects every output
// bit.
inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return x ^ (x >> 31);
}

inline std::uint64_t derive_key(std::uint64_t key, std::uint64_t part) { return mix(key ^ mix(part)); }

enum class Purpose : std::uint64_t {
    bootstrap = 1,
    split = 2,
    permutation = 3,
    direction = 4,
    threshold = 5,
    weights = 6,
    dropout = 7,
    groups = 8,
    classes = 9,
    sample = 10,
    held_out = 11,
    columns = 12,
};

// Maps a uniform 64-bit integer to a uniform integer in [0, n), by the multiply-shift of Lemire 2019 without rejection.
// Its bias is below n / 2^64.
inline std::uint64_t scaled(std::uint64_t drawn, std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(drawn) * n) >> 64);
}

// Maps a uniform 64-bit integer to a uniform double in [0, 1).
inline double to_share(std::uint64_t drawn) { return static_cast<double>(drawn >> 11) * 0x1.0p-53; }

class Random {
  public:
    Random(std::uint64_t key, Purpose purpose) : key_(derive_key(key, static_cast<std::uint64_t>(purpose))) {}

    std::uint64_t next() { return at(count_++); }

    // The number at position `count` of the stream.
    std::uint64_t at(std::uint64_t count) const { return mix(key_ + 0x9e3779b97f4a7c15U * (count + 1)); }

    // A uniform integer in [0, n).
    std::uint64_t below(std::uint64_t n) { return scaled(next(), n); }

    // A uniform double in [0, 1).
    double uniform() { return to_share(next()); }

  private:
    std::uint64_t key_;
    std::uint64_t count_ = 0;
};

}  // namespace committee
