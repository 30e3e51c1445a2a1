"""The decimal sign of a column of numbers: a point or a comma, by what its values can be.

In: columns of text. Out: a `Decimal` for each. A value such as `0,125` or `1.234,5` can be read in one way
only, so it proves the sign of its column. `1,125` can be read in two: its column is read as in the fit, as
the columns that prove their sign, or else as if the sign were a decimal one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow.compute as pc

from committee.files.kinds import cleaned
from committee.files.naming import some

POINT, COMMA = ".", ","
SIGNS = (POINT, COMMA)


@dataclass(frozen=True)
class Decimal:
    """How the numbers of a column are read.

    Parameters
    ----------
    sign : {".", ",", None}
        The decimal sign; the other one may stand between thousands. None is a point, and nothing between
        thousands, for as long as no value has a comma.
    doubtful : str, default=""
        A value that could be read in another way as well, if nothing proves the sign.
    """

    sign: str | None
    doubtful: str = ""


@dataclass(frozen=True)
class Seen:
    """What the values of a column tell of its decimal sign.

    Parameters
    ----------
    possible : tuple of str
        The signs by which all values are numbers.
    written : tuple of str
        The signs that stand in some value.
    example : str
        A value with a sign in it, or nothing.
    """

    possible: tuple[str, ...]
    written: tuple[str, ...]
    example: str

    @property
    def proved(self) -> str | None:
        """The only sign that is possible."""
        return self.possible[0] if len(self.possible) == 1 else None


@dataclass(frozen=True)
class Decimals:
    """By which sign each column of a file is read.

    Parameters
    ----------
    fixed : {".", ",", None}
        The sign of all columns, if it is known; None looks at the values.
    known : mapping of str to str
        The signs of columns in the fit of the model that reads the file.
    proved : {".", ",", None}
        The sign that columns of the file prove, if all of them prove the same.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Decimals().of("price", pa.array(["1,125", "12"]))
    Decimal(sign=',', doubtful='1,125')
    >>> Decimals(proved=".").of("price", pa.array(["1,125", "12"]))
    Decimal(sign='.', doubtful='1,125')
    >>> Decimals(proved=".").of("price", pa.array(["0,125", "12"]))
    Decimal(sign=',', doubtful='')
    """

    fixed: str | None = None
    known: Mapping[str, str] = field(default_factory=dict)
    proved: str | None = None

    def of(self, name: str, text: Any, *, is_told: bool = False) -> Decimal:
        """The sign of a column, by some of its values.

        Parameters
        ----------
        name : str
        text : pyarrow.Array of str
        is_told : bool, default=False
            Whether somebody has said that it holds numbers: no value is a name then.
        """
        before = self.known.get(name)
        if self.fixed is not None and (before is None or before == self.fixed):
            return Decimal(self.fixed)
        seen = look_at(text, is_told=is_told)
        if self.fixed is not None:
            # Where commas part the values, one inside of a value is what it was in the fit.
            return Decimal(before if before in seen.written else self.fixed)
        if len(seen.possible) < len(SIGNS):
            return Decimal(seen.proved)
        if before is not None:
            return Decimal(before)
        if not seen.written:
            return Decimal(COMMA if self.proved == COMMA else None)
        sign = self.proved or (COMMA if COMMA in seen.written else None)
        is_sure = sign is None or (self.proved is not None and seen.written == (sign,))
        return Decimal(sign, "" if is_sure else seen.example)


def proved_by(columns: Iterable[Any]) -> str | None:
    """The sign that some columns of text prove, if all that prove one prove the same.

    Examples
    --------
    >>> import pyarrow as pa
    >>> proved_by([pa.array(["1,125"]), pa.array(["37,5"]), pa.array(["v1.1"])])
    ','
    >>> proved_by([pa.array(["1.5"]), pa.array(["37,5"])]) is None
    True
    """
    found = {look_at(column).proved for column in columns} - {None}
    return found.pop() if len(found) == 1 else None


def look_at(text: Any, *, is_told: bool = False) -> Seen:
    """What the values of a column tell of its sign.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [look_at(pa.array(each)).possible for each in (["1,5"], ["0.125"], ["1.234.567", "12.000"])]
    [(',',), ('.',), (',',)]
    >>> [look_at(pa.array(each)).possible for each in (["1,125", "7"], ["212.555.123", "212.555.987"])]
    [('.', ','), ()]
    """
    filled = cleaned(text).drop_null()
    has_sign = pc.match_substring_regex(filled, "[.,]")
    signed = filled.filter(has_sign)
    written = tuple(sign for sign in SIGNS if pc.match_substring(signed, sign).true_count)
    possible = tuple(sign for sign in SIGNS if is_written(filled, sign))
    if not is_told:
        possible = tuple(sign for sign in possible if not are_names(signed, sign, len(filled)))
    return Seen(possible, written, signed[0].as_py() if len(signed) else "")


def is_written(values: Any, sign: str) -> bool:
    """Whether all values are numbers with a decimal sign."""
    return bool(pc.all(pc.match_substring_regex(values, number_form(sign)), min_count=0).as_py())


def number_form(sign: str) -> str:
    """How numbers with a decimal sign are written; thousands never begin with 0."""
    between = re.escape(other(sign))
    return rf"^[+-]?(\d+|[1-9]\d{{0,2}}({between}\d{{3}})+)?({re.escape(sign)}\d*)?([eE][+-]?\d+)?$"


def are_names(signed: Any, sign: str, n_values: int) -> bool:
    """Whether values may as well be names with signs in them, as telephones are.

    All of them have as many signs between thousands, more than one, and no decimal sign.
    """
    if len(signed) == 0 or len(signed) < n_values or pc.match_substring(signed, sign).true_count:
        return False
    bounds = pc.min_max(pc.count_substring(signed, other(sign))).as_py()
    return bool(bounds["min"] == bounds["max"] > 1)


def other(sign: str) -> str:
    """The sign that may stand between thousands."""
    return COMMA if sign == POINT else POINT


def notes_of_doubts(name: str, decimals: Mapping[str, Decimal]) -> list[str]:
    """What is said of columns whose sign is a guess: one note for each way in which they are read."""
    notes = []
    for sign in SIGNS:
        columns = [each for each, decimal in decimals.items() if decimal.sign == sign and decimal.doubtful]
        if columns:
            value = decimals[columns[0]].doubtful
            read = value.replace(other(sign), "").replace(sign, POINT)
            notes.append(
                f"{name} has numbers such as {value} in {some(list(map(repr, columns)))}, which are read as "
                f"{read}. Nothing proves it: pass --decimal {other(sign)} if that is wrong."
            )
    return notes
