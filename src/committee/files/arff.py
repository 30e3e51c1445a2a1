"""Read ARFF, the format of Weka: attributes with types, and rows of values with commas.

In: an open file. Out: a `Header`, and the rows as `Delimited`. Sparse ARFF is not supported.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from committee.files.column_kinds import POINT, ColumnKind
from committee.files.csv_dialect import Dialect, check_names, lines_of
from committee.files.delimited import Delimited
from committee.files.opened_file import HEAD_BYTES, OpenedFile, encoding_of
from committee.files.table_error import BadTable

QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
ATTRIBUTE = re.compile(rf"@attribute\s+({QUOTED}|[^\s{{]+)\s*(.+)", re.IGNORECASE)
DATA = re.compile(rb"^[ \t]*@data[ \t]*\r?\n?", re.IGNORECASE | re.MULTILINE)
CELL = re.compile(rf"\s*({QUOTED}|[^,]*?)\s*,")
# The first quote of a value, and the blanks before it.
BEGUN = re.compile(r"""(?:^|,)([ \t]*)(["'])""", re.MULTILINE)
COMMENT = "%"
NUMERIC = ("numeric", "real", "integer")
# The kinds of these attributes are inferred, because ARFF allows any format of dates.
GUESSED = ("string", "date")


@dataclass(frozen=True)
class Header:
    """The header of a file.

    Parameters
    ----------
    names : tuple of str
    kinds : dict of str to ColumnKind
        It does not contain strings and dates, whose kinds are inferred.
    start : int
        The position of the first row in bytes.
    encoding : str
    """

    names: tuple[str, ...]
    kinds: dict[str, ColumnKind]
    start: int
    encoding: str


def read_header(file: OpenedFile) -> Header:
    """Read the attributes of a file."""
    head = b""
    with file.stream() as stream:
        while (found := DATA.search(head)) is None:
            more = stream.read(HEAD_BYTES)
            if not more:
                raise BadTable(f"{file.name} is ARFF without @data: it has no rows.")
            head += more
    encoding = encoding_of(head).removesuffix("-sig")
    names, kinds = list[str](), dict[str, ColumnKind]()
    for line in lines_of(head[: found.start()].decode(encoding)):
        if not line.strip().lower().startswith("@attribute"):
            continue
        attribute = ATTRIBUTE.match(line.strip())
        if attribute is None:
            raise BadTable(f"{file.name} has an attribute that cannot be read: {line.strip()!r}.")
        name, kind = unquoted(attribute[1]), attribute[2].split()[0].lower()
        names.append(name)
        if kind.startswith("{"):
            kinds[name] = ColumnKind.CATEGORY
        elif kind in NUMERIC:
            kinds[name] = ColumnKind.NUMBER
        elif kind not in GUESSED:
            raise BadTable(
                f"{file.name}: attribute {name!r} is {kind}. Only numbers, text and dates are supported."
            )
    if not names:
        raise BadTable(f"{file.name} is ARFF without attributes.")
    check_names(file.name, names)
    return Header(tuple(names), kinds, found.end(), encoding)


@contextlib.contextmanager
def open_rows(file: OpenedFile, header: Header, missing: tuple[str, ...] = ()) -> Iterator[Delimited]:
    """Open the rows of a file. Rewrite rows with blanks before quotes or both quotes, for Arrow."""
    with file.stream() as stream:
        stream.read(header.start)
        text = bytes(stream.read(HEAD_BYTES)).decode(header.encoding, errors="replace")
    lines = [line for line in lines_of(text) if line.strip() and not line.lstrip().startswith(COMMENT)]
    if not lines:
        raise BadTable(f"{file.name} has no rows.")
    if lines[0].lstrip().startswith("{"):
        raise BadTable(
            f"{file.name} is sparse ARFF, which is not supported. Convert it with Weka's filter "
            "SparseToNonSparse."
        )
    begun = {(bool(blanks), quote) for blanks, quote in BEGUN.findall("\n".join(lines))}
    quote = next((quote for _, quote in begun), "'")
    dialect = Dialect(header.encoding, ",", quote, "\\", POINT, header.names)
    rows = Delimited(file, dialect, header.start, COMMENT, "ARFF", keeps_empty=False, missing=missing)
    if begun <= {(False, quote)}:
        yield rows
    else:
        with rows.rewritten(cells) as plain:
            yield plain


def cells(lines: Iterable[str]) -> Iterator[list[str]]:
    r"""Split lines into values, which may have quotes of both kinds.

    Examples
    --------
    >>> list(cells(["1, 'x, y',\"it's\"\n", "% a remark\n"]))
    [['1', 'x, y', "it's"], []]
    """
    for line in lines:
        is_row = line.strip() and not line.lstrip().startswith(COMMENT)
        yield [unquoted(cell[1]) for cell in CELL.finditer(f"{line.strip()},")] if is_row else []


def unquoted(text: str) -> str:
    r"""Return text without the quotes around it.

    Examples
    --------
    >>> unquoted("'Bob\\'s age'"), unquoted(" age ")
    ("Bob's age", 'age')
    """
    text = text.strip()
    if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"":
        return re.sub(r"\\(.)", r"\1", text[1:-1])
    return text
