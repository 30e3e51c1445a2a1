"""Test `read`: shapes, columns marked as categories, and columns of many categories."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from reading_cases import kinds, only_column

from committee.table import Column, Kind, read


@pytest.mark.parametrize(
    "X", [np.zeros(3), [1, 2], pd.Series([1, 2]), pl.Series([1, 2]), pa.chunked_array([[1]])]
)
def test_one_dimensional_input_is_an_error(X):
    with pytest.raises(ValueError, match="Reshape your data"):
        read(X)


@pytest.mark.parametrize(
    "X", [np.zeros((0, 3)), scipy.sparse.csr_array((0, 3)), pd.DataFrame(columns=list("abc"))]
)
def test_a_table_without_rows_is_an_error(X):
    with pytest.raises(
        ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"
    ):
        read(X)


@pytest.mark.parametrize(
    "X", [np.zeros((3, 0)), scipy.sparse.csr_array((3, 0)), pd.DataFrame(index=range(3))]
)
def test_a_table_without_columns_is_an_error(X):
    with pytest.raises(
        ValueError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."
    ):
        read(X)


def test_three_dimensional_input_is_an_error():
    with pytest.raises(ValueError, match="Found array with dim 3"):
        read(np.zeros((2, 2, 2)))


@pytest.mark.parametrize("marks", [[False, True], [1], ["b"], np.array([1]), pd.Index(["b"])])
def test_a_marked_column_is_a_category_of_its_values(marks):
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [30.0, np.nan, 10.0]})
    table = read(X, categorical_features=marks)
    assert table.schema.columns[1] == Column("b", Kind.CATEGORY, (10.0, 30.0))
    assert table.columns[1].tolist() == [2, 0, 1]
    assert kinds(table) == [Kind.NUMBER, Kind.CATEGORY]


def test_a_marked_boolean_column_is_a_category():
    column, codes = only_column(np.array([[True], [False]]), categorical_features=[0])
    assert column.categories == (False, True) and codes.tolist() == [2, 1]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_integers_too_large_for_a_float_stay_distinct_as_categories(make, dtype):
    ids = np.array([[2**53 + 1], [2**53], [2**53 + 2]], dtype=dtype)
    column, codes = only_column(make(ids), categorical_features=[0])
    assert column.categories == (2**53, 2**53 + 1, 2**53 + 2) and codes.tolist() == [2, 1, 3]


def test_an_empty_list_marks_nothing():
    assert kinds(read(np.zeros((1, 1)), categorical_features=[])) == [Kind.NUMBER]


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([True], "categorical_features is a mask of 1 columns. X has 2."),
        ([2, -1], r"categorical_features has the indices \[2, -1\]. X has 0 to 1."),
        (["b", "c"], r"categorical_features names \['c'\], and X has no such columns."),
        ("auto", "categorical_features must be \"from_dtype\", or a mask, .* of columns. Got 'auto'."),
        ([1.5], "categorical_features must be"),
        (None, "categorical_features must be"),
        ([[True, False]], "categorical_features must be"),
    ],
)
def test_marks_without_a_matching_column_are_an_error(marks, message):
    with pytest.raises(ValueError, match=message):
        read(pd.DataFrame({"a": [1], "b": [2]}), categorical_features=marks)


def test_names_for_a_matrix_are_an_error():
    with pytest.raises(
        ValueError, match=r"categorical_features contains names, and X has none. Pass indices or a mask."
    ):
        read(np.zeros((1, 1)), categorical_features=["a"])


def test_the_most_frequent_of_too_many_categories_are_kept():
    values = np.arange(70_000)
    rows = np.concatenate([values, values[-10:]])
    column, codes = only_column(rows[:, None], categorical_features=[0])
    assert len(column.categories) == 65_535
    assert column.categories[:2] == (0, 1) and column.categories[-10:] == tuple(range(69_990, 70_000))
    assert codes[-1] == 65_535 and codes[69_989] == 0 and codes.dtype == np.int32


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_million_categories_are_read(make):
    table = read(make({"x": [f"v{i}" for i in range(10**6)]}))
    assert table.schema.n_categories.tolist() == [65_535]
    assert np.count_nonzero(table.columns[0]) == 65_535
