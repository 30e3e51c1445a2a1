"""Columns of text, batch by batch, become columns of numbers, booleans, dates or categories.

A column is what its first values are, until a later value is not. Numbers that were read cannot be turned
back into their text, so such a column is read again from the file: with the decimal sign that the value
tells, if there was none before, or as categories. That costs a second pass over the file for it, and keeps
the text of all others out of the memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from committee.files.decimals import SIGNS, Decimal, Decimals, proved_by
from committee.files.delimited import Delimited
from committee.files.errors import BadTable
from committee.files.kinds import BLANK, HOLES, LARGEST_EXACT, ColumnKind, Convert, cleaned, converters

Kinds = tuple[ColumnKind, ...]


def gather(
    source: Delimited, kinds: Mapping[str, Kinds], known: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], dict[str, Decimal]]:
    """Read columns of a file.

    Parameters
    ----------
    source : Delimited
    kinds : mapping of str to tuple of ColumnKind
        The columns that are wanted, and what each of them may be. Of several kinds, it is the first that all
        values have. A value that is not of the only kind is an error.
    known : mapping of str to str, default=None
        The decimal signs of columns in the fit of a model.

    Returns
    -------
    columns : dict of str to pyarrow.Array or pyarrow.ChunkedArray
        Text is plain where most values are distinct, else codes and values.
    decimals : dict of str to Decimal
        By which columns of numbers were read.
    """
    decimals = Decimals(source.dialect.decimal, known or {})
    if decimals.fixed is None:
        decimals = replace(decimals, proved=proved_at_first(source, kinds))
    columns: dict[str, Gathered] = {}
    waiting = {name: Gathered(name, each, decimals) for name, each in kinds.items()}
    while waiting:
        fill(source, waiting)
        columns |= waiting
        waiting = {name: each.once_more() for name, each in waiting.items() if each.is_mixed}
    # Arrow keeps what it has freed, for the next file.
    pa.default_memory_pool().release_unused()
    read_by = {name: each.decimal for name, each in columns.items() if each.kind is ColumnKind.NUMBER}
    return {name: columns.pop(name).array() for name in kinds}, read_by


def proved_at_first(source: Delimited, kinds: Mapping[str, Kinds]) -> str | None:
    """The decimal sign that the first rows of the columns prove that may be numbers."""
    names = [name for name, each in kinds.items() if ColumnKind.NUMBER in each]
    if not names:
        return None
    with closing(source.batches(names)) as batches:
        first = next(batches, None)
        return None if first is None else proved_by(first.columns)


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
    kinds : tuple of ColumnKind
        What it may be.
    decimals : Decimals
    decimal : Decimal, default=None
        By which its numbers are read; None looks at the first values.
    """

    def __init__(self, name: str, kinds: Kinds, decimals: Decimals, decimal: Decimal | None = None) -> None:
        self.name, self.kind, self.is_mixed = name, kinds[0], False
        self.decimal = decimal or Decimal(None)
        self._kinds, self._decimals, self._is_decided = kinds, decimals, decimal is not None
        self._is_guess = len(kinds) > 1
        self._way: Convert | None = None
        self._numbers = GrowingArray()
        self._chunks: list[Any] = []
        self._wrong: Any = None
        self._n_missing_first = 0
        self._n_rows = 0

    def take(self, text: Any) -> None:
        """Take the next values."""
        if self.is_mixed:
            return
        if self._way is None and self._are_holes(text):
            self._n_rows += len(text)
            self._n_missing_first += len(text)
            return
        found = self._convert(text)
        if isinstance(found, np.ndarray):
            self._numbers.append(found)
        elif found is not None:
            self._chunks.append(found)
        else:
            self.is_mixed, self._wrong = True, text
            self._numbers, self._chunks = GrowingArray(), []
            return
        self._n_rows += len(text)

    def once_more(self) -> Gathered:
        """The same column without a value, to be read in another way; raise if there is none."""
        sign = self.decimal.sign
        if self.kind is ColumnKind.NUMBER and (sign is None or self.decimal.doubtful):
            decimal = self._decimals.of(self.name, self._wrong, is_told=not self._is_guess)
            if decimal.sign not in (None, sign):
                return Gathered(self.name, self._kinds, self._decimals, decimal)
        if self._is_guess:
            return Gathered(self.name, (ColumnKind.CATEGORY,), self._decimals)
        raise self._error(self._wrong, self._n_rows)

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

    def _are_holes(self, text: Any) -> bool:
        """Whether no row has a value, whatever the column turns out to be."""
        words = HOLES if self._is_guess or self.kind is not ColumnKind.CATEGORY else BLANK
        return bool(cleaned(text, words).null_count == len(text))

    def _convert(self, text: Any) -> Any:
        """Values of the column's kind, or None. The first values of a column decide what it is."""
        if self._way is not None:
            return self._way(text)
        if ColumnKind.NUMBER in self._kinds and not self._is_decided:
            self.decimal = self._decimals.of(self.name, text, is_told=not self._is_guess)
        ways_of = converters(self.decimal.sign, is_told=not self._is_guess)
        for kind in self._kinds:
            if kind is ColumnKind.CATEGORY and self._is_guess and self._n_missing_first:
                return None  # the rows before are read again: among text, what fills them may be text
            for way in ways_of[kind]:
                found = way(text)
                if found is not None:
                    self.kind, self._way = kind, way
                    if kind is ColumnKind.NUMBER:
                        self._numbers.append(np.full(self._n_missing_first, np.nan))
                    return found
        return None

    def _error(self, text: Any, n_before: int) -> BadTable:
        """The error for a value that is not of a kind that was asked for."""
        # A value is wrong that no sign makes a number of.
        signs = SIGNS if self.decimal.sign is None else (self.decimal.sign,)
        ways = [way for sign in signs for way in converters(sign, is_told=True)[self.kind]]
        if self.kind is not ColumnKind.NUMBER and self._way is not None:
            ways = [self._way]
        rows = (i for i in range(len(text)) if all(way(text[i : i + 1]) is None for way in ways))
        wrong = next(rows, None)
        about = f"Column {self.name!r} is to be a {self.kind.value}, and"
        if wrong is None:
            return BadTable(f"{about} has several forms. Choose one.")
        row, value = n_before + wrong + 1, text[wrong].as_py()
        return BadTable(f"{about} row {row} has {value!r}. Correct it, or leave the cell empty.")


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
