"""Files whose columns have types: Parquet, Arrow and Feather, JSON lines."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from committee.files.dialect import check_names
from committee.files.errors import BadTable
from committee.files.guessing import flat, kind_of_type
from committee.files.kinds import POINT, ColumnKind, Kinds, converters
from committee.files.opening import Format, OpenedFile

BLOCK_BYTES = 2**24
STREAM_START = b"\xff\xff\xff\xff"
# So many digits are those of an int64, whatever they are.
MOST_DIGITS = 18
# How Arrow calls an index of pandas that has no name.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


@dataclass(frozen=True)
class Columns:
    """Columns that have types.

    Parameters
    ----------
    names : tuple of str
        Of all columns.
    index : tuple of str
        Of those that are the index of a frame of pandas.
    read : callable
        From the name of a column to the column.
    """

    names: tuple[str, ...]
    index: tuple[str, ...]
    read: Callable[[str], Any]

    @classmethod
    def of(cls, where: str, schema: Any, read: Callable[[str], Any]) -> Columns:
        """The columns of a schema, whose names must differ."""
        check_names(where, schema.names)
        return cls(tuple(schema.names), index_in(schema), read)


def index_in(schema: Any) -> tuple[str, ...]:
    """The columns that were the index of a frame of pandas, as the schema tells.

    Examples
    --------
    >>> import pandas as pd
    >>> index_in(pa.table(pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 3], name="row"))).schema)
    ('row',)
    """
    try:
        told = (schema.pandas_metadata or {}).get("index_columns", [])
    except ValueError:  # as in a damaged file
        return ()
    # An index that counts is told as an object, and no column.
    return tuple(name for name in told if isinstance(name, str) and name in schema.names)


@contextlib.contextmanager
def open_columns(file: OpenedFile, found: Format) -> Iterator[Columns]:
    """Open a file of columns.

    Parameters
    ----------
    file : OpenedFile
    found : Format

    Yields
    ------
    Columns
    """
    with contextlib.ExitStack() as stack:
        with reporting(file, found):
            if found is Format.JSON_LINES:
                table = read_json_lines(file)
                schema, read = table.schema, table.column
            elif found is Format.PARQUET:
                parquet = pa.parquet.ParquetFile(stack.enter_context(file.seekable()))
                schema, read = parquet.schema_arrow, lambda name: parquet.read([name])[name]
            else:
                reader = stack.enter_context(open_arrow(stack.enter_context(file.seekable())))
                table = reader.read_all()
                # Arrow trusts what it reads: offsets of a damaged file would lead anywhere.
                table.validate(full=True)
                schema, read = table.schema, table.column
            columns = Columns.of(file.name, schema, read)
        if not columns.names:
            raise BadTable(f"{file.name} has no columns.")

        def read_reporting(name: str) -> Any:
            with reporting(file, found):
                return read(name)

        yield replace(columns, read=read_reporting)


def read_json_lines(file: OpenedFile) -> Any:
    """All columns of JSON lines."""
    with file.stream() as stream:
        return pa.json.read_json(stream, pa.json.ReadOptions(block_size=BLOCK_BYTES))


def open_arrow(file: Any) -> Any:
    """A reader of Arrow's file format, which is Feather's too, or of its stream format."""
    is_stream = file.read(len(STREAM_START)) == STREAM_START
    file.seek(0)
    return pa.ipc.open_stream(file) if is_stream else pa.ipc.open_file(file)


@contextlib.contextmanager
def reporting(file: OpenedFile, found: Format) -> Iterator[None]:
    """Say in one line why a file cannot be read."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadTable(f"{file.name} cannot be read as {found.value}: {reason}") from error


def converted(name: str, column: Any, kinds: Kinds) -> Any:
    """A column that has a type as one of the kinds that it may be.

    Parameters
    ----------
    name : str
    column : pyarrow.Array or pyarrow.ChunkedArray
    kinds : tuple of ColumnKind

    Returns
    -------
    pyarrow.Array or pyarrow.ChunkedArray

    Examples
    --------
    >>> converted("zip", pa.array([10115, 53113]), (ColumnKind.CATEGORY,)).to_pylist()
    ['10115', '53113']
    """
    if pa.types.is_nested(column.type):
        return column
    column = plain(column)
    is_kind = kind_of_type(name, column.type)
    if pa.types.is_null(column.type):
        return column.cast(pa.float64())
    if is_kind not in kinds and not (len(kinds) > 1 and is_kind is ColumnKind.BOOLEAN):
        column = to_kind(name, column, kinds[-1])
    return column if kind_of_type(name, column.type) is ColumnKind.CATEGORY else flat(column)


def plain(column: Any) -> Any:
    """A column as Arrow's functions and numpy take it: its decimals as numbers, its views of text as text."""
    if pa.types.is_decimal(column.type):
        is_exact = column.type.scale == 0 and column.type.precision <= MOST_DIGITS
        return column.cast(pa.int64() if is_exact else pa.float64())
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    if pa.types.is_dictionary(column.type) and pa.types.is_string_view(column.type.value_type):
        return pa.chunked_array(
            [
                pa.DictionaryArray.from_arrays(
                    chunk.indices.cast(pa.int32()), chunk.dictionary.cast(pa.string())
                )
                for chunk in column.chunks
            ]
        )
    return column


def to_kind(name: str, column: Any, kind: ColumnKind) -> Any:
    """A column of one kind as another; one of codes and values is of the kind of its values."""
    column = flat(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_kind = kind_of_type(name, column.type)
    if is_kind is kind or {is_kind, kind} == {ColumnKind.NUMBER, ColumnKind.BOOLEAN}:
        return column
    if kind is ColumnKind.CATEGORY:
        return printed(column)
    if is_kind is ColumnKind.CATEGORY:
        text = column.cast(pa.string())
        for way in converters(POINT, is_told=True)[kind]:
            found = way(text)
            if found is not None:
                return pa.array(found) if kind is ColumnKind.NUMBER else found
    raise BadTable(f"Column {name!r} is to be a {kind.value} and is a {is_kind.value}. Convert it first.")


def printed(column: Any) -> Any:
    """A column as text: dates as short as they can be, as CSV has them.

    Examples
    --------
    >>> from datetime import datetime
    >>> printed(pa.array([datetime(2024, 2, 29)])).to_pylist()
    ['2024-02-29']
    """
    if pa.types.is_timestamp(column.type) and column.type.tz is None:
        for shorter in (pa.date32(), pa.timestamp("s")):
            with contextlib.suppress(pa.ArrowInvalid):
                if column.cast(shorter).cast(column.type).equals(column):
                    return column.cast(shorter).cast(pa.string())
    return column.cast(pa.string())
