#include "neighbours.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "neighbours_filter.h"
#include "thread_team.h"

namespace committee {
namespace {

// The columns that boxes and cells are made of: enough to tell far from near.
constexpr std::size_t most_box_columns = 16, cell_columns = 8;

std::size_t chunks_of(std::size_t n_columns) { return (n_columns + chunk_columns - 1) / chunk_columns; }

// Puts [begin, end) of the order into cells: halves along the column of the largest range, again and again, each left
// half of a power of two panels, so that every node of the tree is a cell.
void order_by_cells(std::span<const float> turned, std::size_t n_columns, std::span<std::uint32_t> order) {
    if (order.size() <= n_lanes) return;
    auto at = [&](std::uint32_t row, std::size_t column) { return turned[row * n_columns + column]; };
    std::size_t widest = 0;
    float widest_range = -1;
    for (std::size_t j = 0; j < std::min(n_columns, cell_columns); ++j) {
        float low = at(order[0], j), high = low;
        for (const std::uint32_t row : order) {
            low = std::min(low, at(row, j));
            high = std::max(high, at(row, j));
        }
        if (high - low > widest_range) {
            widest_range = high - low;
            widest = j;
        }
    }
    const std::size_t n_panels = (order.size() + n_lanes - 1) / n_lanes;
    const std::size_t n_left = std::bit_floor(n_panels - 1) * n_lanes;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(n_left), order.end(),
                     [&](std::uint32_t one, std::uint32_t other) { return at(one, widest) < at(other, widest); });
    order_by_cells(turned, n_columns, order.first(n_left));
    order_by_cells(turned, n_columns, order.subspan(n_left));
}

std::vector<std::uint32_t> cell_order(std::span<const float> turned, std::size_t n_columns) {
    std::vector<std::uint32_t> order(turned.size() / n_columns);
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    order_by_cells(turned, n_columns, order);
    return order;
}

double norm_of(std::span<const float> point) {
    double square = 0;
    for (const float value : point) square += double{value} * value;
    return std::isnan(square) ? std::numeric_limits<double>::infinity() : std::sqrt(square);
}

// Four sums side by side: always the same four, so always the same bits.
double squared_distance(const double* one, const double* other, std::size_t n_columns) {
    std::array<double, 4> sums{};
    std::size_t j = 0;
    for (; j + 4 <= n_columns; j += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane) {
            const double apart = one[j + lane] - other[j + lane];
            sums[lane] += apart * apart;
        }
    }
    for (std::size_t lane = 0; j < n_columns; ++j, ++lane) {
        const double apart = one[j] - other[j];
        sums[lane] += apart * apart;
    }
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// Columns that are no numbers any more, being too large for single precision, say nothing: the norms say that, too.
float usable(float value) { return std::isfinite(value) ? value : 0.0F; }

using Found = std::pair<double, std::uint32_t>;  // squared distance and row: the order of neighbours

}  // namespace

NeighbourSearch::NeighbourSearch(std::span<const double> known, std::span<const float> turned, std::size_t n_columns)
    : n_columns_(n_columns), n_chunks_(chunks_of(n_columns)) {
    const std::size_t n_known = known.size() / n_columns;
    std::vector<float> sound(turned.size());
    std::transform(turned.begin(), turned.end(), sound.begin(), usable);
    order_ = cell_order(sound, n_columns);
    n_panels_ = (n_known + n_lanes - 1) / n_lanes;
    known_.resize(known.size());
    panels_.resize(n_panels_ * n_chunks_);
    for (std::size_t place = 0; place < n_known; ++place) {
        const std::size_t row = order_[place];
        std::copy_n(known.begin() + static_cast<std::ptrdiff_t>(row * n_columns), n_columns,
                    known_.begin() + static_cast<std::ptrdiff_t>(place * n_columns));
        largest_norm_ = std::max(largest_norm_, norm_of(turned.subspan(row * n_columns, n_columns)));
        for (std::size_t j = 0; j < n_columns; ++j) in_panel(place, j) = sound[row * n_columns + j];
    }
    make_boxes();
}

void NeighbourSearch::make_boxes() {
    const std::size_t n_columns = box_columns();
    std::size_t n_children = n_panels_;
    for (std::size_t points_of_child = n_lanes; n_children > 1; points_of_child *= n_lanes) {
        std::vector<float> boxes(n_children * 2 * n_columns);
        for (std::size_t child = 0; child < n_children; ++child) {
            const std::size_t first = child * points_of_child, end = std::min(first + points_of_child, n_known());
            float* lower = &boxes[child * 2 * n_columns];
            float* upper = lower + n_columns;
            std::fill(lower, upper, std::numeric_limits<float>::infinity());
            std::fill(upper, upper + n_columns, -std::numeric_limits<float>::infinity());
            for (std::size_t place = first; place < end; ++place) {
                for (std::size_t j = 0; j < n_columns; ++j) {
                    const float value = in_panel(place, j);
                    lower[j] = std::min(lower[j], value);
                    upper[j] = std::max(upper[j], value);
                }
            }
        }
        boxes_.push_back(std::move(boxes));
        n_children = (n_children + n_lanes - 1) / n_lanes;
    }
}

std::size_t NeighbourSearch::box_columns() const { return std::min(n_columns_, most_box_columns); }

float& NeighbourSearch::in_panel(std::size_t place, std::size_t column) {
    Chunk& chunk = panels_[column / chunk_columns * n_panels_ + place / n_lanes];
    return chunk.columns[column % chunk_columns][place % n_lanes];
}

// The neighbours of some points that are near each other, found in one walk over the tree.
class BlockSearch {
  public:
    BlockSearch(const NeighbourSearch& search, std::size_t n_neighbours, bool are_known)
        : search_(search),
          n_neighbours_(n_neighbours),
          are_known_(are_known),
          points_(most_asked * search.n_chunks_ * chunk_columns, 0.0F),
          columns_(most_asked * search.box_columns(), 0.0F),
          found_(most_asked) {}

    void find(std::span<const double> asked, std::span<const float> turned, std::span<const std::uint32_t> rows,
              Neighbours& into) {
        const std::size_t n_columns = search_.n_columns_, n_padded = search_.n_chunks_ * chunk_columns;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto point = turned.subspan(rows[i] * n_columns, n_columns);
            std::transform(point.begin(), point.end(), points_.begin() + static_cast<std::ptrdiff_t>(i * n_padded),
                           usable);
            for (std::size_t j = 0; j < search_.box_columns(); ++j) columns_[j * most_asked + i] = usable(point[j]);
            exact_[i] = &asked[rows[i] * n_columns];
            rows_[i] = rows[i];
            // Columns are rounded to single precision, each by at most 2^-24 of it.
            blur_[i] = 0x1.0p-23 * (norm_of(point) + search_.largest_norm_);
            limits_[i] = std::numeric_limits<float>::infinity();
            found_[i].clear();
        }
        visit(search_.boxes_.size(), 0, ~0U >> (most_asked - rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::sort_heap(found_[i].begin(), found_[i].end());
            for (std::size_t k = 0; k < n_neighbours_; ++k) {
                into.distances[rows[i] * n_neighbours_ + k] = std::sqrt(found_[i][k].first);
                into.rows[rows[i] * n_neighbours_ + k] = found_[i][k].second;
            }
        }
    }

  private:
    // The asked points of the set `of` look into a node; level 0 are the panels.
    void visit(std::size_t level, std::size_t node, std::uint32_t of) {
        if (level == 0) return look_at(node, of);
        const std::size_t n_columns = search_.box_columns();
        const std::size_t first = node * n_lanes, n_children = std::min(n_lanes, n_nodes(level - 1) - first);
        std::array<float, n_lanes * most_asked> gaps;
        gaps_to_boxes(&search_.boxes_[level - 1][first * 2 * n_columns], n_children, n_columns, block(), gaps.data());
        // The nearest first: what is found there rules out more of the others.
        const std::array<std::uint32_t, n_lanes> children = nearest_first(gaps, n_children);
        for (std::size_t c = 0; c < n_children; ++c) {
            const std::uint32_t child = children[c];
            const std::uint32_t still = of & points_in_reach(&gaps[child * most_asked], limits_.data());
            if (still != 0) visit(level - 1, first + child, still);
        }
    }

    // The children of a node by the sum of the gaps; numbers beyond the children come last.
    static std::array<std::uint32_t, n_lanes> nearest_first(std::span<const float> gaps, std::size_t n_children) {
        // A sum of at least 0 compares as its bits do; the number of the child, in place of the last, decides on ties.
        std::array<std::int32_t, n_lanes> keys;
        for (std::size_t child = 0; child < n_lanes; ++child) {
            float sum = std::numeric_limits<float>::infinity();
            if (child < n_children) {
                std::array<float, 4> sums{};
                for (std::size_t i = 0; i < most_asked; ++i) sums[i % 4] += gaps[child * most_asked + i];
                sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
            }
            keys[child] = (std::bit_cast<std::int32_t>(sum) & ~15) | static_cast<std::int32_t>(child);
        }
        std::array<std::uint32_t, n_lanes> order;
        for (std::uint32_t child = 0; child < n_lanes; ++child) {
            std::int32_t rank = 0;
            for (const std::int32_t other : keys) rank += other < keys[child] ? 1 : 0;
            order[static_cast<std::size_t>(rank)] = child;
        }
        return order;
    }

    void look_at(std::size_t panel, std::uint32_t of) {
        std::array<std::uint32_t, n_lanes> within;
        const bool is_anybody =
            points_within(&search_.panels_[panel], search_.n_chunks_, search_.n_panels_, block(), of, within.data());
        if (!is_anybody) return;
        const std::size_t first = panel * n_lanes, n_there = std::min(n_lanes, search_.n_known() - first);
        std::uint32_t nearer = 0;
        for (std::size_t lane = 0; lane < n_there; ++lane) {
            for_each(within[lane], [&](std::size_t i) {
                if (measure(i, first + lane)) nearer |= 1U << i;
            });
        }
        for_each(nearer, [&](std::size_t i) {
            if (found_[i].size() == n_neighbours_) limits_[i] = limit_of(i);
        });
    }

    // Whether the point is among the nearest so far.
    bool measure(std::size_t i, std::size_t place) {
        const std::uint32_t row = search_.order_[place];
        if (are_known_ && row == rows_[i]) return false;
        const Found here{squared_distance(exact_[i], &search_.known_[place * search_.n_columns_], search_.n_columns_),
                         row};
        std::vector<Found>& found = found_[i];
        if (found.size() == n_neighbours_) {
            if (!(here < found.front())) return false;
            std::pop_heap(found.begin(), found.end());
            found.pop_back();
        }
        found.push_back(here);
        std::push_heap(found.begin(), found.end());
        return true;
    }

    // No sum of the filter exceeds it for a point that is as near as the farthest of the found ones: it has room for
    // the rounding of the columns, of the sums, and of what is too small for single precision.
    float limit_of(std::size_t i) const {
        const double reach = std::sqrt(found_[i].front().first) + blur_[i];
        const auto n_terms = static_cast<double>(search_.n_chunks_ * chunk_columns);
        const double limit = reach * reach * (1 + (n_terms + 8) * 0x1.0p-23) + n_terms * FLT_MIN;
        return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
    }

    AskedBlock block() const {
        return {points_.data(), columns_.data(), search_.n_chunks_ * chunk_columns, limits_.data()};
    }

    std::size_t n_nodes(std::size_t level) const {
        std::size_t count = search_.n_panels_;
        for (; level > 0; --level) count = (count + n_lanes - 1) / n_lanes;
        return count;
    }

    template <class Body>
    static void for_each(std::uint32_t set, Body body) {
        for (; set != 0; set &= set - 1) body(static_cast<std::size_t>(std::countr_zero(set)));
    }

    const NeighbourSearch& search_;
    std::size_t n_neighbours_;
    bool are_known_;
    std::vector<float> points_, columns_;
    std::array<const double*, most_asked> exact_{};
    std::array<std::uint32_t, most_asked> rows_{};
    std::array<double, most_asked> blur_{};
    std::array<float, most_asked> limits_{};
    std::vector<std::vector<Found>> found_;  // heaps, the farthest on top
};

Neighbours NeighbourSearch::find(std::span<const double> asked, std::span<const float> turned, std::size_t n_neighbours,
                                 bool are_known, int n_threads, const Stop& stop) const {
    const std::size_t n_asked = asked.size() / n_columns_;
    Neighbours found{std::vector<double>(n_asked * n_neighbours), std::vector<std::int64_t>(n_asked * n_neighbours)};
    std::vector<float> sound(turned.size());
    std::transform(turned.begin(), turned.end(), sound.begin(), usable);
    const std::vector<std::uint32_t> order = are_known ? order_ : cell_order(sound, n_columns_);
    // A task of some blocks, each of points near each other.
    constexpr std::size_t task_size = 8 * most_asked;
    for_each_task((n_asked + task_size - 1) / task_size, n_threads, stop, [&](std::size_t task, int) {
        BlockSearch search(*this, n_neighbours, are_known);
        const std::size_t end = std::min((task + 1) * task_size, n_asked);
        for (std::size_t first = task * task_size; first < end; first += most_asked) {
            const std::size_t n_rows = std::min(most_asked, end - first);
            search.find(asked, turned, std::span(order).subspan(first, n_rows), found);
        }
    });
    return found;
}

}  // namespace committee
