"""Whether a table fits a schema: the same columns, each of the kind it had."""

from __future__ import annotations

import numbers
from collections.abc import Hashable
from typing import TYPE_CHECKING

import numpy as np

from committee.table.raw import Cell, Dictionary, Numbers, Raw, is_missing, recode, settle, to_dictionary
from committee.table.schema import PLAIN, Column, Kind, Schema

# So many names are told in an error.
MOST_NAMES = 5

if TYPE_CHECKING:
    from committee.table.source import Source


def match_columns(source: Source, schema: Schema) -> list[int]:
    """For each column of the schema, its position in the source: by name if both have names.

    Examples
    --------
    >>> from committee.table import read
    >>> from committee.table.source import open_source
    >>> import polars as pl
    >>> schema = read(pl.DataFrame({"age": [31], "city": ["Oslo"]})).schema
    >>> match_columns(open_source(pl.DataFrame({"city": ["Bonn"], "age": [54]})), schema)
    [1, 0]
    """
    if source.named and schema.named and source.names != schema.names:
        here, there = set(source.names), set(schema.names)
        missing = [name for name in schema.names if name not in here]
        unseen = [name for name in source.names if name not in there]
        if missing or unseen:
            raise ValueError(
                "The feature names should match those that were passed during fit. "
                f"{told('Now missing', missing)}{told('Unseen then', unseen)}Rename them, or fit again."
            )
        positions = {name: position for position, name in enumerate(source.names)}
        return [positions[name] for name in schema.names]
    if len(source.columns) != schema.n_columns:
        raise ValueError(f"X has {len(source.columns)} features, but {schema.n_columns} were fitted.")
    return list(range(schema.n_columns))


def told(what: str, names: list[str]) -> str:
    """Some names as a sentence, the first few if they are many; nothing if there are none.

    Examples
    --------
    >>> told("Now missing", [f"x{i}" for i in range(9)])
    "Now missing: 'x0', 'x1', 'x2', 'x3', 'x4' and 4 more. "
    """
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{what}: {', '.join(map(repr, names[:MOST_NAMES]))}{more}. "


def is_reordered(source: Source, schema: Schema) -> bool:
    """Whether a frame has the columns of the schema, in another order."""
    return (
        source.named
        and schema.named
        and source.names != schema.names
        and sorted(source.names) == sorted(schema.names)
    )


def read_column_like(raw: Raw, column: Column) -> np.ndarray:
    """Read one column as the schema's column says.

    Numbers and booleans stand for each other: True is 1.
    """
    if column.kind is Kind.CATEGORY:
        if isinstance(raw, Cell) and is_known(raw.value, column):
            return np.array([column.codes.get(raw.value, 0)], dtype=np.int32)
        dictionary = to_dictionary(raw)
        codes = recode(dictionary, column.codes)
        if dictionary.codes.any() and not codes.any() and not shares_a_sort(dictionary, column):
            raise kind_error(settle(raw), column)
        return codes
    settled = settle(raw)
    if isinstance(settled, Numbers) and is_same_kind(settled.kind, column.kind):
        return settled.values
    if is_all_missing(settled):
        return np.full(len(settled.values if isinstance(settled, Numbers) else settled.codes), np.nan)
    raise kind_error(settled, column)


def is_same_kind(one: Kind, other: Kind) -> bool:
    """Whether two columns of numbers can be read alike."""
    return one is other or (one in PLAIN and other in PLAIN)


def is_known(value: object, column: Column) -> bool:
    """Whether a value is missing, or text that is a category of a column."""
    return value in column.codes if isinstance(value, str) else is_missing(value)


def shares_a_sort(dictionary: Dictionary, column: Column) -> bool:
    """Whether some value could be a category of the column: both text, both numbers or both dates."""
    if not column.categories:
        return True
    here, there = set(map(sort_of, dictionary.values)), set(map(sort_of, column.categories))
    return dictionary.seconds_of is column.seconds_of and bool(here & there)


def sort_of(value: object) -> type:
    """Text, a number, or something else, such as a date: values of different sorts are never equal.

    Examples
    --------
    >>> sort_of("1") is sort_of(1), sort_of(True) is sort_of(1.0)
    (False, True)
    """
    return next((sort for sort in (str, numbers.Number) if isinstance(value, sort)), object)


def is_all_missing(settled: Numbers | Dictionary) -> bool:
    """Whether no row has a value."""
    if isinstance(settled, Dictionary):
        return not settled.codes.any()
    return bool(np.isnan(settled.values).all())


def kind_error(settled: Numbers | Dictionary, column: Column) -> ValueError:
    """The error for a column that is not what it was."""
    is_now = (
        describe(settled.kind, ())
        if isinstance(settled, Numbers)
        else describe(Kind.CATEGORY, tuple(settled.values))
    )
    was = describe(column.kind, column.categories)
    return ValueError(
        f"Column {column.name!r} was {was} when the committee was fitted and is {is_now} now. "
        "Convert it, or fit again."
    )


def describe(kind: Kind, categories: tuple[Hashable, ...]) -> str:
    """The kind in the words of an error message."""
    if kind is Kind.CATEGORY:
        return "text" if all(isinstance(category, str) for category in categories) else "a category"
    return f"a {kind.value}"
