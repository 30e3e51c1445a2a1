"""Test `read` with frames of pandas, polars and Arrow."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reading_cases import only_column

from committee.table import Column, Kind, read
from committee.table import source as source_module

MOMENT = datetime.datetime(2020, 1, 1)
MOMENT_IN_SECONDS = 1_577_836_800.0


def pandas_series(values, dtype):
    return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})


@pytest.mark.parametrize(
    "X",
    [
        pandas_series(["b", None, "a"], "object"),
        pandas_series(["b", None, "a"], "string"),
        pandas_series(["b", None, "a"], "str"),
        pandas_series(["b", None, "a"], pd.ArrowDtype(pa.string())),
        pandas_series(["b", None, "a"], pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string()))),
        pl.DataFrame({"x": ["b", None, "a"]}),
        pl.DataFrame({"x": ["b", None, "a"]}, schema={"x": pl.Categorical}),
        pa.table({"x": ["b", None, "a"]}),
        pa.table({"x": pa.array(["b", None, "a"], pa.large_string())}),
        pa.table({"x": pa.array(["b", None, "a"]).dictionary_encode()}),
    ],
)
def test_text_in_a_frame_is_a_category_in_sorted_order(X):
    column, codes = only_column(X)
    assert column == Column("x", Kind.CATEGORY, ("a", "b"))
    assert codes.dtype == np.int32 and codes.flags.c_contiguous
    assert codes.tolist() == [2, 0, 1]


@pytest.mark.parametrize(
    "X",
    [
        pandas_series(["b", None, "a"], pd.CategoricalDtype(["c", "b", "a"])),
        pandas_series(["b", None, "a"], pd.CategoricalDtype(["c", "b", "a"], ordered=True)),
        pl.DataFrame({"x": ["b", None, "a"]}, schema={"x": pl.Enum(["c", "b", "a"])}),
    ],
)
def test_declared_categories_keep_their_order_and_those_without_rows(X):
    column, codes = only_column(X)
    assert column.categories == ("c", "b", "a")
    assert codes.tolist() == [2, 0, 3]


def test_arrow_chunks_with_different_dictionaries_agree():
    chunks = [pa.array(["b", None]).dictionary_encode(), pa.array(["a", "b"]).dictionary_encode()]
    column, codes = only_column(pa.table({"x": pa.chunked_array(chunks)}))
    assert column.categories == ("a", "b") and codes.tolist() == [2, 0, 1, 2]


def test_an_arrow_dictionary_of_numbers_is_a_category_of_numbers():
    column, codes = only_column(pa.table({"x": pa.array([20, None, 10]).dictionary_encode()}))
    assert column.categories == (10, 20) and codes.tolist() == [2, 0, 1]


def test_a_pandas_category_of_intervals_is_read():
    column, codes = only_column(pd.DataFrame({"x": pd.cut([1.0, 2.0, 9.0], [0, 5, 10])}))
    assert column.categories == (pd.Interval(0, 5), pd.Interval(5, 10)) and codes.tolist() == [1, 1, 2]


@pytest.mark.parametrize(
    "X",
    [
        pandas_series([3, None, 1], "Int64"),
        pandas_series([3, None, 1], "Float32"),
        pandas_series([3, None, 1], "float64"),
        pandas_series([3, None, 1], "int64[pyarrow]"),
        pandas_series([3, None, 1], "object"),
        pandas_series([3, pd.NA, 1], "object"),
        pl.DataFrame({"x": [3, None, 1]}),
        pl.DataFrame({"x": [3, None, 1]}, schema={"x": pl.UInt8}),
        pl.DataFrame({"x": [3, None, 1]}, schema={"x": pl.Int128}),
        pl.DataFrame({"x": [3, None, 1]}, schema={"x": pl.Decimal(10, 2)}),
        pl.DataFrame({"x": [3.0, float("nan"), 1.0]}, schema={"x": pl.Float32}),
        pa.table({"x": [3, None, 1]}),
        pa.table({"x": pa.array([3, None, 1], pa.decimal128(10, 2))}),
        pa.table({"x": pa.array([3, None, 1], pa.float16())}),
    ],
)
def test_a_null_in_numbers_becomes_nan(X):
    column, values = only_column(X)
    assert column.kind is Kind.NUMBER
    np.testing.assert_array_equal(values, [3, np.nan, 1])


@pytest.mark.parametrize(
    "X",
    [
        pandas_series([True, None, False], "boolean"),
        pandas_series([True, None, False], "bool[pyarrow]"),
        pandas_series([True, None, False], "object"),
        pl.DataFrame({"x": [True, None, False]}),
        pa.table({"x": [True, None, False]}),
    ],
)
def test_a_null_in_booleans_becomes_nan(X):
    column, values = only_column(X)
    assert column.kind is Kind.BOOLEAN
    np.testing.assert_array_equal(values, [1, np.nan, 0])


@pytest.mark.parametrize("X", [pandas_series([True, False], "bool"), pl.DataFrame({"x": [True, False]})])
def test_booleans_without_nulls_stay_booleans(X):
    column, values = only_column(X)
    assert column.kind is Kind.BOOLEAN and values.dtype == bool


@pytest.mark.parametrize(
    "X",
    [
        pandas_series([MOMENT, None], "M8[ns]"),
        pandas_series([MOMENT, None], "M8[s]"),
        pandas_series([MOMENT, None], pd.DatetimeTZDtype("us", "UTC")),
        pandas_series([MOMENT.date(), None], pd.ArrowDtype(pa.date32())),
        pandas_series([MOMENT.date(), None], "object"),
        pl.DataFrame({"x": [MOMENT, None]}),
        pl.DataFrame({"x": [MOMENT.date(), None]}),
        pl.DataFrame({"x": [MOMENT, None]}, schema={"x": pl.Datetime("ms", "UTC")}),
        pa.table({"x": [MOMENT, None]}),
        pa.table({"x": [MOMENT.date(), None]}),
        pa.table({"x": pa.array([MOMENT, None], pa.timestamp("ns", "Europe/Paris"))}),
    ],
)
def test_a_date_becomes_seconds_since_1970(X):
    column, values = only_column(X)
    assert column.kind is Kind.DATE
    np.testing.assert_array_equal(values, [MOMENT_IN_SECONDS, np.nan])


def test_a_local_time_is_read_in_utc():
    X = pd.DataFrame({"x": pd.DatetimeIndex([MOMENT]).tz_localize("Europe/Paris")})
    assert read(X).columns[0].tolist() == [MOMENT_IN_SECONDS - 3600]


@pytest.mark.parametrize(
    "value", [datetime.timedelta(hours=1, microseconds=500_000), datetime.time(1, 0, 0, 500_000)]
)
def test_spans_and_times_of_day_become_seconds(value):
    for X in [
        pl.DataFrame({"x": [value, None]}),
        pa.table({"x": [value, None]}),
        pandas_series([value, None], "object"),
    ]:
        column, values = only_column(X)
        assert column.kind is Kind.SPAN
        np.testing.assert_array_equal(values, [3600.5, np.nan])


@pytest.mark.parametrize("X", [pl.DataFrame({"x": [None, None]}), pa.table({"x": pa.nulls(2)})])
def test_a_column_of_nulls_becomes_missing_numbers(X):
    column, values = only_column(X)
    assert column.kind is Kind.NUMBER and np.isnan(values).all()


@pytest.mark.parametrize(
    ("value", "kind"),
    [(1.5, Kind.NUMBER), (True, Kind.BOOLEAN), (MOMENT, Kind.DATE), ("a", Kind.CATEGORY)],
    ids=lambda each: str(each),
)
def test_the_kind_of_objects_does_not_depend_on_leading_missing_values(value, kind):
    column, _ = only_column(pandas_series([None] * 150 + [value] * 3, object))
    assert column.kind == kind


@pytest.mark.parametrize("X", [pl.DataFrame({"x": [[1]]}), pa.table({"x": [{"a": 1}]})])
def test_a_nested_column_is_an_error(X):
    with pytest.raises(TypeError, match=r"Column 'x' contains a .* in each row\. Split it into columns\."):
        read(X)


def test_a_period_is_read_as_a_category_of_its_values():
    column, _ = only_column(pd.DataFrame({"x": pd.period_range("2020", periods=2, freq="D")}))
    assert column.kind is Kind.CATEGORY and len(column.categories) == 2


def test_a_sparse_pandas_column_is_read():
    X = pd.DataFrame({"x": pd.arrays.SparseArray([0.0, 1.0])})
    assert read(X).columns[0].tolist() == [0.0, 1.0]


def test_numbers_of_a_frame_are_not_copied():
    values = np.arange(5.0)
    polars, arrow, pandas = pl.DataFrame({"x": values}), pa.table({"x": values}), pd.DataFrame({"x": values})
    assert np.shares_memory(read(polars).columns[0], polars["x"].to_numpy())
    assert np.shares_memory(read(arrow).columns[0], arrow["x"].chunk(0).to_numpy())
    assert np.shares_memory(read(pandas).columns[0], pandas["x"].to_numpy())


def test_a_stream_of_arrow_data_is_read_as_a_frame():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"x": [1, 2]}).__arrow_c_stream__(requested_schema)

    batch = pa.record_batch({"x": [1, 2]})
    for X in [Stream(), batch, pa.RecordBatchReader.from_batches(batch.schema, [batch])]:
        table = read(X)
        assert table.schema.names == ("x",) and table.columns[0].tolist() == [1, 2]


def test_a_stream_is_an_error_if_no_library_can_read_it(monkeypatch):
    monkeypatch.setattr(source_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"X is a RecordBatch, which pyarrow or polars can read. Install one"
    ):
        read(pa.record_batch({"x": [1, 2]}))


def test_a_lazy_frame_is_an_error():
    with pytest.raises(TypeError, match=r"X is lazy \(LazyFrame\)\. Pass X\.collect\(\)\."):
        read(pl.LazyFrame({"x": [1]}))


def test_names_that_are_not_text_are_ignored():
    schema = read(pd.DataFrame([[1, 2]])).schema
    assert schema.names == ("x0", "x1") and not schema.named


@pytest.mark.parametrize(
    "X", [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])]
)
def test_two_columns_with_the_same_name_are_an_error_that_names_them(X):
    with pytest.raises(ValueError, match=r"Two columns of X have the same name: .*'a'.*Rename them\."):
        read(X)


def test_an_arrow_dictionary_is_read_from_its_codes():
    chunks = [pa.array(["b", None, "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    table = read(pa.table({"x": pa.chunked_array(chunks)}))
    assert table.schema.columns[0].categories == ("a", "b", "c")
    assert table.columns[0].tolist() == [2, 0, 1, 3, 1]


def test_values_of_an_arrow_dictionary_without_rows_are_dropped():
    column = pa.array(["a", "b", "c", "a"]).dictionary_encode().filter(pa.array([True, False, True, True]))
    table = read(pa.table({"x": column}))
    assert table.schema.columns[0].categories == ("a", "c")
    assert table.columns[0].tolist() == [1, 2, 1]


def test_an_arrow_dictionary_may_contain_null_or_repeated_values():
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["a", "b", "a", None]))
    table = read(pa.table({"x": twice}))
    assert table.schema.columns[0].categories == ("a", "b")
    assert table.columns[0].tolist() == [1, 2, 1, 0]


def test_the_codes_of_an_arrow_dictionary_may_be_unsigned():
    codes = pa.array([1, None, 0], type=pa.uint32())
    table = read(pa.table({"x": pa.DictionaryArray.from_arrays(codes, pa.array(["b", "a"]))}))
    assert table.columns[0].tolist() == [1, 0, 2]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int8", "uint16", "int64", "uint64", "bool"])
def test_numbers_without_missing_values_keep_their_dtype_in_every_frame(dtype):
    values = np.array([0, 1, 1], dtype=dtype)
    for frame in (pd.DataFrame({"x": values}), pl.DataFrame({"x": values}), pa.table({"x": values})):
        (column,) = read(frame).columns
        assert column.dtype == dtype
        assert column.tolist() == values.tolist()


def test_integers_with_a_missing_value_are_read_in_every_frame():
    values = [1, None, 3]
    for frame in (
        pd.DataFrame({"x": pd.array(values, dtype="Int64")}),
        pl.DataFrame({"x": values}),
        pa.table({"x": values}),
    ):
        (column,) = read(frame).columns
        np.testing.assert_array_equal(column, [1, np.nan, 3])


def test_the_order_of_objects_does_not_matter():
    numbers = pd.Series(["1", "2"] * 60 + [1, 2] * 60, dtype=object)
    for order in (numbers, numbers[::-1]):
        table = read(pd.DataFrame({"x": order}))
        assert table.schema.columns[0].kind is Kind.NUMBER
        np.testing.assert_array_equal(table.columns[0], order.astype(float))
    with pytest.raises(TypeError, match="Column 'x': every argument must be a string or a number"):
        read(pd.DataFrame({"x": pd.Series(["1"] * 200 + [["a", "list"]], dtype=object)}))


@pytest.mark.parametrize("zone", [None, "Europe/Rome"])
def test_a_pandas_category_of_dates_becomes_one_of_seconds(zone):
    dates = pd.to_datetime(["2024-03-01", "2024-01-01", None]).tz_localize(zone)
    table = read(pd.DataFrame({"x": pd.Categorical(dates)}))
    marked = read(pd.DataFrame({"x": dates}), categorical_features=["x"])
    assert table.schema == marked.schema and table.columns[0].tolist() == [2, 1, 0]
