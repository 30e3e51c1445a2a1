"""Detect the encoding, delimiter, quotes and header of a CSV file.

In: the first bytes of a file, and a `CSVForm` with what the user specified. Out: a `Dialect`, with which
Arrow reads the whole file.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from committee.files.column_kinds import COMMA, MISSING_UNLESS_TEXT, POINT, number_form
from committee.files.opened_file import HEAD_BYTES, decoded, encoding_of
from committee.files.table_error import BadTable

DELIMITERS = (",", ";", "\t", "|")
# The number of lines that detection uses.
N_LINES = 100
# The name of a column with an empty name, by its position. pandas writes its index as such a column.
UNNAMED = "Unnamed: {}"
# Excel can write this line before the header to specify the delimiter.
STATED_DELIMITER = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
NUMBER_FORMS = tuple(re.compile(number_form(sign)) for sign in (POINT, COMMA))
INFINITE = ("inf", "+inf", "-inf", "infinity")
# The beginning of a comment line. A line with as many values as the rows is not a comment.
COMMENT = "#"


@dataclass(frozen=True)
class CSVForm:
    """The form of a CSV file, as far as the user specifies it. None is detected.

    Words for missing values are used in files of all formats.

    Parameters
    ----------
    encoding, delimiter : str, default=None
    header : bool, default=None
        Whether the first row contains the names of the columns. If None, a row of numbers and missing values
        is not a header.
    decimal : {".", ","}, default=None
        The decimal sign.
    known_decimal : {".", ","}, default=None
        The decimal sign in the training table of a model, for files that can be read with either sign.
    missing : tuple of str, default=()
        More words for missing values, in columns of any kind.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    known_decimal: str | None = None
    missing: tuple[str, ...] = ()


AS_FOUND = CSVForm()


@dataclass(frozen=True)
class Dialect:
    r"""The form of a CSV file.

    Parameters
    ----------
    encoding : str
        The name of the encoding in Python.
    delimiter : str
    quote : str
    escape : str or None
        The character that escapes a quote inside quotes. None if quotes are doubled.
    decimal : {".", ",", None}
        The decimal sign. None if it has to be inferred from the values.
    names : tuple of str
        The names of the columns.
    n_skipped : int, default=0
        The number of empty lines and comments at the start.
    has_header : bool, default=False
        Whether the first row contains the names.
    is_spaced : bool, default=False
        Whether there are blanks before quotes.

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
    n_skipped: int = 0
    has_header: bool = False
    is_spaced: bool = False

    def parsed(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Parse lines to rows of values, without the blanks before values."""
        return parsed(lines, self.delimiter, self.quote, self.escape)


def sniff(name: str, head: bytes, form: CSVForm = AS_FOUND) -> Dialect:
    """Detect the form of a file.

    Parameters
    ----------
    name : str
        The name of the file, for messages.
    head : bytes
    form : CSVForm
        The parts of the form that are not detected.

    Returns
    -------
    Dialect
    """
    encoding = form.encoding or encoding_of(head)
    text = decoded(name, head, encoding)
    lines = whole_lines(text, is_cut=len(head) >= HEAD_BYTES)
    stated = STATED_DELIMITER.fullmatch(lines[0]) if lines else None
    if stated is not None:
        lines = lines[1:]
    if not lines:
        raise BadTable(f"{name} is empty.")
    rows = [line for line in lines if not is_comment(line)] or lines
    quote = quote_of(rows)
    escape = escape_of(text, quote)
    delimiter = form.delimiter or (stated[1] if stated else delimiter_of(rows, quote, escape))
    check_delimiter(delimiter)
    n_comments = comments_before(lines, records_of(rows, delimiter, quote, escape), delimiter)
    begin, *rest = lines[n_comments:]
    kept = [begin, *(line for line in rest if not is_comment(line))]
    records = records_of(kept, delimiter, quote, escape)
    if not records:
        raise BadTable(
            f"{name} cannot be read as CSV: a quote that begins on one of its first lines never ends."
        )
    first = [cell.strip() for cell in records[0]]
    has_header = not are_values(first) if form.header is None else form.header
    names = names_of(first if has_header else [""] * len(first), UNNAMED if has_header else "x{}")
    check_names(name, names)
    # In a file with commas between values, the decimal sign is a point.
    is_point = delimiter == COMMA and form.known_decimal != COMMA
    return Dialect(
        encoding,
        delimiter,
        quote,
        escape,
        form.decimal or (POINT if is_point else None),
        names,
        position_of(n_comments + (stated is not None), text),
        has_header,
        is_spaced(text, delimiter, quote),
    )


def whole_lines(text: str, is_cut: bool) -> list[str]:
    r"""Return the first lines that are not empty. Skip the last line of a text that is cut off.

    Examples
    --------
    >>> whole_lines("a,b\n1,2\n\n3,", is_cut=True)
    ['a,b', '1,2']
    """
    found = [line for line in lines_of(text) if line.strip()]
    return (found[:-1] if is_cut and len(found) > 1 else found)[:N_LINES]


def lines_of(text: str) -> list[str]:
    r"""Split a text into lines. Unlike `str.splitlines`, break lines only at \n, \r and \r\n.

    Examples
    --------
    >>> lines_of("a\r\nb\u2028c\n")
    ['a', 'b\u2028c', '']
    """
    return re.split(r"\r\n?|\n", text)


def is_comment(line: str) -> bool:
    """Return whether a line may be a comment."""
    return line.lstrip().startswith(COMMENT)


def comments_before(lines: list[str], rows: list[list[str]], delimiter: str) -> int:
    """Count the first lines that are comments.

    The last of them is the header if it has as many values as the rows, and the first row is not a header.

    Examples
    --------
    >>> comments_before(["# ours", "a,b", "1,2"], [["a", "b"], ["1", "2"]], ",")
    1
    >>> comments_before(["#a,b", "1,2"], [["1", "2"]], ",")
    0
    >>> comments_before(["# Smith, 2020", "a,b", "1,2"], [["a", "b"], ["1", "2"]], ",")
    1
    """
    n_first = next((number for number, line in enumerate(lines) if not is_comment(line)), 0)
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 0
    is_header = n_first > 0 and width > 1 and len(lines[n_first - 1].split(delimiter)) == width
    return n_first - 1 if is_header and not has_header_first(rows) else n_first


def has_header_first(rows: list[list[str]]) -> bool:
    """Return whether the second row has a number below a word of the first row.

    Examples
    --------
    >>> has_header_first([["age", "city"], ["31", "Oslo"]])
    True
    >>> has_header_first([["31", "Oslo"], ["54", "Bonn"]])
    False
    """
    pairs = zip(*rows[:2], strict=False) if len(rows) > 1 else ()
    return any(is_number(below) and not is_value(word) for word, below in pairs)


def position_of(number: int, text: str) -> int:
    r"""Return the position of a line in a text by its number among the lines that are not empty.

    Examples
    --------
    >>> position_of(1, "# ours\n\na,b\n1,2\n")
    2
    """
    filled = (place for place, line in enumerate(lines_of(text)) if line.strip())
    return next(place for count, place in enumerate(filled) if count == number)


def quote_of(lines: list[str]) -> str:
    """Find the quote of a file: ' if most lines have a value in such quotes and none has ", otherwise "."""
    if any('"' in line for line in lines):
        return '"'
    in_single = sum(bool(re.search(r"(^|[,;\t|]) *'[^']*' *($|[,;\t|])", line)) for line in lines)
    return "'" if 2 * in_single > len(lines) else '"'


def escape_of(text: str, quote: str) -> str | None:
    r"""Find the character that escapes a quote inside quotes, None if quotes are doubled.

    A backslash before the last quote of a value, such as a folder in Windows, is not an escape.

    Examples
    --------
    >>> escape_of(r'"say \"no\"",1', '"'), escape_of(r'"C:\",1', '"'), escape_of(r'"{""a\"": 1}"', '"')
    ('\\', None, None)
    """
    end = r"(?:[,;\t|\r\n]|$)"
    is_escaped = re.search(rf"\\{quote}(?:(?!{quote}|{end})|{quote}{end})", text)
    is_doubled = re.search(rf"[^\\,;\t|\r\n{quote}]{quote}{quote}", text)
    return "\\" if is_escaped and not is_doubled else None


def delimiter_of(lines: list[str], quote: str, escape: str | None) -> str:
    """Find the delimiter.

    With the right delimiter, most rows have the same number of values. Among such delimiters, choose the one
    whose values contain the fewest other delimiters, then the one with the most values.

    Examples
    --------
    >>> delimiter_of(["a;b", "1,5;2", "1;2,5"], '"', None), delimiter_of(["1,5;2,5"], '"', None)
    (';', ';')
    """
    best, best_score = ",", (0.0, 0.0, 1)
    for delimiter in (*DELIMITERS, " "):
        rows = records_of(lines, delimiter, quote, escape)
        if not rows:
            continue
        width, n_agreeing = Counter(map(len, rows)).most_common(1)[0]
        score = (n_agreeing / len(rows), share_of_plain(rows, delimiter), width)
        is_likely = width > 1 and (
            delimiter != " " or (score[0] == 1.0 and len(lines) > 1 and best_score[2] == 1)
        )
        if is_likely and score > best_score:
            best, best_score = delimiter, score
    return best


def share_of_plain(rows: list[list[str]], delimiter: str) -> float:
    """Return the share of values that are numbers or contain no other delimiter.

    Examples
    --------
    >>> share_of_plain([["1,5", "2,5"]], ";"), share_of_plain([["1", "5;2"]], ",")
    (1.0, 0.5)
    """
    others = [each for each in DELIMITERS if each != delimiter]
    cells = [cell for row in rows for cell in row]
    return sum(not any(map(cell.__contains__, others)) or is_number(cell) for cell in cells) / len(cells)


def check_delimiter(delimiter: str) -> None:
    """Raise unless a text can separate values.

    Examples
    --------
    >>> check_delimiter("§")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: A delimiter must be one ASCII character other than a quote
    or a line break. Got '§'.
    """
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"'\r\n":
        raise BadTable(
            f"A delimiter must be one ASCII character other than a quote or a line break. Got {delimiter!r}."
        )


def parsed(lines: Iterable[str], delimiter: str, quote: str, escape: str | None) -> Iterator[list[str]]:
    """Parse lines to rows of values, without the blanks before values."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote,
        escapechar=escape,
        doublequote=escape is None,
        skipinitialspace=delimiter != " ",
    )


def records_of(lines: list[str], delimiter: str, quote: str, escape: str | None) -> list[list[str]]:
    """Parse lines without line breaks to rows. Return no rows if a value is too long for the parser."""
    try:
        return [row for row in parsed((f"{line}\n" for line in lines), delimiter, quote, escape) if row]
    except csv.Error:
        return []


def is_spaced(text: str, delimiter: str, quote: str) -> bool:
    """Return whether there are blanks before quotes.

    Examples
    --------
    >>> [is_spaced(text, ",", '"') for text in ('1, "a, b"', '1, ""', '1, a "b"', '1,"a"')]
    [True, True, False, False]
    """
    separator = re.escape(delimiter)
    spaced = rf"(?:^|{separator}) +{quote}(?:[^{quote}]|{quote} *(?:{separator}|\r?$))"
    return delimiter != " " and re.search(spaced, text, re.MULTILINE) is not None


def check_names(name: str, names: Sequence[str]) -> None:
    """Raise if two columns have the same name."""
    positions: dict[str, int] = {}
    for position, each in enumerate(names, start=1):
        if each in positions:
            where = f"columns {positions[each]} and {position}"
            raise BadTable(f"{name} has two columns called {each!r}: {where}. Rename one of them.")
        positions[each] = position


def names_of(written: list[str], unnamed: str) -> tuple[str, ...]:
    """Return the names of columns. A column without a name is named by its position."""
    return tuple(each or unnamed.format(position) for position, each in enumerate(written))


def are_values(first: list[str]) -> bool:
    """Return whether a first row contains numbers and missing values instead of names.

    Examples
    --------
    >>> are_values(["1,5", "", "NA"]), are_values(["age", "2"]), are_values(["", "0", "1"])
    (True, False, False)
    """
    if first == ["", *map(str, range(len(first) - 1))]:
        return False  # pandas writes an index, and columns without names, with such a header
    return any(map(is_number, first)) and all(map(is_value, first))


def is_value(cell: str) -> bool:
    """Return whether a cell is a number or a missing value."""
    return is_number(cell) or cell.strip() in MISSING_UNLESS_TEXT


def is_number(cell: str) -> bool:
    """Return whether a cell is a number, with a decimal point or comma.

    Examples
    --------
    >>> [is_number(cell) for cell in ("1", "-1,5", "1,200", " .5e3", "inf", "", "-", "1_000", "v1")]
    [True, True, True, True, True, False, False, False, False]
    """
    cell = cell.strip()
    return cell.lower() in INFINITE or (
        any(map(str.isdigit, cell)) and any(form.match(cell) for form in NUMBER_FORMS)
    )
