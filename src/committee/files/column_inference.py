"""What a column of a table is, by its values: a guess that is reported, and that the user may overrule.

In: an Arrow column and its name. Out: a `Guess`. Numbers, booleans and dates are what they are, unless they
number the rows. Text is a category, unless its values are mostly different: then it names the rows (an id),
or it is prose.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from committee.files.column_kinds import Column, ColumnKind
from committee.files.table_error import BadTable

# Different values that are looked at to find out whether text is prose.
MOST_VALUES = 100_000
# With fewer rows, values that are all different mean nothing.
FEWEST_ROWS = 20
# Of the rows: with more different values, text is not a category.
MOST_CATEGORIES = 0.5
FEWEST_IDS = 0.95
# Words in a value, on average: with as many, it is prose.
WORDS_OF_PROSE = 3.0
ID_NAME = re.compile(r"(?i:(^|[\W_])(id|uuid|guid|key|index|rownum|row)$|^unnamed: 0$)|[a-z]I[Dd]$")
ROW_NUMBER_STARTS = (0, 1)
# How numbers and dates are written. Digits behind a zero are the name of something.
FORMS = {
    "numbers": r"^[+-]?(0|[1-9]\d*([.,]\d{3})*)?([.,]\d+)?([eE][+-]?\d+)?$",
    "dates": r"^\d{4}-\d{2}-\d{2}([T ].*)?$",
}
# Of the rows: with more that are not numbers, a column was never meant to be one of numbers.
MOST_STRAYS = 0.05


@dataclass(frozen=True)
class Guess:
    """What a column is taken for.

    Parameters
    ----------
    name : str
    kind : ColumnKind
    why : str
        Empty, or why it is left out, in a few words.
    n_distinct : int or None
        The number of different values of text.
    stray : str
        Empty, or which value makes text of what would be numbers or dates.

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


def guess(name: str, column: Column) -> Guess:
    """Guess what a column is.

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
    """Return what a type of Arrow means."""
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
        f"Column {name!r} holds a {dtype} in each row. Spread it over columns, make text of it, or ignore it."
    )


def guess_text(name: str, column: Column, n_values: int) -> Guess:
    """Guess whether text is a category, prose, or names the rows."""
    values, counts = column.drop_null().value_counts().flatten()
    n_distinct = len(values)
    values = values.cast(values.type.value_type) if pa.types.is_dictionary(values.type) else values
    stray = stray_in(column, values, counts)
    if n_values < FEWEST_ROWS or n_distinct <= MOST_CATEGORIES * n_values:
        return Guess(name, ColumnKind.CATEGORY, "", n_distinct, stray)
    if is_prose(values[:MOST_VALUES]):
        return Guess(name, ColumnKind.TEXT, "prose, different in most rows", n_distinct)
    if n_distinct >= FEWEST_IDS * n_values:
        return Guess(name, ColumnKind.ID, stray or "a different text in every row", n_distinct, stray)
    return Guess(name, ColumnKind.CATEGORY, "", n_distinct, stray)


def stray_in(column: Column, values: pa.Array, counts: pa.Array) -> str:
    """Return the first value that is not a number, or a date, if nearly all others are; else nothing.

    Parameters
    ----------
    column : pyarrow.Array or pyarrow.ChunkedArray
    values : pyarrow.Array
        The different ones, as they come.
    counts : pyarrow.Array
        The rows of each.

    Examples
    --------
    >>> texts = pa.array([*map(str, range(30)), "many"])
    >>> stray_in(texts, *texts.value_counts().flatten())
    "row 31 has 'many', and nearly all other values are numbers"
    """
    if not is_text(values.type):
        return ""
    for what, form in FORMS.items():
        if not are_nearly_all(form, values[:MOST_VALUES], counts[:MOST_VALUES]):
            continue
        strays = values.filter(pc.invert(pc.match_substring_regex(values, form)))
        # Some of the digits that name something begin with a zero.
        if len(strays) and not pc.match_substring_regex(strays, r"^\d+$").true_count:
            texts = column.cast(values.type) if pa.types.is_dictionary(column.type) else column
            row = pc.index(texts, strays[0]).as_py() + 1
            return f"row {row} has {strays[0].as_py()!r}, and nearly all other values are {what}"
    return ""


def are_nearly_all(form: str, values: pa.Array, counts: pa.Array) -> bool:
    """Whether nearly all rows have a value that is written in a form."""
    n_written = pc.sum(counts.filter(pc.match_substring_regex(values, form))).as_py() or 0
    return bool(n_written >= (1 - MOST_STRAYS) * pc.sum(counts).as_py())


def is_text(dtype: pa.DataType) -> bool:
    """Whether a type of Arrow is one of text."""
    return bool(pa.types.is_string(dtype) or pa.types.is_large_string(dtype))


def is_prose(values: pa.Array) -> bool:
    """Whether values have many words. Those of a dictionary may be numbers or dates, which have none.

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
    """Guess whether integers number the rows: 1, 2, 3, ..., or all different in a column called an id."""
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
    """Return a column in one piece."""
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
