#include "prediction/top_levels.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

namespace committee {
namespace {

struct Interval {
    std::uint32_t low, high;
};

// A node of the top levels. Its children, if any, come later in the list, next to each other.
struct Twig {
    std::uint32_t node = 0;
    std::size_t left = 0;  // 0 for an exit
    std::size_t first_exit = 0, n_exits = 1;
    std::vector<Interval> right = {};  // the codes that go right at a categorical node
};

// More intervals of a categorical node cost more than a step of each row.
constexpr std::size_t most_intervals = 16;

// The codes from 0 to `highest` that go right at a categorical node, as intervals.
std::vector<Interval> right_codes(const Tree& tree, NodeWord word, std::uint32_t highest) {
    std::vector<Interval> intervals;
    std::uint32_t low = missing_goes_right(word) ? 0 : 1;  // the first code that may go right
    const auto goes_left = [&](std::uint32_t code) {
        if (code > low) intervals.push_back({low, code - 1});
        low = code + 1;
    };
    const std::uint32_t* set = tree.sets.data() + address_of(word);
    const std::span values(set + 3, set[2]);
    // Whether a set contains the code 0, missing, means nothing.
    if (set[1] == lists_codes) {
        for (const std::uint32_t code : values) {
            if (code > 0) goes_left(code);
        }
    } else {
        for (std::size_t at = 0; at < values.size(); ++at) {
            for (std::uint32_t bits = values[at]; bits != 0; bits &= bits - 1) {
                const auto code = static_cast<std::uint32_t>((set[1] + at) * 32 + std::countr_zero(bits));
                if (code > 0) goes_left(code);
            }
        }
    }
    // The interval of all codes has no shift, so it becomes two.
    if (low == 0) intervals.push_back({0, 0});
    if (low <= highest) intervals.push_back({std::max(low, 1U), highest});
    return intervals;
}

// Expands nodes level by level, until there are as many exits as allowed.
std::vector<Twig> top_of(const Tree& tree, std::size_t most_exits, std::uint32_t highest_code) {
    std::vector<Twig> twigs{{}};
    for (std::size_t i = 0; i < twigs.size() && twigs.size() < 2 * most_exits - 1; ++i) {
        const NodeWord word = tree.nodes[twigs[i].node];
        if (is_leaf(word)) continue;
        if (is_category(word)) {
            twigs[i].right = right_codes(tree, word, highest_code);
            if (twigs[i].right.size() > most_intervals) continue;
        }
        twigs[i].left = twigs.size();
        const std::uint32_t left = left_child(tree, word);
        twigs.push_back({left});
        twigs.push_back({left + 1});
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
        const auto ask = [&](const auto& question, auto shifts) {
            const Code* from = codes + question.column * stride;
            const Lanes threshold = shifts ? question.threshold - question.shift : question.threshold;
            for (std::size_t v = 0; v < n_vectors; ++v) {
                Lanes code;
                std::memcpy(&code, from + v * n_lanes, sizeof code);
                if (shifts) code -= question.shift;
                sums[v] |= static_cast<Lanes>(code > threshold) & question.crossed_out;
            }
        };
        const std::size_t categories = levels.category_begins[part], end = levels.part_begins[part + 1];
        for (std::size_t q = levels.part_begins[part]; q < categories; ++q) {
            ask(levels.questions[q], std::bool_constant<has_missing>());
        }
        for (std::size_t q = categories; q < end; ++q) ask(levels.questions[q], std::true_type());
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
    constexpr std::uint32_t highest_code = std::numeric_limits<Code>::max();
    const std::vector<Twig> twigs = top_of(tree, TopLevels<Code>::most_exits, highest_code);
    TopLevels<Code> levels;
    levels.n_exits = twigs[0].n_exits;
    levels.is_whole = true;
    for (const Twig& twig : twigs) {
        if (twig.left > 0) continue;
        levels.exits[twig.first_exit] = twig.node;
        levels.is_whole &= is_leaf(tree.nodes[twig.node]);
    }
    const auto ask = [&](const Twig& twig, std::uint32_t threshold, std::uint32_t shift, std::size_t part) {
        const std::uint64_t on_the_left = (std::uint64_t{1} << twigs[twig.left].n_exits) - 1;
        const auto crossed_out =
            static_cast<Code>((on_the_left << twig.first_exit) >> (part * TopLevels<Code>::part_bits));
        if (crossed_out == 0) return;
        const Lanes zeros{};
        levels.questions.push_back({zeros + static_cast<Code>(threshold), zeros + static_cast<Code>(shift),
                                    zeros + crossed_out, column_of(tree.nodes[twig.node])});
    };
    for (std::size_t part = 0; part < TopLevels<Code>::n_parts; ++part) {
        levels.part_begins[part] = levels.questions.size();
        for (const Twig& twig : twigs) {
            const NodeWord word = tree.nodes[twig.node];
            if (twig.left == 0 || is_category(word)) continue;
            ask(twig, std::min(threshold_of(word), highest_code), missing_goes_right(word) ? 1 : 0, part);
        }
        levels.category_begins[part] = levels.questions.size();
        for (const Twig& twig : twigs) {
            if (twig.left == 0) continue;
            for (const Interval& right : twig.right) ask(twig, right.low - 1, right.high + 1, part);
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
