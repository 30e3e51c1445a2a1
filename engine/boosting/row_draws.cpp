#include "boosting/row_draws.h"

#include <algorithm>
#include <vector>

#include "growing/row_sampling.h"
#include "numbers/random.h"

namespace committee {

// Numeric targets are compared by rank, which does not depend on their unit.
RowDraws::RowDraws(const Table& table, const Observed& observed, double share, int n_threads, const Stop& stop)
    : observed_(observed),
      share_(share),
      has_weightless_(std::ranges::any_of(observed.weights, [](double weight) { return !(weight > 0); })) {
    if (share == 1) return;
    std::vector<std::uint64_t> targets(observed.labels.begin(), observed.labels.end());
    if (targets.empty()) {
        std::vector<double> distinct(observed.numbers.begin(), observed.numbers.end());
        std::ranges::sort(distinct);
        distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
        for (const double number : observed.numbers) {
            targets.push_back(
                static_cast<std::uint64_t>(std::ranges::lower_bound(distinct, number) - distinct.begin()));
        }
    }
    const auto weights = observed.weights.empty() ? std::vector<std::uint32_t>() : fixed_weights(observed.weights);
    const auto order = order_by_content(table, targets, n_threads, stop, weights);
    places_.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
        places_[order[place]] = static_cast<std::uint32_t>(place);
    }
}

void RowDraws::draw(std::uint64_t key, DrawnRows& rows) const {
    if (!are_needed()) return;
    const auto weights = observed_.weights;
    const std::uint64_t row_key = derive_key(key, static_cast<std::uint64_t>(Purpose::bootstrap));
    const std::size_t n_rows = observed_.n_rows();
    rows.takes_part.resize(n_rows);
    rows.absent.clear();
    for (std::size_t i = 0; i < n_rows; ++i) {
        const bool is_drawn = places_.empty() || to_share(mix(row_key + places_[i])) < share_;
        const bool takes_part = is_drawn && (weights.empty() || weights[i] > 0);
        rows.takes_part[i] = takes_part ? 1 : 0;
        if (!takes_part) rows.absent.push_back(static_cast<std::uint32_t>(i));
    }
}

}  // namespace committee
