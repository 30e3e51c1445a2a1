"""Test LogitBoost against the algorithms of Friedman, Hastie and Tibshirani (2000)."""

import boosting_oracle
import numpy as np
import pytest
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.model_selection import cross_val_score

from committee import LogitBoostClassifier

RNG = np.random.default_rng(4)
X = RNG.integers(0, 30, size=(90, 3)) / 4
SIGNAL = X[:, 0] + np.where(X[:, 1] > 3, X[:, 2], 0) + RNG.normal(size=len(X))


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_it_equals_the_algorithm_of_the_paper_on_stumps(n_classes):
    y = np.digitize(SIGNAL, np.quantile(SIGNAL, np.arange(1, n_classes) / n_classes))
    expected = boosting_oracle.logitboost(X, y, n_classes, 8)
    booster = LogitBoostClassifier(8).fit(X, y)
    np.testing.assert_allclose(list(booster.staged_predict_proba(X)), expected, atol=2e-6)


def test_one_versus_all_boosts_a_model_for_each_class():
    y = np.digitize(SIGNAL, np.quantile(SIGNAL, [0.3, 0.6]))
    together = LogitBoostClassifier(8, one_versus_all=True).fit(X, y)
    alone = [LogitBoostClassifier(8).fit(X, y == label).decision_function(X) for label in range(3)]
    np.testing.assert_allclose(together.decision_function(X), np.column_stack(alone), rtol=1e-6, atol=1e-6)
    chances = expit(np.column_stack(alone))
    np.testing.assert_allclose(
        together.predict_proba(X), chances / chances.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-9
    )
    two = LogitBoostClassifier(8, one_versus_all=True).fit(X, y > 0)
    np.testing.assert_array_equal(
        two.predict_proba(X), LogitBoostClassifier(8).fit(X, y > 0).predict_proba(X)
    )


def test_working_responses_are_clipped():
    y = (X[:, 0] > 3).astype(int)
    y[:2] = 1 - y[:2]
    for z_max in (1.0, 3.0):
        expected = boosting_oracle.logitboost(X, y, 2, 12, z_max=z_max)
        booster = LogitBoostClassifier(12, z_max=z_max).fit(X, y)
        np.testing.assert_allclose(list(booster.staged_predict_proba(X)), expected, atol=1e-5)


def test_separable_classes_keep_finite_scores():
    booster = LogitBoostClassifier(200).fit(X, X[:, 0] > 3)
    assert np.isfinite(booster.decision_function(X)).all()
    assert booster.score(X, X[:, 0] > 3) == 1
    assert booster.predict_proba(X).max() <= 1


@pytest.mark.parametrize(
    ("table", "least"), [(load_iris, 0.93), (load_wine, 0.93), (load_breast_cancer, 0.94)]
)
def test_the_accuracy_on_public_data_sets_is_high(table, least):
    assert cross_val_score(LogitBoostClassifier(30), *table(return_X_y=True), cv=5).mean() > least


def test_deeper_trees_and_smaller_rates_can_be_set():
    data = load_breast_cancer(return_X_y=True)
    deep = LogitBoostClassifier(5, max_depth=3).fit(*data)
    assert deep.split_counts_.sum() > 5
    slow = LogitBoostClassifier(5, learning_rate=0.1).fit(*data)
    assert slow.train_score_[-1] < LogitBoostClassifier(5).fit(*data).train_score_[-1]
