"""Convert text to the values of each kind of column, and find the decimal sign of a file.

In: Arrow arrays of text from CSV or ARFF. Out: arrays of numbers, booleans, dates or text, or None if some
value is not of the kind; and the `DecimalSign` of a file.
"""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from committee.files.value_formats import (
    PERCENT,
    amount_format,
    bare_numbers,
    without_blanks,
    without_unit,
)

# All whole numbers up to this are exact as float64.
LARGEST_EXACT = 2.0**53
# A whole number with more digits is infinite as float64.
MOST_DIGITS = 310
# Words for a missing value in columns of any kind. In quotes, they are text in columns of text.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null",
    "<NA>", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
# Words for a missing value in columns of numbers, booleans and dates. In columns of text they may be text.
MISSING_UNLESS_TEXT = (
    *MISSING, "None", "none", "NONE", "NaT", "n.a.", "N.A.", "-", "--", ".", "#DIV/0!", "#VALUE!", "#REF!",
    "#NUM!", "0000-00-00", "0000-00-00 00:00:00",
)  # fmt: skip
# The only missing value left in columns of text: Arrow has replaced the words without quotes.
BLANK = ("",)
# Arrow reads ISO 8601 itself. Ambiguous dates are not inferred: 02/03/2024 can be in February or March, and
# 02/03/24 has a year of two digits.
DATE_FORMATS = (
    "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y.%m.%d",
)  # fmt: skip
# `strptime` also accepts years of fewer digits.
WRITTEN_YEAR = r"(^|\D)\d{4}(\D|$)"
TRUE, FALSE = ("true", "1"), ("false", "0")
POINT, COMMA = ".", ","


class ColumnKind(enum.Enum):
    """The kind of a column in a file.

    A fit uses numbers, categories, booleans and dates. A date is a number of seconds since 1970. Text is long
    and mostly different in every row, and an id identifies the row. A fit skips both, and ignored columns.

    Examples
    --------
    >>> ColumnKind("id").is_used
    False
    """

    NUMBER = "number"
    CATEGORY = "category"
    BOOLEAN = "boolean"
    DATE = "date"
    TEXT = "text"
    ID = "id"
    IGNORE = "ignore"

    @property
    def is_used(self) -> bool:
        """Whether a fit uses columns of this kind."""
        return self in (ColumnKind.NUMBER, ColumnKind.CATEGORY, ColumnKind.BOOLEAN, ColumnKind.DATE)


Kinds = tuple[ColumnKind, ...]


@dataclass(frozen=True)
class Reading:
    """How to read a column.

    Parameters
    ----------
    kinds : tuple of ColumnKind
        The possible kinds. A column has the first kind that fits all of its values. If there is only one
        kind, a value of another kind is an error.
    form : str, default=""
        The format of amounts or dates. If it is empty, it is inferred.
    most_strays : float, default=0.0
        The largest share of values that become missing because they are not of the only kind.
    """

    kinds: Kinds
    form: str = ""
    most_strays: float = 0.0

    @property
    def is_specified(self) -> bool:
        """Whether there is only one kind."""
        return len(self.kinds) == 1


Column: TypeAlias = "pa.Array | pa.ChunkedArray"
# Numbers are arrays of numpy, all others arrays of Arrow.
Convert = Callable[[pa.Array], Any]


def converters(decimal: str | None, *, is_specified: bool, form: str = "") -> dict[ColumnKind, list[Convert]]:
    """Return the functions that convert text to each kind. They return None if a value is not of the kind.

    Parameters
    ----------
    decimal : {".", ",", None}
        None is a point without a thousands separator.
    is_specified : bool
        Whether the user specified the kind. Then numbers may have leading zeros, or more digits than a
        float64 can hold.
    form : str, default=""
        The format of numbers or dates. If it is empty, the first values decide the unit of amounts, and dates
        have one of the usual formats. Plain numbers have every unit but percent, whose meaning would change.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_number = converters(",", is_specified=False)[ColumnKind.NUMBER][0]
    >>> to_number(pa.array(["1,5", None])).tolist()
    [1.5, nan]
    >>> to_number(pa.array(["1,5", "many"])) is None
    True
    >>> to_number(pa.array(["1.234,5", "12"])).tolist()
    [1234.5, 12.0]
    """
    plain = AmountReader(decimal, is_specified)
    amounts = AmountReader(decimal, is_specified, form or None)
    return {
        ColumnKind.NUMBER: [amounts] if PERCENT in form else [plain, amounts],
        ColumnKind.BOOLEAN: [booleans],
        ColumnKind.DATE: [
            *([date_converter(form, has_year=False)] if form else []),
            cast_dates,
            partial(cast_dates, zone="UTC"),
            *([] if form else map(date_converter, DATE_FORMATS)),
        ],
        ColumnKind.CATEGORY: [categories],
    }


@dataclass(frozen=True)
class Strays:
    """Values that are not of the kind of their column, and become missing values.

    Parameters
    ----------
    n : int
    n_values : int
        The number of values in the column, without missing values.
    example : str
        The first of the strays.
    row : int
        Its row, from 1.
    have_digits : bool
        Whether some of them contain digits, such as an amount with another unit.
    """

    n: int = 0
    n_values: int = 0
    example: str = ""
    row: int = 0
    have_digits: bool = False

    def are_wrong(self, reading: Reading) -> bool:
        """Return whether there are too many strays, or amounts with another unit than that of the format."""
        is_amount = reading.kinds == (ColumnKind.NUMBER,) and bool(reading.form)
        return self.n > reading.most_strays * self.n_values or (is_amount and self.have_digits)

    def with_batch(self, text: pa.Array, is_stray: pa.Array, n_rows_before: int) -> Strays:
        """Add the strays of the next values."""
        found = replace(self, n_values=self.n_values + len(text) - cleaned(text).null_count)
        if not is_stray.true_count:
            return found
        have_digits = pc.match_substring_regex(text.filter(is_stray), r"\d").true_count > 0
        found = replace(found, n=self.n + is_stray.true_count, have_digits=self.have_digits or have_digits)
        if self.n:
            return found
        first = pc.index(is_stray, True).as_py()
        return replace(found, example=text[first].as_py(), row=n_rows_before + first + 1)

    def note(self, name: str, kind: ColumnKind) -> str:
        """Report the strays of a column.

        Examples
        --------
        >>> Strays(2, 50, "forty", 8).note("age", ColumnKind.NUMBER)
        "Column 'age': 2 of 50 values are not numbers, such as 'forty' in row 8. They are missing values."
        """
        return (
            f"Column {name!r}: {self.n} of {self.n_values} values are not {kind.value}s, such as "
            f"{self.example!r} in row {self.row}. They are missing values."
        )


def convert_most(text: pa.Array, convert: Convert) -> tuple[Any, pa.Array]:
    """Convert the values that can be converted. Return the values, and which of them became missing.

    Examples
    --------
    >>> values, is_stray = convert_most(pa.array(["1", "many", None, "3"]), lambda each: cast_numbers(each))
    >>> values, is_stray.to_pylist()
    (array([ 1., nan, nan,  3.]), [False, True, False, False])
    """
    found = convert(text)
    if found is not None:
        return found, pa.array(np.zeros(len(text), dtype=bool))
    encoded = cleaned(text).dictionary_encode()
    strays = stray_places(encoded.dictionary, convert)
    is_stray = pc.is_in(encoded.indices, pa.array(strays, encoded.indices.type), skip_nulls=True)
    return convert(pc.if_else(is_stray, pa.scalar(None, text.type), text)), is_stray


def stray_places(values: pa.Array, convert: Convert, begin: int = 0) -> list[int]:
    """Return the positions of the values that cannot be converted. Halves without one need one conversion."""
    if len(values) == 0 or convert(values) is not None:
        return []
    if len(values) == 1:
        return [begin]
    half = len(values) // 2
    left = stray_places(values[:half], convert, begin)
    return left + stray_places(values[half:], convert, begin + half)


def without_words(column: Column, words: tuple[str, ...]) -> Column:
    """Replace words for missing values by null. Words that are numbers are replaced in columns of numbers.

    Examples
    --------
    >>> without_words(pa.array(["a", " unknown"]), ("unknown", "-1")).to_pylist()
    ['a', None]
    >>> without_words(pa.array([5, -1]), ("unknown", "-1")).to_pylist()
    [5, None]
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return without_words(column.cast(kind.value_type), words)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        is_missing = pc.is_in(pc.utf8_trim_whitespace(column), pa.array(words, kind))
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind):
        found = cast_numbers(pa.array([word for word in words if re.fullmatch(number_form(POINT), word)]))
        is_missing = pc.is_in(pc.cast(column, pa.float64()), pa.array(found, pa.float64()))
    else:
        return column
    return pc.if_else(is_missing, pa.scalar(None, kind), column)


def cleaned(text: pa.Array, missing: tuple[str, ...] = MISSING_UNLESS_TEXT) -> pa.Array:
    """Strip spaces around text, and replace words for missing values by null."""
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(trimmed, pa.array(missing)), pa.scalar(None, trimmed.type), trimmed)


class AmountReader:
    """Convert text to numbers, perhaps with a unit.

    Parameters
    ----------
    decimal : {".", ",", None}
    is_specified : bool
    form : str or None, default=""
        The format of the unit. Empty for plain numbers. If None, the first values decide.
    """

    def __init__(self, decimal: str | None, is_specified: bool, form: str | None = "") -> None:
        self.form, self._decimal, self._is_specified = form, decimal, is_specified

    def __call__(self, text: pa.Array) -> np.ndarray | None:
        """Return numbers, or None if some value is not a number with the unit."""
        form = amount_format(cleaned(text)) if self.form is None else self.form
        if self.form is None and not form:
            return None
        found = numbers(text, self._decimal, is_specified=self._is_specified, form=form)
        if found is not None:
            self.form = form
        return found


def numbers(text: pa.Array, decimal: str | None, *, is_specified: bool, form: str = "") -> np.ndarray | None:
    """Convert text to float64 with NaN for missing. Return None if some value is not a number.

    Digits with leading zeros, such as postal codes, and more digits than a float64 can hold are numbers only
    if the user specified the kind.
    """
    found = None if decimal == "," or form else cast_numbers(text)
    if found is None:
        text = cleaned(text)
        text = without_unit(text, form) if form else text
        text = text if text is None else without_blanks(text, are_numbers=bool(form) or is_specified)
        text = text if decimal is None or text is None else with_points(text, decimal)
        found = None if text is None else cast_numbers(text)
    if found is None or is_specified:
        return found
    return None if has_leading_zeros(text) or loses_digits(text, found) else found


def with_points(text: pa.Array, decimal: str) -> pa.Array | None:
    """Replace the decimal sign by a point and remove thousands separators. Return None for other text."""
    separator = other_sign(decimal)
    is_grouped = pc.match_substring(text, separator)
    if is_grouped.true_count:
        if not are_numbers(text.filter(is_grouped), decimal):
            return None
        text = pc.replace_substring(text, separator, "")
    return text if decimal == POINT else pc.replace_substring(text, decimal, POINT)


def has_leading_zeros(text: pa.Array) -> bool:
    """Return whether some value has a 0 before other digits."""
    starts = pc.starts_with(text, "0")
    if not starts.true_count:
        return False
    return bool(pc.match_substring_regex(text.filter(starts), r"^0\d").true_count)


def loses_digits(text: pa.Array, found: np.ndarray) -> bool:
    """Return whether some whole number is not exact as float64."""
    is_large = np.abs(found) > LARGEST_EXACT
    if not is_large.any():
        return False
    large = text.filter(pa.array(is_large))
    is_whole = pc.match_substring_regex(large, r"^[+-]?\d+$")
    return any(
        len(each) > MOST_DIGITS or float(each) != int(each) for each in large.filter(is_whole).to_pylist()
    )


def cast_numbers(text: pa.Array) -> np.ndarray | None:
    """Convert text to numbers by Arrow, or return None."""
    try:
        return pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None


def booleans(text: pa.Array) -> pa.Array | None:
    """Convert text to booleans: true and false in upper or lower case, or 1 and 0."""
    lowered = pc.utf8_lower(cleaned(text))
    if not pc.all(pc.is_in(lowered.drop_null(), pa.array([*TRUE, *FALSE])), min_count=0).as_py():
        return None
    is_true = pc.is_in(lowered, pa.array(TRUE))
    return pc.if_else(pc.is_null(lowered), pa.scalar(None, pa.bool_()), is_true)


def cast_dates(text: pa.Array, zone: str | None = None) -> pa.Array | None:
    """Convert text to dates by Arrow, or return None."""
    try:
        return pc.cast(pc.cast(cleaned(text), pa.timestamp("us", zone)), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None


def date_converter(form: str, *, has_year: bool = True) -> Convert:
    """Return a function that converts text to dates in one format, by default with a year of four digits."""

    def convert(text: pa.Array) -> pa.Array | None:
        text = cleaned(text)
        if has_year and not pc.all(pc.match_substring_regex(text, WRITTEN_YEAR), min_count=0).as_py():
            return None
        try:
            return pc.strptime(text, format=form, unit="us")
        except pa.ArrowInvalid:
            return None

    return convert


def categories(text: pa.Array) -> pa.Array:
    """Encode text as codes and distinct values if that takes less memory.

    Words for missing values are in quotes here, so they are text.
    """
    text = cleaned(text, BLANK)
    encoded = text.dictionary_encode()
    return encoded if 2 * len(encoded.dictionary) <= len(text) else text


def narrowed(values: np.ndarray) -> np.ndarray:
    """Return numbers in the smallest integer dtype that holds all of them, or unchanged.

    Examples
    --------
    >>> narrowed(np.array([1.0, 300.0])).dtype, narrowed(np.array([1.0, np.nan])).dtype
    (dtype('int16'), dtype('float64'))
    """
    if len(values) == 0 or not np.isfinite(values).all() or np.abs(values).max() > LARGEST_EXACT:
        return values
    least, most = float(values.min()), float(values.max())
    for dtype in (np.int8, np.int16, np.int32, np.int64):
        bounds = np.iinfo(dtype)
        if bounds.min <= least and most <= bounds.max:
            whole = values.astype(dtype)
            return whole if np.array_equal(whole, values) else values
    return values


@dataclass(frozen=True)
class DecimalSign:
    """The decimal sign of a file.

    Parameters
    ----------
    sign : {".", ",", None}
        The other sign may separate thousands. None is a point without a thousands separator, which is valid
        until a value has a comma.
    is_proved : bool, default=False
        Whether some value can only be read with this sign, or the user specified it.
    doubtful : mapping of str to str
        The columns that can be read with either sign, each with one of its values.
    """

    sign: str | None
    is_proved: bool = False
    doubtful: Mapping[str, str] = field(default_factory=dict)


def find_sign(
    columns: Mapping[str, pa.Array], specified: Container[str], delimiter: str, known: str | None
) -> DecimalSign:
    """Find the decimal sign of a file.

    A value such as `0,125` or `1.234,5` proves the sign of its column. The sign that most columns prove is
    the sign of the file. `1,125` proves nothing: it has the sign of the fit, or a decimal comma.

    Parameters
    ----------
    columns : mapping of str to pyarrow.Array
        The text of columns that may hold numbers.
    specified : container of str
        The columns that must hold numbers, so that their values are not names.
    delimiter : str
    known : {".", ",", None}
        The sign in the training table of the model that reads the file.

    Examples
    --------
    >>> find_sign({"w": pa.array(["1,125"]), "v": pa.array(["37,5"])}, (), ";", None)
    DecimalSign(sign=',', is_proved=True, doubtful={})
    >>> find_sign({"w": pa.array(["1,125"]), "v": pa.array(["37.5"])}, (), ";", None)
    DecimalSign(sign='.', is_proved=True, doubtful={'w': '1,125'})
    """
    found = {name: find_signs(text, is_specified=name in specified) for name, text in columns.items()}
    proofs = Counter(each.possible for each in found.values() if len(each.possible) == 1)
    unclear = {name: each for name, each in found.items() if each.written and each.possible == POINT + COMMA}
    # In a file with commas between values, a point does not separate thousands.
    is_point = delimiter == COMMA and any(POINT in each.written for each in unclear.values())
    expected = POINT if known and is_point else known
    sign: str | None
    if proofs:
        sign = max((POINT, COMMA), key=lambda each: (proofs[each], each == expected, each == COMMA))
    elif expected and unclear:
        sign = expected
    else:
        sign = COMMA if any(COMMA in each.written for each in unclear.values()) else None
    is_sure = bool(proofs or expected)
    doubtful = {name: each.example for name, each in unclear.items() if not is_sure or each.written != sign}
    return DecimalSign(sign, bool(proofs), {} if sign in (None, known) else doubtful)


class Signs(NamedTuple):
    """The signs with which all values of a column are numbers, the signs in its values, and such a value."""

    possible: str
    written: str
    example: str


def find_signs(text: pa.Array, *, is_specified: bool = False) -> Signs:
    """Find the decimal signs that the values of a column may have.

    Examples
    --------
    >>> [find_signs(pa.array(each)).possible for each in (["1,5"], ["0.125"], ["1.234.567", "12.000"])]
    [',', '.', ',']
    >>> [find_signs(pa.array(each)).possible for each in (["1,125", "7"], ["212.555.123", "212.555.987"])]
    ['.,', '']
    """
    filled = bare_numbers(cleaned(text).drop_null(), are_numbers=is_specified)
    if is_specified:
        # The other values are strays.
        filled = filled.filter(
            pc.match_substring_regex(filled, rf"{number_form(POINT)}|{number_form(COMMA)}")
        )
    signed = filled.filter(pc.match_substring_regex(filled, "[.,]"))
    written = [sign for sign in (POINT, COMMA) if pc.match_substring(signed, sign).true_count]
    possible = [
        sign
        for sign in (POINT, COMMA)
        if are_numbers(filled, sign) and (is_specified or not are_names(signed, sign, len(filled)))
    ]
    return Signs("".join(possible), "".join(written), signed[0].as_py() if len(signed) else "")


def are_numbers(values: pa.Array, sign: str) -> bool:
    """Return whether all values are numbers with this decimal sign."""
    return bool(pc.all(pc.match_substring_regex(values, number_form(sign)), min_count=0).as_py())


def number_form(sign: str) -> str:
    """Return the regular expression of numbers with a decimal sign. Grouped thousands never begin with 0."""
    separator = re.escape(other_sign(sign))
    return rf"^[+-]?(\d+|[1-9]\d{{0,2}}({separator}\d{{3}})+)?({re.escape(sign)}\d*)?([eE][+-]?\d+)?$"


def are_names(signed: pa.Array, sign: str, n_values: int) -> bool:
    """Return whether values may be names with signs in them, such as telephone numbers.

    All of them have the same number of thousands separators, at least two, and no decimal sign.
    """
    if len(signed) == 0 or len(signed) < n_values or pc.match_substring(signed, sign).true_count:
        return False
    bounds = pc.min_max(pc.count_substring(signed, other_sign(sign))).as_py()
    return bool(bounds["min"] == bounds["max"] > 1)


def other_sign(sign: str) -> str:
    """Return the sign that may separate thousands."""
    return COMMA if sign == POINT else POINT
