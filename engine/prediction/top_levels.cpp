#include "prediction/top_levels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace committee {
namespace {

// A node of the top levels. Its children, if any, come later in the list, next to each other.
struct Twig {
    std::uint32_t node = 0;
    std::size_t left = 0;  // 0 for an exit
    std::size_t first_exit = 0, n_exits = 1;
};

// Expands nodes level by level, until there are as many exits as allowed.
std::vector<Twig> top_of(const Tree& tree, std::size_t most_exits) {
    std::vector<Twig> twigs{{}};
    for (std::size_t i = 0; i < twigs.size() && twigs.size() < 2 * most_exits - 1; ++i) {
        const NodeWord word = tree.nodes[twigs[i].node];
        if (is_leaf(word) || is_category(word)) continue;
        twigs[i].left = twigs.size();
        twigs.push_back({address_of(word)});
        twigs.push_back({address_of(word) + 1});
    }
    for (std::size_t i = twigs.size(); i-- > 0;) {
        Twig& twig = twigs[i];
        if (twig.left > 0) twig.n_exits = twigs[twig.left].n_exits + twigs[twig.left + 1].n_exits;
    }
    for (const Twig& twig : twigs) {
        if (twig.left == 0) continue;
        twigs[twig.left].first_exit = twig.first_exit;
        twigs[twig.left + 1].first_exit = twig.first_exit + twigs[twig.left].n_exits;
    }
    return twigs;
}

template <class Code, bool has_missing>
void find_exits_of_chunk(const TopLevels<Code>& levels, const Code* codes, std::size_t stride, std::uint8_t* out) {
    using Lanes = typename TopLevels<Code>::Lanes;
    constexpr std::size_t n_rows = TopLevels<Code>::n_rows, n_lanes = sizeof(Lanes) / sizeof(Code);
    constexpr std::size_t n_vectors = n_rows / n_lanes;
    std::array<std::array<Code, n_rows>, TopLevels<Code>::n_parts> crossed_out;
    for (std::size_t part = 0; part < TopLevels<Code>::n_parts; ++part) {
        std::array<Lanes, n_vectors> sums{};
        for (std::size_t q = levels.part_begins[part]; q < levels.part_begins[part + 1]; ++q) {
            const auto& question = levels.questions[q];
            const Code* from = codes + question.column * stride;
            const Lanes threshold = has_missing ? question.threshold - question.shift : question.threshold;
            for (std::size_t v = 0; v < n_vectors; ++v) {
                Lanes code;
                std::memcpy(&code, from + v * n_lanes, sizeof code);
                if (has_missing) code -= question.shift;
                sums[v] |= static_cast<Lanes>(code > threshold) & question.crossed_out;
            }
        }
        std::memcpy(crossed_out[part].data(), sums.data(), sizeof sums);
    }
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::uint32_t bits = 0;
        for (std::size_t part = 0; part < TopLevels<Code>::n_parts; ++part) {
            bits |= static_cast<std::uint32_t>(crossed_out[part][i]) << (part * TopLevels<Code>::part_bits);
        }
        out[i] = static_cast<std::uint8_t>(std::countr_one(bits));
    }
}

}  // namespace

template <class Code>
TopLevels<Code> make_top_levels(const Tree& tree) {
    using Lanes = typename TopLevels<Code>::Lanes;
    const std::vector<Twig> twigs = top_of(tree, TopLevels<Code>::most_exits);
    TopLevels<Code> levels;
    levels.n_exits = twigs[0].n_exits;
    levels.is_whole = true;
    for (const Twig& twig : twigs) {
        if (twig.left > 0) continue;
        levels.exits[twig.first_exit] = twig.node;
        levels.is_whole &= is_leaf(tree.nodes[twig.node]);
    }
    for (std::size_t part = 0; part < TopLevels<Code>::n_parts; ++part) {
        levels.part_begins[part] = levels.questions.size();
        for (const Twig& twig : twigs) {
            if (twig.left == 0) continue;
            const std::uint64_t on_the_left = (std::uint64_t{1} << twigs[twig.left].n_exits) - 1;
            const auto crossed_out =
                static_cast<Code>((on_the_left << twig.first_exit) >> (part * TopLevels<Code>::part_bits));
            if (crossed_out == 0) continue;
            const NodeWord word = tree.nodes[twig.node];
            const auto threshold =
                static_cast<Code>(std::min<std::uint32_t>(threshold_of(word), std::numeric_limits<Code>::max()));
            const auto shift = static_cast<Code>(missing_goes_right(word) ? 1 : 0);
            const Lanes zeros{};
            levels.questions.push_back({zeros + threshold, zeros + shift, zeros + crossed_out, column_of(word)});
        }
    }
    levels.part_begins.back() = levels.questions.size();
    return levels;
}

template <class Code>
void find_exits(const TopLevels<Code>& levels, const Code* codes, std::size_t stride, std::size_t n_rows,
                bool has_missing, std::uint8_t* out) {
    for (std::size_t begin = 0; begin < n_rows; begin += TopLevels<Code>::n_rows) {
        if (has_missing) {
            find_exits_of_chunk<Code, true>(levels, codes + begin, stride, out + begin);
        } else {
            find_exits_of_chunk<Code, false>(levels, codes + begin, stride, out + begin);
        }
    }
}

template TopLevels<std::uint8_t> make_top_levels(const Tree&);
template TopLevels<std::uint16_t> make_top_levels(const Tree&);
template void find_exits(const TopLevels<std::uint8_t>&, const std::uint8_t*, std::size_t, std::size_t, bool,
                         std::uint8_t*);
template void find_exits(const TopLevels<std::uint16_t>&, const std::uint16_t*, std::size_t, std::size_t, bool,
                         std::uint8_t*);

}  // namespace committee
