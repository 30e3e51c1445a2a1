#include <functional>
#include <stdexcept>
#include <string>

#include "check.h"
#include "forest/state.h"
#include "small_tables.h"
#include "tree/stump.h"

using namespace committee;

namespace {

const SmallTable& small_table() {
    static const SmallTable small({random_numbers(200, 1, true), random_numbers(200, 2)},
                                  {random_codes(200, 70, 3, true)}, 70);
    return small;
}

Forest some_forest(bool keep_records) {
    const Table table = small_table().bin();
    const Target target = labels_target(3, random_labels(200, 3, 4));
    std::vector<Tree> trees;
    for (const std::uint32_t max_features : {1U, 3U}) {
        GrowParameters parameters;
        parameters.max_features = max_features;
        parameters.max_depth = 6;
        parameters.keep_records = keep_records;
        trees.push_back(grow_one(table, target, parameters));
    }
    Forest forest = forest_of(table, target, std::move(trees));
    drop_unused_cuts(forest, 2);
    return forest;
}

bool is_refused(const ForestArrays& arrays) {
    try {
        from_arrays(arrays);
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

void a_forest_survives_a_round_trip() {
    for (const bool keep_records : {false, true}) {
        const Forest forest = some_forest(keep_records);
        const Forest back = from_arrays(to_arrays(forest));
        check(same_trees(forest, back));
        check(decisions(forest, small_table()) == decisions(back, small_table()));
        check(back.n_outputs == 3 && back.is_classifier);
        for (std::size_t t = 0; t < forest.trees.size(); ++t) {
            check(back.trees[t].records.size() == forest.trees[t].records.size());
        }
        for (std::size_t j = 0; j < 3; ++j) {
            check(back.binning.columns[j].cuts == forest.binning.columns[j].cuts);
            check(back.binning.columns[j].is_used == forest.binning.columns[j].is_used);
        }
    }
}

void a_stump_and_a_leaf_survive_a_round_trip() {
    const Target target = labels_target(2, random_labels(200, 2, 4));
    const Forest stump = grow_stump(small_table().bin(), target, {}, Criterion::gini);
    check(same_trees(stump, from_arrays(to_arrays(stump))));
    const Target constant = labels_target(2, std::vector<std::uint32_t>(200, 1));
    const Forest leaf = grow_stump(small_table().bin(), constant, {}, Criterion::gini);
    check(same_trees(leaf, from_arrays(to_arrays(leaf))));
}

// Two scores; trees alternate between them.
Forest some_booster() {
    Forest forest = some_forest(false);
    forest.n_outputs = forest.n_scores = 2;
    forest.turns = true;
    forest.start = {0.5, -0.5};
    forest.link = Link::softmax;
    forest.scale = 2;
    return forest;
}

void a_booster_survives_a_round_trip() {
    const Forest booster = some_booster();
    const Forest back = from_arrays(to_arrays(booster));
    check(same_trees(booster, back) && decisions(booster, small_table()) == decisions(back, small_table()));
    check(back.n_scores == 2 && back.turns && back.start == booster.start && back.link == Link::softmax);
    check(back.scale == 2);
    const Forest bare = from_arrays(to_arrays(without_trees(booster)));
    check(decisions(bare, small_table()) == decisions(without_trees(booster), small_table()), "a model without trees");
}

void damaged_boosters_are_refused() {
    const ForestArrays good = to_arrays(some_booster());
    check(!is_refused(good));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    using Damage = std::function<void(ForestArrays&)>;
    const std::vector<std::pair<const char*, Damage>> damages{
        {"no scores", [](auto& a) { a.n_scores = 0; }},
        {"too many scores", [](auto& a) { a.n_scores = a.n_outputs = std::uint64_t{1} << 63; }},
        {"outputs that do not fit", [](auto& a) { a.n_outputs = 3; }},
        {"an unknown link", [](auto& a) { a.link = n_links; }},
        {"a logistic link of two scores", [](auto& a) { a.link = static_cast<std::uint8_t>(Link::logistic); }},
        {"probabilities for regression", [](auto& a) { a.is_classifier = false; }},
        {"an identity link for classification", [](auto& a) { a.link = static_cast<std::uint8_t>(Link::identity); }},
        {"votes that alternate between scores", [](auto& a) { a.link = static_cast<std::uint8_t>(Link::mean); }},
        {"negative votes", [](auto& a) { a.link = static_cast<std::uint8_t>(Link::share); }},
        {"no start", [](auto& a) { a.start.clear(); }},
        {"a start that is not a number", [&](auto& a) { a.start[1] = nan; }},
        {"no scale", [](auto& a) { a.scale = 0; }},
        {"a scale that is not a number", [&](auto& a) { a.scale = nan; }},
        {"a value that is not a number", [&](auto& a) { a.values[0] = nan; }},
        {"scores that overflow", [](auto& a) { a.values[0] = a.start[0] = 1e308; }},
        {"scores that overflow after scaling", [](auto& a) { a.scale = 1e308; }},
    };
    for (const auto& [name, damage] : damages) {
        ForestArrays bad = good;
        damage(bad);
        check(is_refused(bad), name);
    }
    ForestArrays votes = good;
    votes.link = static_cast<std::uint8_t>(Link::share);
    votes.start = {0, 0};
    check(!is_refused(votes));
    votes.values[0] = -0.1;
    check(is_refused(votes), "a negative vote of a leaf");
}

void mixed_records_are_refused() {
    Forest forest = some_forest(true);
    forest.trees[1].records.clear();
    bool refused = false;
    try {
        to_arrays(forest);
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    check(refused);
}

void damaged_forests_are_refused() {
    const ForestArrays good = to_arrays(some_forest(true));
    check(!is_refused(good));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto leaf = static_cast<std::size_t>(std::ranges::find_if(good.nodes, is_leaf) - good.nodes.begin());
    const auto category = static_cast<std::size_t>(
        std::ranges::find_if(good.nodes, [](NodeWord word) { return is_category(word); }) - good.nodes.begin());
    const auto number = static_cast<std::size_t>(
        std::ranges::find_if(good.nodes, [](NodeWord word) { return !is_leaf(word) && !is_category(word); }) -
        good.nodes.begin());
    check(category < good.node_offsets[1] && number < good.node_offsets[1], "the first tree has both kinds");
    const std::uint32_t set = address_of(good.nodes[category]);

    using Damage = std::function<void(ForestArrays&)>;
    const std::vector<std::pair<const char*, Damage>> damages{
        {"no outputs", [](auto& a) { a.n_outputs = 0; }},
        {"other number of outputs", [](auto& a) { a.n_outputs = 2; }},
        {"too many outputs", [](auto& a) { a.n_outputs = std::uint64_t{1} << 63; }},
        {"a start score of a voting forest", [](auto& a) { a.start[0] = 1; }},
        {"no trees", [](auto& a) { a.node_offsets = {0}; }},
        {"no offsets", [](auto& a) { a.node_offsets.clear(); }},
        {"offsets out of order", [](auto& a) { a.node_offsets[1] = a.nodes.size() + 1; }},
        {"offsets do not start at 0", [](auto& a) { a.set_offsets[0] = 1; }},
        {"offsets do not reach the end", [](auto& a) { --a.value_offsets.back(); }},
        {"too few cut offsets", [](auto& a) { a.columns.cut_offsets.pop_back(); }},
        {"an empty tree", [](auto& a) { a.node_offsets[1] = 0; }},
        {"a leaf without a value", [&](auto& a) { a.nodes[leaf] = leaf_word(max_address); }},
        {"a leaf with a column", [&](auto& a) { a.nodes[leaf] |= NodeWord{5} << 16; }},
        {"a leaf with the value of another node", [&](auto& a) { a.nodes[leaf] = leaf_word(0); }},
        {"a child out of bounds", [&](auto& a) { a.nodes[number] |= NodeWord{max_address} << address_shift; }},
        {"a cycle", [&](auto& a) { a.nodes[number] &= (NodeWord{1} << address_shift) - 1; }},
        {"a column out of bounds", [&](auto& a) { a.nodes[number] |= NodeWord{0x7ffff} << 16; }},
        {"a categorical node on a numeric column", [&](auto& a) { a.nodes[number] |= category_bit; }},
        {"stray bits of a category", [&](auto& a) { a.nodes[category] |= 3; }},
        {"a set out of bounds", [&](auto& a) { a.nodes[category] |= NodeWord{max_address} << address_shift; }},
        {"a set too long", [&](auto& a) { a.sets[set + 2] = 0xffffffffU; }},
        {"a set of categories that do not exist", [&](auto& a) { a.sets[set + 1] = 3; }},
        {"a list of categories that do not exist",
         [&](auto& a) {
             a.sets[set + 1] = lists_codes;
             a.sets[set + 3] = 65536;
         }},
        {"the child of a set", [&](auto& a) { a.sets[set] = 0; }},
        {"a value that is not a number", [&](auto& a) { a.values[0] = nan; }},
        {"a negative probability", [&](auto& a) { a.values[0] = -1e-3; }},
        {"probabilities that do not sum to one", [&](auto& a) { a.values[0] = 0.999; }},
        {"an impurity that is not a number", [&](auto& a) { a.impurities[0] = nan; }},
        {"a root of weight 0", [&](auto& a) { a.weights[0] = 0; }},
        {"too few records", [](auto& a) { a.impurities.pop_back(); }},
        {"too few row counts", [](auto& a) { a.n_rows.clear(); }},
        {"cuts out of order", [](auto& a) { std::swap(a.columns.cuts[0], a.columns.cuts[1]); }},
        {"equal cuts", [](auto& a) { a.columns.cuts[0] = a.columns.cuts[1]; }},
        {"a cut that is not a number", [&](auto& a) { a.columns.cuts[0] = nan; }},
        {"bins that do not fit the cuts", [](auto& a) { ++a.columns.n_bins[0]; }},
        {"too many categories", [](auto& a) { a.columns.n_bins[2] = 65536; }},
        {"no categories", [](auto& a) { a.columns.n_bins[2] = 0; }},
        {"another kind of column", [](auto& a) { a.columns.is_category[2] = 0; }},
        {"a column marked as unused", [](auto& a) { a.columns.is_used[0] = 0; }},
        {"columns of other lengths", [](auto& a) { a.columns.lowest.pop_back(); }},
        {"no columns", [](auto& a) { a.columns.n_bins.clear(); }},
    };
    for (const auto& [name, damage] : damages) {
        ForestArrays bad = good;
        damage(bad);
        check(is_refused(bad), name);
    }
}

void two_parents_of_a_node_are_refused() {
    ForestArrays arrays;
    arrays.nodes = {number_word(0, 1, false, 1), number_word(0, 1, false, 3), number_word(0, 1, false, 3), leaf_word(0),
                    leaf_word(0)};
    arrays.node_offsets = {0, 5};
    arrays.set_offsets = {0, 0};
    arrays.values = {1};
    arrays.value_offsets = {0, 1};
    arrays.columns.cuts = {0};
    arrays.columns.cut_offsets = {0, 1};
    arrays.columns.n_bins = {2};
    arrays.columns.is_category = {0};
    arrays.columns.is_used = {1};
    arrays.columns.lowest = {0};
    arrays.columns.highest = {1};
    check(is_refused(arrays));
    arrays.nodes = {number_word(0, 1, false, 1), leaf_word(0), leaf_word(0), leaf_word(0), leaf_word(0)};
    check(is_refused(arrays), "nodes without a parent are refused");
    arrays.nodes = {number_word(0, 1, false, 1), leaf_word(0), number_word(0, 1, false, 3), leaf_word(0), leaf_word(0)};
    check(!is_refused(arrays));
}

// Flips one random bit of a vector.
template <class Element>
void flip_bits(std::vector<Element>& values, Random& random) {
    if (values.empty()) return;
    auto* bytes = reinterpret_cast<unsigned char*>(values.data());
    bytes[random.below(values.size() * sizeof(Element))] ^= static_cast<unsigned char>(1U << random.below(8));
}

void damaged_forests_that_are_accepted_can_predict() {
    for (const bool keep_records : {false, true}) {
        const ForestArrays good = to_arrays(some_forest(keep_records));
        Random random(1, Purpose::permutation);
        int n_accepted = 0;
        for (int trial = 0; trial < 3000; ++trial) {
            ForestArrays bad = good;
            for (std::uint64_t flip = 0; flip <= random.below(2); ++flip) {
                switch (random.below(9)) {
                    case 0:
                        flip_bits(bad.nodes, random);
                        break;
                    case 1:
                        flip_bits(bad.sets, random);
                        break;
                    case 2:
                        flip_bits(bad.node_offsets, random);
                        break;
                    case 3:
                        flip_bits(bad.set_offsets, random);
                        break;
                    case 4:
                        flip_bits(bad.value_offsets, random);
                        break;
                    case 5:
                        flip_bits(bad.columns.cut_offsets, random);
                        break;
                    case 6:
                        flip_bits(bad.columns.cuts, random);
                        break;
                    case 7:
                        flip_bits(bad.columns.n_bins, random);
                        break;
                    default:
                        flip_bits(bad.values, random);
                        break;
                }
            }
            try {
                Forest forest = from_arrays(bad);
                ++n_accepted;
                for (const double value : decisions(forest, small_table())) check(value >= 0 && value <= 1);
                drop_unused_cuts(forest, 2);
                append_trees(forest, Forest(forest));
                decisions(forest, small_table());
            } catch (const std::invalid_argument&) {
            }
        }
        check(n_accepted > 0 && n_accepted < 3000);
    }
}

}  // namespace

int main() {
    a_forest_survives_a_round_trip();
    a_stump_and_a_leaf_survive_a_round_trip();
    a_booster_survives_a_round_trip();
    damaged_boosters_are_refused();
    mixed_records_are_refused();
    damaged_forests_are_refused();
    two_parents_of_a_node_are_refused();
    damaged_forests_that_are_accepted_can_predict();
    return report();
}
