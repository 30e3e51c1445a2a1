"""Test that a model reads files and frames like its training table."""

from datetime import date, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import committee
from committee.files import BadTable
from committee.jobs import evaluate, predict

FAST = {"estimators": ["linear", "c45"], "rule": "mean", "cv": 2, "random_state": 0, "n_jobs": 1}
# Each size is in two rows.
SIZES = [(7 * (i // 2)) % 40 / 4 for i in range(60)]


def flowers(values):
    """Return a table in which a column determines the class of rows whose size does not."""
    kinds = np.where([size > 5 or i % 2 == 0 for i, size in enumerate(SIZES)], "rose", "lily")
    return {"size": SIZES, "c": values, "kind": kinds.tolist()}


def probabilities(model, place):
    return predict(model, place, proba=True).frame["probability_rose"].to_numpy()


@pytest.mark.parametrize(
    "pair",
    [
        (True, False),
        (True, None),
        (datetime(2024, 1, 31), datetime(2024, 2, 29, 12, 30)),
        (3, 7),
        (0.5, None),
        ("01", "7"),
        (" a", "b "),
        ("True", "false"),
    ],
    ids=str,
)
def test_categories_of_pandas_are_the_same_in_csv(tmp_path, pair):
    frame = pd.DataFrame(flowers(pd.Categorical(list(pair) * 30)))
    model = committee.fit(frame, "kind", **FAST)
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = model.predict_proba(frame.drop(columns="kind"))[:, 1]
    assert (expected[::2] != expected[1::2]).any()
    np.testing.assert_array_equal(probabilities(model, tmp_path / "t.csv"), expected)


@pytest.mark.parametrize(
    "pair",
    [(date(2024, 1, 31), date(2024, 2, 29)), (True, False), (True, None), (3, 7), ("a", "b")],
    ids=str,
)
def test_an_arrow_dictionary_is_the_same_in_the_file_of_the_fit(tmp_path, pair):
    path = tmp_path / "t.arrow"
    table = pa.table(flowers(pa.array(list(pair) * 30).dictionary_encode()))
    pa.feather.write_feather(table, path)
    model = committee.fit(path, "kind", **FAST)
    expected = model.predict_proba(table.drop_columns("kind"))[:, 1]
    np.testing.assert_array_equal(probabilities(model, path), expected)


def test_an_error_of_predict_shows_a_way_out(tmp_path):
    model = committee.fit(pd.DataFrame(flowers([0.5, 1.5] * 30)), "kind", **FAST)
    path = tmp_path / "t.csv"
    path.write_text("size,c\n1.5,0.5\n2.5,many\n")
    with pytest.raises(BadTable, match=r"row 2 contains 'many'\. Correct it, or leave the cell empty\."):
        predict(model, path)


def test_blanks_around_categories_are_ignored(tmp_path):
    plain, spaced = (pd.DataFrame(flowers(pair * 30)) for pair in (["a", "b"], ["a ", " b"]))
    for name, frame in (("plain", plain), ("spaced", spaced)):
        frame.to_parquet(tmp_path / f"{name}.parquet")
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    for frame in (plain, spaced):
        model = committee.fit(frame, "kind", **FAST)
        expected = model.predict_proba(frame.drop(columns="kind"))[:, 1]
        for place in tmp_path.iterdir():
            np.testing.assert_array_equal(probabilities(model, place), expected)


def test_blanks_around_classes_are_ignored(tmp_path):
    frame = pd.DataFrame(flowers(["a", "b"] * 30))
    model = committee.fit(frame, "kind", **FAST)
    frame.assign(kind=frame["kind"] + " ").to_parquet(tmp_path / "t.parquet")
    assert evaluate(model, tmp_path / "t.parquet").scores == evaluate(model, frame).scores


def test_categories_that_differ_only_by_blanks_stay_different(tmp_path):
    frame = pd.DataFrame(flowers(["a", "a "] * 30))
    frame.to_parquet(tmp_path / "t.parquet")
    model = committee.fit(frame, "kind", **FAST)
    expected = model.predict_proba(frame.drop(columns="kind"))[:, 1]
    np.testing.assert_array_equal(probabilities(model, tmp_path / "t.parquet"), expected)


@pytest.mark.parametrize(
    "column",
    [
        pd.cut(SIZES, 3),
        pd.Series(pa.array([b"a", b"b"] * 30).dictionary_encode().to_pandas()),
        pd.period_range("2024-01", periods=60, freq="M"),
    ],
    ids=["intervals", "bytes", "periods"],
)
def test_a_column_of_an_unsupported_type_is_an_error(column):
    with pytest.raises(
        BadTable, match=r"Column 'c' contains a .* in each row\. Split it .* convert it to text"
    ):
        committee.fit(pd.DataFrame(flowers(column)), "kind", **FAST)
