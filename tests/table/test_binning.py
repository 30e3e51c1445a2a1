"""Test `bin_table`, which bins a table once for many fits."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier

from committee import (
    C45Classifier,
    DecisionStumpClassifier,
    DecisionStumpRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreeClassifier,
    _engine,
)
from committee.table import bin_table

ACCEPT_BINS = [
    DecisionTreeClassifier(),
    DecisionTreeRegressor(ccp_alpha=0.01),
    RandomTreeClassifier(random_state=0),
    DecisionStumpClassifier(),
    DecisionStumpRegressor(),
    RandomForestClassifier(5, random_state=0, oob_score=True),
    RandomForestRegressor(5, random_state=0, keep_leaf_rows=True),
]


def problem(estimator, n_rows=90):
    """Make a column of integers, all of which occur in every third of the rows, and one of categories."""
    rng = np.random.default_rng(0)
    number = np.tile(np.arange(10.0), n_rows // 10)
    city = np.tile(["Bonn", "Oslo", "Rome"], n_rows // 3)
    signal = number * (city == "Oslo") + rng.normal(size=n_rows)
    frame = pd.DataFrame({"number": number, "city": pd.Categorical(city)})
    frame.loc[frame.index % 7 == 6, "number"] = np.nan
    return frame, signal > 1 if is_classifier(estimator) else signal


def votes_of(estimator, X):
    return estimator.predict_proba(X) if is_classifier(estimator) else estimator.predict(X)


every_estimator = pytest.mark.parametrize("estimator", ACCEPT_BINS, ids=lambda each: type(each).__name__)


@every_estimator
def test_a_fit_on_bins_equals_the_fit_on_the_table(estimator):
    X, y = problem(estimator)
    binned, direct = clone(estimator).fit(bin_table(X), y), clone(estimator).fit(X, y)
    np.testing.assert_array_equal(votes_of(binned, X), votes_of(direct, X))
    np.testing.assert_array_equal(binned.feature_importances_, direct.feature_importances_)
    assert binned.schema_ == direct.schema_
    assert list(binned.feature_names_in_) == ["number", "city"]


@every_estimator
def test_a_fold_is_the_whole_table_with_zero_weights(estimator):
    X, y = problem(estimator)
    binned = bin_table(X)
    for fold in range(3):
        weights = (np.arange(len(X)) // 30 != fold).astype(float)
        on_bins = clone(estimator).fit(binned, y, sample_weight=weights)
        on_table = clone(estimator).fit(X, y, sample_weight=weights)
        on_rows = clone(estimator).fit(X[weights > 0], y[weights > 0])
        np.testing.assert_array_equal(votes_of(on_bins, X), votes_of(on_table, X))
        np.testing.assert_array_equal(votes_of(on_bins, X), votes_of(on_rows, X))


def test_the_exported_text_of_a_tree_is_the_same():
    X, y = problem(DecisionTreeClassifier())
    tree = DecisionTreeClassifier(max_depth=2)
    assert clone(tree).fit(bin_table(X), y).export_text() == clone(tree).fit(X, y).export_text()


def test_a_warm_start_continues_with_bins():
    X, y = problem(RandomForestClassifier())
    binned = bin_table(X)
    forest = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, y)
    forest.set_params(n_estimators=5).fit(binned, y)
    whole = RandomForestClassifier(5, random_state=0).fit(binned, y)
    np.testing.assert_array_equal(forest.predict_proba(X), whole.predict_proba(X))
    with pytest.raises(ValueError, match="the columns of the previous fit"):
        forest.set_params(n_estimators=6).fit(bin_table(X[["number"]]), y)


def test_columns_are_marked_as_categories_when_they_are_binned():
    X, y = [[1.0], [2.0], [3.0]] * 4, [0, 1, 0] * 4
    assert DecisionTreeClassifier().fit(bin_table(X, categorical_features=[0]), y).get_n_leaves() == 2
    with pytest.raises(ValueError, match=r"comes too late for a BinnedTable\. Pass it to bin_table\.$"):
        DecisionTreeClassifier(categorical_features=[0]).fit(bin_table(X), y)


def test_binned_tables_report_columns_and_missing_values():
    X, _ = problem(DecisionTreeClassifier())
    binned = bin_table(X, n_jobs=1)
    assert (binned.n_rows, binned.schema.n_columns) == (90, 2)
    assert binned.has_missing.tolist() == [True, False]


def test_y_of_another_length_is_an_error():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples: \[2, 3\]"):
        DecisionTreeClassifier().fit(bin_table([[1.0], [2.0]]), [0, 1, 0])


def test_bins_are_for_fitting_only():
    X, y = [[1.0], [2.0]], [0, 1]
    binned = bin_table(X)
    for refuse in (
        DecisionTreeClassifier().fit(X, y).predict,
        RandomForestClassifier(2).fit(X, y).predict_proba,
        lambda binned: C45Classifier().fit(binned, y),
        bin_table,
    ):
        with pytest.raises(
            TypeError, match=r"^X is a BinnedTable, .* Pass the table that it was made from\.$"
        ):
            refuse(binned)


@pytest.mark.parametrize("n_rows", [1, 50, 2000])
def test_a_pickled_table_grows_the_same_forest(n_rows):
    rng = np.random.default_rng(n_rows)
    X = np.where(rng.random((n_rows, 3)) < 0.1, np.nan, rng.normal(size=(n_rows, 3)))
    y = rng.integers(0, 2, n_rows)
    binned = bin_table(X)
    again = pickle.loads(pickle.dumps(binned))
    np.testing.assert_array_equal(again.has_missing, binned.has_missing)
    forests = [RandomForestClassifier(5, random_state=0).fit(table, y) for table in (binned, again)]
    np.testing.assert_array_equal(*[forest.predict_proba(X) for forest in forests])


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("n_rows", 3, "the number of codes does not fit the rows"),
        ("n_rows", "two", "'n_rows' is missing or is not a number"),
        ("codes", np.array([1, 200], dtype=np.uint8), "a code has no bin"),
        ("codes", np.array([1.0, 2.0]), "'codes' is missing or is not a contiguous vector of its type"),
        ("cuts", np.array([np.nan]), "a cut is not a number"),
    ],
)
def test_a_damaged_table_is_an_error(name, value, problem):
    state = bin_table([[1.0], [2.0]]).codes.__getstate__() | {name: value}
    with pytest.raises(ValueError, match=f"^This is not a table: {problem}"):
        _engine.BinnedTable.__new__(_engine.BinnedTable).__setstate__(state)


def test_a_column_without_values_is_read_the_same_for_every_dtype():
    rng = np.random.default_rng(0)
    numbers, y = rng.normal(size=60), rng.integers(0, 2, 60)
    frames = [
        pl.DataFrame({"a": numbers, "b": pl.Series([None] * 60, dtype=dtype)})
        for dtype in (pl.String, pl.Null, pl.Float64)
    ]
    forests = [RandomForestClassifier(20, random_state=0).fit(frame, y) for frame in frames]
    for forest, frame in zip(forests, frames, strict=True):
        assert bin_table(frame).has_missing.tolist() == [False, True]
        np.testing.assert_array_equal(forest.votes(frame), forests[0].votes(frames[0]))


def test_a_table_with_too_many_rows_for_the_engine_is_an_error():
    n_rows = 2**30 + 1
    column = np.broadcast_to(np.float64(1.0), n_rows)
    with pytest.raises(ValueError, match="A table may have at most 1,073,741,824 rows"):
        _engine.bin_table([column], np.zeros(1, dtype=np.uint32), n_rows, None, 255, 1)
