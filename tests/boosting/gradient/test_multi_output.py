"""Test gradient boosting with one tree for all classes in every round."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.metrics import log_loss

from committee import GradientBoostingClassifier, _engine

X, Y = load_iris(return_X_y=True)
MANY = {"multi_strategy": "multi_output_tree"}
WHOLE = {"subsample": 1.0, "colsample_bynode": 1.0}


def test_a_round_is_one_tree_with_a_value_for_each_class():
    booster = GradientBoostingClassifier(7, random_state=0, **MANY).fit(X, Y)
    assert booster._forest.n_trees == booster.n_iter_ == 7
    nodes = _engine.describe_tree(booster._forest, 0)
    assert nodes.value.shape[1] == 3
    assert booster.score(X, Y) > 0.95
    np.testing.assert_allclose(booster.predict_proba(X).sum(axis=1), 1)
    np.testing.assert_array_equal(booster.predict(X), booster.predict_proba(X).argmax(axis=1))


def test_leaves_contain_the_newton_steps_of_their_rows():
    weights = 1 + np.arange(len(Y)) % 5 / 7
    booster = GradientBoostingClassifier(
        1, learning_rate=0.3, reg_lambda=1.5, reg_alpha=0.4, max_leaf_nodes=6, random_state=3, **MANY, **WHOLE
    ).fit(X, Y, sample_weight=weights)
    weights = weights / weights.mean()
    shares = np.bincount(Y, weights) / weights.sum()
    gradients = weights[:, np.newaxis] * (shares - np.eye(3)[Y])
    hessians = weights[:, np.newaxis] * (shares * (1 - shares))
    scores = booster.decision_function(X)
    for values in np.unique(scores, axis=0):
        rows = (scores == values).all(axis=1)
        total = gradients[rows].sum(axis=0)
        total = np.sign(total) * np.maximum(np.abs(total) - 0.4, 0)
        steps = -0.3 * total / (hessians[rows].sum(axis=0) + 1.5)
        np.testing.assert_allclose(values - np.log(shares), steps, atol=1e-4)
    assert len(np.unique(scores, axis=0)) > 3


def test_the_accuracy_for_ten_classes_is_high():
    digits, y = load_digits(return_X_y=True)
    half = np.arange(len(y)) % 2 == 0
    losses = {}
    for strategy, n_rounds in (("one_output_per_tree", 40), ("multi_output_tree", 200)):
        booster = GradientBoostingClassifier(n_rounds, multi_strategy=strategy, random_state=0)
        booster.fit(digits[half], y[half])
        losses[strategy] = log_loss(y[~half], booster.predict_proba(digits[~half]))
    assert losses["multi_output_tree"] < losses["one_output_per_tree"]


def test_any_number_of_threads_gives_the_same_bits():
    booster = GradientBoostingClassifier(10, random_state=0, **MANY)
    expected = pickle.dumps(clone(booster).set_params(n_jobs=1).fit(X, Y)._forest)
    for n_jobs in (2, 3, 7):
        fitted = clone(booster).set_params(n_jobs=n_jobs).fit(X, Y)
        assert pickle.dumps(fitted._forest) == expected


@pytest.mark.parametrize("max_bins", [255, 1000])
def test_categories_and_missing_values_are_split(max_bins):
    rng = np.random.default_rng(0)
    city = rng.integers(0, 20, 600)
    y = np.where(np.isin(city, [3, 7, 8]), 0, np.where(city > 12, 1, 2))
    noise = np.where(y == 2, np.nan, rng.normal(size=600))
    frame = pd.DataFrame({"city": pd.Categorical([f"c{code}" for code in city]), "noise": noise})
    booster = GradientBoostingClassifier(60, max_bins=max_bins, random_state=0, **MANY).fit(frame, y)
    assert booster.score(frame, y) == 1
    assert np.isfinite(
        booster.predict_proba(pd.DataFrame({"city": ["unseen", None], "noise": [1.0, None]}))
    ).all()


def test_a_warm_start_gives_the_same_model_as_a_single_fit():
    booster = GradientBoostingClassifier(5, random_state=0, warm_start=True, **MANY).fit(X, Y)
    again = booster.set_params(n_estimators=12).fit(X, Y)
    whole = GradientBoostingClassifier(12, random_state=0, **MANY).fit(X, Y)
    np.testing.assert_allclose(again.predict_proba(X), whole.predict_proba(X), rtol=1e-9)
    with pytest.raises(ValueError, match="Continue with that strategy, or fit from scratch"):
        booster.set_params(n_estimators=15, multi_strategy="one_output_per_tree").fit(X, Y)


def test_the_last_stage_is_the_prediction():
    booster = GradientBoostingClassifier(6, random_state=0, **MANY).fit(X, Y)
    stages = [stage.copy() for stage in booster.staged_predict_proba(X)]
    assert len(stages) == 6
    np.testing.assert_allclose(stages[-1], booster.predict_proba(X))
    shorter = clone(booster).set_params(n_estimators=3).fit(X, Y)
    np.testing.assert_allclose(stages[2], shorter.predict_proba(X))


def test_early_stopping_keeps_the_best_round():
    booster = GradientBoostingClassifier(900, learning_rate=0.5, early_stopping=True, random_state=0, **MANY)
    booster.fit(X, Y)
    assert booster.n_iter_ < 300
    assert booster.validation_score_[booster.n_iter_] == booster.validation_score_.max()
    found = GradientBoostingClassifier(random_state=0, **MANY).fit(X, Y)
    assert 1 < found.n_iter_ < 800
    assert found.score(X, Y) > 0.95


def test_rounds_start_from_initial_scores():
    first = GradientBoostingClassifier(3, random_state=0, **MANY).fit(X, Y)
    second = clone(first).fit(X, Y, init_score=first.decision_function(X))
    assert second.train_score_[0] == pytest.approx(first.train_score_[-1])
    assert second.train_score_[-1] > first.train_score_[-1]


def test_rows_of_weight_zero_have_no_effect():
    weights = (np.arange(len(Y)) % 3 > 0).astype(float)
    booster = GradientBoostingClassifier(8, random_state=0, **MANY, **WHOLE)
    weighted = clone(booster).fit(X, Y, sample_weight=weights)
    without = clone(booster).fit(X[weights > 0], Y[weights > 0])
    np.testing.assert_allclose(weighted.predict_proba(X), without.predict_proba(X), rtol=1e-6)


def test_two_classes_always_have_one_score():
    cancer, y = load_breast_cancer(return_X_y=True)
    one = GradientBoostingClassifier(5, random_state=0).fit(cancer, y)
    many = clone(one).set_params(**MANY).fit(cancer, y)
    np.testing.assert_array_equal(one.predict_proba(cancer), many.predict_proba(cancer))


def test_importances_are_largest_for_informative_columns():
    rng = np.random.default_rng(0)
    noisy = np.column_stack([X, rng.normal(size=(len(X), 3))])
    booster = GradientBoostingClassifier(20, random_state=0, **MANY).fit(noisy, Y)
    assert booster.feature_importances_.sum() == pytest.approx(1)
    assert booster.feature_importances_[2:4].sum() > 0.7
    assert booster.split_counts_.sum() > 20


def test_many_classes_share_trees_by_default_if_rounds_are_chosen():
    rng = np.random.default_rng(0)
    for n_classes, shares in ((5, False), (6, True)):
        y = np.arange(120) % n_classes
        table = y[:, np.newaxis] + rng.normal(scale=0.3, size=(120, 2))
        found = GradientBoostingClassifier(random_state=0, warm_start=True).fit(table, y)
        assert (found._forest.n_trees == found.n_iter_) == shares
        more = found.set_params(n_estimators=found.n_iter_ + 2).fit(table, y)
        assert (more._forest.n_trees == more.n_iter_) == shares
        explicit = GradientBoostingClassifier(5, random_state=0).fit(table, y)
        assert explicit._forest.n_trees == 5 * n_classes


def test_bad_values_are_errors():
    allowed = 'multi_strategy must be "auto", "one_output_per_tree" or "multi_output_tree"'
    with pytest.raises(ValueError, match=allowed):
        GradientBoostingClassifier(multi_strategy="both").fit(X, Y)
    with pytest.raises(ValueError, match="monotonic_cst needs two classes"):
        GradientBoostingClassifier(monotonic_cst=[1, 0, 0, 0], **MANY).fit(X, Y)
