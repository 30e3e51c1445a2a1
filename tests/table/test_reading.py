"""`read`: every container and dtype becomes a schema and one array per column."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from committee.table import Column, Kind, read
from committee.table import source as source_module

MOMENT = datetime.datetime(2020, 1, 1)
MOMENT_IN_SECONDS = 1_577_836_800.0


def kinds(table):
    return [column.kind for column in table.schema.columns]


def only_column(X, **parameters):
    table = read(X, **parameters)
    (column,), (values,) = table.schema.columns, table.columns
    return column, values


def objects(*values):
    array = np.empty((len(values), 1), dtype=object)
    array[:, 0] = values
    return array


# numpy


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


def test_the_columns_of_a_matrix_are_called_by_their_positions():
    schema = read(np.zeros((2, 3))).schema
    assert schema.names == ("x0", "x1", "x2") and not schema.named


def test_an_object_column_of_numbers_is_numbers():
    column, values = only_column(objects(1, 2.5, None, np.nan, True, "3"))
    assert column.kind is Kind.NUMBER
    np.testing.assert_array_equal(values, [1, 2.5, np.nan, np.nan, 1, 3])


def test_an_object_column_of_booleans_is_booleans():
    column, values = only_column(objects(True, None, False))
    assert column.kind is Kind.BOOLEAN
    np.testing.assert_array_equal(values, [1, np.nan, 0])


def test_an_object_column_of_dates_is_dates():
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


def test_a_one_and_its_text_are_two_categories():
    column, _ = only_column(objects("1", 1, "x"))
    assert column.categories == (1, "1", "x")


def test_an_object_column_without_a_value_is_missing_numbers():
    column, values = only_column(objects(None, pd.NA, np.nan))
    assert column.kind is Kind.NUMBER and np.isnan(values).all()


def test_a_scalar_of_numpy_and_its_python_twin_are_one_category():
    column, _ = only_column(
        objects(np.datetime64("2020-01-01"), datetime.date(2020, 1, 1), np.str_("a"), "a")
    )
    assert column.categories == (datetime.date(2020, 1, 1), "a")


@pytest.mark.parametrize("value", [{"foo": "bar"}, [1], (1, [2]), np.array([1, 2])])
def test_an_unhashable_object_is_an_error_that_scikit_learn_knows(value):
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


def test_text_in_a_matrix_that_is_all_numbers_is_numbers():
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


def test_one_moment_is_one_number_in_every_unit():
    moments = np.datetime64("2024-03-05T07:08:09.123457", "us") + np.arange(1000)
    micro = read(moments[:, None]).columns[0]
    nano = read(moments.astype("M8[ns]")[:, None]).columns[0]
    np.testing.assert_array_equal(micro, nano)


# sparse


@pytest.mark.parametrize("make", [scipy.sparse.csr_array, scipy.sparse.coo_matrix, scipy.sparse.dok_array])
def test_a_sparse_matrix_is_read_as_a_dense_one(make):
    dense = np.array([[0.0, 2.0], [3.0, 0.0]])
    table = read(make(dense))
    np.testing.assert_array_equal(np.column_stack(table.columns), dense)


def test_a_sparse_matrix_that_does_not_fit_in_memory_is_an_error():
    X = scipy.sparse.csr_array((10**7, 10**7))
    with pytest.raises(
        ValueError, match=r"The sparse X of shape .* takes 800000\.0 GB when dense, and .* GB are"
    ):
        read(X)


# frames


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
def test_a_null_among_numbers_is_nan(X):
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
def test_a_null_among_booleans_is_nan(X):
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
def test_a_date_is_seconds_since_1970(X):
    column, values = only_column(X)
    assert column.kind is Kind.DATE
    np.testing.assert_array_equal(values, [MOMENT_IN_SECONDS, np.nan])


def test_a_local_time_is_read_in_utc():
    X = pd.DataFrame({"x": pd.DatetimeIndex([MOMENT]).tz_localize("Europe/Paris")})
    assert read(X).columns[0].tolist() == [MOMENT_IN_SECONDS - 3600]


@pytest.mark.parametrize(
    "value", [datetime.timedelta(hours=1, microseconds=500_000), datetime.time(1, 0, 0, 500_000)]
)
def test_spans_and_times_of_day_are_seconds(value):
    for X in [
        pl.DataFrame({"x": [value, None]}),
        pa.table({"x": [value, None]}),
        pandas_series([value, None], "object"),
    ]:
        column, values = only_column(X)
        assert column.kind is Kind.DATE
        np.testing.assert_array_equal(values, [3600.5, np.nan])


@pytest.mark.parametrize("X", [pl.DataFrame({"x": [None, None]}), pa.table({"x": pa.nulls(2)})])
def test_a_column_of_nulls_is_missing_numbers(X):
    column, values = only_column(X)
    assert column.kind is Kind.NUMBER and np.isnan(values).all()


@pytest.mark.parametrize("X", [pl.DataFrame({"x": [[1]]}), pa.table({"x": [{"a": 1}]})])
def test_a_nested_column_is_an_error(X):
    with pytest.raises(TypeError, match=r"Column 'x' holds a .* in each row\. Spread it over columns\."):
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


def test_anything_that_streams_arrow_is_a_frame():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"x": [1, 2]}).__arrow_c_stream__(requested_schema)

    batch = pa.record_batch({"x": [1, 2]})
    for X in [Stream(), batch, pa.RecordBatchReader.from_batches(batch.schema, [batch])]:
        table = read(X)
        assert table.schema.names == ("x",) and table.columns[0].tolist() == [1, 2]


def test_a_stream_without_a_reader_is_an_error(monkeypatch):
    monkeypatch.setattr(source_module.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"X is a RecordBatch, which pyarrow or polars can read. Install one"
    ):
        read(pa.record_batch({"x": [1, 2]}))


def test_a_lazy_frame_is_an_error():
    with pytest.raises(TypeError, match=r"X is lazy \(LazyFrame\)\. Pass X\.collect\(\)\."):
        read(pl.LazyFrame({"x": [1]}))


def test_names_that_are_not_text_are_no_names():
    schema = read(pd.DataFrame([[1, 2]])).schema
    assert schema.names == ("x0", "x1") and not schema.named


@pytest.mark.parametrize(
    "X", [pd.DataFrame([[1, 2]], columns=["a", "a"]), pa.table([[1], [2]], names=["a", "a"])]
)
def test_two_columns_of_one_name_are_an_error_that_names_them(X):
    with pytest.raises(ValueError, match=r"Two columns of X have one name: .*'a'.*Rename them\."):
        read(X)


# shapes


@pytest.mark.parametrize(
    "X", [np.zeros(3), [1, 2], pd.Series([1, 2]), pl.Series([1, 2]), pa.chunked_array([[1]])]
)
def test_one_dimension_is_an_error(X):
    with pytest.raises(ValueError, match="Reshape your data"):
        read(X)


@pytest.mark.parametrize(
    "X", [np.zeros((0, 3)), scipy.sparse.csr_array((0, 3)), pd.DataFrame(columns=list("abc"))]
)
def test_no_rows_are_an_error(X):
    with pytest.raises(
        ValueError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"
    ):
        read(X)


@pytest.mark.parametrize(
    "X", [np.zeros((3, 0)), scipy.sparse.csr_array((3, 0)), pd.DataFrame(index=range(3))]
)
def test_no_columns_are_an_error(X):
    with pytest.raises(
        ValueError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1 is required\."
    ):
        read(X)


def test_three_dimensions_are_an_error():
    with pytest.raises(ValueError, match="Found array with dim 3"):
        read(np.zeros((2, 2, 2)))


# categorical_features


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
def test_marks_that_fit_no_column_are_an_error(marks, message):
    with pytest.raises(ValueError, match=message):
        read(pd.DataFrame({"a": [1], "b": [2]}), categorical_features=marks)


def test_names_for_a_matrix_are_an_error():
    with pytest.raises(
        ValueError, match=r"categorical_features holds names, and X has none. Pass indices or a mask."
    ):
        read(np.zeros((1, 1)), categorical_features=["a"])


# many categories


def test_of_too_many_categories_the_most_frequent_are_kept():
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
