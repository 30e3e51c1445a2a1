"""What the values of a column mean, and how text becomes such values.

In: Arrow arrays of text, as CSV and ARFF have them. Out: arrays of numbers, booleans, dates or text, or None
if some value is none of the kind.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Whole numbers up to this are all different as float64.
LARGEST_EXACT = 2.0**53
# With more digits, no whole number is finite as float64.
MOST_DIGITS = 310
# Text that stands for a missing value in columns of any kind. In quotes, it is text in columns of text.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null",
    "<NA>", "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
# Beside those, in columns of numbers, booleans and dates. Among words, they may be words.
HOLES = (
    *MISSING, "None", "none", "NONE", "NaT", "n.a.", "N.A.", "-", "--", ".", "#DIV/0!", "#VALUE!", "#REF!",
    "#NUM!", "0000-00-00", "0000-00-00 00:00:00",
)  # fmt: skip
# In columns of text, where other words stand in quotes.
BLANK = ("",)
# Beside those of ISO 8601, which Arrow reads by itself. Days and months that could be taken for each other,
# as in 02/03/2024, are not guessed, nor is what two digits such as 02/03/24 mean.
DATE_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%Y.%m.%d",
)
# `strptime` takes fewer digits for a year as well.
WRITTEN_YEAR = r"(^|\D)\d{4}(\D|$)"
TRUE, FALSE = ("true", "1"), ("false", "0")


class ColumnKind(enum.Enum):
    """What a column of a file is.

    A number, a category, a boolean and a date take part in a fit: a date as the seconds since 1970. Text is
    long and mostly different in every row; an id names the row. They are left out, as what is ignored.

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
        """Whether columns of this kind take part in a fit."""
        return self in (ColumnKind.NUMBER, ColumnKind.CATEGORY, ColumnKind.BOOLEAN, ColumnKind.DATE)


Convert = Callable[[Any], Any]


def converters(decimal: str | None, *, is_told: bool) -> dict[ColumnKind, list[Convert]]:
    """The ways from text to values of each kind; a way returns None for what is not of its kind.

    Parameters
    ----------
    decimal : {".", ",", None}
        None is a point, and nothing between thousands.
    is_told : bool
        Whether somebody has said what the column is: numbers may have zeros in front then, or more digits
        than a number can hold.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_number = converters(",", is_told=False)[ColumnKind.NUMBER][0]
    >>> to_number(pa.array(["1,5", None])).tolist()
    [1.5, nan]
    >>> to_number(pa.array(["1,5", "many"])) is None
    True
    >>> to_number(pa.array(["1.234,5", "12"])).tolist()
    [1234.5, 12.0]
    """
    return {
        ColumnKind.NUMBER: [lambda text: numbers(text, decimal, is_told=is_told)],
        ColumnKind.BOOLEAN: [booleans],
        ColumnKind.DATE: [iso_dates, zoned_dates, *(dates_written(each) for each in DATE_FORMATS)],
        ColumnKind.CATEGORY: [categories],
    }


def cleaned(text: Any, missing: tuple[str, ...] = HOLES) -> Any:
    """Text without spaces around it, null where it is a word for a missing value."""
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(trimmed, pa.array(missing)), pa.scalar(None, trimmed.type), trimmed)


def numbers(text: Any, decimal: str | None, *, is_told: bool) -> Any:
    """Text as float64 in numpy, NaN for missing; None for what is none, or would not stay what it is.

    Unless somebody has told that it is numbers, that is digits with zeros in front, as postal codes have
    them, and with more of them than a number can hold.
    """
    found = None if decimal == "," else cast_numbers(text)
    if found is None:
        text = cleaned(text)
        text = text if decimal is None else with_points(text, decimal)
        found = None if text is None else cast_numbers(text)
    if found is None or is_told:
        return found
    return None if has_zeros_in_front(text) or loses_digits(text, found) else found


def with_points(text: Any, decimal: str) -> Any:
    """Numbers with a decimal point and nothing between thousands; None where one has other signs in it."""
    between = "," if decimal == "." else "."
    is_parted = pc.match_substring(text, between)
    if is_parted.true_count:
        form = rf"^[+-]?[1-9]\d{{0,2}}({re.escape(between)}\d{{3}})+({re.escape(decimal)}\d*)?$"
        if not pc.all(pc.match_substring_regex(text.filter(is_parted), form), min_count=0).as_py():
            return None
        text = pc.replace_substring(text, between, "")
    return text if decimal == "." else pc.replace_substring(text, decimal, ".")


def has_zeros_in_front(text: Any) -> bool:
    """Whether digits begin with 0 somewhere."""
    starts = pc.starts_with(text, "0")
    if not starts.true_count:
        return False
    return bool(pc.match_substring_regex(text.filter(starts), r"^0\d").true_count)


def loses_digits(text: Any, found: np.ndarray) -> bool:
    """Whether some whole number has other digits as float64."""
    is_large = np.abs(found) > LARGEST_EXACT
    if not is_large.any():
        return False
    large = text.filter(pa.array(is_large))
    is_whole = pc.match_substring_regex(large, r"^[+-]?\d+$")
    return any(
        len(each) > MOST_DIGITS or float(each) != int(each) for each in large.filter(is_whole).to_pylist()
    )


def cast_numbers(text: Any) -> Any:
    """Text as Arrow reads numbers, or None."""
    try:
        return pc.cast(text, pa.float64()).to_numpy(zero_copy_only=False)
    except pa.ArrowInvalid:
        return None


def booleans(text: Any) -> Any:
    """Text as booleans: true and false in any case, or 1 and 0."""
    lowered = pc.utf8_lower(cleaned(text))
    if not pc.all(pc.is_in(lowered.drop_null(), pa.array([*TRUE, *FALSE])), min_count=0).as_py():
        return None
    is_true = pc.is_in(lowered, pa.array(TRUE))
    return pc.if_else(pc.is_null(lowered), pa.scalar(None, pa.bool_()), is_true)


def iso_dates(text: Any) -> Any:
    """Text as dates of ISO 8601."""
    return cast_dates(text, None)


def zoned_dates(text: Any) -> Any:
    """Text as dates of ISO 8601 with a time zone, in UTC."""
    return cast_dates(text, "UTC")


def cast_dates(text: Any, zone: str | None) -> Any:
    """Text as Arrow reads dates."""
    try:
        return pc.cast(pc.cast(cleaned(text), pa.timestamp("us", zone)), pa.timestamp("us"))
    except pa.ArrowInvalid:
        return None


def dates_written(form: str) -> Convert:
    """The way from text to dates that are written in one form."""

    def convert(text: Any) -> Any:
        text = cleaned(text)
        if not pc.all(pc.match_substring_regex(text, WRITTEN_YEAR), min_count=0).as_py():
            return None
        try:
            return pc.strptime(text, format=form, unit="us")
        except pa.ArrowInvalid:
            return None

    return convert


def categories(text: Any) -> Any:
    """Text as codes and distinct values, or as it is if most values are distinct, which takes less memory.

    Words for missing values stand in quotes here, so they are text.
    """
    text = cleaned(text, BLANK)
    encoded = text.dictionary_encode()
    return encoded if 2 * len(encoded.dictionary) <= len(text) else text
