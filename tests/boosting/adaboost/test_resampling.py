"""Test resampling for members of any kind, and random trees, which are boosted in the engine."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import committee
from committee import (
    AdaBoostClassifier,
    AdaBoostM1Classifier,
    AdaBoostM2Classifier,
    AdaBoostRegressor,
    RandomTreeClassifier,
    RandomTreeRegressor,
    _engine,
)

BOOSTERS = [AdaBoostM1Classifier, AdaBoostClassifier, AdaBoostM2Classifier]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
Y = np.digitize(X[:, 0] + X[:, 1] + 0.7 * RNG.normal(size=120), [-0.5, 0.7])


@pytest.mark.parametrize("booster", BOOSTERS)
def test_row_order_does_not_change_resampling(booster):
    order = np.random.default_rng(1).permutation(len(X))
    made = booster(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(X, Y)
    again = booster(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(X[order], Y[order])
    np.testing.assert_array_equal(made.predict_proba(X), again.predict_proba(X))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_weight_two_equals_the_row_twice(booster):
    weights = np.random.default_rng(1).integers(0, 3, len(X))
    made = booster(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(X, Y, weights)
    X_twice, y_twice = X.repeat(weights, axis=0), Y.repeat(weights)
    twice = booster(KNeighborsClassifier(3), n_estimators=4, random_state=0).fit(X_twice, y_twice)
    np.testing.assert_array_equal(made.predict_proba(X), twice.predict_proba(X))


def test_row_order_does_not_change_resampling_in_regression():
    order = np.random.default_rng(1).permutation(len(X))
    made = AdaBoostRegressor(KNeighborsRegressor(3), n_estimators=4, random_state=0).fit(X, X[:, 0])
    again = AdaBoostRegressor(KNeighborsRegressor(3), n_estimators=4, random_state=0)
    np.testing.assert_array_equal(made.predict(X), again.fit(X[order], X[order, 0]).predict(X))


@pytest.mark.parametrize("booster", BOOSTERS)
def test_random_trees_are_boosted_in_the_engine(booster, tmp_path):
    member = RandomTreeClassifier(max_depth=2)
    made = booster(member, n_estimators=5, random_state=0).fit(X, Y)
    assert isinstance(made._members, _engine.Forest)
    # The first member gets equal weights, and its seed is that of the booster.
    alone = RandomTreeClassifier(max_depth=2, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(made.estimators_[0].predict_proba(X), alone.predict_proba(X))
    assert made.estimators_[0].max_features_ == alone.max_features_
    for n_jobs in (2, 3):
        again = booster(member, n_estimators=5, n_jobs=n_jobs, random_state=0).fit(X, Y)
        np.testing.assert_array_equal(again.predict_proba(X), made.predict_proba(X))
    made.save(tmp_path / "boosted.committee")
    loaded = committee.load(tmp_path / "boosted.committee")
    np.testing.assert_array_equal(loaded.predict_proba(X), made.predict_proba(X))


def test_random_regression_trees_are_boosted_in_the_engine():
    options = {"weighting": "reweight", "n_estimators": 5, "random_state": 0}
    made = AdaBoostRegressor(RandomTreeRegressor(max_depth=4), **options).fit(X, X[:, 0])
    assert isinstance(made._members, _engine.Forest)
    alone = RandomTreeRegressor(max_depth=4, random_state=0).fit(X, X[:, 0])
    np.testing.assert_allclose(made.estimators_[0].predict(X), alone.predict(X))
