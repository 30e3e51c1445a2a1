"""A predictor of a file predicts as the estimator does, without scikit-learn."""

import datetime
import json
import pickle
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from every_estimator import (
    ALL_ESTIMATORS,
    COMMITTEES,
    ESTIMATORS,
    EXPERTS,
    make,
    mixed_frame,
    name_of,
    target_for,
    votes_of,
)
from sklearn.base import clone, is_classifier
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import BernoulliNB

import committee
from committee import AdaBoostM1Classifier, DecisionTreeRegressor, GradientBoostingClassifier
from committee.saving.predictors.predictor import read_rows
from committee.table import Column, Kind, Schema

every_estimator = pytest.mark.parametrize("estimator", ALL_ESTIMATORS, ids=name_of)

ALONE = """
import json, sys
import numpy as np
import committee
predictor = committee.predictor(sys.argv[1])
by_matrix = predictor.predict(np.array([[1.0, 2.0]])).tolist()
by_name = predictor.predict(json.loads(sys.argv[2])).tolist()
print(json.dumps([by_matrix, by_name, [name.partition(".")[0] for name in sys.modules]]))
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.committee"


def decisions(predictor, X):
    return predictor.predict_proba(X) if hasattr(predictor, "predict_proba") else predictor.predict(X)


def as_json(frame):
    """Return the rows as a service would receive them."""
    return json.loads(frame.to_json(orient="records", date_format="iso"))


@every_estimator
def test_it_predicts_a_matrix_as_the_estimator_does(estimator, path):
    frame, signal = mixed_frame()
    X = frame[["number", "count", "member"]].to_numpy(dtype=np.float64)
    fitted = clone(estimator).fit(X, target_for(estimator, signal))
    fitted.save(path)
    for predictor in (committee.predictor(path), fitted.predictor()):
        assert predictor.feature_names == ("x0", "x1", "x2")
        for each in (predictor, pickle.loads(pickle.dumps(predictor))):
            np.testing.assert_array_equal(each.predict(X), fitted.predict(X))
            np.testing.assert_array_equal(decisions(each, X), votes_of(fitted, X))
            np.testing.assert_array_equal(decisions(each, X[:1]), votes_of(fitted, X[:1]))
            np.testing.assert_array_equal(decisions(each, np.asfortranarray(X)), votes_of(fitted, X))


@every_estimator
def test_it_predicts_rows_by_name_as_the_estimator_does(estimator, path):
    frame, signal = mixed_frame()
    frame["day"] = pd.Timestamp("2024-02-29") + pd.to_timedelta(np.arange(len(frame)) % 7, unit="D")
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    fitted.save(path)
    predictor = committee.predictor(path)
    rows = as_json(frame)
    np.testing.assert_array_equal(decisions(predictor, rows), votes_of(fitted, frame))
    np.testing.assert_array_equal(decisions(predictor, rows[3]), votes_of(fitted, frame[3:4]))
    shuffled = dict(reversed(rows[3].items()))
    np.testing.assert_array_equal(decisions(predictor, shuffled), votes_of(fitted, frame[3:4]))
    if is_classifier(fitted):
        np.testing.assert_array_equal(predictor.classes, fitted.classes_)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "estimator", [each for each in COMMITTEES if not hasattr(each, "time_limit")], ids=name_of
)
def test_default_members_have_predictors(estimator, path):
    frame, signal = mixed_frame()
    fitted = clone(estimator).set_params(estimators=None).fit(frame, target_for(estimator, signal))
    assert len(fitted.estimators_) == 5
    fitted.save(path)
    for predictor in (committee.predictor(path), fitted.predictor()):
        np.testing.assert_array_equal(decisions(predictor, as_json(frame)), votes_of(fitted, frame))


def test_target_statistics_are_applied(path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"code": rng.integers(0, 60, 300).astype(str), "x": rng.normal(size=300)})
    fitted = make(GradientBoostingClassifier).fit(frame, rng.integers(0, 3, 300))
    fitted.save(path)
    np.testing.assert_array_equal(
        committee.predictor(path).predict_proba(as_json(frame)), fitted.predict_proba(frame)
    )


@pytest.mark.parametrize(
    "estimator",
    [each for each in ESTIMATORS if is_classifier(each)][:1] + ESTIMATORS[-1:] + EXPERTS,
    ids=name_of,
)
def test_it_needs_neither_scikit_learn_nor_narwhals(estimator, path):
    frame, signal = mixed_frame()
    frame = frame[["number", "count"]]
    fitted = clone(estimator).fit(frame, target_for(estimator, signal))
    fitted.save(path)
    rows = [{"number": 1.0, "count": 2}]
    finished = subprocess.run(
        [sys.executable, "-c", ALONE, str(path), json.dumps(rows)], capture_output=True, text=True, check=True
    )
    by_matrix, by_name, modules = json.loads(finished.stdout)
    expected = fitted.predict(pd.DataFrame(rows)).tolist()
    assert by_matrix == by_name == expected
    assert not {"sklearn", "narwhals", "scipy", "pandas", "joblib"} & set(modules)


def test_a_category_that_was_not_seen_is_missing(path):
    frame, signal = mixed_frame()
    DecisionTreeRegressor(random_state=0).fit(frame, signal).save(path)
    predictor = committee.predictor(path)
    row = {"number": 0.5, "count": 3, "member": True, "city": "Atlantis"}
    assert predictor.predict(row) == predictor.predict(row | {"city": None})


@pytest.mark.parametrize(
    "day", ["2024-03-02", "2024-03-02T00:00:00", "2024-03-02T01:00:00+01:00", datetime.date(2024, 3, 2)]
)
def test_dates_are_read_from_iso_8601(day, path):
    days = pd.DataFrame({"day": pd.date_range("2024-02-29", periods=5)})
    DecisionTreeRegressor().fit(days, np.arange(5.0)).save(path)
    assert committee.predictor(path).predict([{"day": day}, {"day": "2024-02-29"}]).tolist() == [2.0, 0.0]


@pytest.mark.parametrize(
    "rows, kind, message",
    [
        ({"age": 3}, ValueError, r"^Row 0 .* Missing: \['city', 'day'\]\. Unknown: \[\]\."),
        ([{"age": 1, "city": "a", "day": None}, {"x": 3}], ValueError, r"^Row 1 .* Unknown: \['x'\]\."),
        ([], ValueError, "There are no rows"),
        (
            "age",
            TypeError,
            "or rows as mappings by column name. Got str",
        ),
        ([[1.0, 2.0]], TypeError, "A predictor takes a matrix of float64"),
        (None, TypeError, "Got NoneType"),
        ({"age": "old", "city": "a", "day": None}, ValueError, "'age' was a number .* is text now"),
        ({"age": 3, "city": 3, "day": None}, ValueError, "'city' was text .* is a number now"),
        ({"age": 3, "city": ["a"], "day": None}, TypeError, "'city'"),
        ({"age": 3, "city": "a", "day": "soon"}, ValueError, "'day' should be a date, but contains 'soon'"),
        (np.zeros((1, 3)), ValueError, r"A matrix holds numbers only, and \['city', 'day'\] are not"),
    ],
)
def test_bad_rows_are_named(rows, kind, message, path):
    frame = pd.DataFrame(
        {"age": [1.0, 2.0], "city": ["a", "b"], "day": pd.date_range("2024-01-01", periods=2)}
    )
    DecisionTreeRegressor().fit(frame, [1.0, 2.0]).save(path)
    with pytest.raises(kind, match=message) as caught:
        committee.predictor(path).predict(rows)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("estimator", ALL_ESTIMATORS, ids=name_of)
def test_a_matrix_of_another_width_raises(estimator, path):
    X, y = np.arange(80.0).reshape(40, 2), [0, 1] * 20
    clone(estimator).fit(X, y).save(path)
    with pytest.raises(ValueError, match=r"The matrix must have 2 columns\."):
        committee.predictor(path).predict(np.zeros((1, 3)))


def test_a_model_that_is_not_fitted_or_not_ours_has_no_predictor(path):
    DecisionTreeRegressor().save(path)
    with pytest.raises(ValueError, match="is not fitted"):
        committee.predictor(path)
    X, y = np.arange(12.0).reshape(6, 2), [0, 1, 0, 1, 1, 0]
    AdaBoostM1Classifier(BernoulliNB(), n_estimators=2).fit(X, y).save(path)
    with pytest.raises(ValueError, match=r"The member 0 of .* needs the library that fitted it"):
        committee.predictor(path)
    committee.saving.save(RidgeClassifier().fit(X, y), path)
    with pytest.raises(
        ValueError, match=r"The model of .* needs the library .*RidgeClassifier\)\. Use committee"
    ):
        committee.predictor(path)


ODD = (
    None, 0, 1.5, -0.0, True, np.float32(2.5), np.int64(3), float("nan"), float("inf"), 2**62, 2**64, 10**400,
    np.nan, "1.5", "Oslo", "new", "", 7, 7.0, pd.NaT, pd.NA, Decimal("1.5"), "2024-02-29",
    datetime.date(2024, 2, 29), datetime.datetime(2024, 2, 29, 12), datetime.timedelta(hours=1),
    datetime.time(12), [1], b"x", 1j,
)  # fmt: skip


@pytest.mark.parametrize(
    "column",
    [
        Column("x", Kind.NUMBER),
        Column("x", Kind.BOOLEAN),
        Column("x", Kind.CATEGORY, ("Bonn", "Oslo")),
        Column("x", Kind.CATEGORY, (3, 7)),
        Column("x", Kind.CATEGORY),
        Column("x", Kind.DATE),
        Column("x", Kind.SPAN),
    ],
    ids=lambda column: f"{column.kind.value} of {len(column.categories)}",
)
@pytest.mark.parametrize("value", ODD, ids=repr)
def test_a_single_row_is_read_like_the_column_of_many_rows(column, value):
    """Two equal rows are read column by column, one row at once."""
    schema = Schema((column, Column("y", Kind.NUMBER)), named=True)
    row = {"y": 0.5, "x": value}
    results = []
    for rows in ([row], [row, row]):
        try:
            results.append([each[:1] for each in read_rows(rows, schema).columns])
        except (ValueError, TypeError, OverflowError) as error:
            results.append((type(error), str(error)))
    one, many = results
    if isinstance(many, tuple):
        assert one == many
    else:
        for first, second in zip(one, many, strict=True):
            np.testing.assert_array_equal(first, second)
            assert first.dtype == second.dtype
