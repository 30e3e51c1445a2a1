#include "neighbours/neighbours.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "neighbours/filter.h"
#include "threads/thread_team.h"

namespace committee {
namespace {

// The number of columns used for boxes and cells. A few suffice to separate distant points.
constexpr std::size_t most_box_columns = 8, cell_columns = 8;

std::size_t chunks_of(std::size_t n_columns) { return (n_columns + chunk_columns - 1) / chunk_columns; }

// The columns that cells are made from, stored contiguously because they are read often.
struct CellPoints {
    std::vector<std::array<float, cell_columns>> points;

    CellPoints(std::span<const float> rotated, std::size_t n_columns) : points(rotated.size() / n_columns) {
        for (std::size_t row = 0; row < points.size(); ++row) {
            std::copy_n(rotated.begin() + static_cast<std::ptrdiff_t>(row * n_columns),
                        std::min(n_columns, cell_columns), points[row].begin());
        }
    }

    std::size_t widest(std::span<const std::uint32_t> rows) const {
        std::array<float, cell_columns> low = points[rows[0]], range = low;
        for (const std::uint32_t row : rows) {
            for (std::size_t j = 0; j < cell_columns; ++j) {
                low[j] = std::min(low[j], points[row][j]);
                range[j] = std::max(range[j], points[row][j]);
            }
        }
        for (std::size_t j = 0; j < cell_columns; ++j) range[j] -= low[j];
        return static_cast<std::size_t>(std::max_element(range.begin(), range.end()) - range.begin());
    }

    // Splits rows into two halves along the widest column. The number of panels in the left half is a power of two, so
    // that every node of the tree is a cell. Returns the size of the left half, or 0 for a single panel.
    std::size_t halve(std::span<std::uint32_t> rows) const {
        if (rows.size() <= n_lanes) return 0;
        const std::size_t column = widest(rows);
        const std::size_t n_panels = (rows.size() + n_lanes - 1) / n_lanes;
        const std::size_t n_left = std::bit_floor(n_panels - 1) * n_lanes;
        std::nth_element(
            rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(n_left), rows.end(),
            [&](std::uint32_t one, std::uint32_t other) { return points[one][column] < points[other][column]; });
        return n_left;
    }

    void halve_all(std::span<std::uint32_t> rows) const {
        if (const std::size_t n_left = halve(rows); n_left > 0) {
            halve_all(rows.first(n_left));
            halve_all(rows.subspan(n_left));
        }
    }
};

// Orders rows such that close points are close in the order.
std::vector<std::uint32_t> cell_order(std::span<const float> rotated, std::size_t n_columns, int n_threads,
                                      const Stop& stop) {
    const CellPoints cells(rotated, n_columns);
    std::vector<std::uint32_t> order(cells.points.size());
    std::iota(order.begin(), order.end(), std::uint32_t{0});
    // One thread makes the first splits, until every thread has some parts.
    std::vector<std::span<std::uint32_t>> parts{order};
    for (int turn = 1; turn < 2 * n_threads && n_threads > 1; turn *= 2) {
        std::vector<std::span<std::uint32_t>> halves;
        for (const std::span<std::uint32_t> part : parts) {
            const std::size_t n_left = cells.halve(part);
            halves.push_back(part.first(n_left));
            halves.push_back(part.subspan(n_left));
        }
        parts = std::move(halves);
    }
    for_each_task(parts.size(), n_threads, stop, [&](std::size_t part, int) { cells.halve_all(parts[part]); });
    return order;
}

double norm_of(std::span<const float> point) {
    double square = 0;
    for (const float value : point) square += double{value} * value;
    return std::isnan(square) ? std::numeric_limits<double>::infinity() : std::sqrt(square);
}

// Four partial sums, always in the same order, so the bits are always the same.
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

// A value that is not finite in single precision is ignored. The norms account for it.
float usable(float value) { return std::isfinite(value) ? value : 0.0F; }

using Found = std::pair<double, std::uint32_t>;  // squared distance and row; sorts neighbours

}  // namespace

NeighbourSearch::NeighbourSearch(std::span<const double> known, std::span<const float> rotated, std::size_t n_columns,
                                 int n_threads, const Stop& stop)
    : n_columns_(n_columns), n_chunks_(chunks_of(n_columns)) {
    const std::size_t n_known = known.size() / n_columns;
    std::vector<float> sound(rotated.size());
    std::transform(rotated.begin(), rotated.end(), sound.begin(), usable);
    order_ = cell_order(sound, n_columns, n_threads, stop);
    n_panels_ = (n_known + n_lanes - 1) / n_lanes;
    known_.resize(known.size());
    panels_.resize(n_panels_ * n_chunks_);
    for (std::size_t place = 0; place < n_known; ++place) {
        const std::size_t row = order_[place];
        std::copy_n(known.begin() + static_cast<std::ptrdiff_t>(row * n_columns), n_columns,
                    known_.begin() + static_cast<std::ptrdiff_t>(place * n_columns));
        largest_norm_ = std::max(largest_norm_, norm_of(rotated.subspan(row * n_columns, n_columns)));
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

// Finds the neighbours of a block of nearby queries in one traversal of the tree.
class BlockSearch {
  public:
    BlockSearch(const NeighbourSearch& search, std::size_t n_neighbours, bool are_known)
        : search_(search),
          n_neighbours_(n_neighbours),
          are_known_(are_known),
          points_(most_queries * search.n_chunks_ * chunk_columns, 0.0F),
          columns_(most_queries * search.box_columns(), 0.0F),
          found_(most_queries) {}

    void find(std::span<const double> queries, std::span<const float> rotated, std::span<const std::uint32_t> rows,
              Neighbours& into) {
        const std::size_t n_columns = search_.n_columns_, n_padded = search_.n_chunks_ * chunk_columns;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto point = rotated.subspan(rows[i] * n_columns, n_columns);
            std::transform(point.begin(), point.end(), points_.begin() + static_cast<std::ptrdiff_t>(i * n_padded),
                           usable);
            for (std::size_t j = 0; j < search_.box_columns(); ++j) columns_[j * most_queries + i] = usable(point[j]);
            exact_[i] = &queries[rows[i] * n_columns];
            rows_[i] = rows[i];
            // Rounding a column to single precision changes it by a factor of at most 2^-24.
            blur_[i] = 0x1.0p-23 * (norm_of(point) + search_.largest_norm_);
            limits_[i] = std::numeric_limits<float>::infinity();
            found_[i].clear();
        }
        visit(search_.boxes_.size(), 0, ~0U >> (most_queries - rows.size()));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            for (std::size_t k = 0; k < n_neighbours_; ++k) {
                into.distances[rows[i] * n_neighbours_ + k] = std::sqrt(found_[i][k].first);
                into.rows[rows[i] * n_neighbours_ + k] = found_[i][k].second;
            }
        }
    }

  private:
    // Visits a node for the queries in the set `of`. The nodes of level 0 are the panels.
    void visit(std::size_t level, std::size_t node, std::uint32_t of) {
        if (level == 0) return look_at(node, of);
        const std::size_t n_columns = search_.box_columns();
        const std::size_t first = node * n_lanes, n_children = std::min(n_lanes, n_nodes(level - 1) - first);
        std::array<float, n_lanes * most_queries> gaps;
        std::array<float, n_lanes> totals;
        totals.fill(std::numeric_limits<float>::infinity());
        gaps_to_boxes(&search_.boxes_[level - 1][first * 2 * n_columns], n_children, n_columns, block(), gaps.data(),
                      totals.data());
        // Visits the nearest child first, because the points found there rule out more of the others.
        const std::array<std::uint32_t, n_lanes> children = lowest_first(totals);
        for (std::size_t c = 0; c < n_children; ++c) {
            const std::uint32_t child = children[c];
            const std::uint32_t still = of & points_in_reach(&gaps[child * most_queries], limits_.data());
            if (still != 0) visit(level - 1, first + child, still);
        }
    }

    // The children of a node sorted by total gap. Lanes without a child come last.
    static std::array<std::uint32_t, n_lanes> lowest_first(const std::array<float, n_lanes>& totals) {
        // Nonnegative floats compare like their bits. The lowest four bits are replaced by the child's number, which
        // breaks ties.
        std::array<std::int32_t, n_lanes> keys;
        for (std::size_t child = 0; child < n_lanes; ++child) {
            keys[child] = (std::bit_cast<std::int32_t>(totals[child]) & ~15) | static_cast<std::int32_t>(child);
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
        const std::size_t first = panel * n_lanes;
        std::array<std::uint32_t, n_lanes> within;
        const bool may_be_near =
            points_within(&search_.panels_[panel], search_.n_chunks_, search_.n_panels_, block(), of, within.data());
        if (!may_be_near) return;
        std::array<std::uint32_t, most_queries> lanes{};
        const std::size_t n_there = std::min(n_lanes, search_.n_known() - first);
        for (std::size_t lane = 0; lane < n_there; ++lane) {
            for_each(within[lane], [&](std::size_t i) { lanes[i] |= 1U << lane; });
        }
        for_each(of, [&](std::size_t i) { measure_all(i, first, lanes[i]); });
    }

    // Computes the exact distances from a query to some of the sixteen points that start at position `first`.
    void measure_all(std::size_t i, std::size_t first, std::uint32_t lanes) {
        bool is_nearer = false;
        for_each(lanes, [&](std::size_t lane) { is_nearer |= measure(i, first + lane); });
        if (is_nearer && found_[i].size() == n_neighbours_) limits_[i] = limit_of(i);
    }

    // Returns whether the point is among the nearest so far.
    bool measure(std::size_t i, std::size_t place) {
        const std::uint32_t row = search_.order_[place];
        if (are_known_ && row == rows_[i]) return false;
        const Found here{squared_distance(exact_[i], &search_.known_[place * search_.n_columns_], search_.n_columns_),
                         row};
        std::vector<Found>& found = found_[i];
        if (found.size() == n_neighbours_) {
            if (!(here < found.back())) return false;
            found.pop_back();
        }
        found.insert(std::upper_bound(found.begin(), found.end(), here), here);
        return true;
    }

    // The limit for the filter's sums. A point as near as the farthest neighbour found so far never exceeds it: it
    // allows for the rounding of columns and sums, and for underflow in single precision.
    float limit_of(std::size_t i) const {
        const double reach = std::sqrt(found_[i].back().first) + blur_[i];
        const auto n_terms = static_cast<double>(search_.n_chunks_ * chunk_columns);
        const double limit = reach * reach * (1 + (n_terms + 8) * 0x1.0p-23) + n_terms * FLT_MIN;
        return std::nextafter(static_cast<float>(limit), std::numeric_limits<float>::infinity());
    }

    QueryBlock block() const {
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
    std::array<const double*, most_queries> exact_{};
    std::array<std::uint32_t, most_queries> rows_{};
    std::array<double, most_queries> blur_{};
    std::array<float, most_queries> limits_{};
    std::vector<std::vector<Found>> found_;  // by increasing distance
};

Neighbours NeighbourSearch::find(std::span<const double> queries, std::span<const float> rotated,
                                 std::size_t n_neighbours, bool are_known, int n_threads, const Stop& stop) const {
    const std::size_t n_queries = queries.size() / n_columns_;
    Neighbours found{std::vector<double>(n_queries * n_neighbours),
                     std::vector<std::int64_t>(n_queries * n_neighbours)};
    std::vector<float> sound(rotated.size());
    std::transform(rotated.begin(), rotated.end(), sound.begin(), usable);
    const std::vector<std::uint32_t> order = are_known ? order_ : cell_order(sound, n_columns_, n_threads, stop);
    // A task is several blocks, each of nearby queries.
    constexpr std::size_t task_size = 8 * most_queries;
    for_each_task((n_queries + task_size - 1) / task_size, n_threads, stop, [&](std::size_t task, int) {
        BlockSearch search(*this, n_neighbours, are_known);
        const std::size_t end = std::min((task + 1) * task_size, n_queries);
        for (std::size_t first = task * task_size; first < end; first += most_queries) {
            const std::size_t n_rows = std::min(most_queries, end - first);
            search.find(queries, rotated, std::span(order).subspan(first, n_rows), found);
        }
    });
    return found;
}

}  // namespace committee
