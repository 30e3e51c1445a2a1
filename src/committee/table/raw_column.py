"""Read raw columns, either by their own type or as the column of a schema.

There are four types of raw columns. `Numbers` have a dtype that determines their kind. A `Dictionary` has
codes and distinct values, as text in a frame does. An `Untyped` column is a numpy array of text or Python
objects, and `settle` infers its kind from the values. A `Cell` is the value of a frame with one row, and is
converted to one of the other types on demand. `match_columns` finds the columns of a schema in a later
table, and `read_column_like` reads one of them.
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
# The largest number of names in an error message.
MOST_NAMES = 5
TYPES_WITH_NAN = (float, np.floating, Decimal, np.datetime64, np.timedelta64)


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers, booleans, dates or spans: values in a native dtype, with NaN for missing ones."""

    kind: Kind
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Dictionary:
    """A column of categories: int32 codes, with 0 for missing and i for the i-th of the distinct values.

    `declared` is True if the user has set the order of the values, as in a pandas category or a polars Enum.
    `seconds_of` is the kind of the values if they are the seconds of dates or spans.
    """

    codes: np.ndarray
    values: list[Hashable]
    declared: bool = False
    seconds_of: Kind | None = None


@dataclass(frozen=True, eq=False)
class Untyped:
    """A numpy column of text or Python objects, with its name for error messages."""

    name: str
    values: np.ndarray


class Cell(NamedTuple):
    """A column of one row: its value, its name, its position, and a function that reads the whole column."""

    value: Any
    name: str
    place: int
    column_at: Callable[[int, str], Numbers | Dictionary | Untyped]

    def open(self) -> Numbers | Dictionary | Untyped:
        """Convert the cell to one of the other types."""
        return self.column_at(self.place, self.name)


Raw: TypeAlias = Numbers | Dictionary | Untyped | Cell


def raw_array(values: np.ndarray, name: str) -> Numbers | Untyped:
    """Wrap a numpy column according to its dtype, without a copy if the engine reads that dtype."""
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
    """Infer the kind of an untyped column from its values; return other columns unchanged.

    A column is a date if all values are dates or datetimes, a span if all are timedeltas or times of day,
    boolean if all are booleans, and a number if all can be converted to numbers, such as '1.5'. Otherwise it
    is a category.
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
    """Convert a column to categories: its distinct values and a code for each row."""
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
            "Convert the column, or drop it."
        ) from error
    found = np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))
    return Dictionary(with_missing_code(found, missing), list(codes))


def recode(dictionary: Dictionary, codes: Mapping[Hashable, int]) -> np.ndarray:
    """Return the code of each row's value in `codes`, or 0 if the value is missing or has no code."""
    new = np.array([0, *(codes.get(value, 0) for value in dictionary.values)], dtype=np.int32)
    return new.take(dictionary.codes)


def take_raw(raw: Raw, rows: np.ndarray | slice) -> Numbers | Dictionary | Untyped:
    """Select rows of a column.

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
    """Return whether the engine reads this dtype without conversion."""
    return dtype.isnative and dtype.char in NATIVE_DTYPES


def to_float64(values: np.ndarray) -> np.ndarray:
    """Convert values to native float64. Those that are too large become infinite."""
    with np.errstate(over="ignore"):
        return values.astype(np.float64)


def seconds(values: np.ndarray) -> np.ndarray:
    """Convert datetime64 or timedelta64 of any unit to seconds, and NaT to NaN.

    Whole seconds and fractions are converted separately, so that a time is the same float64 in every unit.
    """
    unit, _ = np.datetime_data(values.dtype)
    ticks_per_second = TICKS_PER_SECOND.get(unit, 1)
    ticks = values.astype(f"{values.dtype.kind}8[{unit if ticks_per_second > 1 else 's'}]")
    missing = np.isnat(ticks)
    whole, rest = np.divmod(ticks[~missing].astype(np.int64), ticks_per_second)
    return with_missing(whole + rest / ticks_per_second, missing)


def moments(present: Iterable[datetime.date]) -> np.ndarray:
    """Convert dates and datetimes to datetime64, and those with a time zone to UTC."""
    naive = [
        value.astimezone(datetime.UTC).replace(tzinfo=None)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None
        else value
        for value in present
    ]
    return np.array([np.datetime64(value, "us") for value in naive])


def spans(present: Iterable[Any]) -> np.ndarray:
    """Convert timedeltas, and times of day since midnight, to timedelta64."""
    since_midnight = [
        datetime.datetime.combine(datetime.date.min, value.replace(tzinfo=None)) - datetime.datetime.min
        if isinstance(value, datetime.time)
        else value
        for value in present
    ]
    return np.array([np.timedelta64(value, "us") for value in since_midnight])


def is_missing(value: object) -> bool:
    """Return whether an object is None, NaN, NaT or pandas' NA."""
    return (
        value is None
        or type(value).__name__ in MISSING_TYPES
        or (isinstance(value, TYPES_WITH_NAN) and bool(value != value))
    )


def split_missing(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask of the missing values, and the other values as objects."""
    objects = values.astype(object)
    missing = np.fromiter(map(is_missing, objects), dtype=bool, count=len(objects))
    return missing, objects[~missing]


def with_missing(present: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Insert NaN at the positions of missing values."""
    values = np.full(len(missing), np.nan)
    values[~missing] = present
    return values


def with_missing_code(present: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Insert the code 0 at the positions of missing values."""
    codes = np.zeros(len(missing), dtype=np.int32)
    codes[~missing] = present
    return codes


def plain(values: Iterable[Hashable]) -> list[Hashable]:
    """Convert numpy scalars to Python values."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def complex_error(name: str) -> ValueError:
    """Make the error for a column of complex numbers."""
    return ValueError(f"Complex data not supported: column {name!r}. Split it into real and imaginary parts.")


def match_columns(source: Source, schema: Schema) -> list[int]:
    """Return the position in the source of each column of a schema, by name if both have names.

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
                f"{listed('Now missing', missing)}{listed('Unseen then', unseen)}Rename them, or fit again."
            )
        positions = {name: position for position, name in enumerate(source.names)}
        return [positions[name] for name in schema.names]
    if len(source.columns) != schema.n_columns:
        raise ValueError(f"X has {len(source.columns)} features, but {schema.n_columns} were fitted.")
    return list(range(schema.n_columns))


def listed(what: str, names: list[str]) -> str:
    """Format names as a sentence that shows at most five of them. Without names, it is empty.

    Examples
    --------
    >>> listed("Now missing", [f"x{i}" for i in range(9)])
    "Now missing: 'x0', 'x1', 'x2', 'x3', 'x4' and 4 more. "
    """
    if not names:
        return ""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{what}: {', '.join(map(repr, names[:MOST_NAMES]))}{more}. "


def is_reordered(source: Source, schema: Schema) -> bool:
    """Return whether a frame has the columns of the schema in another order."""
    return (
        source.named
        and schema.named
        and source.names != schema.names
        and sorted(source.names) == sorted(schema.names)
    )


def read_column_like(raw: Raw, column: Column) -> np.ndarray:
    """Read a column as the kind, and with the categories, of a schema's column.

    Numbers and booleans are interchangeable, with True as 1.
    """
    if column.kind is Kind.CATEGORY:
        if isinstance(raw, Cell) and is_known(raw.value, column):
            return np.array([column.codes.get(raw.value, 0)], dtype=np.int32)
        dictionary = to_dictionary(raw)
        codes = recode(dictionary, column.codes)
        if dictionary.codes.any() and not codes.any() and not has_comparable_value(dictionary, column):
            raise kind_error(settle(raw), column)
        return codes
    settled = settle(raw)
    if isinstance(settled, Numbers) and is_same_kind(settled.kind, column.kind):
        return settled.values
    if is_all_missing(settled):
        return np.full(len(settled.values if isinstance(settled, Numbers) else settled.codes), np.nan)
    raise kind_error(settled, column)


def is_same_kind(one: Kind, other: Kind) -> bool:
    """Return whether columns of two kinds of numbers are interchangeable."""
    return one is other or (one in PLAIN and other in PLAIN)


def is_known(value: object, column: Column) -> bool:
    """Return whether a value is missing, or is text and a category of a column."""
    return value in column.codes if isinstance(value, str) else is_missing(value)


def has_comparable_value(dictionary: Dictionary, column: Column) -> bool:
    """Return whether some value could equal a category: both are text, numbers or dates."""
    if not column.categories:
        return True
    here, there = set(map(comparable_type, dictionary.values)), set(map(comparable_type, column.categories))
    return dictionary.seconds_of is column.seconds_of and bool(here & there)


def comparable_type(value: object) -> type:
    """Return str, Number or object. Values for which the result differs are never equal.

    Examples
    --------
    >>> comparable_type("1") is comparable_type(1), comparable_type(True) is comparable_type(1.0)
    (False, True)
    """
    return next((kind for kind in (str, numbers.Number) if isinstance(value, kind)), object)


def is_all_missing(settled: Numbers | Dictionary) -> bool:
    """Return whether all values are missing."""
    if isinstance(settled, Dictionary):
        return not settled.codes.any()
    return bool(np.isnan(settled.values).all())


def kind_error(settled: Numbers | Dictionary, column: Column) -> ValueError:
    """Make the error for a column whose kind has changed."""
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
    """Describe a kind for an error message."""
    if kind is Kind.CATEGORY:
        return "text" if all(isinstance(category, str) for category in categories) else "a category"
    return f"a {kind.value}"
