// Concatenated arrays with offsets, the format in which models are saved. Arrays read from a file are not trusted until
// they have been checked.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace committee {

// Throws std::invalid_argument if a condition on data from a file does not hold.
struct Requirement {
    const char* refusal;  // the start of the message, such as "This is not a forest"

    void operator()(bool holds, const char* message) const {
        if (!holds) throw std::invalid_argument(std::string(refusal) + ": " + message + ".");
    }
};

template <class Element>
void append(std::vector<Element>& to, const std::vector<Element>& from) {
    to.insert(to.end(), from.begin(), from.end());
}

// The same, and appends the end offset.
template <class Element>
void append(std::vector<Element>& to, std::vector<std::uint64_t>& offsets, const std::vector<Element>& from) {
    append(to, from);
    offsets.push_back(to.size());
}

inline bool are_offsets(const std::vector<std::uint64_t>& offsets, std::size_t n_parts, std::size_t size) {
    return offsets.size() == n_parts + 1 && offsets.front() == 0 && offsets.back() == size &&
           std::ranges::is_sorted(offsets);
}

template <class Element>
std::span<const Element> part(const std::vector<Element>& all, std::uint64_t begin, std::uint64_t end) {
    return {all.data() + begin, end - begin};
}

template <class Element>
std::span<const Element> part(const std::vector<Element>& all, const std::vector<std::uint64_t>& offsets,
                              std::size_t i) {
    return part(all, offsets[i], offsets[i + 1]);
}

template <class Element>
std::vector<Element> copied(std::span<const Element> values) {
    return {values.begin(), values.end()};
}

inline bool are_finite(std::span<const double> values) {
    return std::ranges::all_of(values, [](double value) { return std::isfinite(value); });
}

// Checks that `values` holds distributions over n_classes classes.
inline void check_probabilities(std::span<const double> values, std::size_t n_classes, const Requirement& require) {
    for (std::size_t at = 0; at < values.size(); at += n_classes) {
        double sum = 0;
        for (const double value : values.subspan(at, n_classes)) {
            require(value >= 0 && value <= 1, "a probability is not between 0 and 1");
            sum += value;
        }
        require(std::abs(sum - 1) <= 1e-6, "probabilities do not sum to 1");
    }
}

}  // namespace committee
