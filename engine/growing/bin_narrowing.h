// Step one of growing, for large nodes whose splits must be exact. Rows are first summed in coarse bins. A bound on the
// merit of the splits inside a bin shows which bins may contain a split better than the best boundary so far. Only the
// rows of these bins are sorted into fine entries.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "growing/histogram.h"
#include "growing/split.h"
#include "tree/node_statistics.h"

namespace committee {

// For statistics whose splits are compared by the variance between the sides (see Sides). With s and w the sums of
// target and weight and d = s_left w - s w_left, it is d^2 / (w_left w_right), up to rounding. Inside a bin, d rises at
// most by the sum over the rows above the node's mean, and falls at most by the sum over the rows below it.
template <class Stat>
class Narrowing {
  public:
    using Item = typename Stat::Item;

    // For smaller nodes, sorting all rows is as fast.
    static constexpr std::size_t fewest_rows = 512;

    void start_node(std::span<const Item> items, const Item& total) {
        total_ = total;
        reaches_.resize(std::max(reaches_.size(), items.size()));
        const double sum = Stat::sum(total), weight = Stat::weight(total);
        for (std::size_t i = 0; i < items.size(); ++i)
            reaches_[i] = std::abs(Stat::sum(items[i]) * weight - sum * Stat::weight(items[i]));
    }

    // No row may have a missing value. best: the merit that a split must exceed.
    void order(std::span<const std::uint16_t> codes, std::span<const Item> items, CodeRange range, double best,
               Histogram<Stat>& histogram, Entries<Stat>& entries) {
        const int shift = std::max(0, static_cast<int>(std::bit_width(range.highest - range.lowest)) - 8);
        const std::size_t n_bins = ((range.highest - range.lowest) >> shift) + 1;
        count(codes, items, range.lowest, shift, n_bins);
        const std::size_t n_fine = mark_fine_bins(n_bins, best);
        if (n_fine > codes.size() / 2) return histogram.order(codes, items, range, false, entries);
        collect_fine_rows(codes, items, range.lowest, shift, n_fine);
        if (n_fine > 0)
            histogram.order({fine_codes_.data(), n_fine}, {fine_items_.data(), n_fine}, fine_range_, false, fine_);
        merge(range, shift, n_bins, n_fine > 0, entries);
    }

  private:
    struct Bin {
        Item item{};
        double reach = 0;
        std::uint32_t n_rows = 0;
        std::uint32_t is_fine = 0;
    };

    void count(std::span<const std::uint16_t> codes, std::span<const Item> items, std::uint32_t lowest, int shift,
               std::size_t n_bins) {
        std::fill_n(bins_.begin(), n_bins, Bin{});
        for (std::size_t i = 0; i < codes.size(); ++i) {
            Bin& bin = bins_[(codes[i] - lowest) >> shift];
            bin.item = bin.item + items[i];
            bin.reach += reaches_[i];
            ++bin.n_rows;
        }
    }

    // Marks the bins that may contain a split better than the best one. Returns the number of rows in them.
    std::size_t mark_fine_bins(std::size_t n_bins, double best) {
        const double sum = Stat::sum(total_), weight = Stat::weight(total_);
        auto difference = [=](const Item& left) { return Stat::sum(left) * weight - sum * Stat::weight(left); };
        Item left{};
        for (std::size_t b = 0; b + 1 < n_bins; ++b) {
            left = left + bins_[b].item;
            const double d = difference(left), w = Stat::weight(left);
            const double merit = d * d / (w * (weight - w));
            if (merit > best) best = merit;
        }
        std::size_t n_fine = 0;
        left = Item{};
        double from = 0;
        for (std::size_t b = 0; b < n_bins; ++b) {
            const double w_low = Stat::weight(left) + 1;
            left = left + bins_[b].item;
            const double w_high = Stat::weight(left) - 1, to = difference(left);
            const double highest = (from + to + bins_[b].reach) / 2, lowest = (from + to - bins_[b].reach) / 2;
            const double reach = std::max(std::abs(highest), std::abs(lowest)) * (1 + 1e-6);
            const double bound = reach * reach / std::min(w_low * (weight - w_low), w_high * (weight - w_high));
            bins_[b].is_fine = bins_[b].n_rows > 1 && bound >= best ? 1 : 0;
            n_fine += bins_[b].is_fine * bins_[b].n_rows;
            from = to;
        }
        return n_fine;
    }

    void collect_fine_rows(std::span<const std::uint16_t> codes, std::span<const Item> items, std::uint32_t lowest,
                           int shift, std::size_t n_fine) {
        fine_codes_.resize(std::max(fine_codes_.size(), n_fine + 1));
        fine_items_.resize(std::max(fine_items_.size(), n_fine + 1));
        std::size_t n = 0;
        std::uint16_t low = 65535, high = 0;
        for (std::size_t i = 0; i < codes.size(); ++i) {
            fine_codes_[n] = codes[i];
            fine_items_[n] = items[i];
            n += bins_[(codes[i] - lowest) >> shift].is_fine;
        }
        for (std::size_t i = 0; i < n; ++i) {
            low = std::min(low, fine_codes_[i]);
            high = std::max(high, fine_codes_[i]);
        }
        fine_range_ = {low, high, false};
    }

    // A coarse bin becomes one entry; a fine bin is replaced by the entries of its rows.
    void merge(CodeRange range, int shift, std::size_t n_bins, bool has_fine, Entries<Stat>& entries) {
        entries.reserve(n_bins + (has_fine ? fine_.size : 0));
        entries.size = 0;
        entries.are_bins = false;
        std::size_t e = 0;
        for (std::size_t b = 0; b < n_bins; ++b) {
            const std::uint32_t last =
                std::min(range.lowest + ((static_cast<std::uint32_t>(b) + 1) << shift) - 1, range.highest);
            if (bins_[b].is_fine == 0) {
                if (bins_[b].n_rows > 0) entries.push(static_cast<std::uint16_t>(last), bins_[b].item, bins_[b].n_rows);
                continue;
            }
            for (; e < fine_.size && fine_.last_code(e) <= last; ++e) {
                if (!fine_.are_bins || Stat::weight(fine_.items[e]) > 0)
                    entries.push(static_cast<std::uint16_t>(fine_.last_code(e)), fine_.items[e], 1);
            }
        }
    }

    Item total_{};
    std::array<Bin, 256> bins_;
    std::vector<double> reaches_;
    std::vector<std::uint16_t> fine_codes_;
    std::vector<Item> fine_items_;
    CodeRange fine_range_;
    Entries<Stat> fine_;
};

}  // namespace committee
