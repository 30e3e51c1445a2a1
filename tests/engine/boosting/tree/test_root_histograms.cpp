#include <cstdint>
#include <vector>

#include "boosting/tree/root_histograms.h"
#include "check.h"
#include "numbers/random.h"
#include "small_tables.h"

using namespace committee;

namespace {

void root_histograms_are_sums_of_rows() {
    const std::size_t n = 300;
    std::vector<double> mostly(n, 3.0);
    for (std::size_t i = 0; i < n; i += 7) mostly[i] = static_cast<double>(i);
    const SmallTable small({random_numbers(n, 1, true), mostly, std::vector<double>(n, 1.0)}, {random_codes(n, 9, 3)},
                           9);
    const Table table = small.bin({}, 255);
    const auto& codes = std::get<Codes<std::uint8_t>>(table.codes);
    const HistogramShape shape(*table.binning);
    std::vector<std::uint8_t> some(n, 1);
    for (std::size_t i = 0; i < n; i += 3) some[i] = 0;
    for (const std::size_t n_trees : {3U, 6U}) {
        Random random(n_trees, Purpose::split);
        std::vector<float> gradient(n * n_trees), hessian(n * n_trees);
        for (float& value : gradient) value = static_cast<float>(random.uniform() - 0.5);
        for (float& value : hessian) value = static_cast<float>(random.uniform());
        std::vector<BoostRows> rows;
        std::vector<WordScale> scales;
        for (std::size_t k = 0; k < n_trees; ++k) {
            rows.push_back({gradient.data() + k * n, hessian.data() + k * n, {}});
            if (k % 2 == 1) rows.back().takes_part = some;
            scales.push_back(scale_for({static_cast<double>(n + k), static_cast<double>(n), 1.0}, n, false));
        }
        ThreadTeam team(2);
        RootHistograms roots(table, codes, n_trees);
        for (int round = 0; round < 2; ++round) roots.fill(rows, scales, team);
        for (std::size_t k = 0; k < n_trees; ++k) {
            std::vector<Word> expected(shape.size, 0);
            for (std::size_t i = 0; i < n; ++i) {
                if (k % 2 == 1 && some[i] == 0) continue;
                const Word word = scales[k].word(rows[k].gradient[i], rows[k].hessian[i]);
                for (std::size_t j = 0; j < codes.n_columns; ++j) expected[shape.offsets[j] + codes.row(i)[j]] += word;
            }
            check(std::vector<Word>(roots.of_tree(k), roots.of_tree(k) + shape.size) == expected);
        }
    }
}

}  // namespace

int main() {
    root_histograms_are_sums_of_rows();
    return report();
}
