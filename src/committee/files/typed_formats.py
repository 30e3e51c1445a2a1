"""Read files whose columns have types: Parquet, Arrow, Feather and JSON lines."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.json
import pyarrow.parquet

from committee.files.column_inference import flat, kind_of_type
from committee.files.column_kinds import (
    POINT,
    Column,
    ColumnKind,
    Reading,
    Strays,
    convert_most,
    converters,
    without_words,
)
from committee.files.opened_file import Format, OpenedFile
from committee.files.table_error import BadTable

BLOCK_BYTES = 2**24
STREAM_START = b"\xff\xff\xff\xff"
# Every number of at most 18 digits is an int64.
MOST_DIGITS = 18
# Arrow's names of a pandas index without a name.
UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
Read = Callable[[str], pa.ChunkedArray]


def index_in(schema: pa.Schema) -> tuple[str, ...]:
    """Return the columns that were the index of a pandas frame, from the metadata of the schema.

    Examples
    --------
    >>> import pandas as pd
    >>> index_in(pa.table(pd.DataFrame({"a": [1, 2]}, index=pd.Index([7, 3], name="row"))).schema)
    ('row',)
    """
    try:
        index = (schema.pandas_metadata or {}).get("index_columns", [])
    except ValueError:  # The file is damaged.
        return ()
    # The metadata of a `RangeIndex` is a JSON object instead of a name.
    return tuple(name for name in index if isinstance(name, str) and name in schema.names)


@contextlib.contextmanager
def open_columns(file: OpenedFile, found: Format) -> Iterator[tuple[pa.Schema, Read]]:
    """Open a file of columns. Raise an error of one line for a file that cannot be read.

    Parameters
    ----------
    file : OpenedFile
    found : Format

    Yields
    ------
    schema : pyarrow.Schema
    read : callable
        Return a column by its name.
    """
    try:
        with contextlib.ExitStack() as stack:
            if found is Format.PARQUET:
                # Columns are read one by one, so that not all text must fit in memory.
                parquet = pa.parquet.ParquetFile(stack.enter_context(file.seekable()))
                schema, read = parquet.schema_arrow, lambda name: parquet.read([name])[name]
            else:
                table = read_json_lines(file) if found is Format.JSON_LINES else read_arrow(file, stack)
                schema, read = table.schema, table.column
            if not schema.names:
                raise BadTable(f"{file.name} has no columns.")
            yield schema, read
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:
        reason = " ".join(str(error).split())
        raise BadTable(f"{file.name} cannot be read as {found.value}: {reason}") from error


def read_json_lines(file: OpenedFile) -> pa.Table:
    """Read all columns of JSON lines."""
    with file.stream() as stream:
        return pa.json.read_json(stream, pa.json.ReadOptions(block_size=BLOCK_BYTES))


def read_arrow(file: OpenedFile, stack: contextlib.ExitStack) -> pa.Table:
    """Read all columns of Arrow's file format, also called Feather, or of its stream format."""
    source = stack.enter_context(file.seekable())
    is_stream = source.read(len(STREAM_START)) == STREAM_START
    source.seek(0)
    table = (pa.ipc.open_stream if is_stream else pa.ipc.open_file)(source).read_all()
    # Arrow does not check the offsets in a file, so a damaged file could make it read other memory.
    table.validate(full=True)
    return table


def converted(
    name: str, column: Column, reading: Reading, missing: tuple[str, ...] = ()
) -> tuple[Column, Strays]:
    """Convert a column that has a type to one of its possible kinds.

    Parameters
    ----------
    name : str
    column : pyarrow.Array or pyarrow.ChunkedArray
    reading : Reading
    missing : tuple of str, default=()
        More words for missing values.

    Returns
    -------
    column : pyarrow.Array or pyarrow.ChunkedArray
    strays : Strays

    Examples
    --------
    >>> converted("zip", pa.array([10115, 53113]), Reading((ColumnKind.CATEGORY,)))[0].to_pylist()
    ['10115', '53113']
    """
    if pa.types.is_nested(column.type):
        return column, Strays()
    column, kinds, strays = plain(column), reading.kinds, Strays()
    if missing:
        column = without_words(column, missing)
    is_kind = kind_of_type(name, column.type)
    if pa.types.is_null(column.type):
        return column.cast(pa.float64()), strays
    if is_kind not in kinds and not (len(kinds) > 1 and is_kind is ColumnKind.BOOLEAN):
        column, strays = to_kind(name, column, kinds[-1], reading)
    return (column if kind_of_type(name, column.type) is ColumnKind.CATEGORY else flat(column)), strays


def plain(column: Column) -> Column:
    """Convert decimals to numbers, and string views to text, because Arrow and numpy support these."""
    if pa.types.is_decimal(column.type):
        is_exact = column.type.scale == 0 and column.type.precision <= MOST_DIGITS
        return column.cast(pa.int64() if is_exact else pa.float64())
    if pa.types.is_string_view(column.type):
        return column.cast(pa.string())
    if pa.types.is_dictionary(column.type) and pa.types.is_string_view(column.type.value_type):
        return column.cast(pa.dictionary(pa.int32(), pa.string()))
    return column


def to_kind(name: str, column: Column, kind: ColumnKind, reading: Reading) -> tuple[pa.Array, Strays]:
    """Convert a column to another kind. A dictionary has the kind of its values."""
    column = flat(column)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    is_kind, wrong = kind_of_type(name, column.type), ""
    if is_kind is kind or {is_kind, kind} == {ColumnKind.NUMBER, ColumnKind.BOOLEAN}:
        return column, Strays()
    if kind is ColumnKind.CATEGORY:
        return printed(column), Strays()
    if is_kind is ColumnKind.CATEGORY:
        text = column.cast(pa.string())
        tried = converters(POINT, is_specified=True, form=reading.form)[kind]
        found, is_stray = min(
            (convert_most(text, each) for each in tried), key=lambda each: each[1].true_count
        )
        strays = Strays().with_batch(text, is_stray, 0)
        if not strays.are_wrong(replace(reading, kinds=(kind,))):
            return (pa.array(found) if kind is ColumnKind.NUMBER else found), strays
        wrong = f": {strays.n} of {strays.n_values} values, such as {strays.example!r} in row {strays.row}"
    raise BadTable(
        f"Column {name!r} should be a {kind.value}, but is a {is_kind.value}{wrong}. Convert it first."
    )


def printed(column: pa.Array) -> pa.Array:
    """Convert a column to text, with dates in their shortest form.

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
