"""One column as it came, and how a schema says to read it.

A raw column is one of four: `Numbers`, whose dtype settles what it is; `Dictionary`, codes with their
distinct values, which is how text arrives in a frame; `Untyped`, a numpy column of text or Python objects,
which is decided by looking at its values (`settle`); or a `Cell`, which becomes one of these if it must.
`match_columns` finds the columns of a schema in a later table, and `read_column_like` reads one of them.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from committee.table.schema import PLAIN, TIMES, Column, Kind, Schema

if TYPE_CHECKING:
    from committee.table.source import Source

NATIVE_DTYPES = frozenset("?bBhHiIlLqQfd")
MOMENTS = (datetime.date, np.datetime64)
SPANS = (datetime.timedelta, np.timedelta64)
MISSING_TYPES = frozenset({"NAType", "NaTType"})
TICKS_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9, "ps": 10**12, "fs": 10**15, "as": 10**18}
# So many names are told in an error.
MOST_NAMES = 5
TYPES_WITH_NAN = (float, np.floating, Decimal, np.datetime64, np.timedelta64)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers, booleans, dates or spans: values in a native dtype, NaN for missing."""

    kind: Kind
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A column of categories: int32 codes, 0 for missing, i for the i-th of the distinct values.

    `declared` says that the order of the values is the user's, as in a pandas category or a polars Enum;
    `seconds_of`, that the values are the seconds of dates or spans.
    """

    codes: np.ndarray
    values: list[Hashable]
    declared: bool = False
    seconds_of: Kind | None = None


@dataclass(frozen=True, eq=False)
class Untyped:
    """A numpy column of text or Python objects. The name is for the error messages."""

    name: str
    values: np.ndarray


class Cell(NamedTuple):
    """A column of one row, by its value; its name, its place, and what reads the column at a place."""

    value: Any
    name: str
    place: int
    column_at: Callable[[int, str], Numbers | Dictionary | Untyped]

    def open(self) -> Numbers | Dictionary | Untyped:
        """The column as one of the others."""
        return self.column_at(self.place, self.name)


Raw: TypeAlias = Numbers | Dictionary | Untyped | Cell


def raw_array(values: np.ndarray, name: str) -> Numbers | Untyped:
    """Take a numpy column by its dtype, without a copy where the dtype is one the engine reads."""
    dtype = values.dtype
    if dtype.kind == "b":
        return Numbers(Kind.BOOLEAN, values)
    if dtype.kind in "iuf":
        return Numbers(Kind.NUMBER, values if is_native(dtype) else to_float64(values))
    if dtype.kind in "mM":
        return Numbers(Kind.DATE if dtype.kind == "M" else Kind.SPAN, seconds(values))
    if dtype.kind in "USTO":
        return Untyped(name, values)
    if dtype.kind == "c":
        raise complex_error(name)
    raise TypeError(f"Column {name!r} has dtype {dtype}. Convert it to numbers, text or dates.")


def settle(raw: Raw) -> Numbers | Dictionary:
    """Decide what an untyped column is. The others are what they are.

    Values that are all moments are dates, all stretches of time or times of day are spans, all booleans are
    booleans, and all convertible to a number (which '1.5' is) are numbers. Everything else is a category.
    """
    if isinstance(raw, Cell):
        return settle(raw.open())
    if not isinstance(raw, Untyped):
        return raw
    missing, present = split_missing(raw.values)
    types = set(map(type, present))
    if any(issubclass(kind, complex | np.complexfloating) for kind in types):
        raise complex_error(raw.name)
    if types and types <= {bool, np.bool_}:
        return Numbers(Kind.BOOLEAN, with_missing(present.astype(np.float64), missing))
    if types and all(issubclass(kind, MOMENTS) for kind in types):
        return Numbers(Kind.DATE, with_missing(seconds(moments(present)), missing))
    if types and all(issubclass(kind, (*SPANS, datetime.time)) for kind in types):
        return Numbers(Kind.SPAN, with_missing(seconds(spans(present)), missing))
    try:
        values = present.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return to_dictionary(raw)
    return Numbers(Kind.NUMBER, with_missing(values, missing))


def to_dictionary(raw: Raw) -> Dictionary:
    """Read a column as categories: its distinct values and a code for each row."""
    if isinstance(raw, Cell):
        return to_dictionary(raw.open())
    if isinstance(raw, Dictionary):
        return raw
    if isinstance(raw, Numbers):
        missing = np.isnan(raw.values)
        distinct, inverse = np.unique(raw.values[~missing], return_inverse=True)
        seconds_of = raw.kind if raw.kind in TIMES else None
        distinct = distinct.astype(bool) if raw.kind is Kind.BOOLEAN else distinct
        return Dictionary(with_missing_code(inverse + 1, missing), distinct.tolist(), seconds_of=seconds_of)
    missing, present = split_missing(raw.values)
    values = plain(present)
    try:
        codes = {value: code for code, value in enumerate(dict.fromkeys(values), start=1)}
    except TypeError as error:
        raise TypeError(
            f"Column {raw.name!r}: every argument must be a string or a number, and one is not ({error}). "
            "Convert the column, or leave it out."
        ) from error
    found = np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))
    return Dictionary(with_missing_code(found, missing), list(codes))


def recode(dictionary: Dictionary, codes: Mapping[Hashable, int]) -> np.ndarray:
    """Give each row the code of its value in `codes`, 0 if it is missing or not there."""
    new = np.array([0, *(codes.get(value, 0) for value in dictionary.values)], dtype=np.int32)
    return new.take(dictionary.codes)


def take_raw(raw: Raw, rows: np.ndarray) -> Numbers | Dictionary | Untyped:
    """Some rows of a column.

    Examples
    --------
    >>> take_raw(Dictionary(np.array([1, 2, 0]), ["Bonn", "Oslo"]), np.array([2, 0])).codes
    array([0, 1])
    """
    if isinstance(raw, Cell):
        raw = raw.open()
    if isinstance(raw, Dictionary):
        return replace(raw, codes=raw.codes[rows])
    return replace(raw, values=raw.values[rows])


def is_native(dtype: np.dtype) -> bool:
    """Whether the engine reads this dtype as it is."""
    return dtype.isnative and dtype.char in NATIVE_DTYPES


def to_float64(values: np.ndarray) -> np.ndarray:
    """Convert to native float64; what is too large becomes infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float64)


def seconds(values: np.ndarray) -> np.ndarray:
    """Turn datetime64 or timedelta64 of any unit into seconds, NaT into NaN.

    Whole seconds and the rest are divided apart, so that one moment is the same float64 in every unit.
    """
    unit, _ = np.datetime_data(values.dtype)
    ticks_per_second = TICKS_PER_SECOND.get(unit, 1)
    ticks = values.astype(f"{values.dtype.kind}8[{unit if ticks_per_second > 1 else 's'}]")
    missing = np.isnat(ticks)
    whole, rest = np.divmod(ticks[~missing].astype(np.int64), ticks_per_second)
    return with_missing(whole + rest / ticks_per_second, missing)


def moments(present: Iterable[datetime.date]) -> np.ndarray:
    """Dates and datetimes as datetime64; those with a time zone in UTC."""
    naive = [
        value.astimezone(datetime.UTC).replace(tzinfo=None)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None
        else value
        for value in present
    ]
    return np.array([np.datetime64(value, "us") for value in naive])


def spans(present: Iterable[Any]) -> np.ndarray:
    """Timedeltas, and times of day since midnight, as timedelta64."""
    since_midnight = [
        datetime.datetime.combine(datetime.date.min, value.replace(tzinfo=None)) - datetime.datetime.min
        if isinstance(value, datetime.time)
        else value
        for value in present
    ]
    return np.array([np.timedelta64(value, "us") for value in since_midnight])


def is_missing(value: object) -> bool:
    """Whether an object is None, NaN, NaT or pandas' NA."""
    return (
        value is None
        or type(value).__name__ in MISSING_TYPES
        or (isinstance(value, TYPES_WITH_NAN) and bool(value != value))
    )


def split_missing(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are missing, and the values of the others as objects."""
    objects = values.astype(object)
    missing = np.fromiter(map(is_missing, objects), dtype=bool, count=len(objects))
    return missing, objects[~missing]


def with_missing(present: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Put the values of the present rows back in their places, NaN in the others."""
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return values


def with_missing_code(present: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Put the codes of the present rows back in their places, 0 in the others."""
    codes = np.zeros(len(missing), dtype=np.int32)
    codes[~missing] = present
    return codes


def plain(values: Iterable[Hashable]) -> list[Hashable]:
    """The values with numpy's scalars turned into Python's."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def complex_error(name: str) -> ValueError:
    """The error for a column of complex numbers."""
    return ValueError(f"Complex data not supported: column {name!r}. Split it into real and imaginary parts.")


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
