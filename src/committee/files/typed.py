"""Files whose columns have types: Parquet, Arrow and Feather, JSON lines."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from committee.files.dialect import check_names
from committee.files.errors import BadTable
from committee.files.formats import Format
from committee.files.gathering import Kinds
from committee.files.guessing import flat, kind_of_type
from committee.files.kinds import ColumnKind, converters
from committee.files.opening import OpenedFile

BLOCK_BYTES = 2**24
STREAM_START = b"\xff\xff\xff\xff"


@contextlib.contextmanager
def open_columns(file: OpenedFile, found: Format) -> Iterator[tuple[tuple[str, ...], Callable[[str], Any]]]:
    """Open a file of columns.

    Parameters
    ----------
    file : OpenedFile
    found : Format

    Yields
    ------
    names : tuple of str
        Of all columns.
    read : callable
        From the name of a column to the column.
    """
    with contextlib.ExitStack() as stack:
        with reporting(file, found):
            if found is Format.JSON_LINES:
                table = read_json_lines(file)
                names, read = table.column_names, table.column
            elif found is Format.PARQUET:
                parquet = pa.parquet.ParquetFile(stack.enter_context(file.seekable()))
                names, read = parquet.schema_arrow.names, lambda name: parquet.read([name])[name]
            else:
                reader = stack.enter_context(open_arrow(stack.enter_context(file.seekable())))
                table = reader.read_all()
                # Arrow trusts what it reads: offsets of a damaged file would lead anywhere.
                table.validate(full=True)
                names, read = table.column_names, table.column
        if not names:
            raise BadTable(f"{file.name} has no columns.")
        check_names(file.name, names)

        def read_reporting(name: str) -> Any:
            with reporting(file, found):
                return read(name)

        yield tuple(names), read_reporting


def read_json_lines(file: OpenedFile) -> Any:
    """All columns of JSON lines."""
    with file.stream() as stream, file.reading():
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
        raise BadTable(f"{file.name} cannot be read as {found.title}: {reason}") from error


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
    column = with_plain_text(column)
    is_kind = kind_of_type(name, column.type)
    if pa.types.is_null(column.type):
        return column.cast(pa.float64())
    if is_kind not in kinds and not (len(kinds) > 1 and is_kind is ColumnKind.BOOLEAN):
        column = to_kind(name, column, is_kind, kinds[-1])
    return column if kind_of_type(name, column.type) is ColumnKind.CATEGORY else flat(column)


def in_one_piece(column: Any) -> Any:
    """A column without chunks; text as codes and distinct values."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.dictionary_encode()
    if isinstance(column, pa.ChunkedArray) and pa.types.is_dictionary(column.type):
        column = column.unify_dictionaries()
    return flat(column)


def with_plain_text(column: Any) -> Any:
    """A column whose text is stored as views, as polars does, with text as Arrow's functions take it."""
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


def to_kind(name: str, column: Any, is_kind: ColumnKind, kind: ColumnKind) -> Any:
    """A column of one kind as another."""
    column = flat(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if {is_kind, kind} == {ColumnKind.NUMBER, ColumnKind.BOOLEAN}:
        return column
    if kind is ColumnKind.CATEGORY:
        return column.cast(pa.string())
    if is_kind is ColumnKind.CATEGORY:
        text = column.cast(pa.string())
        for way in converters(".", is_told=True)[kind]:
            found = way(text)
            if found is not None:
                return pa.array(found) if kind is ColumnKind.NUMBER else found
    raise BadTable(f"Column {name!r} is to be a {kind.value} and is a {is_kind.value}. Convert it first.")
