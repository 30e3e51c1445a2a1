"""From a file to a frame: columns of numbers, booleans, dates and categories, and what each was taken for.

In: a path, or `-` for the standard input. Out: a `FileTable`, whose frame is an Arrow table.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from committee.files import arff, typed_formats
from committee.files.column_inference import Guess, flat, guess
from committee.files.column_kinds import POINT, Column, ColumnKind, Kinds
from committee.files.csv_dialect import AS_FOUND, CSVForm, Dialect, check_names, sniff
from committee.files.delimited import Delimited, Gathering, gather
from committee.files.opened_file import (
    ENCODINGS,
    Format,
    OpenedFile,
    WrongEncoding,
    encodings_after,
    format_of,
    open_file,
)
from committee.files.table_error import BadTable, some, suggestion

ANY_KIND: Kinds = (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.DATE, ColumnKind.CATEGORY)
# What a target or a group may be: its text stays what it is.
LABEL: Kinds = (ColumnKind.NUMBER, ColumnKind.CATEGORY)


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table that was read from a file.

    Parameters
    ----------
    name : str
        Of the file.
    frame : pyarrow.Table
        The columns that are used.
    guesses : tuple of Guess
        What the columns were taken for, those that are left out too.
    names : tuple of str
        Of all columns of the file, but for its `index`.
    notes : tuple of str
        What else the user should know.
    index : tuple of str
        Columns that are the index of a frame of pandas, which are read only if they are asked for by name.
        One without a name counts in files only: in a frame, nobody takes it for a column.
    decimal : {".", ",", None}
        The decimal sign, where a comma does not separate the values or somebody has specified the sign.
    """

    name: str
    frame: pa.Table
    guesses: tuple[Guess, ...]
    names: tuple[str, ...]
    notes: tuple[str, ...] = ()
    index: tuple[str, ...] = ()
    decimal: str | None = None


def read_table(
    table: Any,
    *,
    types: Mapping[str, str | ColumnKind] | None = None,
    labels: Iterable[str] = (),
    only: Iterable[str] | None = None,
    keep_all: bool = False,
    form: CSVForm = AS_FOUND,
) -> FileTable:
    r"""Read a table from CSV, Parquet, Arrow, Feather, JSON lines or ARFF, packed or not, or take a frame.

    Parameters
    ----------
    table : str, path or frame
        `-` is the standard input. A frame is one of pandas, polars or Arrow, or streams Arrow data.
    types : mapping of str to str, default=None
        What columns are: "number", "category", "boolean", "date", or "text", "id" and "ignore", which are
        left out. The types of other columns are guessed.
    labels : iterable of str, default=()
        Columns of labels, such as the target: they are read as numbers or text, and never left out.
    only : iterable of str, default=None
        The columns that are wanted; None for all.
    keep_all : bool, default=False
        Whether text and ids stay, as categories and numbers.
    form : CSVForm
        How CSV is written, where that is not to be found.

    Returns
    -------
    FileTable

    Raises
    ------
    BadTable
        In one line, what is wrong with the table.
    OSError
        If there is no such file, or it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("age,city\n31,Oslo\n54,Bonn\n")
    ...     file.flush()
    ...     table = read_table(file.name)
    >>> [(each.name, each.kind.value) for each in table.guesses]
    [('age', 'number'), ('city', 'category')]
    """
    kinds = {name: as_kind(name, kind) for name, kind in (types or {}).items()}
    chosen = None if only is None else list(only)
    wanted = Wanted(kinds, frozenset(labels), chosen, keep_all or only is not None)
    if not isinstance(table, str | os.PathLike):
        return read_frame(table, wanted)
    with open_file(table) as file:
        head = file.head()
        found = format_of(file.name, head, form.encoding)
        if found is Format.CSV:
            return read_csv(file, head, wanted, form)
        if found is Format.ARFF:
            return read_arff(file, wanted)
        with typed_formats.open_columns(file, found) as (schema, read):
            return read_typed(file.name, schema, read, wanted)


def read_csv(file: OpenedFile, head: bytes, wanted: Wanted, form: CSVForm) -> FileTable:
    """Read CSV, in another encoding if bytes far behind its start are not of the one that was found."""
    dialect = sniff(file.name, head, form)
    kinds = wanted.kinds(dialect.names, file.name)
    for other in () if form.encoding else encodings_after(dialect.encoding):
        try:
            gathering = gather_csv(file, dialect, kinds, form.known_decimal)
            break
        except WrongEncoding:
            dialect = replace(dialect, encoding=other)
    else:
        gathering = gather_csv(file, dialect, kinds, form.known_decimal)
    notes = gathering.notes
    if form.encoding is None and dialect.encoding in ENCODINGS[1:]:
        notes.append(f"{file.name} is not UTF-8: it is read as {dialect.encoding}.")
    if not dialect.has_header:
        notes.append(f"{file.name} has no header: its columns are called {dialect.names[0]} and so on.")
    table = wanted.table(file.name, dialect.names, gathering.columns)
    # Between commas a point needs no proof, and proves nothing of other files.
    is_plain = form.decimal is None and dialect.decimal == POINT
    return replace(table, notes=tuple(notes), decimal=None if is_plain else gathering.decimal)


def gather_csv(
    file: OpenedFile, dialect: Dialect, kinds: Mapping[str, Kinds], known_decimal: str | None
) -> Gathering:
    """Read columns of CSV, from a copy if Arrow would take quotes behind blanks for a part of a value."""
    rows = Delimited(file, dialect)
    with rows.rewritten(dialect.parsed) if dialect.is_spaced else contextlib.nullcontext(rows) as plain:
        return gather(plain, kinds, known_decimal)


def read_arff(file: OpenedFile, wanted: Wanted) -> FileTable:
    """Read ARFF, whose header has the types; those of strings and dates are guessed."""
    header = arff.read_header(file)
    kinds = wanted.kinds(header.names, file.name)
    for name, kind in header.kinds.items():
        if name in kinds and name not in wanted.types and name not in wanted.labels:
            kinds[name] = (kind,)
    with arff.open_rows(file, header) as rows:
        return wanted.table(file.name, header.names, gather(rows, kinds).columns)


def read_typed(where: str, schema: pa.Schema, read: typed_formats.Read, wanted: Wanted) -> FileTable:
    """Read columns that have types, without the index of pandas."""
    check_names(where, schema.names)
    index = tuple(name for name in typed_formats.index_in(schema) if not wanted.asks_for(name))
    names = tuple(name for name in schema.names if name not in index)
    kinds = wanted.kinds(names, where)
    columns = {name: typed_formats.converted(name, read(name), kinds[name]) for name in kinds}
    return replace(wanted.table(where, names, columns), index=index)


def read_frame(frame: Any, wanted: Wanted) -> FileTable:
    """Take a frame as if it were read from a file.

    Examples
    --------
    >>> import polars as pl
    >>> read_table(pl.DataFrame({"age": [31, 54]}), types={"age": "category"}).frame["age"].to_pylist()
    ['31', '54']
    """
    try:
        table = pa.table(frame)
    except (TypeError, ValueError, pa.ArrowException) as error:
        reason = " ".join(str(error).split())
        raise BadTable(f"The table is not a path or a frame that Arrow can take ({reason}).") from error
    read = read_typed("The table", table.schema, table.column, wanted)
    return replace(
        read, index=tuple(name for name in read.index if not typed_formats.UNNAMED_INDEX.fullmatch(name))
    )


@dataclass(frozen=True)
class Wanted:
    """Which columns of a file are wanted, and as what.

    Parameters
    ----------
    types : dict of str to ColumnKind
    labels : frozenset of str
    only : list of str, or None
    keeps_all : bool
        Whether columns stay that a guess would leave out.
    """

    types: dict[str, ColumnKind]
    labels: frozenset[str]
    only: list[str] | None
    keeps_all: bool

    def asks_for(self, name: str) -> bool:
        """Whether somebody has named a column."""
        return name in self.labels or name in self.types or name in (self.only or ())

    def kinds(self, names: tuple[str, ...], where: str) -> dict[str, Kinds]:
        """Return what each column that has to be read may be."""
        for asked in (self.labels, self.types, self.only or ()):
            require_columns(asked, names, where)
        found: dict[str, Kinds] = {}
        for name in names if self.only is None else self.only:
            if name in self.types and self.types[name].is_used:
                found[name] = (self.types[name],)
            elif name in self.labels:
                found[name] = LABEL
            elif name not in self.types:
                found[name] = ANY_KIND
        return found

    def table(self, where: str, names: tuple[str, ...], columns: dict[str, Column]) -> FileTable:
        """Return the columns that are used, and what all were taken for."""
        if columns and len(next(iter(columns.values()))) == 0:
            raise BadTable(f"{where} has no rows.")
        guesses = [
            self._guess(name, columns.get(name)) for name in names if name in columns or self.only is None
        ]
        used = {
            each.name: in_one_piece(columns.pop(each.name))
            for each in guesses
            if each.name in columns and (each.kind.is_used or each.name in self.labels or self.keeps_all)
        }
        return FileTable(where, pa.table(used), tuple(guesses), names)

    def _guess(self, name: str, column: Column) -> Guess:
        if name in self.types:
            return Guess(name, self.types[name])
        made = guess(name, column)
        if name in self.labels and not made.kind.is_used:
            kind = made.kind if made.kind is ColumnKind.IGNORE else ColumnKind.CATEGORY
            return Guess(name, kind, stray=made.stray)
        return made


def require_columns(wanted: Iterable[str], names: Sequence[str], where: str) -> None:
    """Raise unless columns are there; the error suggests the name that is most like the missing one.

    Parameters
    ----------
    wanted : iterable of str
    names : sequence of str
        The columns that are there.
    where : str
        What they are the columns of.

    Examples
    --------
    >>> require_columns(["prize"], ["size", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: There is no column 'prize' in train.csv. Did you mean 'price'?
    >>> require_columns(["prize", "age"], ["size", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: There are no columns 'prize', 'age' in train.csv. It
    has size, price.
    """
    known, asked = set(names), list(wanted)
    missing = [name for name in asked if name not in known]
    # A column that was found is not the one that a missing name means.
    others = [name for name in names if name not in set(asked)] or list(names)
    if len(missing) == 1:
        raise BadTable(f"There is no column {missing[0]!r} in {where}. {suggestion(missing[0], others)}")
    if missing:
        raise BadTable(f"There are no columns {some(map(repr, missing))} in {where}. It has {some(others)}.")


def in_one_piece(column: Column) -> pa.Array:
    """Return a column without chunks; text as codes and distinct values."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return flat(column)


def as_kind(name: str, kind: str | ColumnKind) -> ColumnKind:
    """Return the kind that a word means."""
    try:
        return ColumnKind(kind)
    except ValueError as error:
        words = ", ".join(each.value for each in ColumnKind)
        raise BadTable(f"Column {name!r} cannot be a {kind!r}. A type is one of {words}.") from error


def keep_nothing_freed() -> None:
    """Let Arrow give freed memory back, which its own pools keep. Programs call this, libraries do not."""
    pa.set_memory_pool(pa.system_memory_pool())
