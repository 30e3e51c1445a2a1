"""Formats of values: the unit around the number of an amount, and the order of a date.

A format of numbers is the unit with # for the number, such as `$#` or `#%`. A format of dates is that of
`strptime`, such as `%m/%d/%Y`. In: Arrow arrays of text. Out: formats, and text without units.
"""

from __future__ import annotations

import contextlib
import re
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from committee.files.table_error import BadTable

NUMBER_SIGN = "#"
# The units of amounts that are inferred, before or after the number. The user can specify others.
UNITS = (
    "$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₪", "₫", "฿", "₴", "₦", "R$", "US$", "A$", "C$", "kr", "zł",
    "Kč", "Ft", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "INR", "JPY", "MXN", "NOK",
    "PLN", "SEK", "USD", "%",
)  # fmt: skip
PERCENT = "%"
UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
# Blanks around units, also those that no line is broken at.
GAP = r"[\s\x{a0}\x{202f}]*"
# Digits with signs for decimals and thousands.
DIGITS = r"[\d.,]*\d[\d.,]*(?:[ '\x{2019}\x{a0}\x{202f}]\d{3}(?:[.,]\d+)?)*"
# Python writes characters by their numbers in another way than Arrow.
DIGITS_OF_PYTHON = re.sub(r"\\x\{(\w+)\}", lambda found: chr(int(found[1], 16)), DIGITS)
AMOUNT = re.compile(rf"[+-]?\s*(?P<before>{UNIT})?\s*[+-]?{DIGITS_OF_PYTHON}\s*(?P<after>{UNIT})?")
# Amounts with any of the units.
AMOUNTS = rf"^[+-]?{GAP}(({UNIT}){GAP}[+-]?{DIGITS}|{DIGITS}{GAP}({UNIT}))$"
# Thousands separated by blanks or apostrophes, as in Sweden and Switzerland.
BLANK = r"[ '\x{2019}\x{a0}\x{202f}]"
SPACED = r"^[+-]?[1-9]\d{0,2}([ '\x{2019}\x{a0}\x{202f}]\d{3})+([.,]\d+)?$"
DATE_PARTS = r"^(\d{1,2})([/.-])(\d{1,2})[/.-](\d{4}|\d{2})$"
# The directives of dates. Arrow can crash on a format that is empty or ends within a directive.
DATE_FORMAT = re.compile(r"(?:[^%\0]|%[YymdbBhHMSIpjaADTFRe%])+")
EXAMPLE = datetime(2001, 12, 31, 23, 59, 58)


def amount_format(text: pa.Array) -> str:
    """Return the format of amounts that all have the same unit on the same side, or an empty text.

    Examples
    --------
    >>> [amount_format(pa.array(each)) for each in (["$5", "-$1,234.50"], ["12 %"], ["$5", "€5"], ["5"])]
    ['$#', '#%', '', '']
    """
    filled = text.drop_null()
    found = AMOUNT.fullmatch(filled[0].as_py().strip()) if len(filled) else None
    if found is None or bool(found["before"]) == bool(found["after"]):
        return ""
    form = f"{found['before'] or ''}{NUMBER_SIGN}{found['after'] or ''}"
    return "" if without_unit(filled, form) is None else form


def without_unit(text: pa.Array, form: str) -> pa.Array | None:
    """Return numbers without the unit of a format. Return None if some value has another unit.

    Examples
    --------
    >>> without_unit(pa.array(["$5", "- $1,234.50", None]), "$#").to_pylist()
    ['5', '-1,234.50', None]
    >>> without_unit(pa.array(["5"]), "$#") is None
    True
    """
    before, after = (re.escape(part.strip()) for part in form.split(NUMBER_SIGN))
    pattern = rf"^([+-]?){GAP}{before}{GAP}([+-]?{DIGITS}){GAP}{after}$"
    if not pc.all(pc.match_substring_regex(text, pattern), min_count=0).as_py():
        return None
    return pc.replace_substring_regex(text, pattern, r"\1\2")


def without_blanks(text: pa.Array, *, are_numbers: bool = False) -> pa.Array:
    """Remove blanks and apostrophes that separate thousands.

    Values that all have the same number of blanks, and no decimal sign, may be names, such as postal codes.

    Parameters
    ----------
    text : pyarrow.Array
    are_numbers : bool, default=False
        Whether the values are known to be numbers.

    Examples
    --------
    >>> [without_blanks(pa.array(each)).to_pylist() for each in (["1 234", "12"], ["110 001", "110 002"])]
    [['1234', '12'], ['110 001', '110 002']]
    """
    is_spaced = pc.match_substring_regex(text, SPACED)
    if not is_spaced.true_count:
        return text
    counts = pc.min_max(pc.count_substring_regex(text, BLANK)).as_py()
    may_be_names = counts["min"] == counts["max"] and not pc.match_substring_regex(text, "[.,]").true_count
    if may_be_names and not are_numbers:
        return text
    return pc.if_else(is_spaced, pc.replace_substring_regex(text, BLANK, ""), text)


def bare_numbers(text: pa.Array, *, are_numbers: bool = False) -> pa.Array:
    """Return numbers without units and blanks, and other text unchanged."""
    form = amount_format(text)
    bare = without_unit(text, form) if form else None
    if bare is None:
        return without_blanks(text, are_numbers=are_numbers)
    return without_blanks(bare, are_numbers=True)


def date_orders(text: pa.Array) -> list[str]:
    """Return the formats that dates of two or three numbers can have, if their order is not clear.

    Examples
    --------
    >>> date_orders(pa.array(["01/31/2020", "02/03/2020"])), date_orders(pa.array(["02.03.24"]))
    (['%m/%d/%Y'], ['%m.%d.%y', '%d.%m.%y'])
    >>> date_orders(pa.array(["2020-01-31"])), date_orders(pa.array(["13/13/2020"]))
    ([], [])
    """
    filled = text.drop_null()
    first = re.match(DATE_PARTS, filled[0].as_py()) if len(filled) else None
    if first is None:
        return []
    year = "%Y" if len(first[4]) == 4 else "%y"
    orders = (first[2].join(parts) for parts in (("%m", "%d", year), ("%d", "%m", year)))
    return [form for form in orders if are_dates(filled, form)]


def are_dates(text: pa.Array, form: str) -> bool:
    """Return whether all values are dates of a format."""
    try:
        pc.strptime(text, format=form, unit="s")
    except pa.ArrowInvalid:
        return False
    return True


def check_format(name: str, kind: str, form: str) -> None:
    """Raise for a format that the kind of a column does not have.

    Examples
    --------
    >>> check_format("day", "date", "%m/%d")
    Traceback (most recent call last):
    committee.files.table_error.BadTable: Column 'day' has the date format '%m/%d', which does not specify
    a day of a year. An example is %m/%d/%Y.
    >>> check_format("weight", "number", "# kg")
    """
    if kind == "number":
        if form.count(NUMBER_SIGN) != 1:
            raise BadTable(
                f"Column {name!r} has the number format {form!r}. It must contain one # for the number, such "
                "as $#."
            )
    elif kind == "date":
        read = None
        if DATE_FORMAT.fullmatch(form):
            with contextlib.suppress(pa.ArrowInvalid):
                read = pc.strptime(pa.array([EXAMPLE.strftime(form)]), format=form, unit="s")[0].as_py()
        if read is None or read.date() != EXAMPLE.date():
            raise BadTable(
                f"Column {name!r} has the date format {form!r}, which does not specify a day of a year. An "
                "example is %m/%d/%Y."
            )
    else:
        raise BadTable(
            f"Column {name!r} cannot have a format: only numbers and dates have one. Omit {form!r}."
        )
