"""Count the values of a table that the fit has not seen: new categories, and numbers outside its range."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files.column_inference import flat
from committee.jobs.training_table import present, seconds_or_numbers
from committee.table import Column, Kind, Schema

# If more than this share of a column is unseen, predictions hardly use the column.
MOST_UNSEEN = 0.5


@dataclass(frozen=True)
class UnseenValues:
    """The values of a column that the fit has not seen.

    Parameters
    ----------
    column : str
    n, n_values : int
        The number of unseen values, and of all values that are not missing.
    reason : str
        The most frequent new category, or the range of the fit.

    Examples
    --------
    >>> str(UnseenValues("plan", 200, 200, "such as 'enterprise', which is treated as missing"))
    "plan: 200 of 200 values were not seen by the fit, such as 'enterprise', which is treated as missing"
    """

    column: str
    n: int
    n_values: int
    reason: str

    def __str__(self) -> str:
        return f"{self.column}: {self.n} of {self.n_values} values were not seen by the fit, {self.reason}"

    @property
    def are_most(self) -> bool:
        """Whether more than half of the values are unseen."""
        return self.n > MOST_UNSEEN * self.n_values


def unseen_values(
    X: pa.Table, schema: Schema, ranges: Mapping[str, tuple[float, float]]
) -> tuple[UnseenValues, ...]:
    """Count the unseen values of each column. Columns without one are omitted.

    Parameters
    ----------
    X : pyarrow.Table
        The columns of the schema.
    schema : Schema
    ranges : mapping of str to (float, float)
        The smallest and the largest number of columns in the fit.

    Examples
    --------
    >>> schema = Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))), True)
    >>> X = pa.table({"age": [31, 99, None], "city": ["Oslo", "Rome", "Rome"]})
    >>> for each in unseen_values(X, schema, {"age": (18.0, 90.0)}):
    ...     print(each)
    age: 1 of 2 values were not seen by the fit, whose range is 18 to 90
    city: 2 of 3 values were not seen by the fit, such as 'Rome', which is treated as missing
    """
    found = []
    for column in schema.columns:
        values = flat(X[column.name])
        if column.kind is Kind.CATEGORY:
            unseen = unseen_categories(values, column)
        elif column.name in ranges:
            unseen = outside(values, column.name, *ranges[column.name])
        else:
            continue
        if unseen is not None:
            found.append(unseen)
    return tuple(found)


def unseen_categories(values: pa.Array, column: Column) -> UnseenValues | None:
    """Count the values that are not among the categories of a column."""
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    known = set(column.categories)
    is_new = np.array([each not in known for each in labels_of(values.dictionary, column)], dtype=bool)
    codes = values.indices.drop_null().to_numpy()
    counts = np.bincount(codes, minlength=len(is_new)) * is_new if len(codes) else np.zeros(len(is_new), int)
    if not counts.any():
        return None
    example = values.dictionary[int(counts.argmax())].as_py()
    n_values = int(pc.sum(present(values)).as_py())
    return UnseenValues(
        column.name, int(counts.sum()), n_values, f"such as {example!r}, which is treated as missing"
    )


def labels_of(distinct: pa.Array, column: Column) -> Iterable[object]:
    """Return distinct values as the categories of a schema contain them: dates as seconds."""
    numbers = seconds_or_numbers(distinct) if column.seconds_of is Kind.DATE else None
    return distinct.to_pylist() if numbers is None else numbers.tolist()


def outside(values: pa.Array, name: str, low: float, high: float) -> UnseenValues | None:
    """Count the numbers or dates that are outside the range of the fit."""
    numbers = seconds_or_numbers(values)
    if numbers is None:
        return None
    n = int(((numbers < low) | (numbers > high)).sum())
    if not n:
        return None
    shown = " to ".join(f"{each:g}" for each in (low, high))
    if pa.types.is_temporal(values.type):
        shown = " to ".join(str(datetime.fromtimestamp(each, UTC).date()) for each in (low, high))
    return UnseenValues(name, n, int((~np.isnan(numbers)).sum()), f"whose range is {shown}")
