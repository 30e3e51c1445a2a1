#include "boosting/tree/root_histograms.h"

#include <algorithm>
#include <array>

namespace committee {

bool RootHistograms::is_worthwhile(const Table& table, std::size_t n_trees) {
    constexpr std::size_t most_rows = 4096, most_bins = std::size_t{1} << 20;
    return n_trees >= lanes - 1 && table.n_rows() <= most_rows &&
           n_trees * HistogramShape(*table.binning).size <= most_bins;
}

RootHistograms::RootHistograms(const Table& table, const Codes<std::uint8_t>& codes, std::size_t n_trees)
    : shape_(*table.binning), n_rows_(codes.n_rows) {
    const std::size_t n_groups = (n_trees + lanes - 1) / lanes;
    words_.resize(n_groups * n_rows_);
    totals_.resize(n_groups);
    histograms_.resize(n_groups * lanes * shape_.size);
    for (std::size_t j = 0; j < codes.n_columns; ++j) {
        std::array<std::vector<std::uint16_t>, 256> by_code;
        for (std::size_t i = 0; i < n_rows_; ++i) by_code[codes.column(j)[i]].push_back(static_cast<std::uint16_t>(i));
        const auto usual = std::ranges::max_element(by_code, {}, [](const auto& rows) { return rows.size(); });
        const auto begin = static_cast<std::uint32_t>(bins_.size());
        for (auto of_code = by_code.begin(); of_code != by_code.end(); ++of_code) {
            if (of_code == usual || of_code->empty()) continue;
            const auto first = static_cast<std::uint32_t>(rows_.size());
            rows_.insert(rows_.end(), of_code->begin(), of_code->end());
            bins_.push_back({shape_.offsets[j] + static_cast<std::uint32_t>(of_code - by_code.begin()), first,
                             static_cast<std::uint32_t>(rows_.size())});
        }
        columns_.push_back({begin, static_cast<std::uint32_t>(bins_.size()),
                            shape_.offsets[j] + static_cast<std::uint32_t>(usual - by_code.begin())});
    }
}

void RootHistograms::fill(std::span<const BoostRows> rows, std::span<const WordScale> scales, ThreadTeam& team) {
    constexpr std::size_t columns_at_a_time = 16;
    const std::size_t n_groups = totals_.size();
    team.run(n_groups, [&](std::size_t group, int) {
        Words* words = words_.data() + group * n_rows_;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t tree = group * lanes + lane;
            if (tree >= rows.size()) break;
            const BoostRows& own = rows[tree];
            const WordScale scale = scales[tree];
            for (std::size_t i = 0; i < n_rows_; ++i) {
                const bool takes_part = own.takes_part.empty() || own.takes_part[i] != 0;
                words[i].set(lane, takes_part ? scale.word(own.gradient[i], own.hessian[i]) : 0);
            }
        }
        Words total;
        for (std::size_t i = 0; i < n_rows_; ++i) total.add(words[i]);
        totals_[group] = total;
    });
    const std::size_t n_shares = (columns_.size() + columns_at_a_time - 1) / columns_at_a_time;
    team.run(n_groups * n_shares, [&](std::size_t task, int) {
        const std::size_t begin = task / n_groups * columns_at_a_time;
        sum_columns(task % n_groups, begin, std::min(begin + columns_at_a_time, columns_.size()));
    });
}

void RootHistograms::sum_columns(std::size_t group, std::size_t begin, std::size_t end) {
    const Words* words = words_.data() + group * n_rows_;
    Word* histograms = histograms_.data() + group * lanes * shape_.size;
    const auto put = [&](std::uint32_t place, const Words& sums) {
        for (std::size_t lane = 0; lane < lanes; ++lane) histograms[lane * shape_.size + place] = sums.get(lane);
    };
    for (std::size_t j = begin; j < end; ++j) {
        Words left = totals_[group];
        for (std::uint32_t b = columns_[j].begin; b < columns_[j].end; ++b) {
            Words sum;
            for (std::uint32_t at = bins_[b].begin; at < bins_[b].end; ++at) sum.add(words[rows_[at]]);
            left.take(sum);
            put(bins_[b].place, sum);
        }
        put(columns_[j].usual, left);
    }
}

}  // namespace committee
