"""From X to a table: `read` makes the schema, `read_like` obeys one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np

from committee.table.categories import settle_categories
from committee.table.matching import match_columns, read_column_like
from committee.table.part import PartColumns
from committee.table.raw import Numbers, Raw, settle, take_raw, to_dictionary
from committee.table.schema import Column, Kind, Schema, Table
from committee.table.source import Source, open_source
from committee.table.typing import TableLike

# Columns to take as categories: a mask, indices or names.
Marks: TypeAlias = Iterable[bool | int | str]


def read(X: TableLike | Source, *, categorical_features: str | Marks = "from_dtype") -> Table:
    """Read a table and make its schema.

    Columns of text and of a categorical dtype are categories. Dates, spans and times of day become seconds.
    A column of Python objects, and one of text in a numpy array, is what its values are: numbers, booleans or
    dates if all of them are, else categories. NaN, None, NaT and null are missing; infinity is a value. Of
    more than 65,535 categories the most frequent are kept, the rest are missing. Numbers are compared as
    float64, so integers beyond 2**53 that are close to each other are one number. Such numbers are mostly
    names, and as categories they stay apart, unless missing values have made floats of them.

    Parameters
    ----------
    X : ndarray, list of lists, sparse matrix, pandas, polars or Arrow frame, or Arrow stream
    categorical_features : "from_dtype" or iterable of bool, int or str, default="from_dtype"
        Columns to take as categories beside those whose dtype says so: a mask, indices or names. Each
        distinct value is a category.

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
    """Read a table as a schema says.

    The columns of a frame are matched by name, whatever their order; those of a matrix by position. A
    category that the schema does not know is missing. A column without any value fits every kind.

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
        source.tables[schema] = read_anew(source, schema)
    return source.tables[schema]


def read_anew(source: Source, schema: Schema) -> Table:
    """Read a source as a schema says. Of what it was read as before, only the columns that differ are read.

    The models of many folds know almost the same categories, so that a row that they vote on is read once.
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
    """Read some rows of a source, and remember what they were read as. Their numbers stay where they are."""
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
    """Read one column; `is_marked` makes it a category, whatever it is."""
    settled = to_dictionary(raw) if is_marked else settle(raw)
    if isinstance(settled, Numbers):
        return Column(name, settled.kind), settled.values
    categories, codes = settle_categories(settled)
    return Column(name, Kind.CATEGORY, categories, settled.seconds_of), codes


def marked_columns(source: Source, categorical_features: str | Marks) -> np.ndarray:
    """A boolean for each column: whether `categorical_features` names it."""
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
        raise ValueError("categorical_features holds names, and X has none. Pass indices or a mask.")
    if unknown := sorted({str(mark) for mark in marks} - set(source.names)):
        raise ValueError(f"categorical_features names {unknown}, and X has no such columns.")
    return np.isin(source.names, marks)


def marks_of(categorical_features: Marks) -> np.ndarray:
    """A mask, indices or names as a vector."""
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
