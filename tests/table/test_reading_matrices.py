"""Test `read` with numpy and scipy matrices and with lists."""

import datetime

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from reading_cases import kinds, objects, only_column

from committee.table import Column, Kind, read

MOMENT = datetime.datetime(2020, 1, 1)
MOMENT_IN_SECONDS = 1_577_836_800.0


@pytest.mark.parametrize("dtype", ["f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"])
def test_a_column_of_a_native_dtype_is_a_view_of_the_matrix(dtype):
    X = np.array([[0, 1], [1, 0]], dtype=dtype)
    table = read(X)
    assert table.columns[1].dtype == X.dtype
    assert np.shares_memory(table.columns[1], X)


@pytest.mark.parametrize("dtype", ["f2", ">f8", ">f4", ">i4", "g"])
def test_a_column_of_another_numeric_dtype_becomes_float64(dtype):
    column, values = only_column(np.array([[1], [2]], dtype=dtype))
    assert column.kind is Kind.NUMBER
    assert values.dtype == np.float64 and values.dtype.isnative
    assert values.tolist() == [1.0, 2.0]


def test_a_read_only_memmap_is_not_copied(tmp_path):
    np.save(tmp_path / "X.npy", np.arange(6.0).reshape(3, 2))
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert np.shares_memory(read(X).columns[0], X)


def test_infinity_is_a_value_and_nan_is_missing():
    _, values = only_column(np.array([[np.inf], [-np.inf], [np.nan], [1e308]]))
    np.testing.assert_array_equal(values, [np.inf, -np.inf, np.nan, 1e308])


def test_a_masked_value_is_missing():
    _, values = only_column(np.ma.array([[1], [2]], mask=[[False], [True]]))
    np.testing.assert_array_equal(values, [1.0, np.nan])


def test_the_columns_of_a_matrix_are_named_by_position():
    schema = read(np.zeros((2, 3))).schema
    assert schema.names == ("x0", "x1", "x2") and not schema.named


def test_an_object_column_of_numbers_is_numeric():
    column, values = only_column(objects(1, 2.5, None, np.nan, True, "3"))
    assert column.kind is Kind.NUMBER
    np.testing.assert_array_equal(values, [1, 2.5, np.nan, np.nan, 1, 3])


def test_an_object_column_of_booleans_is_boolean():
    column, values = only_column(objects(True, None, False))
    assert column.kind is Kind.BOOLEAN
    np.testing.assert_array_equal(values, [1, np.nan, 0])


def test_an_object_column_of_dates_is_a_date():
    paris = datetime.timezone(datetime.timedelta(hours=1))
    column, values = only_column(
        objects(
            MOMENT,
            MOMENT.replace(hour=1, tzinfo=paris),
            MOMENT.date(),
            np.datetime64("2020-01-01"),
            None,
            pd.NaT,
        )
    )
    assert column.kind is Kind.DATE
    np.testing.assert_array_equal(values, [MOMENT_IN_SECONDS] * 4 + [np.nan] * 2)


def test_an_object_column_of_mixed_types_is_a_category_in_a_fixed_order():
    column, values = only_column(objects("b", 2, None, 1.5, "a", np.nan))
    assert column == Column("x0", Kind.CATEGORY, (1.5, 2, "a", "b"))
    assert values.tolist() == [4, 2, 0, 1, 3, 0]


def test_a_number_and_its_text_are_two_categories():
    column, _ = only_column(objects("1", 1, "x"))
    assert column.categories == (1, "1", "x")


def test_an_object_column_without_values_becomes_missing_numbers():
    column, values = only_column(objects(None, pd.NA, np.nan))
    assert column.kind is Kind.NUMBER and np.isnan(values).all()


def test_equal_numpy_and_python_scalars_are_one_category():
    column, _ = only_column(
        objects(np.datetime64("2020-01-01"), datetime.date(2020, 1, 1), np.str_("a"), "a")
    )
    assert column.categories == (datetime.date(2020, 1, 1), "a")


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], (1, [2]), np.array([1, 2])])
def test_an_unhashable_object_raises_the_error_of_scikit_learn(value):
    with pytest.raises(TypeError, match=r"Column 'x0': every argument must be a string or a number"):
        read(objects(1.0, value))


@pytest.mark.parametrize("X", [objects(1j), objects(np.complex64(1)), pd.DataFrame([[1j]])])
def test_a_complex_column_is_an_error_that_names_it(X):
    with pytest.raises(ValueError, match="Complex data not supported: column 'x0'"):
        read(X)


def test_a_complex_matrix_is_an_error():
    with pytest.raises(ValueError, match="Complex data not supported"):
        read(np.array([[1j]]))


def test_a_structured_dtype_is_an_error():
    with pytest.raises(TypeError, match=r"Column 'x0' has dtype .*Convert it to numbers, text or dates\."):
        read(np.zeros((2, 1), dtype=[("a", "f8")]))


@pytest.mark.parametrize("dtype", ["U", "O", "T"])
def test_text_in_a_matrix_is_a_category(dtype):
    column, values = only_column(np.array([["b"], ["a"], ["1"]]).astype(dtype))
    assert column == Column("x0", Kind.CATEGORY, ("1", "a", "b"))
    assert values.tolist() == [3, 2, 1]


def test_text_in_a_matrix_is_numeric_if_all_values_are_numbers():
    column, values = only_column(np.array([["1.5"], ["nan"], ["-2"]]))
    assert column.kind is Kind.NUMBER
    np.testing.assert_array_equal(values, [1.5, np.nan, -2])


@pytest.mark.parametrize("missing", [None, np.nan])
def test_a_list_of_lists_keeps_the_kinds_of_its_columns(missing):
    table = read([["a", 1.5], [missing, missing]])
    assert kinds(table) == [Kind.CATEGORY, Kind.NUMBER]
    assert table.columns[0].tolist() == [1, 0]
    np.testing.assert_array_equal(table.columns[1], [1.5, np.nan])


def test_dates_become_seconds_in_any_unit():
    for unit in ["Y", "M", "W", "D", "h", "s", "ms", "us", "ns"]:
        column, values = only_column(np.array([["2020-01-01"], ["NaT"]], dtype=f"M8[{unit}]"))
        assert column.kind is Kind.DATE
        expected = np.datetime64("2020-01-01", unit).astype("M8[s]").astype(float)
        np.testing.assert_array_equal(values, [expected, np.nan])


def test_a_date_is_the_same_number_in_every_unit():
    moments = np.datetime64("2024-03-05T07:08:09.123457", "us") + np.arange(1000)
    micro = read(moments[:, None]).columns[0]
    nano = read(moments.astype("M8[ns]")[:, None]).columns[0]
    np.testing.assert_array_equal(micro, nano)


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.dok_array])
def test_a_sparse_matrix_equals_a_dense_one(make):
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    table = read(make(dense))
    np.testing.assert_array_equal(np.column_stack(table.columns), dense)


def test_a_sparse_matrix_that_does_not_fit_in_memory_is_an_error():
    X = scipy.sparse.csr_array((10**7, 10**7))
    with pytest.raises(
        ValueError, match=r"The sparse X of shape .* takes 800000\.0 GB when dense, and .* GB are"
    ):
        read(X)


def test_the_error_for_a_structured_array_suggests_a_frame():
    with pytest.raises(ValueError, match=r"got 1D array: .*pandas\.DataFrame\(X\) makes columns of them\.$"):
        read(np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]))
