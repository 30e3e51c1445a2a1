"""Test Bayesian model averaging, which selects one member on many rows, and Bayesian model combination."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from committee.combining.bayesian_rules import BayesianAveragingRule, BayesianCombinationRule
from committee.rules import mean, one_hot

FEW = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]])


def two_halves(n_rows):
    """Return two members that are correct on one half of the rows each, the first slightly better."""
    y = np.arange(n_rows) // 2 % 2
    knows = np.arange(n_rows) % 2 == 0
    right = np.array([np.where(knows, 0.9, 0.3), np.where(knows, 0.28, 0.9)])
    votes = np.where(one_hot(y, 2) == 1, right[:, :, np.newaxis], 1 - right[:, :, np.newaxis])
    return votes, y


def test_averaging_selects_one_member_on_many_rows_and_combination_does_not():
    averaged, combined = [], []
    for n_rows in (20, 200, 2000):
        votes, y = two_halves(n_rows)
        averaged.append(BayesianAveragingRule().fit(votes, y).weights_[0])
        combined.append(BayesianCombinationRule(random_state=0).fit(votes, y).weights_[0])
    assert 0.5 < averaged[0] < averaged[1] < averaged[2]
    assert averaged[2] > 1 - 1e-12
    np.testing.assert_allclose(combined, 0.5, atol=0.05)


def test_the_best_mixture_has_a_higher_likelihood_than_any_member():
    rule = BayesianCombinationRule(random_state=0).fit(*two_halves(200))
    assert rule.log_likelihood_ > rule.scores_.max()


def test_averaging_weighs_by_prior_and_likelihood():
    rule = BayesianAveragingRule(prior=[1, 3]).fit(FEW, [0, 0, 1])
    likelihoods = np.array([0.9 * 0.8 * 0.7, 0.6 * 0.4 * 0.4])
    np.testing.assert_allclose(rule.scores_, np.log(likelihoods))
    expected = likelihoods * [1, 3]
    np.testing.assert_allclose(rule.weights_, expected / expected.sum())
    np.testing.assert_allclose(rule.combine(FEW), mean(FEW, expected))


def test_a_member_with_a_prior_of_zero_gets_no_weight():
    np.testing.assert_array_equal(BayesianAveragingRule(prior=[0, 1]).fit(FEW, [0, 0, 1]).weights_, [0, 1])


def test_a_row_of_weight_two_is_equal_to_two_rows():
    twice = BayesianAveragingRule().fit(np.repeat(FEW, 2, axis=1), [0, 0, 0, 0, 1, 1])
    weighted = BayesianAveragingRule().fit(FEW, [0, 0, 1], sample_weight=[2, 2, 2])
    np.testing.assert_allclose(weighted.weights_, twice.weights_)


def test_votes_of_zero_for_the_true_class_do_not_exclude_all_members():
    rule = BayesianAveragingRule().fit(one_hot([[0, 1, 1], [1, 1, 1]], 2), [0, 0, 0])
    np.testing.assert_allclose(rule.weights_, [1, 0], atol=1e-6)


def test_the_likelihood_of_a_regression_is_normal():
    y = np.array([1.0, 2.0, 4.0])
    votes = np.array([[1.5, 2.0, 3.0], [0.0, 2.0, 8.0]])[:, :, np.newaxis]
    rule = BayesianAveragingRule().fit(votes, y)
    expected = []
    for vote in votes[:, :, 0]:
        deviation = math.sqrt(np.mean((vote - y) ** 2))
        expected.append(norm.logpdf(y, vote, deviation).sum())
    np.testing.assert_allclose(rule.scores_, expected)
    weights = np.exp(expected) / np.exp(expected).sum()
    np.testing.assert_allclose(rule.combine(votes), mean(votes, weights))


@pytest.mark.parametrize("rule", [BayesianAveragingRule(), BayesianCombinationRule(random_state=0)])
def test_members_without_errors_get_all_the_weight_in_regression(rule):
    y = np.array([1.0, 2.0, 4.0])
    votes = np.array([y, y + 1, y])[:, :, np.newaxis]
    np.testing.assert_allclose(rule.fit(votes, y).weights_, [0.5, 0, 0.5], atol=0.1)
    zeros = np.zeros((2, 3, 1))
    np.testing.assert_allclose(rule.fit(zeros, np.zeros(3)).weights_, [0.5, 0.5], atol=0.05)


def test_combination_is_the_posterior_mean_of_mixtures():
    first = np.linspace(0, 1, 10_001)
    likelihood = np.prod(
        [first * a + (1 - first) * b for a, b in [(0.9, 0.6), (0.8, 0.4), (0.7, 0.4)]], axis=0
    )
    expected = (first * likelihood).sum() / likelihood.sum()
    rule = BayesianCombinationRule(n_draws=10_000, random_state=0).fit(FEW, [0, 0, 1])
    assert rule.weights_[0] == pytest.approx(expected, abs=0.01)


def test_combination_is_better_than_the_best_member_if_errors_cancel():
    rng = np.random.default_rng(0)
    y, noise = rng.normal(size=200), rng.normal(size=200)
    votes = np.array([y + noise, y - 1.2 * noise, y + 3 * noise])[:, :, np.newaxis]
    rule = BayesianCombinationRule(random_state=0).fit(votes, y)
    assert np.mean((rule.combine(votes)[:, 0] - y) ** 2) < 0.01
    averaged = BayesianAveragingRule().fit(votes, y).combine(votes)[:, 0]
    assert np.mean((averaged - y) ** 2) > 0.2


def test_combination_of_many_members_is_close_to_the_most_likely_mixture():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2000)
    knows = rng.integers(0, 12, 2000) < np.arange(12)[:, np.newaxis]
    scores = rng.normal(size=(12, 2000, 3)) + 1.5 * one_hot(y, 3) * knows[:, :, np.newaxis]
    votes = np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True)
    rule = BayesianCombinationRule(random_state=0).fit(votes, y)

    right = votes[:, np.arange(2000), y]
    best = np.full(12, 1 / 12)
    for _ in range(500):  # This is expectation maximisation.
        best = (best[:, np.newaxis] * right / (best @ right)).mean(axis=1)
    of_best, of_rule = np.log(best @ right).sum(), np.log(rule.weights_ @ right).sum()
    assert rule.scores_.max() < 1.05 * of_best < of_rule < of_best


def test_the_same_seed_draws_the_same_mixtures():
    fits = [BayesianCombinationRule(random_state=seed).fit(FEW, [0, 0, 1]).weights_ for seed in (0, 0, 1)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert (fits[0] != fits[2]).any()


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (BayesianAveragingRule(prior=[1]), "prior must be one number for each of 2 members"),
        (BayesianAveragingRule(prior=[1, -1]), "prior must be finite, >= 0 and not all 0"),
        (BayesianCombinationRule(n_draws=0), "n_draws must be an integer >= 1. Got 0."),
    ],
)
def test_bad_parameters_are_refused(rule, message):
    with pytest.raises(ValueError, match=message):
        rule.fit(FEW, [0, 0, 1])


@pytest.mark.parametrize("rule", [BayesianAveragingRule(), BayesianCombinationRule(random_state=0)])
@pytest.mark.parametrize("n_outputs", [1, 2])
def test_the_likelihood_of_a_member_uses_the_rows_that_it_has_voted_on(rule, n_outputs):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    right = rng.uniform(0.3, 0.9, size=(2, 60))
    votes = np.where(y, right, 1 - right)[:, :, None]
    if n_outputs == 2:
        votes = np.concatenate([1 - votes, votes], axis=2)
    has_voted = np.ones((2, 60), dtype=bool)
    has_voted[0, :40] = False
    answers = y if n_outputs == 2 else y.astype(float)
    found = rule.fit(votes, answers, has_voted=has_voted).scores_
    for member, rows in enumerate(has_voted):
        alone = BayesianAveragingRule().fit(votes[[member]][:, rows], answers[rows]).scores_[0]
        assert found[member] == pytest.approx(alone * 60 / rows.sum())
    votes[0, :40] = 0.0  # Substitutes for votes have no effect.
    again = rule.fit(votes, answers, has_voted=has_voted)
    assert np.allclose(again.scores_, found)
    has_voted[0] = False
    without_votes = rule.fit(votes, answers, has_voted=has_voted)
    assert without_votes.scores_[0] == without_votes.scores_[1]
