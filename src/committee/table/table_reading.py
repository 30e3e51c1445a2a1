"""Read X as a table: `read` makes a schema, and `read_like` uses an existing one.

Estimators read X in `fit` with `read` and store its schema with `keep_schema`. In `predict` they read X with
`predict_table`, which raises scikit-learn's messages.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from committee.table.input_types import TableLike
from committee.table.raw_column import (
    Dictionary,
    Numbers,
    Raw,
    match_columns,
    read_column_like,
    settle,
    take_raw,
    to_dictionary,
)
from committee.table.schema import MAX_CATEGORIES, Column, Kind, PartColumns, Schema, Table
from committee.table.source import Source, open_source

# The columns to treat as categories: a mask, indices or names.
Marks: TypeAlias = Iterable[bool | int | str]


def read(X: TableLike | Source, *, categorical_features: str | Marks = "from_dtype") -> Table:
    """Read a table and make its schema.

    Columns of text and of a categorical dtype are categories. Dates, timedeltas and times of day become
    seconds. For a column of Python objects, or of text in a numpy array, the kind is inferred from the
    values: number, boolean, date or span if all values are of that kind, else category. NaN, None, NaT and
    null are missing values; infinity is not. If a column has more than 65,535 categories, the most frequent
    ones are kept and the others become missing values. Numbers are compared as float64, so that integers
    beyond 2**53 may become equal if they are close. Such integers are usually identifiers: mark them as
    categories, which stay distinct unless missing values have already converted them to floats.

    Parameters
    ----------
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    categorical_features : "from_dtype" or iterable of bool, int or str, default="from_dtype"
        Columns to treat as categories in addition to those of text or a categorical dtype, given as a mask,
        indices or names. Each distinct value is a category.

    Returns
    -------
    Table

    Examples
    --------
    >>> table = read([[1.5, "Oslo"], [2.5, "Bonn"], [3.5, None]])
    >>> [column.kind.value for column in table.schema.columns]
    ['number', 'category']
    >>> table.columns[1]
    array([2, 1, 0], dtype=int32)
    """
    source = open_source(X)
    marked = marked_columns(source, categorical_features)
    if source.rows is not None:
        return read_part(source, source.rows, marked)
    read_columns = [
        read_column(raw, name, is_marked)
        for raw, name, is_marked in zip(source.columns, source.names, marked, strict=True)
    ]
    schema = Schema(tuple(column for column, _ in read_columns), source.named)
    return Table(schema, tuple(values for _, values in read_columns), source.n_rows)


def read_like(X: TableLike | Source, schema: Schema) -> Table:
    """Read a table with an existing schema.

    The columns of a frame are matched by name in any order, those of a matrix by position. A category that
    is not in the schema becomes a missing value. A column without values matches every kind.

    Parameters
    ----------
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    schema : Schema

    Returns
    -------
    Table

    Examples
    --------
    >>> schema = read([[1.5, "Oslo"], [2.5, "Bonn"]]).schema
    >>> read_like([[3.5, "Rome"], [4.5, "Oslo"]], schema).columns[1]
    array([0, 2], dtype=int32)
    """
    source = open_source(X)
    if schema not in source.tables:
        source.tables[schema] = read_with_schema(source, schema)
    return source.tables[schema]


def read_with_schema(source: Source, schema: Schema) -> Table:
    """Read a source with a schema. If it was read before, read only the columns that differ.

    Models of different folds have almost the same categories, so that most columns are read only once.
    """
    positions = match_columns(source, schema)
    before = next(iter(source.tables.values()), None)
    changes = None if before is None else schema.changes(before.schema)
    places = range(schema.n_columns) if changes is None else changes
    columns = {
        place: read_column_like(source.column(positions[place]), schema.columns[place]) for place in places
    }
    if before is None or changes is None:
        return Table(schema, tuple(columns.values()), source.n_rows)
    return before.read_again(schema, columns)


def read_part(source: Source, rows: np.ndarray, marked: np.ndarray) -> Table:
    """Read the selected rows of a source without copying their numbers, and cache the table."""
    columns: list[Column] = []
    whole: list[np.ndarray | None] = []
    codes: dict[int, np.ndarray] = {}
    for place, (raw, name, is_marked) in enumerate(zip(source.columns, source.names, marked, strict=True)):
        is_number = isinstance(raw, Numbers) and not is_marked
        column, values = read_column(raw if is_number else take_raw(raw, rows), name, is_marked)
        columns.append(column)
        whole.append(values if is_number else None)
        if not is_number:
            codes[place] = values
    table = Table(Schema(tuple(columns), source.named), PartColumns(tuple(whole), codes, rows), source.n_rows)
    source.tables[table.schema] = table
    return table


def read_column(raw: Raw, name: str, is_marked: bool) -> tuple[Column, np.ndarray]:
    """Read one column. It is always a category if `is_marked` is True."""
    settled = to_dictionary(raw) if is_marked else settle(raw)
    if isinstance(settled, Numbers):
        return Column(name, settled.kind), settled.values
    categories, codes = settle_categories(settled)
    return Column(name, Kind.CATEGORY, categories, settled.seconds_of), codes


def marked_columns(source: Source, categorical_features: str | Marks) -> np.ndarray:
    """Return a boolean mask of the columns that `categorical_features` specifies."""
    n_columns = len(source.columns)
    marked = np.zeros(n_columns, dtype=bool)
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return marked
    marks = marks_of(categorical_features)
    if marks.dtype.kind == "b":
        if len(marks) != n_columns:
            raise ValueError(f"categorical_features is a mask of {len(marks)} columns. X has {n_columns}.")
        return marks
    if marks.dtype.kind in "iu":
        if outside := [int(mark) for mark in marks if not 0 <= mark < n_columns]:
            raise ValueError(f"categorical_features has the indices {outside}. X has 0 to {n_columns - 1}.")
        marked[marks] = True
        return marked
    if len(marks) and not source.named:
        raise ValueError("categorical_features contains names, and X has none. Pass indices or a mask.")
    if unknown := sorted({str(mark) for mark in marks} - set(source.names)):
        raise ValueError(f"categorical_features names {unknown}, and X has no such columns.")
    return np.isin(source.names, marks)


def marks_of(categorical_features: Marks) -> np.ndarray:
    """Convert a mask, indices or names to a vector."""
    error = ValueError(
        'categorical_features must be "from_dtype", or a mask, indices or names of columns. '
        f"Got {categorical_features!r}."
    )
    try:
        marks = np.asarray(categorical_features)
    except ValueError as ragged:
        raise error from ragged
    if marks.ndim != 1 or (
        marks.dtype.kind not in "biu" and not all(isinstance(mark, str) for mark in marks)
    ):
        raise error
    return marks


def settle_categories(dictionary: Dictionary) -> tuple[tuple[Hashable, ...], np.ndarray]:
    """Order the distinct values and encode the rows accordingly.

    The order is the declared one, or else the sorted one. Values that cannot be compared are sorted by their
    string representation, so that the result does not depend on the order of the rows. At most 65,535 values
    are kept, the most frequent ones, and the first among ties; rows with other values become missing.

    Returns
    -------
    categories : tuple
    codes : ndarray of int32 of shape (n_rows,)
        0 for missing values and i for the i-th category.
    """
    values = dictionary.values
    order = np.arange(len(values)) if dictionary.declared else sorted_order(values)
    if len(values) > MAX_CATEGORIES:
        counts = np.bincount(dictionary.codes, minlength=len(values) + 1)[1:][order]
        most_frequent = np.argsort(-counts, kind="stable")[:MAX_CATEGORIES]
        order = order[np.sort(most_frequent)]
    new_codes = np.zeros(len(values) + 1, dtype=np.int32)
    new_codes[order + 1] = np.arange(1, len(order) + 1)
    return tuple(values[i] for i in order), new_codes[dictionary.codes]


def sorted_order(values: list[Hashable]) -> np.ndarray:
    """Return the positions of the values in sorted order."""
    try:
        order = sorted(range(len(values)), key=values.__getitem__)  # type: ignore[arg-type]
    except TypeError:
        order = sorted(range(len(values)), key=lambda i: (str(values[i]), type(values[i]).__name__))
    return np.array(order, dtype=np.int64)


def forget_unseen(table: Table, weights: np.ndarray | None) -> Table:
    """Drop the categories that occur in no row of positive weight, even if they were declared.

    An estimator learns nothing about them, so they become missing values like all unseen categories.

    Examples
    --------
    >>> schema = Schema((Column("city", Kind.CATEGORY, ("Bonn", "Oslo", "Rome")),), named=True)
    >>> table = Table(schema, (np.array([1, 3, 0], dtype=np.int32),), n_rows=3)
    >>> seen = forget_unseen(table, None)
    >>> seen.schema.columns[0].categories, seen.columns[0]
    (('Bonn', 'Rome'), array([1, 2, 0], dtype=int32))
    >>> forget_unseen(table, np.array([0.0, 1.0, 1.0])).schema.columns[0].categories
    ('Rome',)
    """
    weighs = slice(None) if weights is None or weights.all() else weights > 0
    return with_categories(table, lambda codes, n: np.bincount(codes[weighs], minlength=n) > 0)


def forget_weightless(table: Table, weights: np.ndarray | None) -> Table:
    """Drop the categories that occur only in rows of weight 0. Declared categories without any row are kept.

    Examples
    --------
    >>> schema = Schema((Column("city", Kind.CATEGORY, ("Bonn", "Oslo", "Rome")),), named=True)
    >>> table = Table(schema, (np.array([1, 3, 0], dtype=np.int32),), n_rows=3)
    >>> forget_weightless(table, np.array([0.0, 1.0, 1.0])).schema.columns[0].categories
    ('Oslo', 'Rome')
    """
    if weights is None or weights.all():
        return table

    def stay(codes: np.ndarray, n: int) -> np.ndarray:
        n_rows, n_weighing = np.bincount(codes, minlength=n), np.bincount(codes[weights > 0], minlength=n)
        is_kept: np.ndarray = (n_weighing > 0) | (n_rows == 0)
        return is_kept

    return with_categories(table, stay)


def with_categories(table: Table, stay: Callable[[np.ndarray, int], np.ndarray]) -> Table:
    """Keep the categories for which a function of the rows' codes returns True. Others become missing."""
    columns, found = list(table.schema.columns), dict[int, np.ndarray]()
    for position in np.flatnonzero(table.schema.is_category).tolist():
        column, codes = columns[position], table.columns[position]
        is_seen = stay(codes, len(column.categories) + 1)
        is_seen[0] = True
        if is_seen.all():
            continue
        categories = tuple(itertools.compress(column.categories, is_seen[1:]))
        columns[position] = Column(column.name, Kind.CATEGORY, categories, column.seconds_of)
        found[position] = np.where(is_seen, np.cumsum(is_seen) - 1, 0).astype(np.int32)[codes]
    if not found:
        return table
    schema = Schema(tuple(columns), table.schema.named)
    if isinstance(table.columns, PartColumns):
        return Table(schema, replace(table.columns, codes={**table.columns.codes, **found}), table.n_rows)
    kept = tuple(found.get(position, column) for position, column in enumerate(table.columns))
    return Table(schema, kept, table.n_rows)


def takes_any_table(tags: Tags) -> Tags:
    """Set the tags that let X be a table of any kind, with missing values.

    Parameters
    ----------
    tags : Tags

    Returns
    -------
    Tags
        The same object.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn.utils import get_tags
    >>> takes_any_table(get_tags(BaseEstimator())).input_tags.allow_nan
    True
    """
    tags.input_tags.allow_nan = True
    tags.input_tags.categorical = True
    tags.input_tags.string = True
    tags.input_tags.sparse = True
    return tags


def keep_schema(estimator: Any, schema: Schema) -> None:
    """Store the schema of the training table in an estimator. Call it only after the fit has succeeded.

    Sets `schema_`, `n_features_in_` and, if all names are text, `feature_names_in_`.

    Parameters
    ----------
    estimator : estimator
    schema : Schema

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from committee.table import read
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> keep_schema(estimator, read(pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})).schema)
    >>> estimator.feature_names_in_
    array(['age', 'city'], dtype=object)
    """
    estimator.schema_ = schema
    estimator.n_features_in_ = schema.n_columns
    if schema.named:
        estimator.feature_names_in_ = np.array(schema.names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def predict_table(estimator: Any, X: TableLike | Source) -> Table:
    """Read a table for a fitted estimator, with scikit-learn's errors and its warning about names.

    Unlike in scikit-learn, the columns of a frame may be in another order, because they are matched by name.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator whose schema was stored by `keep_schema`.
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream

    Returns
    -------
    Table

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from committee.table import read
    >>> import polars as pl
    >>> estimator = BaseEstimator()
    >>> keep_schema(estimator, read(pl.DataFrame({"age": [31, 54], "city": ["Oslo", "Bonn"]})).schema)
    >>> predict_table(estimator, pl.DataFrame({"city": ["Oslo"], "age": [40]})).columns
    (array([40]), array([2], dtype=int32))
    """
    source, schema = open_source(X), estimator.schema_
    # If both have names, `read_like` matches the columns and reports those that are missing.
    if not (source.named and schema.named) and (source.named != schema.named or source.names != schema.names):
        validate_data(estimator, source.native, reset=False, skip_check_array=True)
    return read_like(source, schema)
