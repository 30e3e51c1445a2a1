"""Test the constant rule, which ignores the votes."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor

from committee.rules import ConstantRule

VOTES = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 60))


def test_the_shares_of_the_classes_are_those_of_scikit_learn_with_one_more_row():
    y = np.repeat([0, 1, 2], [40, 15, 5])
    weights = np.random.default_rng(1).integers(1, 4, 60)
    # One more row that is divided among the classes.
    X, answers, counts = np.zeros((63, 1)), [*y, 0, 1, 2], [*weights, *[1 / 3] * 3]
    expected = DummyClassifier(strategy="prior").fit(X, answers, sample_weight=counts).predict_proba(X[:1])
    rule = ConstantRule().fit(VOTES, y, sample_weight=weights)
    np.testing.assert_allclose(rule.values_, expected[0])
    np.testing.assert_allclose(rule.combine(VOTES[:, :7]), np.tile(expected, (7, 1)))


def test_an_absent_class_gets_a_small_share():
    values = ConstantRule().fit(VOTES, np.repeat([0, 2], 30)).values_
    assert 0 < values[1] < 0.01
    assert values.sum() == pytest.approx(1)


def test_the_constant_of_a_regression_is_the_weighted_mean():
    rng = np.random.default_rng(0)
    y, weights = rng.normal(size=60), rng.random(60)
    expected = DummyRegressor().fit(np.zeros((60, 1)), y, sample_weight=weights).constant_[0, 0]
    rule = ConstantRule().fit(VOTES[:, :, :1], y, sample_weight=weights)
    np.testing.assert_allclose(rule.combine(VOTES[:, :3, :1]), np.full((3, 1), expected))
