"""Test that the weights of the logarithmic pool minimise the loss."""

import numpy as np
import pytest

from committee.combining.logarithmic_pool import SMALLEST, log_loss_at, logarithm, lowest_point
from committee.rules import LogPoolRule


def drawn_votes(seed, n_members=6, n_rows=200, n_classes=3):
    """Draw votes of members of different accuracy. The first two members have equal votes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    scores = rng.normal(size=(n_members, n_rows, n_classes))
    scores[:, np.arange(n_rows), y] += np.linspace(0, 2, n_members)[:, None]
    scores[1] = scores[0]
    shares = np.exp(scores)
    return shares / shares.sum(axis=2, keepdims=True), y


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_no_other_weights_have_a_lower_loss(penalty, seed):
    votes, y = drawn_votes(seed)
    rule = LogPoolRule(penalty=penalty).fit(votes, y)
    point = np.concatenate([rule.weights_, rule.biases_])
    start = np.concatenate([np.full(len(votes), 1 / len(votes)), np.zeros(votes.shape[2])])

    def loss(point):
        shares = np.full(len(y), 1 / len(y))
        value = log_loss_at(point, logarithm(votes, SMALLEST), y, shares)[0]
        return value + penalty / 2 * ((point - start) ** 2).sum()

    rng = np.random.default_rng(seed)
    lowest = loss(point)
    for size in (1e-3, 1e-2, 0.1, 1.0):
        for _ in range(20):
            tried = point + size * rng.normal(size=len(point))
            tried[: len(votes)] = tried[: len(votes)].clip(0)
            assert loss(tried) >= lowest - 1e-9


def test_derivatives_agree_with_finite_differences_of_the_loss():
    votes, y = drawn_votes(0)
    weights = np.random.default_rng(1).random(len(y))
    point = np.random.default_rng(2).random(9)
    _, slope, curvature = log_loss_at(point, logarithm(votes, SMALLEST), y, weights)
    for place, step in enumerate(1e-5 * np.eye(9)):
        above, below = (
            log_loss_at(point + sign * step, logarithm(votes, SMALLEST), y, weights)[:2] for sign in (1, -1)
        )
        assert (above[0] - below[0]) / 2e-5 == pytest.approx(slope[place], abs=1e-6)
        np.testing.assert_allclose((above[1] - below[1]) / 2e-5, curvature[place], atol=1e-5)


def test_a_variable_without_a_bound_may_be_negative():
    def bowl(point):
        return float(((point + 1) ** 2).sum()), 2 * (point + 1), 2 * np.eye(2)

    np.testing.assert_allclose(lowest_point(bowl, np.ones(2), np.array([True, False])), [0, -1])


def test_on_few_rows_the_weights_stay_near_the_mean():
    votes, y = drawn_votes(0, n_rows=4000)
    few, many = votes[:, :40], votes
    for penalty, rows, labels in ((10 / 40, few, y[:40]), (10 / 4000, many, y)):
        expected = LogPoolRule(penalty=penalty).fit(rows, labels).weights_
        np.testing.assert_array_equal(LogPoolRule().fit(rows, labels).weights_, expected)
    large = np.tile(votes, (1, 5, 1)), np.tile(y, 5)
    np.testing.assert_array_equal(
        LogPoolRule().fit(*large).weights_, LogPoolRule(penalty=1e-3).fit(*large).weights_
    )
    usual, weak = (LogPoolRule(penalty=each).fit(few, y[:40]).weights_ for each in (None, 1e-3))
    assert np.abs(usual - 1 / 6).max() < np.abs(weak - 1 / 6).max() / 2
