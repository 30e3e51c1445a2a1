"""Test kappa-error points, margins, oracle accuracy, and error curves."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, cohen_kappa_score

from committee import (
    decompose,
    decompose_intervals,
    error_curve,
    kappa_error,
    majority_vote_forecast,
    margins,
    oracle_accuracy,
    score,
)
from committee.rules import borda, majority, mean, one_hot

rng = np.random.default_rng(4)
LABELS = rng.integers(3, size=(5, 40))
Y = rng.integers(3, size=40)
PROBABILITIES = rng.dirichlet([1.0, 1.0, 1.0], (5, 40))


def test_kappa_error_points_are_the_kappa_and_mean_error_of_each_pair():
    points = kappa_error(LABELS, Y)
    assert len(points.kappa) == 10
    errors = [1 - accuracy_score(Y, labels) for labels in LABELS]
    for first, second, kappa, error in zip(
        points.first, points.second, points.kappa, points.error, strict=True
    ):
        assert kappa == pytest.approx(cohen_kappa_score(LABELS[first], LABELS[second]))
        assert error == pytest.approx((errors[first] + errors[second]) / 2)


def test_kappa_error_points_use_row_weights():
    weights = rng.integers(0, 3, 40)
    rows = np.repeat(np.arange(40), weights)
    weighed, repeated = kappa_error(LABELS, Y, sample_weight=weights), kappa_error(LABELS[:, rows], Y[rows])
    np.testing.assert_allclose(weighed.kappa, repeated.kappa)
    np.testing.assert_allclose(weighed.error, repeated.error)


def test_margins_by_hand():
    votes = [[0, 0, 1], [0, 1, 1], [0, 2, 1], [0, 2, 1]]
    np.testing.assert_allclose(margins(votes, [0, 0, 0]), [1, -0.25, -1])
    np.testing.assert_allclose(margins(votes, [0, 0, 0], weights=[3, 1, 1, 1]), [1, 1 / 6, -1])
    probabilities = [[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]]
    np.testing.assert_allclose(margins(probabilities, [1]), [-1 / 3])
    np.testing.assert_allclose(margins(probabilities, [1], of="probabilities"), [0.0], atol=1e-15)


@given(st.integers(0, 10_000))
def test_the_margin_is_positive_if_the_decision_is_right(seed):
    draw = np.random.default_rng(seed)
    votes, y = one_hot(draw.integers(3, size=(4, 6)), 3), draw.integers(3, size=6)
    found = margins(votes, y).values
    assert (np.abs(found) <= 1).all()
    decided = majority(votes).argmax(axis=1)
    assert (decided[found > 1e-12] == y[found > 1e-12]).all()
    assert (decided[found < -1e-12] != y[found < -1e-12]).all()


def test_the_oracle_is_right_if_at_least_one_member_is():
    assert oracle_accuracy([[1, 0, 0], [0, 1, 0]], [1, 1, 1]) == pytest.approx(2 / 3)
    assert oracle_accuracy([[1, 0, 0], [0, 1, 0]], [1, 1, 1], sample_weight=[1, 1, 2]) == 0.5
    best = 1 - min(score(Y, one_hot(LABELS, 3)))
    assert oracle_accuracy(LABELS, Y) >= best


@pytest.mark.parametrize(("rule", "function"), [("mean", mean), ("majority", majority), (borda, borda)])
def test_the_error_curve_contains_the_scores_of_the_first_members(rule, function):
    curve = error_curve(PROBABILITIES, Y, rule=rule, scoring="neg_brier_score", n_orders=4, random_state=0)
    expected = [score(Y, function(PROBABILITIES[:size]), scoring="neg_brier_score") for size in range(1, 6)]
    np.testing.assert_allclose(curve.in_order, expected)
    # The committee of all members does not depend on their order.
    assert curve.mean[-1] == pytest.approx(expected[-1])
    assert curve.deviation[-1] == pytest.approx(0, abs=1e-12)
    again = error_curve(PROBABILITIES, Y, rule=rule, scoring="neg_brier_score", n_orders=4, random_state=0)
    np.testing.assert_array_equal(curve.mean, again.mean)


def test_the_mean_error_curve_for_numbers_decreases():
    y = rng.normal(size=50)
    votes = y + rng.normal(size=(6, 50))
    curve = error_curve(votes, y, n_orders=30, random_state=0)
    assert (np.diff(curve.mean) < 0).all()
    assert curve.scoring == "RMSE"


def test_y_may_have_labels_if_classes_is_passed():
    classes = np.array(["c", "a", "b"])
    given = PROBABILITIES, classes[Y]
    np.testing.assert_array_equal(margins(*given, classes=classes), margins(PROBABILITIES, Y))
    assert oracle_accuracy(*given, classes=classes) == oracle_accuracy(PROBABILITIES, Y)
    points = kappa_error(*given, classes=classes)
    np.testing.assert_array_equal(points.error, kappa_error(PROBABILITIES, Y).error)
    curve = error_curve(*given, classes=classes, random_state=0)
    np.testing.assert_array_equal(curve.mean, error_curve(PROBABILITIES, Y, random_state=0).mean)
    assert decompose(*given, classes=classes) == decompose(PROBABILITIES, Y)
    assert decompose_intervals(*given, classes=classes, B=5, random_state=0) == decompose_intervals(
        PROBABILITIES, Y, B=5, random_state=0
    )
    forecast = majority_vote_forecast(*given, classes=classes)
    assert forecast == majority_vote_forecast(PROBABILITIES, Y)


def test_invalid_input_raises_an_error():
    with pytest.raises(ValueError, match="rule must need no fit, such as mean or majority"):
        error_curve(PROBABILITIES, Y, rule="cawpe")
    numbers = np.array([[1.5, 2.5], [0.5, 3.0]])
    with pytest.raises(ValueError, match="majority decides on classes"):
        error_curve(numbers, [1.0, 2.0], rule="majority")
    with pytest.raises(ValueError, match="n_orders must be an integer >= 1"):
        error_curve(PROBABILITIES, Y, n_orders=0)
    with pytest.raises(ValueError, match='of must be "labels" or "probabilities"'):
        margins(PROBABILITIES, Y, of="votes")
    with pytest.raises(ValueError, match="votes must be for classes"):
        oracle_accuracy([[[0.5]]], [1])


def test_the_representation_of_a_long_curve_fits_a_line():
    rng = np.random.default_rng(0)
    votes, y = rng.random((60, 30, 2)), np.arange(30) % 2
    assert len(repr(error_curve(votes, y, n_orders=2, random_state=0))) < 250
