#include "c45/pruning.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

namespace committee::c45 {

void collapse(C45Tree& tree) {
    std::vector<double> errors(tree.n_nodes());  // of the whole subtree
    for (std::size_t node = tree.n_nodes(); node-- > 0;) {
        if (tree.column[node] == C45Tree::is_leaf) errors[node] = count_errors(tree.classes(node));
        for (const std::int32_t child : tree.branches(node)) {
            if (child != C45Tree::no_child) errors[node] += errors[static_cast<std::size_t>(child)];
        }
    }
    for (std::size_t node = 0; node < tree.n_nodes(); ++node) {
        if (errors[node] >= count_errors(tree.classes(node)) - 1e-3) tree.column[node] = C45Tree::is_leaf;
    }
}

namespace {

// Sends rows down a tree. The rows of all nodes on the path from the root to the current node are on one stack.
class Router {
  public:
    // The rows [begin, end) of the stack, which take `branch` to `child`.
    struct Segment {
        std::size_t branch;
        std::int32_t child;
        std::size_t begin;
        std::size_t end;
    };
    // How a row with a missing value is split: in proportion to the other rows, or to the training rows.
    enum class Parts { like_rows, like_tree };

    Router(std::span<const C45Column> columns, std::span<const std::int32_t> classes, const Grid& grid,
           std::vector<WeightedRow> rows, Polls& polls)
        : columns_(columns), classes_(classes), grid_(grid), stack_(std::move(rows)), polls_(polls) {}

    std::size_t n_rows() const { return stack_.size(); }
    void shrink(std::size_t n_rows) { stack_.resize(n_rows); }

    void count_classes(std::size_t begin, std::size_t end, std::span<double> class_weights) const {
        std::ranges::fill(class_weights, 0.0);
        for (std::size_t i = begin; i < end; ++i) {
            class_weights[static_cast<std::size_t>(classes_[stack_[i].row])] += stack_[i].weight;
        }
    }

    // Pushes the rows of every non-empty branch onto the stack.
    std::vector<Segment> route(const C45Tree& tree, std::size_t node, std::size_t begin, std::size_t end, Parts parts) {
        polls_.after(8 * (end - begin));
        const C45Column& column = columns_[static_cast<std::size_t>(tree.column[node])];
        if (column.n_categories == C45Column::is_number) {
            std::optional<std::vector<Segment>> segments = route_whole(tree, node, column.numbers, begin, end);
            if (segments) return std::move(*segments);
        }
        const std::span<const std::int32_t> children = tree.branches(node);
        std::vector<double> share(children.size());
        std::vector<std::size_t> places(children.size());
        branch_of_.resize(std::max(branch_of_.size(), end - begin));
        double known = 0;
        std::size_t n_missing = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t b = choose_branch(tree, node, column, stack_[i].row);
            branch_of_[i - begin] = b;
            if (b == takes_all) {
                ++n_missing;
                continue;
            }
            ++places[b];
            share[b] += stack_[i].weight;
            known += stack_[i].weight;
        }
        if (parts == Parts::like_tree) {
            known = tree.weight(node);
            for (std::size_t b = 0; b < children.size(); ++b) {
                share[b] = children[b] == C45Tree::no_child ? 0 : tree.weight(static_cast<std::size_t>(children[b]));
            }
        }
        std::vector<Segment> segments;
        std::size_t top = stack_.size();
        for (std::size_t b = 0; b < children.size(); ++b) {
            share[b] = is_greater(share[b] / known, 0) ? share[b] / known : 0;
            const std::size_t count = places[b] + (share[b] > 0 ? n_missing : 0);
            places[b] = top;
            if (count == 0) continue;
            segments.push_back({b, children[b], top, top + count});
            top += count;
        }
        stack_.resize(top);
        for (std::size_t i = begin; i < end; ++i) {
            const WeightedRow item = stack_[i];
            const std::size_t taken = branch_of_[i - begin];
            if (taken != takes_all) {
                stack_[places[taken]++] = item;
                continue;
            }
            for (const Segment& segment : segments) {
                const std::size_t b = segment.branch;
                if (share[b] > 0) stack_[places[b]++] = {item.row, grid_.round_weight(item.weight * share[b])};
            }
        }
        return segments;
    }

  private:
    // The common case of a numeric column without missing values, with a branch-free loop. Returns nothing if a value
    // is missing.
    std::optional<std::vector<Segment>> route_whole(const C45Tree& tree, std::size_t node,
                                                    std::span<const double> numbers, std::size_t begin,
                                                    std::size_t end) {
        const std::size_t top = stack_.size();
        const double threshold = tree.threshold[node];
        stack_.resize(top + end - begin);
        spare_.resize(std::max(spare_.size(), end - begin));
        std::size_t n_left = 0;
        std::size_t n_right = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const WeightedRow item = stack_[i];
            const double value = numbers[item.row];
            stack_[top + n_left] = item;
            spare_[n_right] = item;
            n_left += value <= threshold ? 1 : 0;
            n_right += value > threshold ? 1 : 0;
        }
        if (n_left + n_right < end - begin) {
            stack_.resize(top);
            return std::nullopt;
        }
        std::copy_n(spare_.begin(), n_right, stack_.begin() + static_cast<std::ptrdiff_t>(top + n_left));
        std::vector<Segment> segments;
        const std::span<const std::int32_t> children = tree.branches(node);
        if (n_left > 0) segments.push_back({0, children[0], top, top + n_left});
        if (n_right > 0) segments.push_back({1, children[1], top + n_left, top + n_left + n_right});
        return segments;
    }

    std::span<const C45Column> columns_;
    std::span<const std::int32_t> classes_;
    const Grid& grid_;
    std::vector<WeightedRow> stack_;
    Polls& polls_;
    std::vector<WeightedRow> spare_;
    std::vector<std::size_t> branch_of_;
};

class PessimisticPruner {
  public:
    PessimisticPruner(C45Tree& tree, Router& router, double confidence, bool subtree_raising)
        : tree_(tree),
          router_(router),
          estimate_(confidence),
          subtree_raising_(subtree_raising),
          class_weights_(static_cast<std::size_t>(tree.n_classes)) {}

    // Returns the estimated errors of the pruned subtree.
    double prune(std::size_t node, std::size_t begin, std::size_t end) {
        // A node that was replaced by its largest branch is pruned again, because its rows have changed.
        while (tree_.column[node] != C45Tree::is_leaf) {
            const std::size_t n_rows = router_.n_rows();
            double as_tree = 0;
            for (const auto& segment : router_.route(tree_, node, begin, end, Router::Parts::like_rows)) {
                as_tree += prune(static_cast<std::size_t>(segment.child), segment.begin, segment.end);
            }
            router_.shrink(n_rows);

            // Quinlan's tolerance of 0.1 errors favours the smaller tree.
            const double as_leaf = estimate_(tree_.classes(node));
            const bool leaf_beats_tree = is_at_most(as_leaf, as_tree + 0.1);
            const std::int32_t largest = find_largest_branch(node);
            double as_branch = std::numeric_limits<double>::infinity();
            if (subtree_raising_) {
                const double too_many = leaf_beats_tree ? as_leaf : as_tree + 0.2;
                as_branch = estimate_branch(largest, begin, end, too_many);
            }
            if (leaf_beats_tree && is_at_most(as_leaf, as_branch + 0.1)) {
                tree_.column[node] = C45Tree::is_leaf;
                break;
            }
            if (!is_at_most(as_branch, as_tree + 0.1)) return as_tree;
            const auto child = static_cast<std::size_t>(largest);
            tree_.column[node] = tree_.column[child];
            tree_.threshold[node] = tree_.threshold[child];
            tree_.first_branch[node] = tree_.first_branch[child];
            recount(node, begin, end);
        }
        return estimate_(tree_.classes(node));
    }

  private:
    // The last one among ties, as in J48.
    std::int32_t find_largest_branch(std::size_t node) const {
        std::int32_t largest = C45Tree::no_child;
        double most = 0;
        for (const std::int32_t child : tree_.branches(node)) {
            if (child == C45Tree::no_child) continue;
            const double weight = tree_.weight(static_cast<std::size_t>(child));
            if (!is_at_least(weight, most)) continue;
            most = weight;
            largest = child;
        }
        return largest;
    }

    // The estimated errors of a subtree on these rows. May return any number above `too_many`, if they exceed it.
    double estimate_branch(std::int32_t node, std::size_t begin, std::size_t end, double too_many) {
        if (node == C45Tree::no_child || tree_.column[static_cast<std::size_t>(node)] == C45Tree::is_leaf) {
            router_.count_classes(begin, end, class_weights_);
            return estimate_(class_weights_);
        }
        const std::size_t n_rows = router_.n_rows();
        double errors = 0;
        for (const auto& segment :
             router_.route(tree_, static_cast<std::size_t>(node), begin, end, Router::Parts::like_rows)) {
            errors += estimate_branch(segment.child, segment.begin, segment.end, too_many - errors);
            if (errors > too_many) break;
        }
        router_.shrink(n_rows);
        return errors;
    }

    // Recomputes the class weights of a subtree for these rows. A branch without a child may get a leaf.
    void recount(std::size_t node, std::size_t begin, std::size_t end) {
        router_.count_classes(begin, end, tree_.classes(node));
        if (tree_.column[node] == C45Tree::is_leaf) return;
        const std::size_t n_rows = router_.n_rows();
        for (const auto& segment : router_.route(tree_, node, begin, end, Router::Parts::like_rows)) {
            if (segment.child == C45Tree::no_child) {
                tree_.branches(node)[segment.branch] = static_cast<std::int32_t>(tree_.n_nodes());
                tree_.column.push_back(C45Tree::is_leaf);
                tree_.threshold.push_back(0);
                tree_.first_branch.push_back(0);
                tree_.distribution.resize(tree_.distribution.size() + class_weights_.size());
            }
            recount(static_cast<std::size_t>(tree_.branches(node)[segment.branch]), segment.begin, segment.end);
        }
        router_.shrink(n_rows);
    }

    C45Tree& tree_;
    Router& router_;
    ErrorEstimate estimate_;
    bool subtree_raising_;
    std::vector<double> class_weights_;
};

// Returns the errors of the pruned subtree on the rows [begin, end) of the router.
double prune_node_by_errors(C45Tree& tree, Router& router, std::size_t node, std::size_t begin, std::size_t end) {
    std::vector<double> class_weights(static_cast<std::size_t>(tree.n_classes));
    const std::size_t majority = find_majority(tree.classes(node));
    const auto count_wrong = [&](std::size_t first, std::size_t last) {
        router.count_classes(first, last, class_weights);
        return sum(class_weights) - class_weights[majority];
    };
    const double as_leaf = count_wrong(begin, end);
    if (tree.column[node] == C45Tree::is_leaf) return as_leaf;
    const std::size_t n_rows = router.n_rows();
    std::vector<bool> is_visited(tree.n_branches(node));
    double as_tree = 0;
    for (const auto& segment : router.route(tree, node, begin, end, Router::Parts::like_tree)) {
        is_visited[segment.branch] = true;
        as_tree += segment.child == C45Tree::no_child
                       ? count_wrong(segment.begin, segment.end)
                       : prune_node_by_errors(tree, router, static_cast<std::size_t>(segment.child), segment.begin,
                                              segment.end);
    }
    router.shrink(n_rows);
    // A subtree that no row reaches makes no errors, and neither does a leaf.
    for (std::size_t b = 0; b < is_visited.size(); ++b) {
        const std::int32_t child = tree.branches(node)[b];
        if (!is_visited[b] && child != C45Tree::no_child)
            tree.column[static_cast<std::size_t>(child)] = C45Tree::is_leaf;
    }
    if (!is_at_most(as_leaf, as_tree)) return as_tree;
    tree.column[node] = C45Tree::is_leaf;
    return as_leaf;
}

}  // namespace

void prune_pessimistically(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                           const Grid& grid, double confidence, bool subtree_raising, std::vector<WeightedRow> rows,
                           Polls& polls) {
    const std::size_t n_rows = rows.size();
    Router router(columns, classes, grid, std::move(rows), polls);
    PessimisticPruner(tree, router, confidence, subtree_raising).prune(0, 0, n_rows);
}

void prune_by_errors(C45Tree& tree, std::span<const C45Column> columns, std::span<const std::int32_t> classes,
                     const Grid& grid, std::vector<WeightedRow> rows, Polls& polls) {
    const std::size_t n_rows = rows.size();
    Router router(columns, classes, grid, std::move(rows), polls);
    prune_node_by_errors(tree, router, 0, 0, n_rows);
}

C45Tree pack(const C45Tree& tree) {
    C45Tree packed;
    packed.n_classes = tree.n_classes;
    packed.n_categories = tree.n_categories;
    std::vector<std::size_t> source{0};
    for (std::size_t node = 0; node < source.size(); ++node) {
        const std::size_t from = source[node];
        packed.column.push_back(tree.column[from]);
        const bool is_leaf = tree.column[from] == C45Tree::is_leaf;
        packed.threshold.push_back(is_leaf ? 0 : tree.threshold[from]);
        packed.first_branch.push_back(is_leaf ? 0 : static_cast<std::int32_t>(packed.branch.size()));
        const auto classes = tree.classes(from);
        packed.distribution.insert(packed.distribution.end(), classes.begin(), classes.end());
        for (const std::int32_t child : tree.branches(from)) {
            packed.branch.push_back(child == C45Tree::no_child ? child : static_cast<std::int32_t>(source.size()));
            if (child != C45Tree::no_child) source.push_back(static_cast<std::size_t>(child));
        }
    }
    return packed;
}

}  // namespace committee::c45
