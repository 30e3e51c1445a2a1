"""Test that a single pandas row, which has a fast path, is read as it is in a larger frame."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from committee.members.table_encoder import TableEncoder
from committee.table import Kind, read, read_like
from committee.table.source import open_source

FRAME = pd.DataFrame(
    {
        "float": [1.5, np.nan, np.inf],
        "small": np.array([1.5, 2.5, np.nan], dtype=np.float32),
        "integer": [3, -4, 2**53 + 1],
        "large": np.array([2**64 - 1, 1, 2**63 + 1], dtype=np.uint64),
        "swapped": np.array([1, 2, 3], dtype=">i4"),
        "is": [True, False, True],
        "city": pd.Categorical(["Oslo", None, "Bonn"], categories=["Rome", "Oslo", "Bonn"]),
        "size": pd.Categorical(["S", "L", "S"], categories=["S", "L"], ordered=True),
        "number": pd.Categorical([7, 5, None], categories=[9, 7, 5]),
        "day": pd.Categorical(pd.to_datetime(["2024-01-02", "2024-01-01", None])),
        "text": pd.Series(["a", None, "b"], dtype=object),
        "word": pd.Series(["a", "b", None], dtype="str"),
        "arrow": pd.Series(["x", None, "y"], dtype="string[pyarrow]"),
        "mixed": pd.Series(["one", 1, 2.5], dtype=object),
        "decimal": pd.Series([Decimal("1.5"), None, Decimal("2")], dtype=object),
        "nullable": pd.array([1, None, 3], dtype="Int64"),
        "maybe": pd.array([True, None, False], dtype="boolean"),
        "since": pd.to_datetime(["2024-01-01 12:00", None, "2025-01-01 06:00"]),
        "local": pd.to_datetime(["2024-01-01", None, "2025-01-01"]).tz_localize("Europe/Oslo"),
        "span": pd.to_timedelta(["1h", None, "2h"]),
        "at": pd.Series([datetime.time(1), None, datetime.time(2)], dtype=object),
        "sparse": pd.arrays.SparseArray([0.0, 1.0, 0.0]),
        "month": pd.PeriodIndex(["2024-01", "2024-02", "2024-03"], freq="M"),
        "between": pd.cut([1, 5, 9], [0, 4, 10]),
    }
)
SUBSETS = [
    list(FRAME),
    ["float", "integer", "large"],
    ["float"],
    ["city"],
    ["number", "integer"],
    ["word", "city"],
]


@pytest.mark.parametrize("columns", SUBSETS)
def test_a_single_row_is_read_as_in_the_whole_frame(columns):
    frame = FRAME[columns]
    table = read(frame)
    for row in range(len(frame)):
        alone = read_like(frame.iloc[row : row + 1], table.schema)
        for name, found, expected in zip(columns, alone.columns, table.columns, strict=True):
            np.testing.assert_array_equal(found, expected[row : row + 1], err_msg=name)


def test_a_fit_on_one_row_keeps_all_declared_categories():
    row = FRAME[["city", "size", "float"]].iloc[:1]
    assert read(row).schema == read(FRAME[["city", "size", "float"]]).schema


def test_numbers_of_one_row_keep_their_dtype():
    names = ["float", "small", "integer", "large", "is"]
    for columns in (names, [*names, "city"]):
        found = read(FRAME[columns].iloc[2:]).columns[: len(names)]
        assert [values.dtype for values in found] == [FRAME[name].dtype for name in names]
        assert found[2][0] == 2**53 + 1 and found[3][0] == 2**63 + 1


def test_an_unseen_value_in_one_row_becomes_missing():
    schema = read(FRAME[["city", "number", "word"]]).schema
    row = pd.DataFrame({"city": ["Paris"], "number": [8], "word": ["c"]})
    for later in (row, row.astype("category")):
        assert [codes.tolist() for codes in read_like(later, schema).columns] == [[0], [0], [0]]


@pytest.mark.parametrize(
    ("later", "message"),
    [
        (pd.DataFrame({"city": pd.Categorical([3]), "float": [1.0]}), "'city' was text .* is a category now"),
        (
            pd.DataFrame({"city": ["Oslo"], "float": pd.Categorical(["a"])}),
            "'float' was a number .* is text now",
        ),
        (pd.DataFrame({"city": [["Oslo"]], "float": [1.0]}), "Column 'city'"),
        (pd.DataFrame({"town": ["Oslo"], "float": [1.0]}), "Now missing: 'city'"),
    ],
)
def test_one_row_of_another_kind_is_an_error_that_names_the_column(later, message):
    schema = read(FRAME[["city", "float"]]).schema
    with pytest.raises((ValueError, TypeError), match=message):
        read_like(later, schema)


def test_one_row_may_have_its_columns_in_another_order():
    frame = FRAME[["city", "float"]]
    row = frame[["float", "city"]].iloc[:1]
    assert [values.tolist() for values in read_like(row, read(frame).schema).columns] == [[2], [1.5]]


def test_unnamed_columns_of_one_row_are_named_by_position():
    source = open_source(pd.DataFrame({0: [1.5], 1: ["a"]}))
    assert (source.names, source.named) == (("x0", "x1"), False)
    assert [column.kind for column in read(source).schema.columns] == [Kind.NUMBER, Kind.CATEGORY]


@pytest.mark.parametrize("n_rows", [1, 3, 250])
def test_the_encoding_of_a_row_does_not_depend_on_the_number_of_rows(n_rows):
    frame = pd.concat([FRAME[["float", "city", "is", "integer", "word"]]] * 100, ignore_index=True)
    encoder = TableEncoder().fit(frame)
    np.testing.assert_array_equal(encoder.transform(frame.iloc[:n_rows]), encoder.transform(frame)[:n_rows])
