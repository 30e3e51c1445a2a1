"""Write a table to a CSV, Parquet, Arrow or JSON lines file, or to the standard output."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path, PurePath
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from committee.files.opened_file import PACKINGS, Format, format_by_suffix, is_url
from committee.files.table_error import BadTable
from committee.saving.format.file_replacement import replace_file

STANDARD_OUTPUT = "-"
ROWS_AT_ONCE = 10_000


def write_file(frame: pa.Table, place: str | os.PathLike[str], *, as_json: bool = False) -> None:
    """Write a table atomically.

    Parameters
    ----------
    frame : pyarrow.Table
    place : str or path
        The suffix specifies the format. A further suffix `.gz`, `.bz2`, `.zst`, `.lz4` or `.br` packs the
        file. `-` is the standard output, as CSV.
    as_json : bool, default=False
        Whether to write JSON lines to the standard output.

    Raises
    ------
    BadTable
        If the suffix does not belong to a supported format.
    OSError
        If the file cannot be written. An existing file is unchanged.

    Examples
    --------
    >>> write_file(pa.table({"y": ["no", "yes"]}), "-", as_json=True)
    {"y": "no"}
    {"y": "yes"}
    """
    if os.fspath(place) == STANDARD_OUTPUT:
        for text in json_lines(frame) if as_json else csv_text(frame):
            sys.stdout.write(text)
        sys.stdout.flush()
        return
    name = path_of(place)
    found = format_of_output(place)
    delimiter = "\t" if ".tsv" in name.name.lower() else ","

    def write(path: Path) -> None:
        with pa.output_stream(str(path), compression=PACKINGS.get(name.suffix.lower())) as stream:
            write_stream(frame, stream, found, delimiter)

    if is_url(place):
        from committee.files.remote_files import storing

        with storing(os.fspath(place)) as path:
            write(path)
    else:
        replace_file(Path(place), write)


def path_of(place: str | os.PathLike[str]) -> PurePath:
    """Return a path, or the path of a URL."""
    return PurePath(urlsplit(os.fspath(place)).path if is_url(place) else place)


def format_of_output(place: str | os.PathLike[str]) -> Format:
    """Return the format of an output file. Call it early, so that a wrong name raises before the work.

    Examples
    --------
    >>> format_of_output("votes.xlsx")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: votes.xlsx cannot be written. Name it .csv, .parquet, .arrow or
    .jsonl.
    """
    if os.fspath(place) == STANDARD_OUTPUT:
        return Format.CSV
    found = format_by_suffix(path_of(place).name)
    if found is None or found is Format.ARFF:
        raise BadTable(f"{place} cannot be written. Name it .csv, .parquet, .arrow or .jsonl.")
    return found


def write_stream(frame: pa.Table, stream: pa.NativeFile, found: Format, delimiter: str) -> None:
    """Write a table to an open file."""
    if found is Format.PARQUET:
        pa.parquet.write_table(frame, stream)
    elif found is Format.ARROW:
        with pa.ipc.new_file(stream, frame.schema) as writer:
            writer.write_table(frame)
    elif found is Format.CSV:
        pa.csv.write_csv(frame, stream, pa.csv.WriteOptions(delimiter=delimiter))
    else:
        for text in json_lines(frame):
            stream.write(text.encode())


def json_lines(frame: pa.Table) -> Iterator[str]:
    """Yield a table as JSON, one line for each row."""
    for batch in frame.to_batches(max_chunksize=ROWS_AT_ONCE):
        yield "".join(json.dumps(row, default=str, ensure_ascii=False) + "\n" for row in batch.to_pylist())


def csv_text(frame: pa.Table) -> Iterator[str]:
    """Yield a table as CSV."""
    for start in range(0, max(frame.num_rows, 1), ROWS_AT_ONCE):
        sink = pa.BufferOutputStream()
        options = pa.csv.WriteOptions(include_header=start == 0)
        pa.csv.write_csv(frame.slice(start, ROWS_AT_ONCE), sink, options)
        yield sink.getvalue().to_pybytes().decode()
