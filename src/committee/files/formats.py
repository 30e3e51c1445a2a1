"""What kind of file it is: by its suffix, and by its first bytes, which must agree.

In: a name and the first bytes of a file, unpacked. Out: a `Format`, or an error that says what the bytes are.
"""

from __future__ import annotations

import codecs
import enum
import json
from collections.abc import Mapping
from pathlib import PurePath

from committee.files.encodings import MARKS, decoder_of
from committee.files.errors import BadTable

GZIP = b"\x1f\x8b"


class Format(enum.Enum):
    """The kinds of file that hold a table.

    Examples
    --------
    >>> Format("parquet").title
    'Parquet'
    """

    CSV = "csv"
    PARQUET = "parquet"
    ARROW = "arrow"
    JSON_LINES = "jsonl"
    ARFF = "arff"

    @property
    def title(self) -> str:
        """How people call it."""
        return TITLES[self]


TITLES: Mapping[Format, str] = {
    Format.CSV: "CSV",
    Format.PARQUET: "Parquet",
    Format.ARROW: "Arrow",
    Format.JSON_LINES: "JSON lines",
    Format.ARFF: "ARFF",
}

SUFFIXES: Mapping[str, Format] = {
    ".csv": Format.CSV,
    ".tsv": Format.CSV,
    ".tab": Format.CSV,
    ".txt": Format.CSV,
    ".data": Format.CSV,
    ".parquet": Format.PARQUET,
    ".pq": Format.PARQUET,
    ".arrow": Format.ARROW,
    ".arrows": Format.ARROW,
    ".feather": Format.ARROW,
    ".ipc": Format.ARROW,
    ".jsonl": Format.JSON_LINES,
    ".ndjson": Format.JSON_LINES,
    ".json": Format.JSON_LINES,
    ".arff": Format.ARFF,
}

# How files begin. A text is something that we cannot read, and what to do about it.
BEGINNINGS: tuple[tuple[bytes, Format | str], ...] = (
    (b"PAR1", Format.PARQUET),
    (b"ARROW1", Format.ARROW),
    (b"\xff\xff\xff\xff", Format.ARROW),
    (b"FEA1", "a Feather file of version 1. Write it again with a newer library"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook. Unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook. Save the sheet as CSV"),
    (b"%PDF", "a PDF. Save its table as CSV"),
    (b"\x89HDF", "an HDF5 file. Write the table as Parquet"),
    (b"SQLite format 3", "a database of SQLite. Write the table as CSV or Parquet"),
    (b"BZh", "packed with bzip2. Unpack it, or pack it with gzip"),
    (b"\xfd7zXZ", "packed with xz. Unpack it, or pack it with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd. Unpack it, or pack it with gzip"),
    (b"\x80\x04", "a Python pickle. Write the table as CSV or Parquet"),
    (b"\x80\x05", "a Python pickle. Write the table as CSV or Parquet"),
)
# Unless its encoding is told: UTF-16 has such bytes, and a mark at its beginning or not.
NO_TEXT = "no table: it has bytes that no text has. If it is CSV, tell its encoding, such as utf-16-le"
BYTE_ORDER_MARKS = tuple(mark for mark, _ in MARKS)


def format_of(name: str, head: bytes, encoding: str | None = None) -> Format:
    r"""Find the format of a file, if its suffix and its first bytes agree.

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
    >>> format_of("train.csv.gz", b"age,city\n31,Oslo\n")
    <Format.CSV: 'csv'>
    >>> format_of("train.csv", b"PAR1...")
    Traceback (most recent call last):
    committee.files.errors.BadTable: train.csv is not CSV but Parquet. Rename it to train.parquet.
    """
    found = recognise(head)
    if found == NO_TEXT and encoding is not None:
        found = recognise(in_utf8(head, encoding))
    if isinstance(found, str):
        raise BadTable(f"{name} is {found}.")
    told = format_by_suffix(name)
    if told is None or told is found:
        return found
    # Text whose beginning is that of another format may be CSV all the same.
    if told is Format.CSV and found is Format.ARFF and b"@relation" not in head.lower():
        return told
    plain = PurePath(name.removesuffix(".gz"))
    raise BadTable(
        f"{name} is not {told.title} but {found.title}. Rename it to {plain.with_suffix('.' + found.value)}."
        if found is not Format.CSV
        else f"{name} is not {told.title} but some text, perhaps CSV. If it is, rename it to "
        f"{plain.with_suffix('.csv')}."
    )


def format_by_suffix(name: str) -> Format | None:
    """The format that a suffix promises, and None for a suffix that promises nothing.

    Examples
    --------
    >>> format_by_suffix("train.TSV.gz"), format_by_suffix("train")
    (<Format.CSV: 'csv'>, None)
    """
    path = PurePath(name.lower())
    return SUFFIXES.get(PurePath(path.stem).suffix if path.suffix == ".gz" else path.suffix)


def recognise(head: bytes) -> Format | str:
    """What first bytes are: a format, or the words for what we cannot read."""
    for beginning, meaning in BEGINNINGS:
        if head.startswith(beginning):
            return meaning
    if not head.startswith(BYTE_ORDER_MARKS) and b"\0" in head:
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


def in_utf8(head: bytes, encoding: str) -> bytes:
    """First bytes of text in an encoding, as UTF-8."""
    return bytes(decoder_of(encoding)("replace").decode(head).encode())


def is_json_object(line: bytes) -> bool:
    """Whether a line is a JSON object, or the beginning of a long one."""
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return line.lstrip(b"{ \t")[:1] == b'"' and b'":' in line
