// A block of rows in the format of C4.5 trees.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "c45/ensemble/forest.h"
#include "table/binning.h"

namespace committee {

// The columns that at least one tree splits on.
inline std::vector<bool> find_used(const C45Forest& forest) {
    std::vector<bool> is_used(forest.n_categories.size(), false);
    for (const C45Tree& tree : forest.trees) {
        for (const std::int32_t column : tree.column) {
            if (column != C45Tree::is_leaf) is_used[static_cast<std::size_t>(column)] = true;
        }
    }
    return is_used;
}

// Rows of the caller's columns in the format of C4.5 trees.
class RowBlock {
  public:
    RowBlock(const C45Forest& forest, const std::vector<bool>& is_used, std::span<const ColumnView> views,
             std::size_t begin, std::size_t n_rows)
        : numbers_(views.size()), codes_(views.size()), columns_(views.size()) {
        for (std::size_t j = 0; j < views.size(); ++j) {
            columns_[j].n_categories = forest.n_categories[j];
            if (!is_used[j]) continue;
            if (forest.n_categories[j] == C45Column::is_number) {
                numbers_[j].resize(n_rows);
                read_values(views[j], begin, numbers_[j]);
                columns_[j].numbers = numbers_[j];
            } else {
                codes_[j].resize(n_rows);
                const char* from = static_cast<const char*>(views[j].data);
                for (std::size_t i = 0; i < n_rows; ++i) {
                    const auto at = static_cast<std::ptrdiff_t>(begin + i) * views[j].stride;
                    std::memcpy(&codes_[j][i], from + at, sizeof(std::int32_t));
                }
                columns_[j].codes = codes_[j];
            }
        }
    }

    std::span<const C45Column> columns() const { return columns_; }

  private:
    std::vector<std::vector<double>> numbers_;
    std::vector<std::vector<std::int32_t>> codes_;
    std::vector<C45Column> columns_;
};

}  // namespace committee
