"""Test weighted rules on a worked example of the lecture notes and on random votes."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, balanced_accuracy_score, mean_squared_error

from committee.combining.weighted_rules import AccuracyWeightedRule, CAWPERule
from committee.rules import majority, mean, one_hot, rule_named

# Five members that are correct on 16, 10, 15, 12 and 18 of 20 rows, and their votes on a new row.
ACCURACIES = [0.8, 0.5, 0.75, 0.6, 0.9]
NEW = np.array([[0.48, 0.52], [0.3, 0.7], [0.3, 0.7], [0.7, 0.3], [0.9, 0.1]])[:, np.newaxis]
Y = np.arange(20) % 2
HONEST = one_hot([np.where(np.arange(20) < 20 * accuracy, Y, 1 - Y) for accuracy in ACCURACIES], 2)


def some_honest():
    """Draw votes of up to 5 members and y, for up to 12 rows of 3 classes."""
    seeds = st.tuples(st.integers(1, 5), st.integers(1, 12), st.integers(0, 10**6))

    def draw(args):
        n_members, n_rows, seed = args
        rng = np.random.default_rng(seed)
        return rng.dirichlet([1, 1, 1], size=(n_members, n_rows)), rng.integers(0, 3, n_rows)

    return seeds.map(draw)


def test_the_majority_agrees_with_the_lecture_notes():
    np.testing.assert_allclose(5 * majority(NEW), [[2, 3]])


@pytest.mark.parametrize(
    ("rule", "power", "crisp", "support", "share"),
    [
        (AccuracyWeightedRule(of="labels"), 1, True, [1.5, 2.05], [0.42, 0.58]),
        (AccuracyWeightedRule(), 1, False, [1.99, 1.56], [0.56, 0.44]),
        (CAWPERule(alpha=1), 1, False, [1.99, 1.56], [0.56, 0.44]),
        (CAWPERule(), 4, False, [0.99, 0.58], [0.63, 0.37]),
    ],
)
def test_weighted_rules_agree_with_the_lecture_notes(rule, power, crisp, support, share):
    rule.fit(HONEST, Y)
    np.testing.assert_allclose(rule.scores_, ACCURACIES)
    np.testing.assert_allclose(rule.combine(NEW), [share], atol=0.005)
    votes = one_hot(NEW.argmax(axis=2), 2) if crisp else NEW
    np.testing.assert_allclose((rule.scores_**power) @ votes[:, 0], support, atol=0.006)


def test_named_weighted_rules_weigh_by_accuracy():
    assert rule_named("weighted_majority").fit(HONEST, Y).combine(NEW)[0, 0] == pytest.approx(1.5 / 3.55)
    assert rule_named("weighted_mean").fit(HONEST, Y).combine(NEW)[0, 0] == pytest.approx(1.989 / 3.55)


@settings(max_examples=50)
@given(some_honest(), st.integers(0, 10**6))
def test_scores_agree_with_scikit_learn(honest, seed):
    votes, y = honest
    weights = np.random.default_rng(seed).integers(0, 3, len(y)) + (np.arange(len(y)) == 0)
    labels = votes.argmax(axis=2)
    kept = weights > 0
    rule = AccuracyWeightedRule().fit(votes, y, sample_weight=weights)
    expected = [accuracy_score(y, label, sample_weight=weights) for label in labels]
    np.testing.assert_allclose(rule.scores_, expected)
    rule = AccuracyWeightedRule(score="balanced_accuracy").fit(votes, y, sample_weight=weights)
    present = np.unique(y[kept])
    expected = [
        np.mean([np.average(label[y == c] == c, weights=weights[y == c]) for c in present])
        for label in labels
    ]
    np.testing.assert_allclose(rule.scores_, expected)


def test_balanced_accuracy_agrees_with_scikit_learn():
    rng = np.random.default_rng(0)
    votes, y = rng.dirichlet([1, 1, 1], size=(4, 60)), rng.integers(0, 3, 60)
    rule = AccuracyWeightedRule(score="balanced_accuracy").fit(votes, y)
    expected = [balanced_accuracy_score(y, label) for label in votes.argmax(axis=2)]
    np.testing.assert_allclose(rule.scores_, expected)
    rule = AccuracyWeightedRule(score="balanced_accuracy", per_class=True).fit(votes, y)
    expected = [
        [balanced_accuracy_score(y == c, label == c) for c in range(3)] for label in votes.argmax(axis=2)
    ]
    np.testing.assert_allclose(rule.scores_, expected)


def test_accuracy_per_class_is_that_of_the_class_against_all_others():
    rng = np.random.default_rng(0)
    votes, y = rng.dirichlet([1, 1, 1], size=(4, 60)), rng.integers(0, 3, 60)
    rule = AccuracyWeightedRule(per_class=True).fit(votes, y)
    expected = [[np.mean((label == c) == (y == c)) for c in range(3)] for label in votes.argmax(axis=2)]
    np.testing.assert_allclose(rule.scores_, expected)
    support = (rule.weights_[:, np.newaxis] * votes).sum(axis=0)
    np.testing.assert_allclose(rule.combine(votes), support / support.sum(axis=1, keepdims=True))


def test_log_odds_are_zero_at_chance_and_finite_for_a_member_that_is_always_correct():
    labels = [Y, 1 - Y, np.zeros(20, dtype=int), np.where(np.arange(20) < 15, Y, 1 - Y)]
    rule = AccuracyWeightedRule(of="labels", score="log_odds").fit(one_hot(labels, 2), Y)
    np.testing.assert_allclose(rule.scores_, [math.log(19.5 / 0.5), 0, 0, math.log(3)], atol=1e-12)


def test_log_odds_treat_a_row_of_weight_two_as_two_rows():
    labels = one_hot([Y, np.where(np.arange(20) < 15, Y, 1 - Y)], 2)
    weights = 1 + np.arange(20) % 2
    rows = np.repeat(np.arange(20), weights)
    weighted = AccuracyWeightedRule(score="log_odds").fit(labels, Y, sample_weight=weights)
    repeated = AccuracyWeightedRule(score="log_odds").fit(labels[:, rows], Y[rows])
    np.testing.assert_allclose(weighted.scores_, repeated.scores_)


def test_inverse_loss_is_one_divided_by_the_brier_score():
    rng = np.random.default_rng(0)
    votes, y = rng.dirichlet([1, 1, 1], size=(4, 60)), rng.integers(0, 3, 60)
    losses = [
        sum((vote[r][c] - (y[r] == c)) ** 2 for r in range(60) for c in range(3)) / 60 for vote in votes
    ]
    rule = AccuracyWeightedRule(score="inverse_loss").fit(votes, y)
    np.testing.assert_allclose(rule.weights_, (1 / np.array(losses)) / sum(1 / np.array(losses)))
    crisp = AccuracyWeightedRule(of="labels", score="inverse_loss").fit(votes, y)
    errors = [np.mean(label != y) for label in votes.argmax(axis=2)]
    np.testing.assert_allclose(crisp.weights_, (1 / np.array(errors)) / sum(1 / np.array(errors)))


def test_members_of_a_regression_are_weighed_by_one_divided_by_the_squared_error():
    rng = np.random.default_rng(0)
    y = rng.normal(size=30)
    votes = (y + rng.normal(size=(3, 30)) * [[1], [2], [3]])[:, :, np.newaxis]
    rule = AccuracyWeightedRule().fit(votes, y)
    inverse = [1 / mean_squared_error(y, vote) for vote in votes]
    np.testing.assert_allclose(rule.weights_, np.array(inverse) / sum(inverse))
    np.testing.assert_allclose(rule.combine(votes), mean(votes, inverse))


def test_a_member_without_errors_gets_all_the_weight_in_regression():
    rule = AccuracyWeightedRule().fit([[[1.0], [2.0]], [[1.0], [3.0]]], [1.0, 2.0])
    np.testing.assert_allclose(rule.weights_, [1, 0], atol=1e-8)
    both = AccuracyWeightedRule().fit([[[1.0], [2.0]], [[1.0], [2.0]]], [1.0, 2.0])
    np.testing.assert_allclose(both.weights_, [0.5, 0.5])


@pytest.mark.parametrize("parameters", [{"score": "accuracy"}, {"per_class": True}])
def test_scores_for_classes_are_refused_for_regression(parameters):
    with pytest.raises(ValueError, match=r"needs votes for classes\. For a regression use"):
        AccuracyWeightedRule(**parameters).fit([[[1.0]]], [1.0])


@settings(max_examples=50)
@given(some_honest())
def test_an_exponent_of_zero_is_the_mean_and_a_large_one_selects_the_best(honest):
    votes, y = honest
    np.testing.assert_allclose(CAWPERule(alpha=0).fit(votes, y).combine(votes), mean(votes))
    rule = CAWPERule(alpha=1e6).fit(votes, y)
    best = rule.scores_ == rule.scores_.max()
    np.testing.assert_allclose(rule.combine(votes), mean(votes, best), atol=1e-9)


def test_members_that_are_always_wrong_get_equal_weights():
    wrong = one_hot([1 - Y, 1 - Y], 2)
    for rule in (CAWPERule(), AccuracyWeightedRule(), AccuracyWeightedRule(of="labels", score="log_odds")):
        np.testing.assert_allclose(rule.fit(wrong, Y).weights_, [0.5, 0.5])


def test_cawpe_takes_known_accuracies():
    votes = np.array([[[0.48, 0.52]], [[0.3, 0.7]], [[0.3, 0.7]], [[0.7, 0.3]], [[0.9, 0.1]]])
    accuracies = [0.8, 0.5, 0.75, 0.6, 0.9]
    for alpha, printed in ((1, [0.56, 0.44]), (4, [0.63, 0.37])):
        rule = CAWPERule(alpha=alpha, accuracies=accuracies)
        assert not rule.needs_fit
        np.testing.assert_allclose(rule.combine(votes).round(2), [printed])
        fitted = CAWPERule(alpha=alpha, accuracies=accuracies).fit(votes, [0])
        np.testing.assert_array_equal(fitted.combine(votes), rule.combine(votes))
        np.testing.assert_allclose(
            fitted.weights_, np.array(accuracies) ** alpha / (np.array(accuracies) ** alpha).sum()
        )
    with pytest.raises(ValueError, match="accuracies must be one number for each of 5 members"):
        CAWPERule(accuracies=[0.5]).combine(votes)
