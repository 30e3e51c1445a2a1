"""Define the data structures of tables: `Schema`, `Table` and `BinnedTable`.

A `Schema` has for each column its name, its kind and, for a category, the values that were seen when the
schema was made. A `Table` is a schema with the data. Numbers, booleans and dates are arrays of numbers with
NaN for missing values; categories are int32 codes with 0 for missing and 1..n for the categories in order.
The columns of a table may be `PartColumns`: some rows of a larger table, whose numbers are copied only while
they are used, so that fits on many folds share memory. A `BinnedTable` is a schema with the engine's codes
of the data.
"""

from __future__ import annotations

import enum
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast, overload

import numpy as np

from committee import _engine
from committee.table.input_types import TableLike

MAX_CATEGORIES = 65_535
# Up to this number of rows, the overhead per column takes more time than the rows.
FEW_ROWS = 100


class Kind(enum.Enum):
    """The kind of a column.

    Dates are read as seconds since 1970-01-01 UTC. A span is a duration in seconds, or a time of day in
    seconds since midnight.

    Examples
    --------
    >>> Kind("category") is Kind.CATEGORY
    True
    """

    NUMBER = "number"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"
    SPAN = "span"


# Kinds that a matrix of numbers can contain.
PLAIN = (Kind.NUMBER, Kind.BOOLEAN)
# Kinds that are read as seconds.
TIMES = (Kind.DATE, Kind.SPAN)


@dataclass(frozen=True)
class Column:
    """The name, the kind and, for a category, the values of a column.

    Parameters
    ----------
    name : str
    kind : Kind
    categories : tuple, default=()
        At most 65,535 values, in the order of their codes 1..n.
    seconds_of : Kind.DATE, Kind.SPAN or None, default=None
        The kind of the categories if they are the seconds of dates or spans.

    Examples
    --------
    >>> Column("city", Kind.CATEGORY, ("Bonn", "Oslo")).codes
    {'Bonn': 1, 'Oslo': 2}
    """

    name: str
    kind: Kind
    categories: tuple[Hashable, ...] = ()
    seconds_of: Kind | None = None

    @cached_property
    def codes(self) -> dict[Hashable, int]:
        """The code of each category."""
        return {category: code for code, category in enumerate(self.categories, start=1)}

    def __reduce__(self) -> tuple[object, ...]:
        # Exclude the cached codes, which would double the size of a saved model.
        return Column, (self.name, self.kind, self.categories, self.seconds_of)


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a table.

    Parameters
    ----------
    columns : tuple of Column
    named : bool
        Whether the user has named the columns. Those of a matrix have the names x0, x1, ...

    Examples
    --------
    >>> columns = Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, ("Bonn", "Oslo"))
    >>> schema = Schema(columns, named=True)
    >>> schema.names
    ('age', 'city')
    >>> schema.is_category
    array([False,  True])
    >>> schema.n_categories
    array([0, 2], dtype=int32)
    """

    columns: tuple[Column, ...]
    named: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return len(self.columns)

    @cached_property
    def is_category(self) -> np.ndarray:
        """A boolean mask of the columns that are categories."""
        return np.array([column.kind is Kind.CATEGORY for column in self.columns], dtype=bool)

    @property
    def n_categories(self) -> np.ndarray:
        """The number of categories of each column as int32, 0 for columns of other kinds."""
        return np.array([len(column.categories) for column in self.columns], dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        """Return whether two schemas are equal. The last match is cached, as every vote compares schemas."""
        if self is other:
            return True
        if not isinstance(other, Schema) or hash(self) != hash(other):
            return False
        if other.__dict__.get("_twin") is self:
            return True
        if self.named != other.named or self.columns != other.columns:
            return False
        other.__dict__["_twin"] = self
        return True

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.columns, self.named))

    def changes(self, other: Schema) -> tuple[int, ...] | None:
        """Return the positions of columns that differ from another schema, or None if the names differ.

        The result for the last schema is cached.

        Examples
        --------
        >>> first, second = (
        ...     Schema((Column("age", Kind.NUMBER), Column("city", Kind.CATEGORY, cities)), named=True)
        ...     for cities in (("Bonn", "Oslo"), ("Oslo",))
        ... )
        >>> first.changes(second)
        (1,)
        """
        compared, remembered = self.__dict__.get("_changes", (None, None))
        changes: tuple[int, ...] | None = remembered
        if compared is not other:
            changes = None
            if (self.named, self.names) == (other.named, other.names):
                pairs = enumerate(zip(self.columns, other.columns, strict=True))
                changes = tuple(place for place, (here, there) in pairs if here != there)
            self.__dict__["_changes"] = other, changes
        return changes

    def only(self, positions: np.ndarray) -> Schema:
        """Select columns by position."""
        return Schema(tuple(self.columns[position] for position in positions), self.named)

    def __reduce__(self) -> tuple[object, ...]:
        # Exclude cached results.
        return Schema, (self.columns, self.named)


@dataclass(frozen=True, eq=False)
class PartColumns(Sequence[np.ndarray]):
    """The columns of some rows of a larger table.

    Parameters
    ----------
    whole : tuple of (ndarray or None)
        For each column, the numbers of all rows of the larger table; None for a category.
    codes : mapping of int to ndarray of int32
        The codes of each category in the selected rows only, by the position of the column.
    rows : ndarray of int
        The selected rows.

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
        """Select some of the rows."""
        codes = {place: each[rows] for place, each in self.codes.items()}
        return PartColumns(self.whole, codes, self.rows[rows])

    def bin(self, n_categories: np.ndarray, weights: np.ndarray | None, max_bins: int) -> _engine.BinnedTable:
        """Return the engine's codes of the selected rows.

        All rows of the larger table are binned without a copy, with weight 0 for those that are not selected,
        so that the bins are those of the selected rows. Only one thread is used, because every thread needs
        memory for a sorted copy of a column.
        """
        # If all columns are categories, the number of rows of the larger table is not known.
        known = (len(values) for values in self.whole if values is not None)
        n_rows = next(known, int(self.rows.max()) + 1)
        rows = self.rows.astype(np.uint32)
        heavy = np.zeros(n_rows, dtype=np.uint32)
        np.add.at(heavy, rows, 1 if weights is None else weights)
        columns = [self._spread(place, n_rows, n_categories[place]) for place in range(len(self))]
        return _engine.take_rows(_engine.bin_table(columns, n_categories, n_rows, heavy, max_bins, 1), rows)

    def _spread(self, place: int, n_rows: int, n_categories: int) -> np.ndarray:
        """Return a column of all rows, with missing categories in rows that are not selected."""
        values = self.whole[place]
        if values is not None:
            return values
        if n_categories == 0:
            return no_values(n_rows)
        spread = np.zeros(n_rows, dtype=np.int32)
        spread[self.rows] = self.codes[place]
        return spread


@dataclass(frozen=True, eq=False)
class Table:
    """A schema and the data of its columns.

    Parameters
    ----------
    schema : Schema
    columns : sequence of ndarray of shape (n_rows,)
        Categories are contiguous int32 codes with 0 for missing values. Other columns are booleans, integers,
        float32 or float64 in native byte order with NaN for missing values; they may be strided or read-only
        views of X.
    n_rows : int
    before : Table, optional
        The same rows, read with another schema of the same column names. Equal columns share memory.

    Examples
    --------
    >>> schema = Schema((Column("city", Kind.CATEGORY, ("Bonn", "Oslo")),), named=True)
    >>> Table(schema, (np.array([2, 0], dtype=np.int32),), n_rows=2).columns
    (array([2, 0], dtype=int32),)
    """

    schema: Schema
    columns: Sequence[np.ndarray]
    n_rows: int
    before: Table | None = None

    def between(self, begin: int, end: int) -> Table:
        """Return the rows from `begin` up to `end`, or the table itself if these are all rows."""
        if end - begin == self.n_rows:
            return self
        return Table(self.schema, self._cut(slice(begin, end)), end - begin)

    def as_matrix(self, rows: slice) -> np.ndarray:
        """Return rows as a float64 matrix that includes the codes. The matrix of a small table is cached."""
        if self.n_rows <= FEW_ROWS:
            return self._few[rows]
        return np.column_stack([column.astype(np.float64) for column in self._cut(rows)])

    def read_again(self, schema: Schema, columns: Mapping[int, np.ndarray]) -> Table:
        """Return the same rows with another schema, given its changed columns by position."""
        kept = list(self.columns)
        for place, column in columns.items():
            kept[place] = column
        return Table(schema, kept, self.n_rows, before=self)

    def _cut(self, rows: slice) -> Sequence[np.ndarray]:
        """Select rows of the columns."""
        if isinstance(self.columns, PartColumns):
            return self.columns.cut(rows)
        return tuple(column[rows] for column in self.columns)

    @cached_property
    def _few(self) -> np.ndarray:
        if self.before is None:
            # Joining all columns is faster than converting each.
            joined = np.concatenate(self.columns).astype(np.float64)
            matrix = joined.reshape(len(self.columns), self.n_rows).T
        else:
            matrix = self.before._few.copy()
            for place in self.schema.changes(self.before.schema) or ():
                matrix[:, place] = self.columns[place]
        matrix.flags.writeable = False
        return matrix

    def as_float64(self) -> list[np.ndarray]:
        """Return the columns, with all numbers as contiguous float64 and categories unchanged."""
        return [
            codes if is_category else np.ascontiguousarray(codes, dtype=np.float64)
            for codes, is_category in zip(self.columns, self.schema.is_category, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table as the engine's codes, made by `bin_table`. Every estimator that uses bins can be fitted on it.

    Parameters
    ----------
    schema : Schema
    codes : the engine's BinnedTable
    n_rows : int
    values : tuple of ndarray, default=()
        The columns from which the codes were made, if the codes do not store their cuts.

    Examples
    --------
    >>> from committee.table import bin_table
    >>> binned = bin_table([[1.0, None], [2.0, 5.0]])
    >>> binned.n_rows, binned.schema.names, binned.has_missing
    (2, ('x0', 'x1'), array([False,  True]))
    """

    schema: Schema
    codes: _engine.BinnedTable
    n_rows: int
    values: tuple[np.ndarray, ...] = ()

    @cached_property
    def has_missing(self) -> np.ndarray:
        """A boolean mask of the columns with missing values."""
        return self.codes.has_missing.astype(bool)


def no_values(n_rows: int) -> np.ndarray:
    """Return a column of missing numbers, which replaces a category without values in the engine.

    The engine treats a column with no categories as numbers, so that the code 0 would be a value.
    """
    return np.full(n_rows, np.nan)


def take_rows(X: TableLike, rows: np.ndarray | slice) -> TableLike:
    """Select rows of a table of any kind by position.

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
            # No index is clipped, but this mode lets numpy copy whole rows.
            return X.take(rows, axis=0, mode="clip")
        return X[rows]
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows].to_native()
    matrix = cast("np.ndarray", X) if hasattr(X, "shape") else np.asarray(X)
    return matrix[rows]
