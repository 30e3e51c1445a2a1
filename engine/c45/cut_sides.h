// The two sides of a cut that moves through the sorted rows of a node, and the entropies of their classes. All are sums
// of terms w log2 w: n H(classes) = term(n) - sum of the terms of the class weights.
//
// A sides class has `move_left(c, weight)`, `class_terms()` of the classes on both sides, and `side_terms(n_left,
// n_right)`.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c45/arithmetic.h"

namespace committee::c45 {

// The sum of the left and right terms for every possible count on the left: of each class, and of all rows. One table
// serves all columns of a node, and halves the number of lookups per cut.
class CountTerms {
  public:
    void prepare(const Entropy& entropy, std::span<const std::uint32_t> by_class) {
        terms_.clear();
        first_.clear();
        std::uint32_t total = 0;
        for (const std::uint32_t count : by_class) {
            append(entropy, count);
            total += count;
        }
        append(entropy, total);
    }
    const double* of_class(std::size_t c) const { return terms_.data() + first_[c]; }
    const double* of_sides() const { return terms_.data() + first_.back(); }
    std::size_t n_classes() const { return first_.size() - 1; }

  private:
    void append(const Entropy& entropy, std::uint32_t count) {
        first_.push_back(terms_.size());
        terms_.resize(terms_.size() + count + 1);
        double* terms = terms_.data() + first_.back();
        for (std::uint32_t left = 0; left <= count; ++left)
            terms[left] = entropy.term(left) + entropy.term(count - left);
    }

    std::vector<double> terms_;
    std::vector<std::size_t> first_;  // by class, then for all rows
};

// Counts of two classes. No step waits for a memory access of the previous one.
class TwoCounts {
  public:
    explicit TwoCounts(const CountTerms& terms)
        : zeros_(terms.of_class(0)), ones_(terms.of_class(1)), sides_(terms.of_sides()) {}

    void move_left(std::size_t c, std::uint32_t weight) {
        left_ += weight;
        left_ones_ += static_cast<std::uint32_t>(c) * weight;
    }
    double class_terms() const { return zeros_[left_ - left_ones_] + ones_[left_ones_]; }
    double side_terms(std::uint32_t n_left, std::uint32_t) const { return sides_[n_left]; }

  private:
    const double* zeros_;
    const double* ones_;
    const double* sides_;
    std::uint32_t left_ = 0;
    std::uint32_t left_ones_ = 0;
};

class ManyCounts {
  public:
    void start(const CountTerms& terms) {
        sides_ = terms.of_sides();
        at_.resize(terms.n_classes());
        class_terms_ = 0;
        for (std::size_t c = 0; c < at_.size(); ++c) class_terms_ += *(at_[c] = terms.of_class(c));
    }
    void move_left(std::size_t c, std::uint32_t weight) {
        const double before = *at_[c];
        at_[c] += weight;
        class_terms_ += *at_[c] - before;
    }
    double class_terms() const { return class_terms_; }
    double side_terms(std::uint32_t n_left, std::uint32_t) const { return sides_[n_left]; }

  private:
    const double* sides_ = nullptr;
    std::vector<const double*> at_;  // by class: the position of its left count in the table
    double class_terms_ = 0;
};

class Weights {
  public:
    explicit Weights(const Entropy& entropy) : entropy_(entropy) {}

    void start(std::span<const double> by_class) {
        left_.assign(by_class.size(), 0);
        right_.assign(by_class.begin(), by_class.end());
        terms_of_.resize(by_class.size());
        class_terms_ = 0;
        for (std::size_t c = 0; c < by_class.size(); ++c) class_terms_ += terms_of_[c] = entropy_.term(by_class[c]);
    }
    void move_left(std::size_t c, double weight) {
        left_[c] += weight;
        right_[c] -= weight;
        const double terms = entropy_.term(left_[c]) + entropy_.term(right_[c]);
        class_terms_ += terms - terms_of_[c];
        terms_of_[c] = terms;
    }
    double class_terms() const { return class_terms_; }
    double side_terms(double n_left, double n_right) const { return entropy_.term(n_left) + entropy_.term(n_right); }

  private:
    const Entropy& entropy_;
    std::vector<double> left_;
    std::vector<double> right_;
    std::vector<double> terms_of_;
    double class_terms_ = 0;
};

}  // namespace committee::c45
