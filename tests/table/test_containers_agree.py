"""Test on random tables that neither the container nor reading again with the schema changes a value."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from committee.table import read, read_like

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=3)
MOMENT = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
FLOAT = st.floats(allow_nan=False)
VALUES = {
    "float": (FLOAT, "Float64", pl.Float64, pa.float64()),
    "integer": (st.integers(-(2**31), 2**31), "Int64", pl.Int64, pa.int64()),
    "boolean": (st.booleans(), "boolean", pl.Boolean, pa.bool_()),
    "text": (TEXT, "str", pl.String, pa.string()),
    "category": (TEXT, "string", pl.Categorical, pa.dictionary(pa.int32(), pa.string())),
    "moment": (MOMENT, "M8[us]", pl.Datetime("us"), pa.timestamp("us")),
    "span": (
        st.timedeltas(datetime.timedelta(-999), datetime.timedelta(999)),
        "m8[us]",
        pl.Duration("us"),
        pa.duration("us"),
    ),
}


@st.composite
def columns_of_values(draw):
    """Draw columns of equal length as (type name, values), each with at least one value that is not None."""
    n_rows = draw(st.integers(1, 6))
    names = draw(st.lists(st.sampled_from(list(VALUES)), min_size=1, max_size=5))
    cells = {name: st.none() | values for name, (values, *_) in VALUES.items()}
    columns = [
        (name, draw(st.lists(cells[name], min_size=n_rows, max_size=n_rows).filter(any_value)))
        for name in names
    ]
    return columns


def any_value(values):
    return any(value is not None for value in values)


def as_pandas(columns):
    return pd.DataFrame(
        {f"c{i}": pd.Series(values, dtype=VALUES[name][1]) for i, (name, values) in enumerate(columns)}
    )


def as_polars(columns):
    return pl.DataFrame(
        [pl.Series(f"c{i}", values, dtype=VALUES[name][2]) for i, (name, values) in enumerate(columns)]
    )


def as_arrow(columns):
    return pa.table({f"c{i}": pa.array(values, VALUES[name][3]) for i, (name, values) in enumerate(columns)})


def as_numpy(columns):
    matrix = np.empty((len(columns[0][1]), len(columns)), dtype=object)
    for i, (_, values) in enumerate(columns):
        matrix[:, i] = values
    return matrix


def assert_same_arrays(one, other):
    for left, right in zip(one.columns, other.columns, strict=True):
        np.testing.assert_array_equal(left, right)


@settings(max_examples=60)
@given(columns=columns_of_values())
def test_the_container_changes_nothing(columns):
    marks = [i for i, (name, _) in enumerate(columns) if name in ("text", "category")]
    tables = [
        read(make(columns), categorical_features=marks) for make in (as_pandas, as_polars, as_arrow, as_numpy)
    ]
    first = tables[0]
    for table in tables[1:]:
        assert [c.kind for c in table.schema.columns] == [c.kind for c in first.schema.columns]
        assert [c.categories for c in table.schema.columns] == [c.categories for c in first.schema.columns]
        assert_same_arrays(table, first)


@settings(max_examples=60)
@given(columns=columns_of_values())
def test_reading_again_with_the_same_schema_changes_nothing(columns):
    for make in (as_pandas, as_polars, as_arrow, as_numpy):
        X = make(columns)
        table = read(X)
        assert_same_arrays(read_like(X, table.schema), table)
