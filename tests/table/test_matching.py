"""Test `read_like`, which reads a later table with the schema of the first."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from committee.table import read, read_like

FRAME = pd.DataFrame({"age": [31.0, 54.0], "city": ["Oslo", "Bonn"]})


def codes_like(first, later, **parameters):
    return read_like(later, read(first, **parameters).schema).columns[0].tolist()


def test_reordered_columns_of_a_frame_are_matched_by_name():
    table = read_like(FRAME[["city", "age"]], read(FRAME).schema)
    assert table.schema.names == ("age", "city")
    assert table.columns[0].tolist() == [31.0, 54.0] and table.columns[1].tolist() == [2, 1]


def test_the_later_frame_may_come_from_another_library():
    table = read_like(pl.from_pandas(FRAME).select("city", "age"), read(FRAME).schema)
    assert table.columns[1].tolist() == [2, 1]


def test_a_matrix_is_matched_by_position():
    table = read_like(np.array([[31.0, "Bonn"]], dtype=object), read(FRAME).schema)
    assert table.columns[1].tolist() == [1]


def test_missing_and_unseen_columns_are_an_error_that_names_them():
    with pytest.raises(
        ValueError, match=r"Now missing: 'city'\. Unseen then: 'town'\. Rename them, or fit again\."
    ):
        read_like(FRAME.rename(columns={"city": "town"}), read(FRAME).schema)


def test_another_number_of_columns_is_an_error():
    with pytest.raises(ValueError, match=r"X has 3 features, but 2 were fitted."):
        read_like(np.zeros((1, 3)), read(np.zeros((1, 2))).schema)


def test_an_unseen_category_becomes_missing():
    for make in [pd.DataFrame, pl.DataFrame, pa.table]:
        assert codes_like(make({"x": ["a", "b"]}), make({"x": ["b", "c", None]})) == [2, 0, 0]


def test_a_declared_category_is_matched_by_value_and_not_by_code():
    first = pd.DataFrame({"x": pd.Categorical(["a", "b"])})
    assert codes_like(first, pd.DataFrame({"x": pd.Categorical(["c", "b", None, "a"])})) == [0, 2, 0, 1]
    assert codes_like(first, pl.DataFrame({"x": ["b"]}, schema={"x": pl.Enum(["z", "b"])})) == [2]


def test_more_than_127_declared_categories_do_not_overflow():
    labels = [f"{i:03}" for i in range(128)]
    assert codes_like(pd.DataFrame({"x": labels}), pd.DataFrame({"x": pd.Categorical(labels)})) == list(
        range(1, 129)
    )


def test_a_marked_number_is_matched_by_value_for_every_dtype():
    later = pd.DataFrame({"x": [20.0, np.nan, 15.0]})
    assert codes_like(pd.DataFrame({"x": [10, 20]}), later, categorical_features=["x"]) == [2, 0, 0]


def test_text_that_looks_like_a_number_is_still_text():
    assert codes_like(np.array([["1"], ["x"]]), np.array([["1"]])) == [1]
    assert codes_like(np.array([["1"], ["x"]], dtype=object), np.array([["1"]], dtype=object)) == [1]


def test_numbers_and_booleans_are_interchangeable():
    assert codes_like(np.array([[True], [False]]), np.array([[1.0]])) == [1.0]
    assert codes_like(np.array([[1.0], [0.0]]), np.array([[True]])) == [True]


NUMBER, TEXT = pd.DataFrame({"x": [1.5]}), pd.DataFrame({"x": ["Oslo"]})
DATE = pd.DataFrame({"x": [datetime.datetime(2020, 1, 1)]})
SPAN = pd.DataFrame({"x": [datetime.timedelta(days=1)]})
CODES, DATES = NUMBER.astype("category"), DATE.astype("category")
CATEGORY = pd.DataFrame({"x": pd.Categorical([3])})


@pytest.mark.parametrize(
    ("first", "later", "was", "is_now"),
    [
        (TEXT, NUMBER, "text", "a number"),
        (NUMBER, TEXT, "a number", "text"),
        (DATE, NUMBER, "a date", "a number"),
        (DATE, SPAN, "a date", "a span"),
        (SPAN, DATE, "a span", "a date"),
        (NUMBER, SPAN, "a number", "a span"),
        (CODES, DATES, "a category", "a category"),
        (NUMBER, DATE, "a number", "a date"),
        (TEXT, DATE, "text", "a date"),
        (NUMBER, CATEGORY, "a number", "a category"),
        (CATEGORY, TEXT, "a category", "text"),
        (pd.DataFrame({"x": [True]}), TEXT, "a boolean", "text"),
    ],
)
def test_a_column_of_another_kind_is_an_error(first, later, was, is_now):
    message = (
        f"Column 'x' was {was} when the committee was fitted and is {is_now} now. Convert it, or fit again."
    )
    with pytest.raises(ValueError, match=message):
        read_like(later, read(first).schema)


@pytest.mark.parametrize(
    ("first", "later", "is_now"),
    [(NUMBER, DATE, "a date"), (NUMBER, SPAN, "a span"), (DATE, NUMBER, "a number"), (DATE, SPAN, "a span")],
)
@pytest.mark.parametrize("more_rows", [1, 3])
def test_categories_of_numbers_do_not_match_categories_of_dates(first, later, is_now, more_rows):
    later = pd.concat([later] * more_rows, ignore_index=True)
    with pytest.raises(ValueError, match=rf"Column 'x' was a category .* is {is_now} now\."):
        codes_like(first, later, categorical_features=["x"])


def test_an_unseen_date_becomes_missing_if_dates_are_categories():
    later = pd.DataFrame({"x": [datetime.datetime(2021, 1, 1)]})
    assert codes_like(DATE, later, categorical_features=["x"]) == [0]
    assert codes_like(DATE, pd.concat([later, DATE]), categorical_features=["x"]) == [0, 1]


def test_text_in_a_column_of_numbers_is_an_error():
    with pytest.raises(ValueError, match=r"Column 'x0' was a number .* and is text now"):
        read_like(np.array([["a"]]), read(np.zeros((1, 1))).schema)


@pytest.mark.parametrize(
    "empty", [pl.DataFrame({"x": [None]}), pd.DataFrame({"x": [np.nan]}), TEXT.assign(x=None)]
)
@pytest.mark.parametrize("first", [NUMBER, DATE])
def test_a_column_without_values_matches_numbers_and_dates(first, empty):
    assert np.isnan(read_like(empty, read(first).schema).columns[0]).all()


@pytest.mark.parametrize(
    "empty", [pl.DataFrame({"x": [None]}), pd.DataFrame({"x": [np.nan]}), TEXT.assign(x=None)]
)
def test_a_column_without_values_matches_categories(empty):
    assert codes_like(TEXT, empty) == [0]


def test_a_category_without_values_reads_everything_as_missing():
    assert codes_like(pl.DataFrame({"x": [None]}, schema={"x": pl.String}), NUMBER) == [0]
