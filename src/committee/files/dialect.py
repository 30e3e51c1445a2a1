"""How a CSV file is written: its encoding, delimiter, quotes and header.

In: the first bytes of a file. Out: a `Dialect`, by which Arrow reads the whole of it.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections import Counter
from dataclasses import dataclass

from committee.files.errors import BadTable
from committee.files.opening import HEAD_BYTES

DELIMITERS = (",", ";", "\t", "|")
# Lines that are looked at.
N_LINES = 100
MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# What text is that is no UTF-8: every byte is a character of it.
OTHER_ENCODING = "latin-1"
# What a column is called whose name is empty, by its place: as pandas calls it, which writes its index so.
UNNAMED = "Unnamed: {}"
# What Excel puts before the header to tell the delimiter.
TOLD_DELIMITER = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
# What a line begins with that is no row, unless it has as many values as the rows.
COMMENT = "#"


@dataclass(frozen=True)
class Dialect:
    r"""How a CSV file is written.

    Parameters
    ----------
    encoding : str
        As Python calls it.
    delimiter : str
    quote : str
    escape : str or None
        What stands before a quote inside quotes, if it is not another quote.
    decimal : {".", ",", None}
        Of numbers; None where every column is asked, see `decimals`.
    names : tuple of str
        Of the columns.
    n_skipped : int
        Lines at the start that are empty or comments.
    has_header : bool
        Whether the first row holds the names.

    Examples
    --------
    >>> sniff("prices.csv", b"size;price\n1,5;200\n2,5;310\n")  # doctest: +ELLIPSIS
    Dialect(encoding='utf-8', delimiter=';', quote='"', escape=None, decimal=None, names=('size', ...
    """

    encoding: str
    delimiter: str
    quote: str
    escape: str | None
    decimal: str | None
    names: tuple[str, ...]
    n_skipped: int
    has_header: bool


def sniff(
    name: str,
    head: bytes,
    *,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    decimal: str | None = None,
) -> Dialect:
    """Find out how a file is written; what is given is not looked for.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    head : bytes
    encoding : str, default=None
    delimiter : str, default=None
    header : bool, default=None
        Whether the first row holds the names of the columns. None looks: a row of numbers does not.
    decimal : {".", ","}, default=None
        None is a point where commas part the values, and is found column by column where they do not.

    Returns
    -------
    Dialect
    """
    encoding = encoding or encoding_of(head)
    text = decoded(name, head, encoding)
    lines = whole_lines(text, is_cut=len(head) >= HEAD_BYTES)
    told = TOLD_DELIMITER.fullmatch(lines[0]) if lines else None
    if told is not None:
        delimiter = delimiter or told[1]
        lines = lines[1:]
    if not lines:
        raise BadTable(f"{name} is empty.")
    rows = [line for line in lines if not is_comment(line)] or lines
    quote = quote_of(rows)
    # At the end of a value, as of a folder in Windows, a backslash before a quote is a backslash.
    escape = "\\" if re.search(rf"\\{quote}[^,;\t|\r\n]", text) else None
    delimiter = delimiter or delimiter_of(rows, quote, escape)
    n_comments = comments_before(lines, parsed(rows, delimiter, quote, escape), delimiter)
    begin, *rest = lines[n_comments:]
    records = parsed([begin, *(line for line in rest if not is_comment(line))], delimiter, quote, escape)
    if not records:
        raise BadTable(
            f"{name} cannot be read as CSV: a quote that begins on one of its first lines never ends."
        )
    first = [cell.strip() for cell in records[0]]
    has_header = not all(map(is_number, first)) if header is None else header
    names = first if has_header else [""] * len(first)
    unnamed = UNNAMED if has_header else "x{}"
    names = [each or unnamed.format(position) for position, each in enumerate(names)]
    check_names(name, names)
    n_skipped = position_of(n_comments + (told is not None), text)
    decimal = decimal or ("." if delimiter == "," else None)
    return Dialect(encoding, delimiter, quote, escape, decimal, tuple(names), n_skipped, has_header)


def encoding_of(head: bytes) -> str:
    """The encoding of first bytes, whose last character may be cut.

    Examples
    --------
    >>> [encoding_of("Köln".encode(encoding)) for encoding in ("utf-8", "latin-1", "utf-16")]
    ['utf-8', 'latin-1', 'utf-16']
    """
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return OTHER_ENCODING
    return "utf-8"


def decoded(name: str, head: bytes, encoding: str) -> str:
    """First bytes as text."""
    try:
        return codecs.getincrementaldecoder(encoding)().decode(head)
    except LookupError as error:
        raise BadTable(f"There is no encoding {encoding!r}. utf-8, latin-1 and utf-16 are some.") from error
    except UnicodeDecodeError as error:
        raise BadTable(
            f"{name} is not written in {encoding}. Leave the encoding out to have it found."
        ) from error


def whole_lines(text: str, is_cut: bool) -> list[str]:
    r"""The first lines that are not empty; of a text that is cut, without the last one.

    Examples
    --------
    >>> whole_lines("a,b\n1,2\n\n3,", is_cut=True)
    ['a,b', '1,2']
    """
    found = [line for line in lines_of(text) if line.strip()]
    return (found[:-1] if is_cut and len(found) > 1 else found)[:N_LINES]


def lines_of(text: str) -> list[str]:
    r"""The lines of a text; other signs than these break no line in a table.

    Examples
    --------
    >>> lines_of("a\r\nb\u2028c\n")
    ['a', 'b\u2028c', '']
    """
    return re.split(r"\r\n?|\n", text)


def is_comment(line: str) -> bool:
    """Whether a line may be a comment."""
    return line.lstrip().startswith(COMMENT)


def comments_before(lines: list[str], rows: list[list[str]], delimiter: str) -> int:
    """How many first lines are comments: the last may be the header, which has as many values as the rows.

    Examples
    --------
    >>> comments_before(["# ours", "a,b", "1,2"], [["a", "b"], ["1", "2"]], ",")
    1
    >>> comments_before(["#a,b", "1,2"], [["1", "2"]], ",")
    0
    """
    n_first = next((number for number, line in enumerate(lines) if not is_comment(line)), 0)
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    is_header = n_first > 0 and width > 1 and len(lines[n_first - 1].split(delimiter)) == width
    return n_first - 1 if is_header else n_first


def position_of(number: int, text: str) -> int:
    r"""Which line of a text one of those is that are not empty.

    Examples
    --------
    >>> position_of(1, "# ours\n\na,b\n1,2\n")
    2
    """
    filled = (place for place, line in enumerate(lines_of(text)) if line.strip())
    return next(place for count, place in enumerate(filled) if count == number)


def quote_of(lines: list[str]) -> str:
    """The quote of a file: ' if most lines have a value in such quotes and none has double ones, else "."""
    if any('"' in line for line in lines):
        return '"'
    in_single = sum(bool(re.search(r"(^|[,;\t|])'[^']*'($|[,;\t|])", line)) for line in lines)
    return "'" if 2 * in_single > len(lines) else '"'


def delimiter_of(lines: list[str], quote: str, escape: str | None) -> str:
    """What parts the values: the delimiter by which most rows have one number of values, and most of them.

    Examples
    --------
    >>> delimiter_of(["a;b", "1,5;2", "1;2,5"], '"', None)
    ';'
    """
    best, best_score = ",", (0.0, 1)
    for delimiter in (*DELIMITERS, " "):
        widths = Counter(map(len, parsed(lines, delimiter, quote, escape)))
        if not widths:
            continue
        width, n_agreeing = widths.most_common(1)[0]
        share = n_agreeing / widths.total()
        is_likely = width > 1 and (
            delimiter != " " or (share == 1.0 and len(lines) > 1 and best_score[1] == 1)
        )
        if is_likely and (share, width) > best_score:
            best, best_score = delimiter, (share, width)
    return best


def parsed(lines: list[str], delimiter: str, quote: str, escape: str | None) -> list[list[str]]:
    """Lines as rows of values; none if a value is longer than any can be."""
    reader = csv.reader(
        (f"{line}\n" for line in lines),
        delimiter=delimiter,
        quotechar=quote,
        escapechar=escape,
        doublequote=escape is None,
    )
    try:
        return [row for row in reader if row]
    except csv.Error:
        return []


def check_names(name: str, names: list[str]) -> None:
    """Raise if two columns have one name."""
    positions: dict[str, int] = {}
    for position, each in enumerate(names, start=1):
        if each in positions:
            raise BadTable(
                f"Two columns of {name} are called {each!r}: columns {positions[each]} and {position}. "
                "Rename one of them."
            )
        positions[each] = position


def is_number(cell: str) -> bool:
    """Whether a cell holds a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
