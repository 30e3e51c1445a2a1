"""Test the fixed rules on worked examples of the lecture notes and on random votes."""

import inspect

import numpy as np
import pytest
import rule_oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import trim_mean
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from committee.combining.fixed_rules import FIXED
from committee.combining.rule import FixedRule
from committee.rules import (
    borda,
    geometric_mean,
    majority,
    maximum,
    mean,
    median,
    minimum,
    one_hot,
    plurality,
    product,
    trimmed_mean,
)
from committee.votes import vote_arrays as votes_module

TWO_AGREE = np.array([[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]])
THREE_MEMBERS = np.array([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])
FIVE_LABELS = np.array([[1], [2], [1], [2], [2]]) - 1
NUMBERS = np.array([[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[100.0]]])
FOR_NUMBERS = (mean, median, trimmed_mean)

every_rule = pytest.mark.parametrize("rule", FIXED.values(), ids=FIXED)


def some_votes():
    """Draw votes that are multiples of an eighth, so that zeros and ties are frequent."""
    shapes = st.tuples(st.integers(1, 6), st.integers(1, 4), st.integers(2, 4))
    eighths = st.integers(0, 8).map(lambda n: n / 8)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=eighths))


# The worked examples of the lecture notes. Classes are numbered from 0 here, and support is rescaled to sum
# to one.


def shares(*support):
    return [np.array(support) / sum(support)]


def test_mean_and_maximum_of_two_members_that_agree_and_one_that_does_not():
    np.testing.assert_allclose(mean(TWO_AGREE), [[0.53, 0.47]], atol=0.005)
    np.testing.assert_allclose(maximum(TWO_AGREE), shares(0.7, 0.8))


def test_four_rules_on_three_members():
    np.testing.assert_allclose(mean(THREE_MEMBERS), [[0.5, 0.5]])
    np.testing.assert_allclose(minimum(THREE_MEMBERS), shares(0.2, 0.3))
    np.testing.assert_allclose(maximum(THREE_MEMBERS), shares(0.7, 0.8))
    np.testing.assert_allclose(product(THREE_MEMBERS), shares(0.084, 0.096))


@pytest.mark.parametrize(
    ("weights", "expected"), [([0.7, 0.2, 0.1], [0.33, 0.67]), ([0.2, 0.3, 0.5], [0.57, 0.43])]
)
def test_weighted_mean(weights, expected):
    np.testing.assert_allclose(mean(THREE_MEMBERS, weights), [expected], atol=1e-12)


def test_majority_counts_labels():
    np.testing.assert_allclose(5 * majority(one_hot(FIVE_LABELS, 2)), [[2, 3]])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([0.1, 0.2, 0.2, 0.3, 0.2], [0.3, 0.7]), ([0.4, 0.2, 0.2, 0.1, 0.1], [0.6, 0.4])],
)
def test_weighted_majority(weights, expected):
    np.testing.assert_allclose(majority(one_hot(FIVE_LABELS, 2), weights), [expected], atol=1e-12)


def test_the_majority_of_three_neighbours():
    neighbours = one_hot(np.array([[1], [3], [3]]) - 1, 3)
    assert majority(neighbours).argmax() + 1 == plurality(neighbours).argmax() + 1 == 3


# Cases that the lecture notes do not define.


def test_majority_returns_shares_without_a_majority_and_plurality_a_crisp_decision():
    votes = one_hot([[0, 0], [0, 0], [0, 1], [1, 2]], 3)
    np.testing.assert_allclose(majority(votes), [[0.75, 0.25, 0], [0.5, 0.25, 0.25]])
    np.testing.assert_array_equal(majority(votes).max(axis=1) > 0.5, [True, False])
    np.testing.assert_array_equal(plurality(votes), [[1, 0, 0], [1, 0, 0]])


def test_classes_of_equal_total_weight_share_a_plurality():
    np.testing.assert_array_equal(plurality(one_hot([[2], [1], [1]], 3), [0.3, 0.1, 0.2]), [[0, 0.5, 0.5]])


def test_a_member_with_equal_probabilities_votes_for_the_first_class():
    np.testing.assert_array_equal(majority([[[0.5, 0.5]]]), [[1, 0]])


def test_a_veto_excludes_a_class_unless_all_classes_have_as_many():
    one_veto = [[[0.0, 1e-9, 1.0]], [[1.0, 1e-9, 1e-9]]]
    for rule in (product, geometric_mean):
        assert rule(one_veto)[0, 0] == 0
        # Every class has a veto, and the last class has two.
        np.testing.assert_allclose(rule([[[0.5, 0, 0]], [[0, 0.5, 0]]]), [[0.5, 0.5, 0]])


def test_the_product_of_crisp_votes_is_their_plurality():
    labels = one_hot([[0, 1, 2], [1, 1, 0], [0, 2, 1]], 3)
    np.testing.assert_allclose(product(labels), plurality(labels))


def test_the_minimum_returns_equal_shares_if_all_classes_have_vetoes():
    np.testing.assert_array_equal(minimum(one_hot([[0], [1]], 2)), [[0.5, 0.5]])


def test_the_product_of_many_small_votes_does_not_underflow():
    votes = np.broadcast_to([1e-300, 2e-300], (500, 1, 2))
    assert product(votes)[0, 1] == pytest.approx(1)
    np.testing.assert_allclose(geometric_mean(votes), [[1 / 3, 2 / 3]])


def test_huge_votes_give_finite_decisions():
    for rule in FIXED.values():
        assert np.isfinite(rule(np.full((3, 2, 2), 1.7e308))).all()


def test_the_geometric_mean_of_two_classes_averages_log_odds():
    odds = np.log(THREE_MEMBERS[:, :, 0] / THREE_MEMBERS[:, :, 1]).mean(axis=0)
    np.testing.assert_allclose(geometric_mean(THREE_MEMBERS)[:, 0], 1 / (1 + np.exp(-odds)))


def test_mean_median_and_trimmed_mean_support_regression():
    np.testing.assert_allclose(mean(NUMBERS), [[22]])
    np.testing.assert_allclose(median(NUMBERS), [[3]])
    np.testing.assert_allclose(median(NUMBERS[:4]), [[2.5]])
    np.testing.assert_allclose(trimmed_mean(NUMBERS), [[3]])
    np.testing.assert_allclose(median(NUMBERS, [1, 1, 1, 1, 5]), [[100]])


@pytest.mark.parametrize("trim", [0, 0.1, 0.2, 0.4])
def test_trimming_whole_members_agrees_with_scipy(trim):
    votes = np.random.default_rng(0).normal(size=(10, 7, 1))
    np.testing.assert_allclose(trimmed_mean(votes, trim=trim), trim_mean(votes, trim, axis=0))


def test_no_trimming_is_the_mean_and_maximal_trimming_the_median():
    votes = np.random.default_rng(0).normal(size=(7, 5, 1))
    np.testing.assert_allclose(trimmed_mean(votes, trim=0), mean(votes))
    np.testing.assert_allclose(trimmed_mean(votes, trim=0.499), median(votes))


@every_rule
def test_one_member_and_no_row_are_supported(rule):
    np.testing.assert_allclose(rule([[[1.0, 0.0]]]), [[1, 0]])
    assert rule(np.empty((2, 0, 3))).shape == (0, 3)


# Properties.


@every_rule
@settings(max_examples=25)
@given(votes=some_votes(), data=st.data())
def test_rules_agree_with_the_reference_implementation(rule, votes, data):
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(votes), max_size=len(votes)))
    slow = getattr(rule_oracle, rule.__name__)
    rows = votes.transpose(1, 0, 2).tolist()
    expected = [rule_oracle.rescaled(slow(rule_oracle.repeated(row, weights))) for row in rows]
    np.testing.assert_allclose(rule(votes, weights), expected, rtol=1e-9, atol=1e-12)
    expected = [rule_oracle.rescaled(slow(row)) for row in rows]
    np.testing.assert_allclose(rule(votes), expected, rtol=1e-9, atol=1e-12)


@every_rule
@settings(max_examples=25)
@given(votes=some_votes(), data=st.data())
def test_the_order_of_members_and_rows_changes_nothing(rule, votes, data):
    weights = np.arange(1.0, len(votes) + 1)
    members = data.draw(st.permutations(range(len(votes))))
    np.testing.assert_allclose(rule(votes[members], weights[members]), rule(votes, weights), atol=1e-12)
    np.testing.assert_array_equal(rule(votes[:, ::-1], weights), rule(votes, weights)[::-1])


@every_rule
@settings(max_examples=25)
@given(votes=some_votes())
def test_decisions_sum_to_one(rule, votes):
    decision = rule(votes)
    assert (decision >= 0).all()
    np.testing.assert_allclose(decision.sum(axis=1), 1)


@every_rule
@settings(max_examples=25)
@given(votes=some_votes())
def test_a_member_of_weight_two_is_equal_to_two_members_and_one_of_weight_zero_has_no_effect(rule, votes):
    weights = np.ones(len(votes))
    weights[0] = 2
    twice = np.concatenate([votes[:1], votes])
    np.testing.assert_allclose(rule(votes, weights), rule(twice), rtol=1e-9, atol=1e-12)
    left_out = np.concatenate([1 - votes[:1], votes])
    np.testing.assert_allclose(rule(left_out, [0, *weights]), rule(votes, weights), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("rule", [each for each in FIXED.values() if each is not product])
@settings(max_examples=25)
@given(votes=some_votes())
def test_only_the_ratios_of_weights_matter(rule, votes):
    weights = np.arange(1.0, len(votes) + 1)
    np.testing.assert_allclose(rule(votes, 7 * weights), rule(votes, weights), rtol=1e-9, atol=1e-12)


@every_rule
def test_blocks_of_rows_and_float32_change_nothing(rule, monkeypatch):
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], size=(5, 50)).astype(np.float32)
    whole = rule(votes, [1, 2, 3, 4, 5])
    monkeypatch.setattr(votes_module, "BLOCK_SIZE", 100)
    np.testing.assert_array_equal(rule(votes, [1, 2, 3, 4, 5]), whole)
    np.testing.assert_array_equal(rule(votes.astype(np.float64), [1, 2, 3, 4, 5]), whole)


@every_rule
def test_rules_do_not_modify_votes(rule):
    votes = np.random.default_rng(0).dirichlet([1, 1, 1], size=(5, 50))
    before = votes.copy()
    rule(votes)
    np.testing.assert_array_equal(votes, before)


# Comparison with scikit-learn.


@pytest.mark.parametrize("weights", [None, [3, 1, 2]])
def test_mean_and_majority_agree_with_the_voting_classifier_of_scikit_learn(weights):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 4)), rng.integers(0, 3, size=200)
    members = [("a", LogisticRegression()), ("b", GaussianNB()), ("c", DecisionTreeClassifier(max_depth=3))]
    soft = VotingClassifier(members, voting="soft", weights=weights).fit(X, y)
    hard = VotingClassifier(members, voting="hard", weights=weights).fit(X, y)
    votes = np.array([member.predict_proba(X) for member in soft.estimators_])
    np.testing.assert_allclose(mean(votes, weights), soft.predict_proba(X))
    for rule in (majority, plurality):
        np.testing.assert_array_equal(rule(votes, weights).argmax(axis=1), hard.predict(X))


# Bad input.


@pytest.mark.parametrize("rule", [each for each in FIXED.values() if each not in FOR_NUMBERS])
def test_rules_for_classes_refuse_regression(rule):
    with pytest.raises(ValueError, match=f"^{rule.__name__} decides on classes, .* Use mean or median.$"):
        rule(NUMBERS)


@every_rule
@pytest.mark.parametrize(
    ("votes", "weights", "message"),
    [
        ([[0.5, 0.5]], None, "votes must have the shape .*n_members, n_rows, n_outputs"),
        ([[[0.5, 0.5]], [[0.5]]], None, "votes must have the same rows and outputs for every member"),
        ([[["yes", "no"]]], None, "votes must be numbers. Got <U3. Turn labels into votes with one_hot"),
        ([[[0.5, 0.5]], [[0.5, np.nan]]], None, "votes must be finite. Got nan of member 1 for row 0"),
        ([[[0.5, 0.5], [-0.5, 0.5]]], None, "votes must be >= 0, .* Got -0.5 of member 0 for row 1"),
        (THREE_MEMBERS, [1, 2], "weights must be one number for each of 3 members"),
        (THREE_MEMBERS, [1, 2, -1], "weights must be finite, >= 0 and not all 0"),
        (THREE_MEMBERS, [1, 2, np.nan], "weights must be finite, >= 0 and not all 0"),
        (THREE_MEMBERS, [0, 0, 0], "weights must be finite, >= 0 and not all 0"),
        (THREE_MEMBERS, ["a", "b", "c"], "weights must be numbers"),
    ],
)
def test_bad_votes_and_weights_are_refused(rule, votes, weights, message):
    with pytest.raises(ValueError, match=message) as error:
        rule(votes, weights)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("trim", [0.5, -0.1, np.nan])
def test_an_invalid_trim_is_refused(trim):
    with pytest.raises(ValueError, match=r"trim must be a number in \[0, 0.5\)"):
        trimmed_mean(NUMBERS, trim=trim)


def test_labels_out_of_range_are_refused():
    with pytest.raises(ValueError, match="labels must be integers from 0 to 1"):
        one_hot([1, 2], 2)


def test_one_hot_keeps_the_shape_of_the_labels():
    np.testing.assert_array_equal(one_hot([[2, 0]], 3), [[[0, 0, 1], [1, 0, 0]]])


def test_borda_counts_ranks():
    votes = [[[0.1, 0.2, 0.7]], [[0.4, 0.5, 0.1]]]
    np.testing.assert_allclose(borda(votes), np.array([[0 + 1, 1 + 2, 2 + 0]]) / 6)


def test_every_rule_has_an_example():
    assert all(">>> " in inspect.getdoc(rule) for rule in FIXED.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rule", [mean, median, trimmed_mean, geometric_mean, product])
def test_rounding_does_not_break_ties(rule, dtype):
    """Combine pairs of members with reversed votes, which are always tied."""
    tenths = np.arange(1, 10) / 10
    first = np.stack([1 - tenths, tenths], axis=1)
    for n_pairs in (1, 2, 7):
        votes = np.concatenate([np.roll([first, first[:, ::-1]], shift, axis=1) for shift in range(n_pairs)])
        decision = rule(votes.astype(dtype))
        assert (decision == 0.5).all()


def test_equal_sums_of_float32_votes_are_a_tie():
    votes = np.float32([[[0.4, 0.6]], [[0.5, 0.5]], [[0.7, 0.3]], [[0.4, 0.6]]])
    assert mean(votes).tolist() == [[0.5, 0.5]]
    assert mean(votes - np.float32([[[0, 1e-4]]])).argmax() == 0
    assert mean(votes - np.float32([[[1e-4, 0]]])).argmax() == 1


def test_trim_can_be_set_only_for_the_trimmed_mean():
    votes = np.array([[[3.0]], [[4.0]], [[5.0]], [[6.0]], [[90.0]]])
    assert np.allclose(FixedRule(rule="trimmed_mean", trim=0.3).combine(votes), trimmed_mean(votes, trim=0.3))
    for rule, message in [
        (FixedRule(rule="mean", trim=0.1), "trim is for rule='trimmed_mean'. Got rule='mean'"),
        (FixedRule(rule="trimmed_mean", trim=0.5), r"trim must be a number in \[0, 0\.5\) or None"),
    ]:
        with pytest.raises(ValueError, match=message):
            rule.combine(votes)


def test_labels_as_votes_name_one_hot():
    with pytest.raises(ValueError, match=r"Got \(2, 2\). Turn labels into votes with one_hot"):
        majority([[0, 1], [1, 1]])


def test_support_without_rescaling_is_what_textbooks_print():
    votes = np.array([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])
    printed = {
        "mean": [0.5, 0.5],
        "minimum": [0.2, 0.3],
        "maximum": [0.7, 0.8],
        "product": [0.084, 0.096],
        "geometric_mean": [0.084 ** (1 / 3), 0.096 ** (1 / 3)],
        "median": [0.6, 0.4],
        "majority": [2, 1],
        "borda": [2, 1],
    }
    for name, support in printed.items():
        np.testing.assert_allclose(FIXED[name](votes, rescale=False), [support], atol=1e-12, err_msg=name)
    five = np.array([[[0.48, 0.52]], [[0.3, 0.7]], [[0.3, 0.7]], [[0.7, 0.3]], [[0.9, 0.1]]])
    accuracies = [0.8, 0.5, 0.75, 0.6, 0.9]
    np.testing.assert_allclose(majority(five, accuracies, rescale=False), [[1.5, 2.05]])
    np.testing.assert_allclose(FIXED["product"](votes, [1, 0, 1], rescale=False), [[0.14, 0.24]])
