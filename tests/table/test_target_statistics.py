"""Test ordered target statistics: training rows do not use their own target, and new rows use all targets."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

from committee import GradientBoostingClassifier, GradientBoostingRegressor, LogitBoostClassifier
from committee.boosting.gradient.training_rows import learn_statistics, statistics_before
from committee.table import read

RNG = np.random.default_rng(0)


def towns(n_rows, n_towns, rng):
    """Make a frame with a column of many categories that have different effects on y."""
    town = rng.integers(0, n_towns, n_rows)
    effect = np.random.default_rng(1).normal(scale=2.0, size=n_towns)
    number = rng.normal(size=n_rows)
    chance = 1 / (1 + np.exp(-effect[town] - number))
    frame = pd.DataFrame({"number": number, "town": pd.Categorical([f"t{code}" for code in town])})
    return frame, (rng.random(n_rows) < chance).astype(int), effect[town] + number


def naive_before(codes, targets, weights, prior, order):
    """Compute the statistics row by row, in the given order."""
    statistics = np.empty(targets.shape)
    sums, totals = {}, {}
    for row in order:
        code = codes[row]
        statistics[row] = (sums.get(code, 0) + prior) / (totals.get(code, 0) + 1)
        sums[code] = sums.get(code, 0) + weights[row] * targets[row]
        totals[code] = totals.get(code, 0) + weights[row]
    return statistics


def test_a_training_row_gets_the_statistics_of_the_rows_before_it():
    codes = RNG.integers(0, 6, 200)
    targets, weights = RNG.normal(size=(200, 3)), RNG.random(200)
    order, prior = RNG.permutation(200), targets.mean(axis=0)
    ours = statistics_before(codes, targets, weights, prior, order)
    np.testing.assert_allclose(ours, naive_before(codes, targets, weights, prior, order), rtol=1e-9)


def test_statistics_do_not_leak_targets_through_row_order_or_repetitions():
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(
        {"a": rng.normal(size=900), "id": pd.Categorical(rng.integers(0, 700, 900).astype(str))}
    )
    y = (frame["a"] + rng.normal(size=900) > 0).astype(int)
    booster = GradientBoostingClassifier(60, random_state=0)
    plain = clone(booster).fit(frame, y)
    order = rng.permutation(900)
    shuffled = clone(booster).fit(frame.iloc[order], y.iloc[order])
    np.testing.assert_array_equal(shuffled.predict_proba(frame), plain.predict_proba(frame))
    doubled = clone(booster).fit(frame, y, sample_weight=np.full(900, 2.0))
    assert doubled.feature_importances_[1] < plain.feature_importances_[1] + 0.1


def test_the_statistics_of_a_row_do_not_depend_on_its_target():
    table = read(pd.DataFrame({"town": pd.Categorical(RNG.integers(0, 9, 100).astype(str))}))
    targets = RNG.normal(size=(100, 1))
    before = statistics_before(table.columns[0], targets, np.ones(100), np.zeros(1), np.arange(100))
    changed = targets.copy()
    changed[40] = 99.0
    after = statistics_before(table.columns[0], changed, np.ones(100), np.zeros(1), np.arange(100))
    np.testing.assert_allclose(after[:41], before[:41], rtol=1e-9, atol=1e-12)
    same_town = table.columns[0][41:] == table.columns[0][40]
    np.testing.assert_array_equal(np.abs(after[41:] - before[41:])[:, 0] > 1e-3, same_town)


def test_new_rows_get_the_statistics_of_all_training_rows():
    table = read([["a", 1.0], ["a", 2.0], ["b", 3.0], [None, 4.0]])
    targets = np.array([[1.0], [0.0], [1.0], [1.0]])
    statistics, _ = learn_statistics(table, targets, None, [0], np.arange(4))
    np.testing.assert_allclose(statistics.by_column[0].ravel(), [1.75 / 2, 1.75 / 3, 1.75 / 2])
    assert statistics.sources(2).tolist() == [0, 1]
    three = np.eye(3)[[0, 1, 2, 2]]
    statistics, encoded = learn_statistics(table, three, None, [0], np.arange(4))
    assert statistics.sources(2).tolist() == [0, 0, 0, 1]
    assert len(encoded.columns) == 4
    np.testing.assert_allclose(sum(encoded.columns[:3]), 1)


@pytest.mark.parametrize("kind", [GradientBoostingClassifier, LogitBoostClassifier])
def test_columns_of_many_categories_improve_the_loss_on_new_rows(kind):
    frame, y, _ = towns(3000, 400, np.random.default_rng(2))
    test_frame, test_y, _ = towns(3000, 400, np.random.default_rng(3))
    booster = kind(60, max_native_categories=100, learning_rate=0.1, random_state=0).fit(frame, y)
    constant = log_loss(test_y, np.full(len(test_y), y.mean()))
    assert log_loss(test_y, booster.predict_proba(test_frame)) < 0.85 * constant
    assert booster.feature_importances_.shape == booster.split_counts_.shape == (2,)
    assert (booster.split_counts_ > 0).all()
    again = pickle.loads(pickle.dumps(booster))
    np.testing.assert_array_equal(again.predict_proba(test_frame), booster.predict_proba(test_frame))
    unseen, missing = test_frame[:5].assign(town="nowhere"), test_frame[:5].assign(town=None)
    np.testing.assert_array_equal(booster.predict_proba(unseen), booster.predict_proba(missing))


def test_each_of_more_than_two_classes_has_a_statistic():
    frame, _, signal = towns(2000, 300, np.random.default_rng(2))
    y = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    booster = GradientBoostingClassifier(20, max_native_categories=100, random_state=0).fit(frame, y)
    assert booster._forest.n_columns == 4
    assert booster.feature_importances_.shape == (2,)
    assert booster.score(frame, y) > 0.6


def test_statistics_do_not_depend_on_threads_and_a_warm_start_keeps_them():
    frame, _, y = towns(1500, 300, np.random.default_rng(2))
    booster = GradientBoostingRegressor(10, max_native_categories=100, random_state=0, n_jobs=1).fit(frame, y)
    warm = GradientBoostingRegressor(4, max_native_categories=100, random_state=0, n_jobs=3, warm_start=True)
    warm.fit(frame, y).set_params(n_estimators=10).fit(frame, y)
    np.testing.assert_array_equal(warm.predict(frame), booster.predict(frame))
    other, _, other_y = towns(500, 300, np.random.default_rng(9))
    warm.set_params(n_estimators=12).fit(other, other_y)
    assert np.isfinite(warm.predict(frame)).all()


def test_monotonic_constraints_apply_to_the_original_columns():
    frame, _, y = towns(1000, 300, np.random.default_rng(2))
    frame = frame[["town", "number"]]
    labels = np.digitize(y, [0.0])
    booster = GradientBoostingClassifier(20, max_native_categories=100, monotonic_cst=[0, -1], random_state=0)
    booster.fit(frame, labels)
    grid = pd.DataFrame({"town": ["t1"] * 50, "number": np.linspace(-3, 3, 50)})
    assert (np.diff(booster.decision_function(grid)) <= 1e-9).all()


def test_no_column_is_replaced_if_none_has_too_many_categories():
    frame, y, _ = towns(500, 20, np.random.default_rng(2))
    native = GradientBoostingClassifier(5, random_state=0).fit(frame, y)
    forced = GradientBoostingClassifier(5, max_native_categories=10).fit(frame, y)
    never = GradientBoostingClassifier(5, max_native_categories=None, random_state=0).fit(frame, y)
    np.testing.assert_array_equal(native.predict_proba(frame), never.predict_proba(frame))
    assert (native.predict_proba(frame) != forced.predict_proba(frame)).any()
