"""Infer the kind of a column from its values and its name. The user can overrule it.

In: an Arrow column and its name. Out: a `Guess`. Numbers, booleans and dates keep their kind, except numbers
that count or identify the rows. Text is a category, unless most values differ. Then it is an id or prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from committee.files.column_kinds import Column, ColumnKind
from committee.files.table_error import BadTable
from committee.files.value_formats import AMOUNTS, date_orders

# The number of distinct values that are checked for prose, and for numbers and dates.
MOST_VALUES = 100_000
# In a table with fewer rows, all values of a column can differ by chance.
FEWEST_ROWS = 20
# With more distinct values than this share of the rows, text is not a category.
MOST_CATEGORIES = 0.5
# An id has at least this share of distinct values.
FEWEST_IDS = 0.95
# The mean number of words in a value from which on text is prose.
WORDS_OF_PROSE = 3.0
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|index|rownum|row)$|^unnamed: 0$)|[a-z]I[Dd]$")
ROW_NUMBER_STARTS = (0, 1)
# The forms of numbers and dates. Digits with a leading zero are not a number.
FORMS = {
    "numbers": r"^[+-]?(0|[1-9]\d*([.,]\d{3})*)?([.,]\d+)?([eE][+-]?\d+)?$",
    "dates": r"^\d{4}-\d{2}-\d{2}([T ].*)?$",
    "amounts": AMOUNTS,
}
# If more than this share of the rows are not numbers, the column is text on purpose.
MOST_STRAYS = 0.05


@dataclass(frozen=True)
class Guess:
    """The inferred kind of a column.

    Parameters
    ----------
    name : str
    kind : ColumnKind
    why : str
        A short reason why the column is skipped, or empty.
    n_distinct : int or None
        The number of distinct values of text.
    stray : str
        The value that makes the column text instead of numbers or dates, with its row. Otherwise empty.
    orders : tuple of str
        The formats that text can have, if it looks like dates whose order is not clear.
    form : str
        The format of amounts and dates. Otherwise empty.

    Examples
    --------
    >>> guess("patient_id", pa.array(range(100, 150))).why
    'a different number in every row'
    """

    name: str
    kind: ColumnKind
    why: str = ""
    n_distinct: int | None = None
    stray: str = ""
    orders: tuple[str, ...] = ()
    form: str = ""


def guess(name: str, column: Column) -> Guess:
    """Infer the kind of a column.

    Parameters
    ----------
    name : str
    column : pyarrow.Array or pyarrow.ChunkedArray

    Returns
    -------
    Guess
    """
    kind = kind_of_type(name, column.type)
    n_values = len(column) - column.null_count
    if n_values == 0:
        return Guess(name, ColumnKind.IGNORE, "no value in any row")
    if kind is ColumnKind.CATEGORY:
        return guess_text(name, column, n_values)
    if pa.types.is_integer(column.type) and n_values == len(column) >= FEWEST_ROWS:
        return guess_integers(name, column)
    if pa.types.is_floating(column.type) and pc.all(pc.is_nan(column)).as_py():
        return Guess(name, ColumnKind.IGNORE, "no value in any row")
    return Guess(name, kind)


def kind_of_type(name: str, dtype: pa.DataType) -> ColumnKind:
    """Return the kind of an Arrow type."""
    types = pa.types
    if types.is_boolean(dtype):
        return ColumnKind.BOOLEAN
    if types.is_temporal(dtype) and not types.is_interval(dtype):
        return ColumnKind.DATE
    if types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype) or types.is_null(dtype):
        return ColumnKind.NUMBER
    if types.is_dictionary(dtype):
        kind_of_type(name, dtype.value_type)
        return ColumnKind.CATEGORY
    if types.is_string(dtype) or types.is_large_string(dtype) or types.is_string_view(dtype):
        return ColumnKind.CATEGORY
    raise BadTable(
        f"Column {name!r} contains a {dtype} in each row. Split it into columns, convert it to text, or "
        "ignore it."
    )


def guess_text(name: str, column: Column, n_values: int) -> Guess:
    """Infer whether text is a category, prose or an id."""
    values, counts = column.drop_null().value_counts().flatten()
    n_distinct = len(values)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    stray = stray_in(column, values, counts)
    orders = tuple(date_orders(values)) if is_text(values.type) else ()
    if n_values < FEWEST_ROWS or n_distinct <= MOST_CATEGORIES * n_values:
        return Guess(name, ColumnKind.CATEGORY, "", n_distinct, stray, orders)
    if is_prose(values[:MOST_VALUES]):
        return Guess(name, ColumnKind.TEXT, "prose, different in most rows", n_distinct)
    if n_distinct >= FEWEST_IDS * n_values:
        why = "a different text in every row"
        return Guess(name, ColumnKind.ID, stray or why, n_distinct, stray, orders)
    return Guess(name, ColumnKind.CATEGORY, "", n_distinct, stray, orders)


def stray_in(column: Column, values: pa.Array, counts: pa.Array) -> str:
    """Describe the first value that is not a number, or not a date, if nearly all other values are.

    Return an empty text if there is no such value.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
    values : pyarrow.Array
        The distinct values, in the order of their first rows.
    counts : pyarrow.Array
        The number of rows of each.

    Examples
    --------
    >>> texts = pa.array([*map(str, range(30)), "many"])
    >>> stray_in(texts, *texts.value_counts().flatten())
    "row 31 has 'many', but nearly all other values are numbers"
    """
    if not is_text(values.type):
        return ""
    for what, form in FORMS.items():
        if not are_nearly_all(form, values[:MOST_VALUES], counts[:MOST_VALUES]):
            continue
        strays = values.filter(pc.invert(pc.match_substring_regex(values, form)))
        # Strays of digits only, with leading zeros, show that the column contains codes.
        if len(strays) and not pc.match_substring_regex(strays, r"^\d+$").true_count:
            texts = column.cast(values.type) if pa.types.is_dictionary(column.type) else column
            row = pc.index(texts, strays[0]).as_py() + 1
            return f"row {row} has {strays[0].as_py()!r}, but nearly all other values are {what}"
    return ""


def are_nearly_all(form: str, values: pa.Array, counts: pa.Array) -> bool:
    """Return whether the values of nearly all rows match a form."""
    n_written = pc.sum(counts.filter(pc.match_substring_regex(values, form))).as_py() or 0
    return bool(n_written >= (1 - MOST_STRAYS) * pc.sum(counts).as_py())


def is_text(dtype: pa.DataType) -> bool:
    """Return whether an Arrow type is a type of text."""
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype))


def is_prose(values: pa.Array) -> bool:
    """Return whether values have many words. Values of a dictionary can also be numbers or dates.

    Examples
    --------
    >>> is_prose(pa.array(["it rained all day"])), is_prose(pa.array(["rain"])), is_prose(pa.array([7]))
    (True, False, False)
    """
    if not is_text(values.type):
        return False
    n_words = pc.add(pc.count_substring_regex(values, r"\s+"), 1)
    return bool(pc.mean(n_words).as_py() >= WORDS_OF_PROSE)


def guess_integers(name: str, column: Column) -> Guess:
    """Infer whether integers are an id: 1, 2, 3, ..., or all different in a column with the name of an id."""
    first, n_rows = column[0].as_py(), len(column)
    is_counting = (
        first in ROW_NUMBER_STARTS
        and column[-1].as_py() == first + n_rows - 1
        and pc.all(pc.equal(pc.pairwise_diff(flat(column)), 1)).as_py()
    )
    if is_counting:
        return Guess(name, ColumnKind.ID, "it counts the rows")
    if ID_NAME.search(name) and len(pc.unique(column)) == n_rows:
        return Guess(name, ColumnKind.ID, "a different number in every row")
    return Guess(name, ColumnKind.NUMBER)


def flat(column: Column) -> pa.Array:
    """Return a column without chunks."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
