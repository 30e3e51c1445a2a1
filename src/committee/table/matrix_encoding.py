"""Encode a table as a matrix of finite numbers: a few arrays, which need only numpy.

In: the columns of a table. Out: for a column of numbers, the number, with missing values replaced by the
median, shifted and scaled; for a category, one indicator column for each value that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from committee.table.column_summaries import FARTHEST, as_numbers, compressed
from committee.table.schema import Schema, Table

# The ways to scale numbers.
SCALINGS = ("standard", "robust")
# The number of rows that are scaled at a time. Such a block fits into the cache.
ROWS_AT_ONCE = 1024


@dataclass(frozen=True, eq=False)
class Layout:
    """The columns of the matrix and of the table.

    Parameters
    ----------
    numbers, places : ndarray of int of shape (n_numbers,)
        The columns of numbers, in the table and in the matrix.
    value_columns, values, value_places : ndarray of int of shape (n_values,)
        The columns of categories in the table, repeated for each value that has a column, the codes of
        these values, and their columns in the matrix.
    width : int
        The number of columns of the matrix. It is at least one, even if no category has a value.
    """

    numbers: np.ndarray
    places: np.ndarray
    value_columns: np.ndarray
    values: np.ndarray
    value_places: np.ndarray
    width: int

    @classmethod
    def of(cls, schema: Schema, kept: list[np.ndarray]) -> Layout:
        """Lay out the columns of a table in order, each category as the values that are kept."""
        widths = np.where(schema.is_category, [len(codes) for codes in kept], 1)
        owners = np.repeat(np.arange(schema.n_columns), widths)
        is_value = schema.is_category[owners]
        values = np.concatenate([kept[i] for i in np.flatnonzero(schema.is_category)] or [owners[:0]])
        return cls(
            owners[~is_value],
            np.flatnonzero(~is_value),
            owners[is_value],
            values,
            np.flatnonzero(is_value),
            max(1, len(owners)),
        )


@dataclass(frozen=True, eq=False)
class MatrixEncoding:
    """The encoding of a table that `TableEncoder` learns.

    Parameters
    ----------
    schema : Schema
    scaling : {"standard", "robust"}
        "robust" compresses scaled numbers to less than 3.
    medians, means, deviations : ndarray of float64 of shape (n_columns,)
        The replacements of missing numbers, the shifts and the scales; 0, 0 and 1 for categories.
    kept : list of ndarray of int64
        For each column of the table, the codes of the values that have a column; empty for numbers.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([[1.0], [None], [5.0]])
    >>> mean, deviation, kept = np.array([3.0]), np.array([2.0]), [np.empty(0, dtype=np.int64)]
    >>> MatrixEncoding(table.schema, "standard", mean, mean, deviation, kept).encode(table)
    array([[-1.],
           [ 0.],
           [ 1.]])
    """

    schema: Schema
    scaling: str
    medians: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    kept: list[np.ndarray]

    @property
    def width(self) -> int:
        """The number of columns of the matrix."""
        return self._layout.width

    @cached_property
    def _layout(self) -> Layout:
        return Layout.of(self.schema, self.kept)

    def encode(self, table: Table) -> np.ndarray:
        """Return the rows as a float64 matrix of shape (n_rows, width)."""
        layout = self._layout
        matrix = np.zeros((table.n_rows, layout.width))
        for begin in range(0, table.n_rows, ROWS_AT_ONCE):
            rows = slice(begin, begin + ROWS_AT_ONCE)
            block = as_numbers(table.as_matrix(rows))
            matrix[rows, layout.value_places] = block[:, layout.value_columns] == layout.values
            matrix[rows, layout.places] = self._scaled(block[:, layout.numbers], layout.numbers)
        return matrix

    def _scaled(self, block: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Replace missing values in columns of numbers, shift and scale them."""
        filled = np.where(np.isnan(block), self.medians[columns], block)
        with np.errstate(over="ignore"):
            scaled = (filled - self.means[columns]) / self.deviations[columns]
        scaled = scaled.clip(-FARTHEST, FARTHEST)
        return scaled if self.scaling == "standard" else compressed(scaled)
