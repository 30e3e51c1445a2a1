"""Define predictors, and read their rows. A predictor needs only numpy and the engine.

A row can come from JSON: a mapping of column names to values, which is read by the schema of the model.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from committee.table.raw_column import Untyped, is_known, read_column_like
from committee.table.schema import PLAIN, Column, Kind, Schema, Table
from committee.task import Classification, Regression

# The types of numbers in JSON. A column of them needs no conversion value by value.
NUMBERS = frozenset({float, int, bool, type(None)})
Task = Classification | Regression
# Larger integers are read one by one, because some do not fit in a float64.
LARGEST = 2**63
# A matrix of float64, a row as a mapping of column names to values, or a sequence of such rows.
Rows = np.ndarray | Mapping[str, object] | Sequence[Mapping[str, object]]
Decide = Callable[[Rows], np.ndarray]


class Decider(Protocol):
    """The interface of deciders."""

    def bind(self, schema: Schema) -> Decide:
        """Return a function from rows of a schema to their decisions, of shape (n_rows, n_outputs)."""


class Predictor:
    """A predictor for matrices of float64, without checks of values, and for rows as mappings by column name.

    Parameters
    ----------
    decider : Decider
    schema : Schema
        The columns of the rows.
    task : Classification or Regression

    Attributes
    ----------
    decide : callable
        Return the decision for each row, of shape (n_rows, n_outputs).
    """

    __slots__ = ("decide", "decider", "schema", "task")

    def __init__(self, decider: Decider, schema: Schema, task: Task) -> None:
        self.__setstate__((decider, schema, task))

    def __getstate__(self) -> tuple[Decider, Schema, Task]:
        return self.decider, self.schema, self.task

    def __setstate__(self, state: tuple[Decider, Schema, Task]) -> None:
        self.decider, self.schema, self.task = state
        self.decide = self.decider.bind(self.schema)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns in the order of a matrix. Columns without names are x0, x1, ..."""
        return self.schema.names

    def predict(self, X: Rows) -> np.ndarray:
        """Return the predicted class or number for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            A mapping is one row, with the value of each column by its name. None and unseen categories are
            missing values.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.task.decode(self.decide(X))


class ClassPredictor(Predictor):
    """A predictor for a classifier."""

    __slots__ = ()
    task: Classification

    @property
    def classes(self) -> np.ndarray:
        """The labels, in the order of the probabilities."""
        return self.task.classes

    def predict_proba(self, X: Rows) -> np.ndarray:
        """Return the probabilities of the classes for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            The same as for `predict`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        return self.decide(X)


def prepare(decider: Decider, schema: Schema, task: Task) -> Predictor:
    """Make the predictor of a fitted model."""
    kind = ClassPredictor if isinstance(task, Classification) else Predictor
    return kind(decider, schema, task)


def read_rows(rows: Rows, schema: Schema) -> Table:
    """Read one mapping, or a sequence of mappings, by a schema.

    None, NaN and unseen categories are missing values. Dates can be ISO 8601 text.

    Parameters
    ----------
    rows : mapping of str to object, or sequence of such mappings
        Each contains exactly the columns of the schema, in any order.
    schema : Schema

    Returns
    -------
    Table

    Examples
    --------
    >>> schema = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), True)
    >>> read_rows([{"city": "Oslo", "age": 31}, {"age": None, "city": "Rome"}], schema).columns
    (array([31., nan]), array([2, 0], dtype=int32))
    """
    each = [rows] if isinstance(rows, Mapping) else rows
    is_sequence = isinstance(each, Sequence) and not isinstance(each, str | bytes)
    if not is_sequence or not all(isinstance(row, Mapping) for row in each):
        raise TypeError(
            "A predictor takes a matrix of float64, or rows as mappings by column name. "
            f"Got {type(rows).__name__}. Use the estimator itself."
        )
    if not each:
        raise ValueError("There are no rows. Pass at least one.")
    for number, row in enumerate(each):
        check_names(row, number, schema)
    if len(each) == 1:
        return Table(schema, read_row(each[0], schema), 1)
    columns = tuple(read_column([row[column.name] for row in each], column) for column in schema.columns)
    return Table(schema, columns, len(each))


def read_row(row: Mapping[str, object], schema: Schema) -> tuple[np.ndarray, ...]:
    """Read one mapping as the columns of a schema.

    Numbers and known categories are put in two arrays for all columns, because an array for each takes
    longer than all else. `read_column` reads other values.
    """
    numbers, codes, others = [0.0] * schema.n_columns, [0] * schema.n_columns, []
    for place, column in enumerate(schema.columns):
        value: Any = row[column.name]
        if column.kind is Kind.CATEGORY and is_known(value, column):
            codes[place] = column.codes.get(value, 0)
        elif column.kind in PLAIN and type(value) in NUMBERS and abs(value or 0) < LARGEST:
            numbers[place] = np.nan if value is None else value
        else:
            others.append(place)
    all_numbers, all_codes = np.array(numbers), np.array(codes, dtype=np.int32)
    found = [
        (all_codes if is_category else all_numbers)[place : place + 1]
        for place, is_category in enumerate(schema.is_category.tolist())
    ]
    for place in others:
        column = schema.columns[place]
        found[place] = read_column([row[column.name]], column)
    return tuple(found)


def table_of(X: Rows, schema: Schema) -> Table:
    """Read a matrix or rows as mappings by a schema."""
    if not isinstance(X, np.ndarray):
        return read_rows(X, schema)
    matrix = checked_matrix(X, schema)
    return Table(schema, tuple(matrix.T), len(matrix))


def checked_matrix(X: np.ndarray, schema: Schema) -> np.ndarray:
    """Return a matrix; raise unless it has the columns of a schema."""
    others = [column.name for column in schema.columns if column.kind not in PLAIN]
    if others:
        raise ValueError(
            f"A matrix holds numbers only, and {others} are not. Pass rows as mappings by column name."
        )
    if X.ndim != 2 or X.shape[1] != schema.n_columns:
        raise ValueError(f"The matrix must have {schema.n_columns} columns.")
    if len(X) == 0:
        raise ValueError("There are no rows. Pass at least one.")
    return X


def check_names(row: Mapping[str, object], number: int, schema: Schema) -> None:
    """Raise unless a row has exactly the columns of the schema."""
    if len(row) == schema.n_columns and all(column.name in row for column in schema.columns):
        return
    missing = [name for name in schema.names if name not in row]
    unknown = sorted(str(name) for name in row if name not in schema.names)
    raise ValueError(
        f"Row {number} should have the columns of the fit. Missing: {missing}. Unknown: {unknown}. "
        "Pass None for a value that is missing."
    )


def read_column(values: list[object], column: Column) -> np.ndarray:
    """Read the values of one column."""
    if column.kind in (Kind.NUMBER, Kind.BOOLEAN) and all(type(value) in NUMBERS for value in values):
        with contextlib.suppress(OverflowError):
            return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
    if column.kind is Kind.CATEGORY and all(is_known(value, column) for value in values):
        return np.array([column.codes.get(value, 0) for value in values], dtype=np.int32)
    if column.kind in (Kind.DATE, Kind.SPAN):
        values = [read_date(value, column) for value in values]
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return read_column_like(Untyped(column.name, objects), column)


def read_date(value: object, column: Column) -> object:
    """Return a moment or a time of day from text. Return other values unchanged."""
    if not isinstance(value, str):
        return value
    for kind in (datetime.datetime, datetime.time):
        try:
            return kind.fromisoformat(value)
        except ValueError:
            continue
    raise ValueError(
        f"Column {column.name!r} should be a date, but contains {value!r}. Write it as 2024-12-31 or "
        "2024-12-31T23:59:59."
    )
