// The sums over the rows of a branch of a stump: weight, score and value.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "growing/tree_growth.h"
#include "tree/node_statistics.h"

namespace committee {

// The sum of a set of rows: one item for two classes or a mean, and a list of weights for many classes.
template <class Stat>
class Sum {
  public:
    using Item = typename Stat::Item;

    explicit Sum(std::size_t) {}
    void add(const Item& item) { item_ = item_ + item; }
    void add(const Sum& other) { item_ = item_ + other.item_; }
    void subtract(const Sum& other) { item_ = item_ - other.item_; }
    bool is_pure() const { return Stat::is_pure(item_); }
    double weight() const { return Stat::weight(item_); }
    const Item& item() const { return item_; }

    template <Criterion criterion>
    double score() const {
        return weight() == 0 ? 0 : Stat::template score<criterion>(item_);
    }

    void append_value(const Target& target, std::vector<double>& values) const {
        const double value = Stat::value(item_);
        if constexpr (std::is_same_v<Stat, Mean>) {
            values.push_back(target.number(value));
        } else {
            values.push_back(1 - value);
            values.push_back(value);
        }
    }

  private:
    Item item_{};
};

template <>
class Sum<ManyClasses> {
  public:
    explicit Sum(std::size_t n_classes) : weights_(n_classes) {}
    void add(ManyClasses::Item item) { weights_[ManyClasses::item_class(item)] += ManyClasses::item_weight(item); }
    void add(const Sum& other) {
        for (std::size_t k = 0; k < weights_.size(); ++k) weights_[k] += other.weights_[k];
    }
    void subtract(const Sum& other) {
        for (std::size_t k = 0; k < weights_.size(); ++k) weights_[k] -= other.weights_[k];
    }
    double weight() const {
        std::uint64_t weight = 0;
        for (const std::uint32_t class_weight : weights_) weight += class_weight;
        return static_cast<double>(weight);
    }
    bool is_pure() const {
        return std::ranges::count_if(weights_, [](std::uint32_t weight) { return weight > 0; }) <= 1;
    }

    template <Criterion criterion>
    double score() const {
        ClassSum<criterion> sum;
        std::vector<std::uint32_t> weights(weights_.size());
        for (std::size_t k = 0; k < weights.size(); ++k) sum.change(weights[k], weights_[k]);
        return sum.weight == 0 ? 0 : sum.score(weights);
    }

    void append_value(const Target&, std::vector<double>& values) const {
        const double all = weight();
        for (const std::uint32_t class_weight : weights_) values.push_back(class_weight / all);
    }

  private:
    std::vector<std::uint32_t> weights_;
};

}  // namespace committee
