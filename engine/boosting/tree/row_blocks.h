// The rows of a tree that is being grown. Blocks of rows are distributed over as many parts as there are threads. Every
// node owns a contiguous range of each part, in one of two buffers that alternate with the depth. The number and the
// word of a row move with it to its children; its codes do not move.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boosting/objective.h"
#include "boosting/tree/gradient_words.h"
#include "boosting/tree/histogram.h"
#include "threads/thread_team.h"

namespace committee {

struct BoostRows {
    const float* gradient = nullptr;
    const float* hessian = nullptr;
    std::span<const std::uint8_t> takes_part;  // by row; empty: all
    const Word* histogram = nullptr;           // of all rows that are used, if it is known
};

class RowParts {
  public:
    struct Stretch {
        std::size_t begin = 0;
        std::size_t n = 0;
    };

    RowParts(std::size_t n_rows, std::size_t n_parts) : n_rows_(n_rows), n_parts_(n_parts), offsets_(n_parts + 1, 0) {
        for (std::size_t part = 0; part < n_parts; ++part) {
            std::size_t n = 0;
            for_each_block(part, [&](std::size_t begin, std::size_t end) { n += end - begin; });
            offsets_[part + 1] = offsets_[part] + n;
        }
        for (Buffer& buffer : buffers_) {
            buffer.rows.resize(n_rows + 2 * fetch_ahead, 0);
            buffer.words.resize(n_rows, 0);
        }
    }

    std::size_t n_parts() const { return n_parts_; }

    // Calls body(begin, end) for the blocks of rows of a part.
    template <class Body>
    void for_each_block(std::size_t part, Body body) const {
        for (std::size_t begin = part * block_rows; begin < n_rows_; begin += n_parts_ * block_rows) {
            body(begin, std::min(n_rows_, begin + block_rows));
        }
    }

    // Assigns all rows to node 0 and computes their words. Returns their number and sum.
    std::pair<std::size_t, Word> assign_all(const BoostRows& rows, const WordScale& scale, ThreadTeam& team) {
        stretches_.assign(n_parts_, {});
        sums_.assign(n_parts_, 0);
        team.run(n_parts_, [&](std::size_t part, int) {
            std::uint32_t* to = buffers_[0].rows.data();
            Word* words = buffers_[0].words.data();
            std::size_t at = offsets_[part];
            Word sum = 0;
            for_each_block(part, [&](std::size_t begin, std::size_t end) {
                if (rows.takes_part.empty()) {
                    const WordScale own = scale;
                    for (std::size_t i = begin; i < end; ++i) to[at + i - begin] = static_cast<std::uint32_t>(i);
                    for (std::size_t i = begin; i < end; ++i) {
                        sum += words[at + i - begin] = own.word(rows.gradient[i], rows.hessian[i]);
                    }
                    at += end - begin;
                    return;
                }
                for (std::size_t i = begin; i < end; ++i) {
                    if (rows.takes_part[i] == 0) continue;
                    to[at] = static_cast<std::uint32_t>(i);
                    sum += words[at++] = scale.word(rows.gradient[i], rows.hessian[i]);
                }
            });
            stretches_[part] = {offsets_[part], at - offsets_[part]};
            sums_[part] = sum;
        });
        std::pair<std::size_t, Word> all{0, 0};
        for (std::size_t part = 0; part < n_parts_; ++part) {
            all.first += stretches_[part].n;
            all.second += sums_[part];
        }
        return all;
    }

    // Splits the rows of a node between its children, left and left + 1. Returns the number of rows that go left.
    template <class Code, class GoesRight>
    std::size_t divide(std::uint32_t node, std::uint32_t depth, std::uint32_t left, std::size_t n_rows,
                       const Code* codes, GoesRight goes_right, ThreadTeam& team) {
        constexpr std::size_t worth_sharing = 8192;
        stretches_.resize(std::max(stretches_.size(), (left + 2) * n_parts_));
        const auto divide_part = [&](std::size_t part, int) {
            const Stretch from = stretches_[node * n_parts_ + part];
            const std::size_t n_left = move(from, buffers_[depth & 1], buffers_[(depth & 1) ^ 1], codes, goes_right);
            stretches_[left * n_parts_ + part] = {from.begin, n_left};
            stretches_[(left + 1) * n_parts_ + part] = {from.begin + n_left, from.n - n_left};
        };
        if (n_rows >= worth_sharing) {
            team.run(n_parts_, divide_part);
        } else {
            for (std::size_t part = 0; part < n_parts_; ++part) divide_part(part, 0);
        }
        std::size_t n_left = 0;
        for (std::size_t part = 0; part < n_parts_; ++part) n_left += stretches_[left * n_parts_ + part].n;
        return n_left;
    }

    std::span<const std::uint32_t> rows(std::uint32_t node, std::uint32_t depth, std::size_t part) const {
        const Stretch& stretch = stretches_[node * n_parts_ + part];
        return {buffers_[depth & 1].rows.data() + stretch.begin, stretch.n};
    }
    const Word* words(std::uint32_t node, std::uint32_t depth, std::size_t part) const {
        return buffers_[depth & 1].words.data() + stretches_[node * n_parts_ + part].begin;
    }

  private:
    struct Buffer {
        std::vector<std::uint32_t> rows;
        std::vector<Word> words;
    };

    // Rows that go left fill the range from its start, the others from its end. This needs no unpredictable branch, and
    // rows stay in increasing or decreasing order, so that prefetching their codes works.
    template <class Code, class GoesRight>
    static std::size_t move(Stretch stretch, const Buffer& from, Buffer& to, const Code* codes, GoesRight goes_right) {
        const std::uint32_t* rows = from.rows.data();
        const Word* words = from.words.data();
        std::uint32_t* to_rows = to.rows.data();
        Word* to_words = to.words.data();
        std::size_t first = stretch.begin, last = stretch.begin + stretch.n - 1;
        for (std::size_t i = stretch.begin; i < stretch.begin + stretch.n; ++i) {
            const std::uint32_t row = rows[i];
            const std::size_t right = goes_right(codes[row]) ? 1 : 0;
            // Selects one of the two by arithmetic, because compilers turn `?:` into a branch.
            const std::size_t at = first ^ ((first ^ last) & (std::size_t{0} - right));
            to_rows[at] = row;
            to_words[at] = words[i];
            first += 1 - right;
            last -= right;
        }
        return first - stretch.begin;
    }

    std::size_t n_rows_;
    std::size_t n_parts_;
    std::vector<std::size_t> offsets_;  // the first row of each part
    Buffer buffers_[2];
    std::vector<Stretch> stretches_;  // by node, then by part
    std::vector<Word> sums_;
};

}  // namespace committee
