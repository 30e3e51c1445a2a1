"""Read a file to a frame with columns of numbers, booleans, dates and categories.

In: a path, or `-` for the standard input. Out: a `FileTable`, whose frame is an Arrow table, with the kind
that was inferred for each column.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from committee.files import arff, typed_formats
from committee.files.column_inference import Guess, flat, guess
from committee.files.column_kinds import POINT, Column, ColumnKind, Kinds, Reading
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
from committee.files.table_error import BadTable, MissingColumns, some
from committee.files.value_formats import check_format
from committee.parameters import nearest_name

Place: TypeAlias = str | os.PathLike[str]
ANY_KIND: Kinds = (ColumnKind.NUMBER, ColumnKind.BOOLEAN, ColumnKind.DATE, ColumnKind.CATEGORY)
# The possible kinds of a target or a group. Its text is never read as booleans or dates.
LABEL: Kinds = (ColumnKind.NUMBER, ColumnKind.CATEGORY)


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table that was read from a file.

    Parameters
    ----------
    name : str
        The name of the file.
    frame : pyarrow.Table
        The columns that are used.
    guesses : tuple of Guess
        The inferred kinds of all columns, also of those that are not used.
    names : tuple of str
        The names of all columns of the file, except its `index`.
    notes : tuple of str
        Messages to the user.
    index : tuple of str
        Columns that are the index of a pandas frame. They are read only if the user names them. For a frame,
        an index without a name is not in this list.
    decimal : {".", ",", None}
        The decimal sign, if a comma does not separate the values or if the user specified the sign.
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
    taken: Iterable[str] = (),
    most_strays: Mapping[str, float] | None = None,
    form: CSVForm = AS_FOUND,
) -> FileTable:
    r"""Read a table from a CSV, Parquet, Arrow, Feather, JSON lines or ARFF file, packed or not, or a frame.

    Parameters
    ----------
    table : str, path, OpenedFile or frame
        `-` is the standard input. A frame is from pandas, polars or Arrow, or streams Arrow data.
    types : mapping of str to str, default=None
        The kinds of columns: "number", "category", "boolean" or "date", or "text", "id" and "ignore" for
        columns to skip. Numbers and dates may have a format, such as "number:# kg" and "date:%m/%d/%Y". The
        kinds of other columns are inferred.
    labels : iterable of str, default=()
        Columns of labels, such as the target. They are read as numbers or text, and never skipped.
    only : iterable of str, default=None
        The columns to read; None for all.
    keep_all : bool, default=False
        Whether to keep text and ids, as categories and numbers.
    taken : iterable of str, default=()
        More columns that are known. They are not suggested for a name that is missing.
    most_strays : mapping of str to float, default=None
        The largest share of values of columns with a specified type that may be of another kind. They become
        missing values and are counted. For other columns, such a value is an error.
    form : CSVForm
        The form of a CSV file. None in a field means that it is detected.

    Returns
    -------
    FileTable

    Raises
    ------
    BadTable
        If the table cannot be read. The message is one line.
    OSError
        If the file does not exist or cannot be read.

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
    wanted = Wanted(
        {name: as_type(name, given) for name, given in (types or {}).items()},
        frozenset(labels),
        None if only is None else list(only),
        keep_all or only is not None,
        frozenset(taken),
        dict(most_strays or {}),
        form.missing,
    )
    if not isinstance(table, str | os.PathLike | OpenedFile):
        return read_frame(table, wanted)
    with opened(table) as file:
        head = file.head()
        found = format_of(file.name, head, form.encoding)
        if found is Format.CSV:
            return read_csv(file, head, wanted, form)
        if found is Format.ARFF:
            return read_arff(file, wanted)
        with typed_formats.open_columns(file, found) as (schema, read):
            return read_typed(file.name, schema, read, wanted)


def opened(table: Place | OpenedFile) -> contextlib.AbstractContextManager[OpenedFile]:
    """Open a file, unless it is open."""
    return contextlib.nullcontext(table) if isinstance(table, OpenedFile) else open_file(table)


def column_names(table: Place | OpenedFile, form: CSVForm = AS_FOUND) -> tuple[str, ...]:
    """Return the names of the columns of a file, without reading its rows if the format allows it.

    Raises
    ------
    BadTable
        If the file does not contain a table.
    """
    with opened(table) as file:
        head = file.head()
        found = format_of(file.name, head, form.encoding)
        if found is Format.CSV:
            return sniff(file.name, head, form).names
        if found is Format.ARFF:
            return arff.read_header(file).names
        with typed_formats.open_columns(file, found) as (schema, _):
            return tuple(schema.names)


def read_unchanged(table: Any, names: Sequence[str] | None, form: CSVForm = AS_FOUND) -> pa.Table:
    """Read columns as they are written: text from CSV and ARFF, and values of their own type elsewhere.

    Parameters
    ----------
    table : str, path, OpenedFile or frame
    names : sequence of str, or None
        None is all columns.
    form : CSVForm

    Returns
    -------
    pyarrow.Table
    """
    types = {}
    if isinstance(table, str | os.PathLike | OpenedFile):
        with opened(table) as file:
            found = format_of(file.name, file.head(), form.encoding)
            names = column_names(file, form) if names is None else names
        if found in (Format.CSV, Format.ARFF):
            types = dict.fromkeys(names, ColumnKind.CATEGORY)
    plain = replace(form, missing=())
    frame = read_table(table, types=types, only=names, keep_all=True, form=plain).frame
    columns = {name: frame[name] for name in names or frame.column_names}
    return pa.table(
        {
            name: column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
            for name, column in columns.items()
        }
    )


def read_csv(file: OpenedFile, head: bytes, wanted: Wanted, form: CSVForm) -> FileTable:
    """Read CSV. Try other encodings if later bytes are invalid in the encoding of the first bytes."""
    dialect = sniff(file.name, head, form)
    readings = wanted.readings(dialect.names, file.name)
    for other in () if form.encoding else encodings_after(dialect.encoding):
        try:
            gathering = gather_csv(file, dialect, readings, form)
            break
        except WrongEncoding:
            dialect = replace(dialect, encoding=other)
    else:
        gathering = gather_csv(file, dialect, readings, form)
    notes = gathering.notes
    if form.encoding is None and dialect.encoding in ENCODINGS[1:]:
        notes.append(f"{file.name} is not UTF-8: it is read as {dialect.encoding}.")
    if not dialect.has_header:
        notes.append(f"{file.name} has no header: its columns are called {dialect.names[0]} and so on.")
    table = wanted.table(file.name, dialect.names, gathering.columns, gathering.formats)
    # With commas between values, a point is certain, and proves nothing about other files.
    is_plain = form.decimal is None and dialect.decimal == POINT
    return replace(table, notes=tuple(notes), decimal=None if is_plain else gathering.decimal)


def gather_csv(
    file: OpenedFile, dialect: Dialect, readings: Mapping[str, Reading], form: CSVForm
) -> Gathering:
    """Read columns of CSV. Rewrite a file with blanks before quotes, which Arrow cannot parse."""
    rows = Delimited(file, dialect, missing=form.missing)
    with rows.rewritten(dialect.parsed) if dialect.is_spaced else contextlib.nullcontext(rows) as plain:
        return gather(plain, readings, form.known_decimal)


def read_arff(file: OpenedFile, wanted: Wanted) -> FileTable:
    """Read ARFF. Its header has the types, except those of strings and dates, which are inferred."""
    header = arff.read_header(file)
    readings = wanted.readings(header.names, file.name)
    for name, kind in header.kinds.items():
        if name in readings and name not in wanted.types and name not in wanted.labels:
            readings[name] = Reading((kind,))
    with arff.open_rows(file, header, wanted.missing) as rows:
        found = gather(rows, readings)
    return replace(
        wanted.table(file.name, header.names, found.columns, found.formats), notes=tuple(found.notes)
    )


def read_typed(where: str, schema: pa.Schema, read: typed_formats.Read, wanted: Wanted) -> FileTable:
    """Read columns that have types, without the index of a pandas frame."""
    check_names(where, schema.names)
    index = tuple(name for name in typed_formats.index_in(schema) if not wanted.names_column(name))
    names = tuple(name for name in schema.names if name not in index)
    columns, notes = dict[str, Column](), list[str]()
    for name, reading in wanted.readings(names, where).items():
        columns[name], strays = typed_formats.converted(name, read(name), reading, wanted.missing)
        if strays.n:
            notes.append(strays.note(name, reading.kinds[0]))
    return replace(wanted.table(where, names, columns), index=index, notes=tuple(notes))


def read_frame(frame: Any, wanted: Wanted) -> FileTable:
    """Read a frame like a file.

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
    """The columns to read from a file, with their kinds.

    Parameters
    ----------
    types : dict of str to ColumnType
    labels : frozenset of str
    only : list of str, or None
    keeps_all : bool
        Whether to keep columns whose inferred kind a fit does not use.
    taken : frozenset of str
        More columns that are known. They are not suggested for a name that is missing.
    most_strays : dict of str to float
    missing : tuple of str
        More words for missing values.
    """

    types: dict[str, ColumnType]
    labels: frozenset[str]
    only: list[str] | None
    keeps_all: bool
    taken: frozenset[str]
    most_strays: dict[str, float]
    missing: tuple[str, ...]

    def names_column(self, name: str) -> bool:
        """Return whether the user named a column."""
        return name in self.labels or name in self.types or name in (self.only or ())

    def readings(self, names: tuple[str, ...], where: str) -> dict[str, Reading]:
        """Return how to read each column."""
        for wanted in (self.labels, self.types, self.only or ()):
            require_columns(wanted, names, where, self.taken)
        found: dict[str, Reading] = {}
        for name in names if self.only is None else self.only:
            given = self.types.get(name)
            if given is None:
                found[name] = Reading(LABEL if name in self.labels else ANY_KIND)
            elif given.kind.is_used:
                found[name] = Reading((given.kind,), given.form, self.most_strays.get(name, 0.0))
            elif name in self.labels:
                found[name] = Reading(LABEL)
        return found

    def table(
        self,
        where: str,
        names: tuple[str, ...],
        columns: dict[str, Column],
        formats: Mapping[str, str] | None = None,
    ) -> FileTable:
        """Return the columns that are used, and the kinds of all columns."""
        forms = formats or {}
        if columns and len(next(iter(columns.values()))) == 0:
            raise BadTable(f"{where} has no rows.")
        guesses = [
            self._guess(name, columns.get(name), forms.get(name, ""))
            for name in names
            if name in columns or self.only is None
        ]
        used = {
            each.name: in_one_piece(columns.pop(each.name))
            for each in guesses
            if each.name in columns and (each.kind.is_used or each.name in self.labels or self.keeps_all)
        }
        return FileTable(where, pa.table(used), tuple(guesses), names)

    def _guess(self, name: str, column: Column, form: str) -> Guess:
        if name in self.types:
            return Guess(name, self.types[name].kind, form=form)
        if form:
            # Numbers with a unit are not an id, even if they count the rows.
            return Guess(name, ColumnKind.NUMBER, form=form)
        made = guess(name, column)
        if name in self.labels and not made.kind.is_used:
            kind = made.kind if made.kind is ColumnKind.IGNORE else ColumnKind.CATEGORY
            return Guess(name, kind, stray=made.stray)
        return made


def require_columns(
    wanted: Iterable[str], names: Sequence[str], where: str, taken: Iterable[str] = ()
) -> None:
    """Raise if some columns are missing. The error suggests similar names that no other column has.

    Parameters
    ----------
    wanted : iterable of str
    names : sequence of str
        The columns of the table.
    where : str
        The name of the table.
    taken : iterable of str, default=()
        More columns that are known, so that none of them is a misspelled name.

    Examples
    --------
    >>> require_columns(["prize"], ["size", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.table_error.MissingColumns: There is no column 'prize' in train.csv. Did you mean 'price'?
    >>> require_columns(["Age", "Size"], ["size", "age", "price"], "train.csv")
    Traceback (most recent call last):
    committee.files.table_error.MissingColumns: There are no columns 'Age', 'Size' in train.csv. Did you mean
    'age', 'size'?
    """
    present, required = set(names), list(wanted)
    missing = [name for name in required if name not in present]
    if not missing:
        return
    known = {*required, *taken}
    others = [name for name in names if name not in required]
    free = [name for name in names if name not in known]
    by_case = {name.strip().casefold(): name for name in free}
    similar = {name: by_case.get(name.strip().casefold()) for name in missing}
    if len(missing) == 1 and not any(similar.values()):
        similar = {missing[0]: nearest_name(missing[0], free)}
    found = {name: near for name, near in similar.items() if near is not None}
    what = f"There is no column {missing[0]!r}" if len(missing) == 1 else "There are no columns "
    listed = "" if len(missing) == 1 else some(map(repr, missing))
    if found:
        way_out = f"Did you mean {some(map(repr, found.values()))}?"
    elif len(others) < len(names):
        way_out = f"Its other columns are {some(others)}." if others else "It has no other columns."
    else:
        way_out = f"It has {some(names)}."
    raise MissingColumns(f"{what}{listed} in {where}. {way_out}", found)


def in_one_piece(column: Column) -> pa.Array:
    """Return a column without chunks, and text as codes and distinct values."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return flat(column)


@dataclass(frozen=True)
class ColumnType:
    """The type that a user specified for a column.

    Parameters
    ----------
    kind : ColumnKind
    form : str, default=""
        The format of numbers or dates.
    """

    kind: ColumnKind
    form: str = ""


def as_type(name: str, given: str | ColumnKind) -> ColumnType:
    """Return the type that a user specified for a column.

    Examples
    --------
    >>> as_type("day", "date:%H:%M, %d.%m.%Y").form
    '%H:%M, %d.%m.%Y'
    """
    if isinstance(given, ColumnKind):
        return ColumnType(given)
    kind, sign, form = given.partition(":")
    try:
        found = ColumnType(ColumnKind(kind), form)
    except ValueError as error:
        words = ", ".join(each.value for each in ColumnKind)
        raise BadTable(f"Column {name!r} cannot be a {given!r}. A type is one of {words}.") from error
    if sign:
        check_format(name, kind, form)
    return found


def keep_nothing_freed() -> None:
    """Return freed memory to the system, which Arrow's own pools keep. Only programs should call this."""
    pa.set_memory_pool(pa.system_memory_pool())


def keep_pandas_out() -> None:
    """Keep Arrow from importing pandas, which takes longer than a prediction. Only programs should call this.

    Arrow imports pandas, if it is installed, before it first converts a value of Python or numpy.
    """

    class NoPandas:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "pandas":
                raise ImportError(name)

    finder: Any = NoPandas()
    sys.meta_path.insert(0, finder)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(finder)
