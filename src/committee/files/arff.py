"""ARFF, the format of Weka: attributes with their types, and rows as CSV has them, or sparse ones.

In: an open file. Out: a `Delimited` and the kinds of the columns that their types tell; or, for sparse rows,
the columns themselves.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from committee.files.delimited import Delimited
from committee.files.dialect import Dialect, check_names, lines_of
from committee.files.encodings import encoding_of
from committee.files.errors import BadTable
from committee.files.kinds import ColumnKind
from committee.files.opening import HEAD_BYTES, OpenedFile
from committee.files.quoting import Quoting, plainly_quoted

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
DATA = re.compile(rb"^[ \t]*@data[ \t]*\r?\n?", re.IGNORECASE | re.MULTILINE)
PAIR = re.compile(rf"\s*(\d+)\s+({QUOTED}|[^,]+?)\s*(?:,|$)")
KINDS = {
    "numeric": ColumnKind.NUMBER,
    "real": ColumnKind.NUMBER,
    "integer": ColumnKind.NUMBER,
}
# What their values are is looked for: dates come in too many forms.
GUESSED = ("string", "date")


@dataclass(frozen=True)
class Header:
    """What stands before the rows.

    Parameters
    ----------
    names : tuple of str
    kinds : dict of str to ColumnKind
        Strings and dates are not in it: what they are is guessed.
    first_values : dict of str to str
        Of each nominal attribute, which sparse rows leave out.
    start : int
        Where the rows begin, in bytes.
    encoding : str
    """

    names: tuple[str, ...]
    kinds: dict[str, ColumnKind]
    first_values: dict[str, str]
    start: int
    encoding: str


def read_header(file: OpenedFile) -> Header:
    """Read the attributes of a file."""
    head = b""
    with file.stream() as stream, file.reading():
        while (found := DATA.search(head)) is None:
            more = stream.read(HEAD_BYTES)
            if not more:
                raise BadTable(f"{file.name} is ARFF without @data: it has no rows.")
            head += more
    encoding = encoding_of(head).removesuffix("-sig")
    lines = lines_of(head[: found.start()].decode(encoding))
    names, kinds, first_values = list[str](), dict[str, ColumnKind](), dict[str, str]()
    for line in lines:
        if not line.strip().lower().startswith("@attribute"):
            continue
        attribute = ATTRIBUTE.match(line.strip())
        if attribute is None:
            raise BadTable(f"{file.name} has an attribute that cannot be read: {line.strip()!r}.")
        name, kind = unquoted(attribute[1]), attribute[2].strip()
        names.append(name)
        if kind.startswith("{"):
            kinds[name] = ColumnKind.CATEGORY
            first_values[name] = unquoted(kind.strip("{} \t").partition(",")[0])
        elif (word := kind.split()[0].lower()) in KINDS:
            kinds[name] = KINDS[word]
        elif word not in GUESSED:
            raise BadTable(
                f"{file.name}: attribute {name!r} is {word}. Only numbers, text and dates are read."
            )
    if not names:
        raise BadTable(f"{file.name} is ARFF without attributes.")
    check_names(file.name, names)
    return Header(tuple(names), kinds, first_values, found.end(), encoding)


@contextlib.contextmanager
def open_rows(file: OpenedFile, header: Header) -> Iterator[Delimited]:
    """The rows of a file, if they are not sparse."""
    sample = "\n".join(first_rows(file, header))
    is_double = re.search(r"""(^|,)\s*"[^"]*"\s*(,|$)""", sample, re.MULTILINE) is not None
    quoting = Quoting(",", "\"'" if is_double else "'\"", "\\")
    dialect = Dialect(
        header.encoding, ",", quoting.quotes[0], quoting.escape, ".", header.names, 0, has_header=False
    )
    with contextlib.ExitStack() as stack:
        if quoting.plain(sample) != sample:
            file = stack.enter_context(plainly_quoted(file, header.encoding, quoting, header.start))
        yield Delimited(file, dialect, header.start, comment="%", title="ARFF")


def are_sparse(file: OpenedFile, header: Header) -> bool:
    """Whether rows are written as positions and values."""
    return first_rows(file, header)[0].lstrip().startswith("{")


def first_rows(file: OpenedFile, header: Header) -> list[str]:
    """Some rows as text, without comments."""
    with file.stream() as stream, file.reading():
        stream.read(header.start)
        lines = lines_of(bytes(stream.read(HEAD_BYTES)).decode(header.encoding, errors="replace"))
    found = [line for line in lines if line.strip() and not line.lstrip().startswith("%")]
    if not found:
        raise BadTable(f"{file.name} has no rows.")
    return found


def read_sparse(file: OpenedFile, header: Header) -> dict[str, Any]:
    """The columns of sparse rows: what a row leaves out is 0, or the first value of the attribute."""
    rows = list(sparse_rows(file, header))
    columns: dict[str, Any] = {}
    for position, name in enumerate(header.names):
        kind = header.kinds.get(name)
        if kind is ColumnKind.NUMBER:
            cells = (row.get(position, "0") for row in rows)
            try:
                columns[name] = pa.array(
                    np.array([np.nan if cell == "?" else float(cell) for cell in cells], dtype=np.float64)
                )
            except ValueError as error:
                raise BadTable(f"{file.name}: column {name!r} is numeric ({error}).") from error
        else:
            first = header.first_values.get(name, "")
            texts = [row.get(position, first) for row in rows]
            columns[name] = pa.array([None if text in ("?", "") else text for text in texts], pa.string())
    return columns


def sparse_rows(file: OpenedFile, header: Header) -> Iterator[dict[int, str]]:
    """Each row as its positions and values."""
    with file.stream() as stream, file.reading():
        stream.read(header.start)
        text = bytes(stream.read()).decode(header.encoding)
    for number, line in enumerate(lines_of(text), start=1):
        row = line.strip()
        if not row or row.startswith("%"):
            continue
        pairs = {int(pair[1]): unquoted(pair[2]) for pair in PAIR.finditer(row.strip("{} \t"))}
        if not row.startswith("{") or any(position >= len(header.names) for position in pairs):
            raise BadTable(f"{file.name}: line {number} after @data is no sparse row: {row[:60]!r}.")
        yield pairs


def unquoted(text: str) -> str:
    r"""Text without the quotes around it.

    Examples
    --------
    >>> unquoted("'Bob\\'s age'"), unquoted(" age ")
    ("Bob's age", 'age')
    """
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
