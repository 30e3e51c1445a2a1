"""What the values of a column mean, and how text becomes such values.

In: Arrow arrays of text, as CSV and ARFF have them. Out: arrays of numbers, booleans, dates or text, or None
if some value is none of the kind.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

# Text that stands for a missing value in columns of any kind. In quotes, it is text in columns of text.
MISSING = (
    "", "?", "NA", "N/A", "n/a", "#N/A", "#NA", "NaN", "nan", "-nan", "-NaN", "NULL", "null", "<NA>",
    "1.#QNAN", "-1.#QNAN", "1.#IND", "-1.#IND",
)  # fmt: skip
# Beside those of ISO 8601, which Arrow reads by itself. Days and months that could be taken for each other,
# as in 02/03/2024, are not guessed.
DATE_FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%Y.%m.%d",
)
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


def converters(decimal: str, *, is_told: bool) -> dict[ColumnKind, list[Convert]]:
    """The ways from text to values of each kind; a way returns None for what is not of its kind.

    Parameters
    ----------
    decimal : {".", ","}
    is_told : bool
        Whether somebody has said what the column is: numbers may have zeros in front then.

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
        ColumnKind.NUMBER: [lambda text: numbers(text, decimal, with_zeros=is_told)],
        ColumnKind.BOOLEAN: [booleans],
        ColumnKind.DATE: [iso_dates, zoned_dates, *(dates_written(each) for each in DATE_FORMATS)],
        ColumnKind.CATEGORY: [categories],
    }


def cleaned(text: Any, missing: tuple[str, ...] = MISSING) -> Any:
    """Text without spaces around it, null where it is a word for a missing value."""
    trimmed = pc.utf8_trim_whitespace(text)
    return pc.if_else(pc.is_in(trimmed, pa.array(missing)), pa.scalar(None, trimmed.type), trimmed)


def numbers(text: Any, decimal: str, *, with_zeros: bool) -> Any:
    """Text as float64 in numpy, NaN for missing; with zeros in front, as postal codes have them, or not."""
    found = cast_numbers(text) if decimal == "." else None
    if found is None:
        text = with_points(cleaned(text), decimal)
        found = None if text is None else cast_numbers(text)
    if found is None or with_zeros:
        return found
    starts = pc.starts_with(text, "0")
    if not starts.true_count:
        return found
    has_zeros = pc.match_substring_regex(text.filter(starts), r"^0\d")
    return None if has_zeros.true_count else found


def with_points(text: Any, decimal: str) -> Any:
    """Numbers with a decimal point and nothing between thousands; None where one has other signs in it."""
    between = "," if decimal == "." else "."
    is_parted = pc.match_substring(text, between)
    if is_parted.true_count:
        form = rf"^[+-]?\d{{1,3}}({re.escape(between)}\d{{3}})+({re.escape(decimal)}\d*)?$"
        if not pc.all(pc.match_substring_regex(text.filter(is_parted), form), min_count=0).as_py():
            return None
        text = pc.replace_substring(text, between, "")
    return text if decimal == "." else pc.replace_substring(text, decimal, ".")


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
        try:
            return pc.strptime(cleaned(text), format=form, unit="us")
        except pa.ArrowInvalid:
            return None

    return convert


def categories(text: Any) -> Any:
    """Text as codes and distinct values, or as it is if most values are distinct, which takes less memory.

    Words for missing values stand in quotes here, so they are text.
    """
    text = cleaned(text, ("",))
    encoded = text.dictionary_encode()
    return encoded if 2 * len(encoded.dictionary) <= len(text) else text
