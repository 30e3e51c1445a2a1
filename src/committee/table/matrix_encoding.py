"""Encode a table as a matrix of finite numbers by a few arrays.

In: the columns of a table. Out: for a column of numbers, the number, with missing values replaced by the
median, shifted and scaled; for a category, one indicator column for each value that is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from committee._engine import TableEncoding
from committee.table.schema import Schema, Table

# The ways to scale numbers.
SCALINGS = ("standard", "robust")
# The engine's encodings of a column, by number; see engine/table/encoding.h.
SCALED, COMPRESSED, POSITION, INDICATOR, MISSING = range(5)
# A column that is always 0: no number is equal to NaN.
NOTHING = (INDICATOR, 0, np.nan, 1.0)


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

    def __getstate__(self) -> dict[str, object]:
        # Cached properties are made again, because the engine's encoding cannot be pickled.
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def width(self) -> int:
        """The number of columns of the matrix. It is at least one, even if no category has a value."""
        return max(1, sum(map(len, self.kept)) + int((~self.schema.is_category).sum()))

    def encode(self, table: Table, n_threads: int = 1) -> np.ndarray:
        """Return the rows as a float64 matrix of shape (n_rows, width)."""
        return self._encoding.encode(list(table.columns), table.n_rows, False, n_threads)

    @cached_property
    def _encoding(self) -> TableEncoding:
        outputs: list[tuple[int, int, float, float]] = []
        number = SCALED if self.scaling == "standard" else COMPRESSED
        for place, is_category in enumerate(self.schema.is_category):
            if is_category:
                outputs += [(INDICATOR, place, code, 1.0) for code in self.kept[place].tolist()]
            else:
                outputs.append((number, place, self.means[place], self.deviations[place]))
        return encoding_of(self.medians, outputs)


def encoding_of(medians: np.ndarray, outputs: list[tuple[int, int, float, float]]) -> TableEncoding:
    """Make an encoding from the kind, the column, the shift and the scale of each output."""
    kinds, columns, shifts, scales = zip(*(outputs or [NOTHING]), strict=True)
    return TableEncoding(
        np.ascontiguousarray(medians, dtype=np.float64),
        np.array(kinds, dtype=np.uint8),
        np.array(columns, dtype=np.int64),
        np.array(shifts, dtype=np.float64),
        np.array(scales, dtype=np.float64),
    )
