"""A file: its unpacked bytes, which can be read from the start as often as needed, its format and encoding.

In: a path, or `-` for the standard input. Out: an `OpenedFile`; `format_of` recognises its `Format`, and
`encoding_of` the encoding of text.
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

# Bytes that are read to recognise a file. Where lines are long, more are read, until there are some lines.
HEAD_BYTES, MOST_HEAD_BYTES, LEAST_LINES = 2**20, 2**26, 4
STANDARD_INPUT = "-"


class Format(enum.Enum):
    """The kinds of file that hold a table, by the names that people use."""

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
# What Arrow unpacks, by suffix.
PACKINGS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
# How packed files begin. Files of brotli have no mark.
PACKED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\x28\xb5\x2f\xfd": "zstd", b"\x04\x22\x4d\x18": "lz4"}
# How unpacked files begin. A text is something that we cannot read, and what to do about it.
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
# UTF-16 without a mark has such bytes too.
NO_TEXT = "no table: it has bytes that no text has. If it is CSV, specify its encoding, such as utf-16-le"
# How text begins that names its encoding.
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    # That of UTF-16 is a part of it.
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# Encodings to try for text without a mark, the likely ones first. The last one knows every byte.
ENCODINGS = ("utf-8", "cp1252", "latin-1")


@dataclass(frozen=True)
class OpenedFile:
    """A file on the disk.

    Parameters
    ----------
    name : str
        For messages.
    path : Path
    packing : str or None
        How it is packed, as Arrow calls it.
    """

    name: str
    path: Path
    packing: str | None = None

    @contextlib.contextmanager
    def stream(self) -> Iterator[pa.NativeFile]:
        """Open the unpacked bytes from the start; bytes that cannot be unpacked are an error in one line."""
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
        """Return the first bytes, unpacked: more of them where lines are long, so that some are whole."""
        with self.stream() as stream:
            head = more = bytes(stream.read(HEAD_BYTES))
            while more and LEAST_LINES * len(cut_line(head)) > len(head) and len(head) < MOST_HEAD_BYTES:
                more = bytes(stream.read(HEAD_BYTES))
                head += more
        return head

    @contextlib.contextmanager
    def seekable(self) -> Iterator[pa.NativeFile]:
        """Open the unpacked bytes for formats that are not read from the start to the end."""
        with contextlib.ExitStack() as stack:
            path = self.path
            if self.packing is not None:
                with self.stream() as stream:
                    path = stack.enter_context(copied(stream))
            # The file is not mapped: whoever changes it meanwhile would end this process.
            yield stack.enter_context(pa.OSFile(str(path)))


@contextlib.contextmanager
def open_file(place: str | os.PathLike[str]) -> Iterator[OpenedFile]:
    """Open a file by its path; the standard input (`-`) and pipes are copied to a temporary file.

    Parameters
    ----------
    place : str or path

    Yields
    ------
    OpenedFile
    """
    name, path = os.fspath(place), Path(place)
    with contextlib.ExitStack() as stack:
        if name == STANDARD_INPUT:
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
        yield OpenedFile(name, path, next(by_content, "brotli" if path.suffix.lower() == ".br" else None))


@contextlib.contextmanager
def copied(stream: BinaryIO) -> Iterator[Path]:
    """Copy a stream to a temporary file."""
    with tempfile.NamedTemporaryFile(prefix="committee-") as spool:
        shutil.copyfileobj(stream, spool)
        spool.flush()
        yield Path(spool.name)


def cut_line(head: bytes) -> bytes:
    r"""Return what follows the last line break.

    Examples
    --------
    >>> cut_line(b"a,b\n1,"), cut_line(b"a,b")
    (b'1,', b'a,b')
    """
    return head[max(head.rfind(b"\n"), head.rfind(b"\r")) + 1 :]


def format_of(name: str, head: bytes, encoding: str | None = None) -> Format:
    r"""Find the format of a file by its first bytes.

    The suffix decides for text that has no mark of a format: CSV, unless the suffix promises another format.

    Parameters
    ----------
    name : str
    head : bytes
        The first bytes, unpacked.
    encoding : str, default=None
        Of text, if it is known.

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
    if found == NO_TEXT and encoding is not None:
        found = recognise(decoder_of(encoding)("replace").decode(head).encode())
    if isinstance(found, str):
        raise BadTable(f"{name} is {found}.")
    promised = format_by_suffix(name)
    # A header of CSV may begin with the sign of ARFF's comments.
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
    """Return the format of first bytes, or the words for what we cannot read."""
    for beginning, meaning in BEGINNINGS.items():
        if head.startswith(beginning):
            return meaning
    if not head.startswith(tuple(mark for mark, _ in MARKS)) and b"\0" in head:
        return NO_TEXT
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
    """Whether a line is a JSON object, or the beginning of a long one."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line.lstrip(b"{ \t")[:1] == b'"' and b'":' in line


class WrongEncoding(BadTable):
    """Text that is not written in an encoding.

    Examples
    --------
    >>> print(WrongEncoding("train.csv", "ascii"))
    train.csv is not written in ascii. Leave the encoding out to have it found.
    """

    def __init__(self, name: str, encoding: str) -> None:
        super().__init__(f"{name} is not written in {encoding}. Leave the encoding out to have it found.")


def encoding_of(head: bytes) -> str:
    """Find the encoding of first bytes, whose last character may be cut.

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
    """Return encodings to try when decoding with the detected one fails; a mark is never second-guessed.

    Examples
    --------
    >>> encodings_after("utf-8"), encodings_after("utf-16")
    (('cp1252', 'latin-1'), ())
    """
    return ENCODINGS[ENCODINGS.index(encoding) + 1 :] if encoding in ENCODINGS else ()


def decoded(name: str, head: bytes, encoding: str) -> str:
    r"""Decode first bytes, without a mark at the beginning.

    Examples
    --------
    >>> decoded("train.csv", b"\xef\xbb\xbfage", "utf-8")
    'age'
    >>> decoded("train.csv", b"age", "base64")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: There is no encoding 'base64'. utf-8, latin-1 and utf-16 are some.
    """
    with decoding(name, encoding):
        return decoder_of(encoding)().decode(head).removeprefix("\ufeff")


def decoder_of(encoding: str) -> Callable[..., codecs.IncrementalDecoder]:
    """Return what makes decoders of an encoding of text."""
    try:
        "".encode(encoding)  # some codecs of Python are not for text
        return codecs.getincrementaldecoder(encoding)
    except LookupError as error:
        raise BadTable(f"There is no encoding {encoding!r}. utf-8, latin-1 and utf-16 are some.") from error


@contextlib.contextmanager
def decoding(name: str, encoding: str) -> Iterator[None]:
    """Raise an error in one line for text that is not written in an encoding."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise WrongEncoding(name, encoding) from error
