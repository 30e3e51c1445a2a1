"""How a CSV file is written: its encoding, delimiter, quotes and header.

In: the first bytes of a file, and a `CSVForm` with what is known. Out: a `Dialect`, by which Arrow reads the
whole of it.
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
# Lines that are looked at.
N_LINES = 100
# The name of a column whose name is empty, by its place: as pandas calls it, which writes its index so.
UNNAMED = "Unnamed: {}"
# What Excel puts before the header to specify the delimiter.
STATED_DELIMITER = re.compile(r'"?sep=(.)"?', re.IGNORECASE)
NUMBER_FORMS = tuple(re.compile(number_form(sign)) for sign in (POINT, COMMA))
INFINITE = ("inf", "+inf", "-inf", "infinity")
# How a line begins that is not a row, unless it has as many values as the rows.
COMMENT = "#"


@dataclass(frozen=True)
class CSVForm:
    """What is known of how a CSV file is written; None is found.

    Parameters
    ----------
    encoding, delimiter : str, default=None
    header : bool, default=None
        Whether the first row holds the names of the columns. None looks: a row of numbers and missing values
        does not.
    decimal : {".", ","}, default=None
        The decimal sign.
    known_decimal : {".", ","}, default=None
        The decimal sign in the fit of a model, for files that could be read with either.
    """

    encoding: str | None = None
    delimiter: str | None = None
    header: bool | None = None
    decimal: str | None = None
    known_decimal: str | None = None


AS_FOUND = CSVForm()


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
        Of numbers; None where the first rows show it.
    names : tuple of str
        Of the columns.
    n_skipped : int, default=0
        Lines at the start that are empty or comments.
    has_header : bool, default=False
        Whether the first row holds the names.
    is_spaced : bool, default=False
        Whether blanks stand before quotes.

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
        """Parse lines to rows of values, without the blanks before them."""
        return parsed(lines, self.delimiter, self.quote, self.escape)


def sniff(name: str, head: bytes, form: CSVForm = AS_FOUND) -> Dialect:
    """Find out how a file is written.

    Parameters
    ----------
    name : str
        Of the file, for messages.
    head : bytes
    form : CSVForm
        What is given is not looked for.

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
    # Where a comma separates the values, the decimal sign is a point.
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
    r"""Return the first lines that are not empty; of a text that is cut, without the last one.

    Examples
    --------
    >>> whole_lines("a,b\n1,2\n\n3,", is_cut=True)
    ['a,b', '1,2']
    """
    found = [line for line in lines_of(text) if line.strip()]
    return (found[:-1] if is_cut and len(found) > 1 else found)[:N_LINES]


def lines_of(text: str) -> list[str]:
    r"""Split a text into lines; only these signs break lines in a table.

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
    """Count the first lines that are comments.

    The last of them may be the header: it has as many values as the rows, and the row after it is not one.

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
    """Whether a number stands below a word of the first row.

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
    r"""Return the position of a line in a text by its number among those that are not empty.

    Examples
    --------
    >>> position_of(1, "# ours\n\na,b\n1,2\n")
    2
    """
    filled = (place for place, line in enumerate(lines_of(text)) if line.strip())
    return next(place for count, place in enumerate(filled) if count == number)


def quote_of(lines: list[str]) -> str:
    """Find the quote of a file: ' if most lines have a value in such quotes and none has ", else "."""
    if any('"' in line for line in lines):
        return '"'
    in_single = sum(bool(re.search(r"(^|[,;\t|]) *'[^']*' *($|[,;\t|])", line)) for line in lines)
    return "'" if 2 * in_single > len(lines) else '"'


def escape_of(text: str, quote: str) -> str | None:
    r"""Find what stands before a quote inside quotes, if it is not another quote.

    Before the quote that ends a value, as of a folder in Windows, a backslash is a backslash.

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
    """Find what separates the values.

    It is the delimiter by which most rows have one number of values, with the fewest other delimiters in
    them, and of those the one with most values.

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
    """Return the share of the values that are numbers or have no other delimiter in them.

    Examples
    --------
    >>> share_of_plain([["1,5", "2,5"]], ";"), share_of_plain([["1", "5;2"]], ",")
    (1.0, 0.5)
    """
    others = [each for each in DELIMITERS if each != delimiter]
    cells = [cell for row in rows for cell in row]
    return sum(not any(map(cell.__contains__, others)) or is_number(cell) for cell in cells) / len(cells)


def check_delimiter(delimiter: str) -> None:
    """Raise for what cannot separate values.

    Examples
    --------
    >>> check_delimiter("§")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: A delimiter is one character of ASCII, no quote, no line
    break. Got '§'.
    """
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\"'\r\n":
        raise BadTable(f"A delimiter is one character of ASCII, no quote, no line break. Got {delimiter!r}.")


def parsed(lines: Iterable[str], delimiter: str, quote: str, escape: str | None) -> Iterator[list[str]]:
    """Parse lines to rows of values, without the blanks before them."""
    return csv.reader(
        lines,
        delimiter=delimiter,
        quotechar=quote,
        escapechar=escape,
        doublequote=escape is None,
        skipinitialspace=delimiter != " ",
    )


def records_of(lines: list[str], delimiter: str, quote: str, escape: str | None) -> list[list[str]]:
    """Parse lines without their line breaks; return no row if a value is longer than any can be."""
    try:
        return [row for row in parsed((f"{line}\n" for line in lines), delimiter, quote, escape) if row]
    except csv.Error:
        return []


def is_spaced(text: str, delimiter: str, quote: str) -> bool:
    """Whether blanks stand before quotes.

    Examples
    --------
    >>> [is_spaced(text, ",", '"') for text in ('1, "a, b"', '1, ""', '1, a "b"', '1,"a"')]
    [True, True, False, False]
    """
    after = re.escape(delimiter)
    begun = rf"(?:^|{after}) +{quote}(?:[^{quote}]|{quote} *(?:{after}|\r?$))"
    return delimiter != " " and re.search(begun, text, re.MULTILINE) is not None


def check_names(name: str, names: Sequence[str]) -> None:
    """Raise if two columns have one name."""
    positions: dict[str, int] = {}
    for position, each in enumerate(names, start=1):
        if each in positions:
            where = f"columns {positions[each]} and {position}"
            raise BadTable(f"{name} has two columns called {each!r}: {where}. Rename one of them.")
        positions[each] = position


def names_of(written: list[str], unnamed: str) -> tuple[str, ...]:
    """Return the names of columns; those that have none are named by their places."""
    return tuple(each or unnamed.format(position) for position, each in enumerate(written))


def are_values(first: list[str]) -> bool:
    """Whether a first row holds numbers and missing values rather than names.

    Examples
    --------
    >>> are_values(["1,5", "", "NA"]), are_values(["age", "2"]), are_values(["", "0", "1"])
    (True, False, False)
    """
    if first == ["", *map(str, range(len(first) - 1))]:
        return False  # so pandas writes the names of its index, and of columns that have none
    return any(map(is_number, first)) and all(map(is_value, first))


def is_value(cell: str) -> bool:
    """Whether a cell holds a number, or a word for a missing one."""
    return is_number(cell) or cell.strip() in MISSING_UNLESS_TEXT


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, with a decimal point or comma.

    Examples
    --------
    >>> [is_number(cell) for cell in ("1", "-1,5", "1,200", " .5e3", "inf", "", "-", "1_000", "v1")]
    [True, True, True, True, True, False, False, False, False]
    """
    cell = cell.strip()
    return cell.lower() in INFINITE or (
        any(map(str.isdigit, cell)) and any(form.match(cell) for form in NUMBER_FORMS)
    )
