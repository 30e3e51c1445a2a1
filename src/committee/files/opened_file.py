"""Open and unpack a file, and detect its format and encoding.

In: a path, or `-` for the standard input. Out: an `OpenedFile`, whose bytes can be read several times.
`format_of` detects its `Format`, and `encoding_of` the encoding of text.
"""

from __future__ import annotations

import codecs
import contextlib
import enum
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import BinaryIO

import pyarrow as pa

from committee.files.table_error import BadTable

# The number of bytes for detection. If lines are long, more bytes are read until there are some lines.
HEAD_BYTES, MOST_HEAD_BYTES, LEAST_LINES = 2**20, 2**26, 4
STANDARD_INPUT = "-"


class Format(enum.Enum):
    """The supported file formats, with their usual names."""

    CSV = "CSV"
    PARQUET = "Parquet"
    ARROW = "Arrow"
    JSON_LINES = "JSON lines"
    ARFF = "ARFF"


SUFFIXES = {
    Format.CSV: (".csv", ".tsv", ".tab", ".txt", ".data"),
    Format.PARQUET: (".parquet", ".pq"),
    Format.ARROW: (".arrow", ".arrows", ".feather", ".ipc"),
    Format.JSON_LINES: (".jsonl", ".ndjson", ".json"),
    Format.ARFF: (".arff",),
}
# The compressions that Arrow supports, by suffix.
PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
# The first bytes of packed files. Brotli has none.
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
# The first bytes of unpacked files. A text describes a format that is not supported, and a way out.
BEGINNINGS: dict[bytes, Format | str] = {
    b"PAR1": Format.PARQUET,
    b"ARROW1": Format.ARROW,
    b"\xff\xff\xff\xff": Format.ARROW,
    b"FEA1": "a Feather file of version 1. Write it again with a newer library",
    b"PK\x03\x04": "a zip archive or an Excel workbook. Unpack it, or save the sheet as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook. Save the sheet as CSV",
    b"%PDF": "a PDF. Save its table as CSV",
    b"\x89HDF": "an HDF5 file. Write the table as Parquet",
    b"SQLite format 3": "a database of SQLite. Write the table as CSV or Parquet",
    b"\xfd7zXZ": "packed with xz. Unpack it, or pack it with zstd",
    b"\x80\x04": "a Python pickle. Write the table as CSV or Parquet",
    b"\x80\x05": "a Python pickle. Write the table as CSV or Parquet",
}
# UTF-16 without a byte-order mark also contains zero bytes.
BINARY = "not a table: it contains binary data. If it is CSV, specify its encoding, such as utf-16-le"
# Byte-order marks.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # The mark of UTF-32 begins with the mark of UTF-16, so it is tested first.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings to try for text without a mark. The last one can decode every byte.
ENCODINGS = ("utf-8", "cp1252", "latin-1")


@dataclass(frozen=True)
class OpenedFile:
    """A file on the disk.

    Parameters
    ----------
    name : str
        The name for messages.
    path : Path
    packing : str or None
        The name of the compression in Arrow.
    """

    name: str
    path: Path
    packing: str | None = None

    @contextlib.contextmanager
    def stream(self) -> Iterator[pa.NativeFile]:
        """Open the unpacked bytes from the start. Raise an error of one line if they cannot be unpacked."""
        try:
            with pa.input_stream(str(self.path), compression=self.packing) as stream:
                yield stream
        except OSError as error:
            if self.packing is None:
                raise
            reason = " ".join(str(error).split())
            raise BadTable(
                f"{self.name} is packed with {self.packing} and cannot be unpacked ({reason})."
            ) from error

    def head(self) -> bytes:
        """Return the first unpacked bytes. If lines are long, return more, to include complete lines."""
        with self.stream() as stream:
            head = more = bytes(stream.read(HEAD_BYTES))
            while more and LEAST_LINES * len(cut_line(head)) > len(head) and len(head) < MOST_HEAD_BYTES:
                more = bytes(stream.read(HEAD_BYTES))
                head += more
        return head

    @contextlib.contextmanager
    def seekable(self) -> Iterator[pa.NativeFile]:
        """Open the unpacked bytes for formats that need random access."""
        with contextlib.ExitStack() as stack:
            path = self.path
            if self.packing is not None:
                with self.stream() as stream:
                    path = stack.enter_context(copied(stream))
            # The file is not mapped into memory: a change of a mapped file can crash the process.
            yield stack.enter_context(pa.OSFile(str(path)))


def is_url(place: str | os.PathLike[str]) -> bool:
    """Return whether a place is a URL.

    Examples
    --------
    >>> is_url("s3://bucket/t.csv"), is_url("folder/t.csv"), is_url(Path("t.csv"))
    (True, False, False)
    """
    return isinstance(place, str) and "://" in place


@contextlib.contextmanager
def open_file(place: str | os.PathLike[str]) -> Iterator[OpenedFile]:
    """Open a file by its path or URL. Copy the standard input (`-`), a pipe or a URL to a temporary file.

    Parameters
    ----------
    place : str or path

    Yields
    ------
    OpenedFile
    """
    name, path = os.fspath(place), Path(place)
    with contextlib.ExitStack() as stack:
        if is_url(place):
            from committee.files.remote_files import fetched, name_of_url

            name, path = name_of_url(name), stack.enter_context(fetched(name))
        elif name == STANDARD_INPUT:
            name, path = "The standard input", stack.enter_context(copied(sys.stdin.buffer))
        elif path.is_fifo():
            path = stack.enter_context(copied(stack.enter_context(path.open("rb"))))
        elif path.is_dir():
            raise IsADirectoryError(f"{name} is a folder. Name a file in it.")
        try:
            with path.open("rb") as file:
                first = file.read(max(map(len, PACKED)))
        except FileNotFoundError as error:
            raise FileNotFoundError(f"There is no file {name}.") from error
        except PermissionError as error:
            raise PermissionError(f"{name} cannot be read: permission denied.") from error
        if not first:
            raise BadTable(f"{name} is empty.")
        by_content = (packing for mark, packing in PACKED.items() if first.startswith(mark))
        yield OpenedFile(name, path, next(by_content, "brotli" if name.lower().endswith(".br") else None))


@contextlib.contextmanager
def copied(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream to a temporary file."""
    with tempfile.NamedTemporaryFile(prefix="committee-") as spool:
        shutil.copyfileobj(stream, spool)
        spool.flush()
        yield Path(spool.name)


def cut_line(head: bytes) -> bytes:
    r"""Return the bytes after the last line break.

    Examples
    --------
    >>> cut_line(b"a,b\n1,"), cut_line(b"a,b")
    (b'1,', b'a,b')
    """
    return head[max(head.rfind(b"\n"), head.rfind(b"\r")) + 1 :]


def format_of(name: str, head: bytes, encoding: str | None = None) -> Format:
    r"""Detect the format of a file by its first bytes.

    Text without the first bytes of a format is CSV. It is an error if the suffix promises another format.

    Parameters
    ----------
    name : str
    head : bytes
        The first unpacked bytes.
    encoding : str, default=None
        The encoding of text, if it is known.

    Returns
    -------
    Format

    Examples
    --------
    >>> format_of("train.csv.gz", b"age,city\n31,Oslo\n").value, format_of("train.csv", b"PAR1...").value
    ('CSV', 'Parquet')
    >>> format_of("train.parquet", b"age,city\n31,Oslo\n")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: train.parquet is text, not Parquet. If it is CSV, rename it
    to train.csv.
    """
    found = recognise(head)
    if found == BINARY and encoding is not None:
        found = recognise(decoder_of(encoding)("replace").decode(head).encode())
    if isinstance(found, str):
        raise BadTable(f"{name} is {found}.")
    promised = format_by_suffix(name)
    # A header of CSV may begin with %, like the comments of ARFF.
    if promised is Format.CSV and found is Format.ARFF and b"@relation" not in head.lower():
        return promised
    if promised not in (None, Format.CSV) and found is Format.CSV:
        renamed = without_packing(name).with_suffix(".csv")
        raise BadTable(f"{name} is text, not {promised.value}. If it is CSV, rename it to {renamed}.")
    return found


def format_by_suffix(name: str) -> Format | None:
    """Return the format that a suffix promises, or None.

    Examples
    --------
    >>> format_by_suffix("train.TSV.gz").value, format_by_suffix("train")
    ('CSV', None)
    """
    suffix = without_packing(name).suffix.lower()
    return next((found for found, suffixes in SUFFIXES.items() if suffix in suffixes), None)


def without_packing(name: str) -> PurePath:
    """Return the name of a file without the suffix of its packing.

    Examples
    --------
    >>> str(without_packing("heart.csv.zst")), str(without_packing("heart.csv"))
    ('heart.csv', 'heart.csv')
    """
    path = PurePath(name)
    return path.with_suffix("") if path.suffix.lower() in PACKINGS else path


def recognise(head: bytes) -> Format | str:
    """Return the format of the first bytes, or a description of a format that is not supported."""
    for beginning, meaning in BEGINNINGS.items():
        if head.startswith(beginning):
            return meaning
    if not head.startswith(tuple(mark for mark, _ in MARKS)) and b"\0" in head:
        return BINARY
    text = head.removeprefix(codecs.BOM_UTF8).lstrip()
    lowered = text[:2048].lower()
    if lowered.startswith((b"<!doctype html", b"<html", b"<?xml")):
        return "a web page or XML. Save its table as CSV"
    if lowered.startswith((b"@relation", b"%")):
        return Format.ARFF
    line = text.splitlines()[0] if text else b""
    if line.startswith(b"{") and is_json_object(line):
        return Format.JSON_LINES
    if line.startswith(b"[") and line.removeprefix(b"[").lstrip()[:1] in (b"", b"{"):
        return "a JSON array. Write one object per line (JSON lines)"
    return Format.CSV


def is_json_object(line: bytes) -> bool:
    """Return whether a line is a JSON object, or the beginning of a long one."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line.lstrip(b"{ \t")[:1] == b'"' and b'":' in line


class WrongEncoding(BadTable):
    """An error for text that is not in an encoding.

    Examples
    --------
    >>> print(WrongEncoding("train.csv", "ascii"))
    train.csv is not written in ascii. Omit the encoding to detect it.
    """

    def __init__(self, name: str, encoding: str) -> None:
        super().__init__(f"{name} is not written in {encoding}. Omit the encoding to detect it.")


def encoding_of(head: bytes) -> str:
    """Detect the encoding of the first bytes, whose last character may be incomplete.

    Examples
    --------
    >>> [encoding_of("5 €, Köln".encode(encoding)) for encoding in ("utf-8", "cp1252", "utf-16", "utf-32")]
    ['utf-8', 'cp1252', 'utf-16', 'utf-32']
    """
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    for encoding in ENCODINGS[:-1]:
        with contextlib.suppress(WrongEncoding):
            decoded("", head, encoding)
            return encoding
    return ENCODINGS[-1]


def encodings_after(encoding: str) -> tuple[str, ...]:
    """Return encodings to try if the detected one fails. A byte-order mark is never wrong.

    Examples
    --------
    >>> encodings_after("utf-8"), encodings_after("utf-16")
    (('cp1252', 'latin-1'), ())
    """
    return ENCODINGS[ENCODINGS.index(encoding) + 1 :] if encoding in ENCODINGS else ()


def decoded(name: str, head: bytes, encoding: str) -> str:
    r"""Decode the first bytes, without a byte-order mark.

    Examples
    --------
    >>> decoded("train.csv", b"\xef\xbb\xbfage", "utf-8")
    'age'
    >>> decoded("train.csv", b"age", "base64")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: There is no encoding 'base64'. Examples: utf-8, latin-1,
    utf-16.
    """
    with decoding(name, encoding):
        return decoder_of(encoding)().decode(head).removeprefix("\ufeff")


def decoder_of(encoding: str) -> Callable[..., codecs.IncrementalDecoder]:
    """Return the class of decoders of a text encoding."""
    try:
        "".encode(encoding)  # Some codecs of Python are not for text.
        return codecs.getincrementaldecoder(encoding)
    except LookupError as error:
        raise BadTable(f"There is no encoding {encoding!r}. Examples: utf-8, latin-1, utf-16.") from error


@contextlib.contextmanager
def decoding(name: str, encoding: str) -> Iterator[None]:
    """Raise `WrongEncoding` for text that is not in an encoding."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise WrongEncoding(name, encoding) from error
