#include "rotation/rotation.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "numbers/eigenvectors.h"
#include "numbers/random.h"

namespace committee {
namespace {

// Sums are integers, so neither the order nor the repetition of rows changes a bit. A value of at most 1024
// has 36 fractional bits. The products of two values, times weights with a sum below 2^31, stay below 2^127.
using Wide = __int128;
constexpr double unit = 0x1.0p36;

std::int64_t fixed(double value) { return static_cast<std::int64_t>(value * unit); }

std::uint32_t weight_of(std::span<const std::uint32_t> weights, std::size_t row) {
    return weights.empty() ? 1 : weights[row];
}

// Weighted sums and products of some axes.
class Moments {
  public:
    explicit Moments(std::size_t size) : size_(size), sums_(size), products_(size * size), values_(size) {}

    std::span<std::int64_t> values() { return values_; }

    // Adds the row stored in values().
    void add(std::uint32_t weight) {
        total_ += weight;
        for (std::size_t i = 0; i < size_; ++i) {
            sums_[i] += Wide{values_[i]} * weight;
            for (std::size_t j = 0; j <= i; ++j) {
                const Wide product = Wide{values_[i]} * values_[j];
                products_[i * size_ + j] += weight == 1 ? product : product * weight;
            }
        }
    }

    // Exact except for the final division: a sample without variance has a covariance of 0.
    std::vector<double> covariance() const {
        std::vector<double> result(size_ * size_);
        const Wide total = total_;
        for (std::size_t i = 0; i < size_; ++i) {
            const Wide mean_i = sums_[i] / total, rest_i = sums_[i] % total;
            for (std::size_t j = 0; j <= i; ++j) {
                const Wide mean_j = sums_[j] / total, rest_j = sums_[j] % total;
                const Wide around_means = products_[i * size_ + j] - mean_i * sums_[j] - mean_j * rest_i;
                const double rest =
                    static_cast<double>(rest_i) * static_cast<double>(rest_j) / static_cast<double>(total_);
                const double product = static_cast<double>(around_means) - rest;
                result[i * size_ + j] = result[j * size_ + i] = product / (unit * unit) / static_cast<double>(total_);
            }
        }
        return result;
    }

  private:
    std::size_t size_;
    std::uint64_t total_ = 0;
    std::vector<Wide> sums_;
    std::vector<Wide> products_;  // the lower triangle
    std::vector<std::int64_t> values_;
};

std::vector<std::uint32_t> shuffled_axes(std::size_t n_axes, Random& random) {
    std::vector<std::uint32_t> axes(n_axes);
    std::iota(axes.begin(), axes.end(), 0U);
    for (std::size_t i = n_axes; i > 1; --i) std::swap(axes[i - 1], axes[random.below(i)]);
    return axes;
}

// The last group has the remaining axes.
std::vector<std::uint32_t> draw_sizes(std::size_t n_axes, const RotationParameters& parameters, Random& random) {
    std::vector<std::uint32_t> sizes;
    for (std::size_t left = n_axes; left > 0; left -= sizes.back()) {
        const std::uint64_t wanted =
            parameters.min_group + random.below(std::uint64_t{parameters.max_group} - parameters.min_group + 1);
        sizes.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(wanted, left)));
    }
    return sizes;
}

// Draws the samples that determine the rotations of the groups.
class GroupSampler {
  public:
    GroupSampler(const AxisTable& table, std::span<const std::uint32_t> weights, std::span<const double> fill,
                 const RotationParameters& parameters)
        : table_(table), weights_(weights), fill_(fill), parameters_(parameters) {
        units_.resize(table.n_classes());
        for (std::size_t k = 0; k < units_.size(); ++k) {
            for (std::size_t i = table.class_starts[k]; i < table.class_starts[k + 1]; ++i) units_[k] += units_of(i);
        }
    }

    // The covariance of a group in a sample of some classes.
    std::vector<double> covariance(std::span<const std::uint32_t> axes, std::uint64_t key, Polls& polls) {
        draw_classes(key);
        std::uint64_t left = 0;
        for (const std::size_t k : classes_) left += units_[k];
        const auto removed =
            static_cast<std::uint64_t>(std::floor(parameters_.remove_proportion * static_cast<double>(left)));
        std::uint64_t wanted = left - removed;
        Moments moments(axes.size());
        Random random(key, Purpose::sample);
        for (const std::size_t k : classes_) {
            polls.after(table_.class_starts[k + 1] - table_.class_starts[k]);
            for (std::size_t i = table_.class_starts[k]; i < table_.class_starts[k + 1] && wanted > 0; ++i) {
                // Knuth's algorithm S: all subsets of the wanted size are equally likely.
                std::uint32_t drawn = 0;
                for (std::uint32_t unit_of_row = units_of(i); unit_of_row > 0; --unit_of_row, --left) {
                    if (random.below(left) < wanted) {
                        ++drawn;
                        --wanted;
                    }
                }
                if (drawn == 0) continue;
                polls.after(axes.size() * axes.size());
                read_row(axes, i, moments.values());
                moments.add(parameters_.weights_repeat ? drawn : weight_of(weights_, i));
            }
        }
        return moments.covariance();
    }

  private:
    // How often a row can be drawn.
    std::uint32_t units_of(std::size_t row) const {
        const std::uint32_t weight = weight_of(weights_, row);
        return parameters_.weights_repeat ? weight : std::min(weight, 1U);
    }

    // Keeps each class that has rows with probability 1/2, and repeats if none is kept.
    void draw_classes(std::uint64_t key) {
        Random random(key, Purpose::classes);
        do {
            classes_.clear();
            for (std::size_t k = 0; k < units_.size(); ++k) {
                const bool is_kept = units_.size() == 1 || random.next() >> 63 != 0;
                if (is_kept && units_[k] > 0) classes_.push_back(k);
            }
        } while (classes_.empty());
    }

    void read_row(std::span<const std::uint32_t> axes, std::size_t row, std::span<std::int64_t> out) const {
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const double value = table_.axis(axes[i])[row];
            out[i] = fixed(std::isnan(value) ? fill_[axes[i]] : value);
        }
    }

    const AxisTable& table_;
    std::span<const std::uint32_t> weights_;
    std::span<const double> fill_;
    const RotationParameters& parameters_;
    std::vector<std::uint64_t> units_;  // by class
    std::vector<std::size_t> classes_;  // the classes drawn
};

}  // namespace

std::vector<Component> Rotation::components() const {
    std::vector<Component> result;
    result.reserve(axes.size());
    std::uint32_t first = 0;
    std::size_t at = 0;
    for (const std::uint32_t size : group_sizes) {
        for (std::uint32_t i = 0; i < size; ++i, at += size) result.push_back({first, size, at});
        first += size;
    }
    return result;
}

void turn_table(const Rotation& rotation, const Component& component, const AxisTable& table, std::span<double> out) {
    constexpr std::size_t block_rows = 1024;
    for (std::size_t begin = 0; begin < out.size(); begin += block_rows) {
        const std::span<double> block = out.subspan(begin, std::min(block_rows, out.size() - begin));
        std::ranges::fill(block, 0.0);
        for (std::uint32_t k = 0; k < component.size; ++k) {
            const std::uint32_t axis = rotation.axes[component.first + k];
            const double coefficient = rotation.coefficients[component.coefficients + k];
            const double* values = table.axis(axis).data() + begin;
            if (table.has_missing[axis] == 0) {
                for (std::size_t i = 0; i < block.size(); ++i) block[i] += coefficient * values[i];
            } else {
                const double fill = rotation.fill[axis];
                for (std::size_t i = 0; i < block.size(); ++i) {
                    block[i] += coefficient * (std::isnan(values[i]) ? fill : values[i]);
                }
            }
        }
        for (double& value : block) value = on_grid(value);
    }
}

std::vector<double> mean_axes(const AxisTable& table, std::span<const std::uint32_t> weights) {
    std::vector<double> means(table.n_axes, 0.0);
    for (std::size_t a = 0; a < table.n_axes; ++a) {
        const std::span<const double> values = table.axis(a);
        Wide sum = 0;
        std::uint64_t total = 0;
        for (std::size_t i = 0; i < table.n_rows; ++i) {
            if (std::isnan(values[i])) continue;
            const std::uint32_t weight = weight_of(weights, i);
            sum += Wide{fixed(values[i])} * weight;
            total += weight;
        }
        if (total > 0) means[a] = static_cast<double>(sum) / unit / static_cast<double>(total);
    }
    return means;
}

Rotation draw_rotation(const AxisTable& table, std::span<const std::uint32_t> weights, std::vector<double> fill,
                       const RotationParameters& parameters, std::uint64_t key, const Stop& stop) {
    Polls polls(stop);
    Random random(key, Purpose::groups);
    Rotation rotation;
    rotation.axes = shuffled_axes(table.n_axes, random);
    rotation.group_sizes = draw_sizes(table.n_axes, parameters, random);
    rotation.fill = std::move(fill);
    GroupSampler sampler(table, weights, rotation.fill, parameters);
    std::size_t first = 0;
    for (std::size_t g = 0; g < rotation.group_sizes.size(); ++g) {
        const std::size_t size = rotation.group_sizes[g];
        const std::span<const std::uint32_t> axes(rotation.axes.data() + first, size);
        const auto turned_axes = principal_axes(sampler.covariance(axes, derive_key(key, g), polls), size, stop);
        rotation.coefficients.insert(rotation.coefficients.end(), turned_axes.begin(), turned_axes.end());
        first += size;
    }
    return rotation;
}

}  // namespace committee
