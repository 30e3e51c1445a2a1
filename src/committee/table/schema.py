"""What a table is: a schema, and one array per column.

A `Schema` says, for each column, its name, its kind and, for a category, the values that were seen when the
schema was made. A `Table` is the schema with the data: numbers, booleans and dates as arrays of numbers with
NaN for missing, categories as int32 codes with 0 for missing and 1..n for the categories in their order. Its
columns may be `PartColumns`: some rows of a larger table, whose numbers are copied only while they are used.
So fits on many folds of one table share its memory. A `BinnedTable` is the schema with the engine's codes of
the data.
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
# So few rows cost less than the columns that they are in.
FEW_ROWS = 100


class Kind(enum.Enum):
    """The kind of a column: what its values mean.

    A date is a moment, read as the seconds since 1970-01-01 UTC. A span is a stretch of time, or a time of
    day since midnight, in seconds.

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


# What a matrix of numbers can hold.
PLAIN = (Kind.NUMBER, Kind.BOOLEAN)
# What is read as seconds.
TIMES = (Kind.DATE, Kind.SPAN)


@dataclass(frozen=True)
class Column:
    """The name, the kind and, for a category, the values of a column.

    Parameters
    ----------
    name : str
    kind : Kind
    categories : tuple, default=()
        In the order of their codes 1..n. At most 65,535.
    seconds_of : Kind.DATE, Kind.SPAN or None, default=None
        What the categories are the seconds of, if they are.

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
        # Without the cached codes, which would double the size of a saved model.
        return Column, (self.name, self.kind, self.categories, self.seconds_of)


@dataclass(frozen=True, eq=False)
class Schema:
    """The columns of a table.

    Parameters
    ----------
    columns : tuple of Column
    named : bool
        Whether the names are the user's own. A matrix has none: its columns are called x0, x1, ...

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
        """A boolean for each column: whether it is a category."""
        return np.array([column.kind is Kind.CATEGORY for column in self.columns], dtype=bool)

    @property
    def n_categories(self) -> np.ndarray:
        """The number of categories of each column, as int32; 0 for a column that is not a category."""
        return np.array([len(column.categories) for column in self.columns], dtype=np.int32)

    def __eq__(self, other: object) -> bool:
        """Whether two schemas are equal. A schema remembers one that is: its committee asks for every row."""
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
        """The places of the columns that differ from those of another schema; None if their names do.

        A schema remembers this of one other, as it remembers one that is equal.

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
        """The schema of some of the columns."""
        return Schema(tuple(self.columns[position] for position in positions), self.named)

    def __reduce__(self) -> tuple[object, ...]:
        # Without what it has remembered.
        return Schema, (self.columns, self.named)


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


@dataclass(frozen=True, eq=False)
class Table:
    """A schema and the data that obeys it.

    Parameters
    ----------
    schema : Schema
    columns : sequence of ndarray of shape (n_rows,)
        Categories are contiguous int32 codes, 0 for missing. All others are booleans, integers, float32 or
        float64 in native byte order, NaN for missing; they may be strided or read-only views of X.
    n_rows : int
    before : Table, optional
        The same rows by a schema of the same names; columns that did not change are one.

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
        """The rows from one up to another; the table itself if these are all."""
        if end - begin == self.n_rows:
            return self
        return Table(self.schema, self._cut(slice(begin, end)), end - begin)

    def as_matrix(self, rows: slice) -> np.ndarray:
        """Some rows as a matrix of float64, codes among them. That of few rows is made once, and shared."""
        if self.n_rows <= FEW_ROWS:
            return self._few[rows]
        return np.column_stack([column.astype(np.float64) for column in self._cut(rows)])

    def read_again(self, schema: Schema, columns: Mapping[int, np.ndarray]) -> Table:
        """The same rows by another schema, given the columns that it changes, by their places."""
        kept = list(self.columns)
        for place, column in columns.items():
            kept[place] = column
        return Table(schema, kept, self.n_rows, before=self)

    def _cut(self, rows: slice) -> Sequence[np.ndarray]:
        """The columns of some rows."""
        if isinstance(self.columns, PartColumns):
            return self.columns.cut(rows)
        return tuple(column[rows] for column in self.columns)

    @cached_property
    def _few(self) -> np.ndarray:
        if self.before is None:
            # To join all columns is quicker than to convert each.
            joined = np.concatenate(self.columns).astype(np.float64)
            matrix = joined.reshape(len(self.columns), self.n_rows).T
        else:
            matrix = self.before._few.copy()
            for place in self.schema.changes(self.before.schema) or ():
                matrix[:, place] = self.columns[place]
        matrix.flags.writeable = False
        return matrix

    def as_float64(self) -> list[np.ndarray]:
        """The columns, all numbers as contiguous float64, and categories as they are."""
        return [
            codes if is_category else np.ascontiguousarray(codes, dtype=np.float64)
            for codes, is_category in zip(self.columns, self.schema.is_category, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """A table in the engine's codes, made by `bin_table`. Every estimator that learns from bins fits on it.

    Parameters
    ----------
    schema : Schema
    codes : the engine's BinnedTable
    n_rows : int
    values : tuple of ndarray, default=()
        The columns that the codes were made of, if these do not know where they are cut.

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
        """A boolean for each column: whether some row has no value."""
        return self.codes.has_missing.astype(bool)


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
