"""Columns of text, batch by batch, become columns of numbers, booleans, dates or categories.

A column is what its first values are, until a later value is not. Numbers that were read cannot be turned
back into their text, so such a column is read again from the file, as categories. That costs a second pass
over the file for it, and keeps the text of all others out of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from committee.files.delimited import Delimited
from committee.files.errors import BadTable
from committee.files.kinds import ColumnKind, Convert, cleaned, converters

Kinds = tuple[ColumnKind, ...]
LARGEST_EXACT = 2.0**53


def gather(source: Delimited, kinds: Mapping[str, Kinds]) -> dict[str, Any]:
    """Read columns of a file.

    Parameters
    ----------
    source : Delimited
    kinds : mapping of str to tuple of ColumnKind
        The columns that are wanted, and what each of them may be. Of several kinds, it is the first that all
        values have. A value that is not of the only kind is an error.

    Returns
    -------
    dict of str to pyarrow.Array or pyarrow.ChunkedArray
        Text is plain where most values are distinct, else codes and values.
    """
    guessed, told = (converters(source.dialect.decimal, is_told=is_told) for is_told in (False, True))
    columns = {name: Gathered(name, guessed if len(each) > 1 else told, each) for name, each in kinds.items()}
    fill(source, columns)
    again = {name: Gathered(name, told, (ColumnKind.CATEGORY,)) for name in kinds if columns[name].is_mixed}
    if again:
        fill(source, again)
    columns |= again
    # Arrow keeps what it has freed, for the next file.
    pa.default_memory_pool().release_unused()
    return {name: columns.pop(name).array() for name in kinds}


def fill(source: Delimited, columns: dict[str, Gathered]) -> None:
    """Let columns take all rows of a file."""
    for batch in source.batches(list(columns)):
        for name, text in zip(batch.schema.names, batch.columns, strict=True):
            columns[name].take(text)


class Gathered:
    """The values of a column so far.

    Parameters
    ----------
    name : str
    ways : dict of ColumnKind to list of callables
    kinds : tuple of ColumnKind
        What it may be.
    """

    def __init__(self, name: str, ways: Mapping[ColumnKind, list[Convert]], kinds: Kinds) -> None:
        self.name, self.kind, self.is_mixed = name, kinds[0], False
        self._is_guess = len(kinds) > 1
        self._ways = {each: ways[each] for each in kinds}
        self._way: Convert | None = None
        self._numbers = GrowingArray()
        self._chunks: list[Any] = []
        self._n_missing_first = 0
        self._n_rows = 0

    def take(self, text: Any) -> None:
        """Take the next values."""
        if self.is_mixed:
            return
        n_before = self._n_rows
        self._n_rows += len(text)
        if self._way is None and cleaned(text).null_count == len(text):
            self._n_missing_first += len(text)
            return
        found = self._convert(text)
        if isinstance(found, np.ndarray):
            self._numbers.append(found)
        elif found is not None:
            self._chunks.append(found)
        elif self._is_guess:
            self.is_mixed = True
            self._numbers, self._chunks = GrowingArray(), []
        else:
            raise self._error(text, n_before)

    def array(self) -> Any:
        """All values, numbers in as few bytes as they need."""
        if self._way is None:
            return pa.nulls(self._n_rows, pa.float64())
        if self.kind is ColumnKind.NUMBER:
            return pa.array(narrowed(self._numbers.whole()))
        chunks, self._chunks = self._chunks, []
        if len({chunk.type for chunk in chunks}) > 1:
            chunks = [chunk.cast(pa.string()) for chunk in chunks]
        return pa.chunked_array([pa.nulls(self._n_missing_first, chunks[0].type), *chunks])

    def _convert(self, text: Any) -> Any:
        """Values of the column's kind, or None. The first values of a column decide what it is."""
        if self._way is not None:
            return self._way(text)
        for kind, ways in self._ways.items():
            for way in ways:
                found = way(text)
                if found is not None:
                    self.kind, self._way = kind, way
                    if kind is ColumnKind.NUMBER:
                        self._numbers.append(np.full(self._n_missing_first, np.nan))
                    return found
        return None

    def _error(self, text: Any, n_before: int) -> BadTable:
        """The error for a value that is not of a kind that was asked for."""
        ways = self._ways[self.kind] if self._way is None else [self._way]
        rows = (i for i in range(len(text)) if all(way(text[i : i + 1]) is None for way in ways))
        wrong = next(rows, None)
        fault = (
            "has several forms"
            if wrong is None
            else f"row {n_before + wrong + 1} has {text[wrong].as_py()!r}"
        )
        return BadTable(
            f"Column {self.name!r} is to be a {self.kind.value}, and {fault}. Correct it, or give the column "
            "another type."
        )


class GrowingArray:
    """Numbers in one piece that grows in its place, so that pieces need not be joined at the end.

    Examples
    --------
    >>> array = GrowingArray()
    >>> array.append(np.array([1.0, 2.0]))
    >>> array.append(np.array([3.0]))
    >>> array.whole()
    array([1., 2., 3.])
    """

    def __init__(self) -> None:
        self._room = np.empty(0)
        self._n = 0

    def append(self, values: np.ndarray) -> None:
        """Put values at the end."""
        n = self._n + len(values)
        if n > len(self._room):
            # Memory is moved in its place where the system can do that.
            self._room.resize(max(n, len(self._room) + len(self._room) // 4), refcheck=False)
        self._room[self._n : n] = values
        self._n = n

    def whole(self) -> np.ndarray:
        """All values; nothing can be put at the end any more."""
        self._room.resize(self._n, refcheck=False)
        return self._room


def narrowed(values: np.ndarray) -> np.ndarray:
    """Numbers in the smallest dtype of integers that holds them all, or as they are.

    Examples
    --------
    >>> narrowed(np.array([1.0, 300.0])).dtype, narrowed(np.array([1.0, np.nan])).dtype
    (dtype('int16'), dtype('float64'))
    """
    if len(values) == 0 or not np.isfinite(values).all() or np.abs(values).max() > LARGEST_EXACT:
        return values
    least, most = float(values.min()), float(values.max())
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        bounds = np.iinfo(dtype)
        if bounds.min <= least and most <= bounds.max:
            whole = values.astype(dtype)
            return whole if np.array_equal(whole, values) else values
    return values
