"""Quotes that Arrow takes for a part of the value: those behind blanks, and those of another kind.

In: rows with a delimiter, as text or as a file. Out: the same rows, their values in quotes of one kind and
without blanks before them. Line breaks stay where they are, so that errors name the same lines.
"""

from __future__ import annotations

import contextlib
import io
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from committee.files.encodings import decoding
from committee.files.opening import OpenedFile

CHARACTERS_AT_ONCE = 2**20


@dataclass(frozen=True)
class Quoting:
    r"""How values in quotes stand in rows.

    Parameters
    ----------
    delimiter : str
    quotes : str
        The kinds of quotes; all values are to have the first.
    escape : str or None
        What stands before a quote inside quotes; None is another quote.

    Examples
    --------
    >>> Quoting(",", '"', None).plain('"a", "b, c", d\n')
    '"a","b, c", d\n'
    >>> print(Quoting(",", "'\"", "\\").plain('''"it's", 'so' '''))
    'it\'s','so'
    """

    delimiter: str
    quotes: str
    escape: str | None

    def plain(self, text: str) -> str:
        """Rows as Arrow reads them."""
        return self._cells.sub(lambda cell: cell[1] + self._with_first_quote(cell[2]), text)

    def _with_first_quote(self, cell: str) -> str:
        first, own = self.quotes[0], cell[0]
        if own == first:
            return cell
        inside = cell[1:-1].replace(f"\\{own}", own).replace(first, f"\\{first}")
        return f"{first}{inside}{first}"

    @cached_property
    def _cells(self) -> re.Pattern[str]:
        """What stands before a value in quotes, and the value."""
        blanks = "[{}]*".format("".join(sign for sign in " \t" if sign != self.delimiter))
        values = "|".join(
            rf"{quote}(?:[^{quote}\\]|\\.)*{quote}"
            if self.escape
            else rf"{quote}(?:[^{quote}]|{quote}{quote})*{quote}"
            for quote in self.quotes
        )
        delimiter = re.escape(self.delimiter)
        return re.compile(
            rf"(^|{delimiter}){blanks}({values})(?={blanks}(?:{delimiter}|\r?$))", re.MULTILINE | re.DOTALL
        )


@contextlib.contextmanager
def plainly_quoted(file: OpenedFile, encoding: str, quoting: Quoting, start: int = 0) -> Iterator[OpenedFile]:
    """A copy of a file, its rows as Arrow reads them.

    Parameters
    ----------
    file : OpenedFile
    encoding : str
    quoting : Quoting
    start : int, default=0
        The bytes before the first row, which stay as they are.

    Yields
    ------
    OpenedFile
    """
    with tempfile.NamedTemporaryFile(prefix="committee-") as copy:
        with file.stream() as stream, file.reading(), decoding(file.name, encoding):
            copy.write(stream.read(start))
            written = io.TextIOWrapper(copy, encoding, newline="", write_through=True)
            for rows in whole_rows(io.TextIOWrapper(stream, encoding, newline=""), quoting.quotes[0]):
                written.write(quoting.plain(rows))
            written.flush()
            written.detach()
        copy.flush()
        yield OpenedFile(file.name, Path(copy.name), is_packed=False)


def whole_rows(lines: Any, quote: str) -> Iterator[str]:
    r"""A text in pieces of some lines, none of which ends inside of quotes.

    Examples
    --------
    >>> list(whole_rows(io.StringIO('a,"b\nc"\nd,e\n'), '"'))
    ['a,"b\nc"\nd,e\n']
    """
    while piece := lines.readlines(CHARACTERS_AT_ONCE):
        is_open = sum(line.count(quote) for line in piece) % 2 == 1
        while is_open and (line := lines.readline()):
            piece.append(line)
            is_open = line.count(quote) % 2 == 0
        yield "".join(piece)
