"""Some rows of a large table, which are not copied as long as they need not be.

In: the columns of a table as they came, and rows. Out: columns of these rows. Numbers are taken when they are
asked for and let go after that, so that fits on many folds of one table share its memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast, overload

import numpy as np

from committee import _engine
from committee.table.typing import TableLike


@dataclass(frozen=True, eq=False)
class PartColumns(Sequence[np.ndarray]):
    """The columns of some rows.

    Parameters
    ----------
    whole : tuple of (ndarray or None)
        The numbers of all rows; None for a category.
    codes : mapping of int to ndarray of int32
        The codes of the categories, in these rows alone, by the places of their columns.
    rows : ndarray of int

    Examples
    --------
    >>> part = PartColumns((np.array([0.5, 1.5, 2.5]), None), {1: np.array([1, 2])}, np.array([2, 0]))
    >>> list(part)
    [array([2.5, 0.5]), array([1, 2])]
    >>> part.cut(slice(1, 2))[0]
    array([0.5])
    """

    whole: tuple[np.ndarray | None, ...]
    codes: Mapping[int, np.ndarray]
    rows: np.ndarray

    def __len__(self) -> int:
        return len(self.whole)

    @overload
    def __getitem__(self, place: int) -> np.ndarray: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[np.ndarray, ...]: ...

    def __getitem__(self, place: int | slice) -> np.ndarray | tuple[np.ndarray, ...]:
        if isinstance(place, slice):
            return tuple(self[each] for each in range(*place.indices(len(self))))
        values = self.whole[place]
        return self.codes[place % len(self)] if values is None else values[self.rows]

    def __iter__(self) -> Iterator[np.ndarray]:
        return (self[place] for place in range(len(self)))

    def cut(self, rows: slice) -> PartColumns:
        """The columns of some of these rows."""
        codes = {place: each[rows] for place, each in self.codes.items()}
        return PartColumns(self.whole, codes, self.rows[rows])

    def bin(self, n_categories: np.ndarray, weights: np.ndarray | None, max_bins: int) -> _engine.BinnedTable:
        """The engine's codes: those of all rows, of which these alone weigh something, then of these.

        So the numbers are read where they lie, and the bins are those of these rows. One thread does it:
        each has a sorted copy of a column.
        """
        # Where all columns are categories, nothing tells of rows after the last of these.
        known = (len(values) for values in self.whole if values is not None)
        n_rows = next(known, int(self.rows.max()) + 1)
        rows = self.rows.astype(np.uint32)
        heavy = np.zeros(n_rows, dtype=np.uint32)
        np.add.at(heavy, rows, 1 if weights is None else weights)
        columns = [self._spread(place, n_rows, n_categories[place]) for place in range(len(self))]
        return _engine.take_rows(_engine.bin_table(columns, n_categories, n_rows, heavy, max_bins, 1), rows)

    def _spread(self, place: int, n_rows: int, n_categories: int) -> np.ndarray:
        """A column of all rows; a category is missing where it is not known."""
        values = self.whole[place]
        if values is not None:
            return values
        if n_categories == 0:
            return no_values(n_rows)
        spread = np.zeros(n_rows, dtype=np.int32)
        spread[self.rows] = self.codes[place]
        return spread


def no_values(n_rows: int) -> np.ndarray:
    """A column of categories of which there are none, as the engine takes it: numbers, all missing.

    To the engine, a column of no categories is one of numbers, among which the code 0 would be a value.
    """
    return np.full(n_rows, np.nan)


def take_rows(X: TableLike, rows: np.ndarray | slice) -> TableLike:
    """Take some rows of a table of any kind, by their positions.

    Examples
    --------
    >>> import polars as pl
    >>> take_rows(pl.DataFrame({"age": [31, 54, 27]}), np.array([2, 0]))["age"].to_list()
    [27, 31]
    >>> take_rows([[31], [54]], np.array([1]))
    array([[54]])
    """
    if isinstance(X, np.ndarray):
        if isinstance(rows, np.ndarray) and rows.dtype.kind in "iu" and X.flags.c_contiguous:
            # There is nothing to clip, but numpy copies whole rows like this.
            return X.take(rows, axis=0, mode="clip")
        return X[rows]
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows].to_native()
    matrix = cast("np.ndarray", X) if hasattr(X, "shape") else np.asarray(X)
    return matrix[rows]
