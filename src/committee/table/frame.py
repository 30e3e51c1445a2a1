"""Extract the columns of a frame (pandas, polars, Arrow or another library of narwhals) as raw columns.

Numbers without missing values are views of the frame's memory where the library allows it. Pandas takes
longer to return one column than a forest takes to vote on one row. So the values of a frame with one row are
extracted all at once, and a column is only accessed if its value does not determine how to read it.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.table.raw_column import (
    Cell,
    Dictionary,
    Numbers,
    Raw,
    Untyped,
    plain,
    raw_array,
    recode,
    to_dictionary,
)
from committee.table.schema import FEW_ROWS, Kind

# Names of dtypes in polars and Arrow.
PLAIN_NUMBERS = frozenset(
    f"{kind}{n_bits}" for kind in ("Int", "UInt", "int", "uint") for n_bits in (8, 16, 32, 64)
) | {"Float32", "Float64", "float", "double"}
WITHOUT_NUMPY_DTYPE = (nw.Decimal, nw.Int128, nw.UInt128)


def raw_columns(frame: nw.DataFrame[Any], names: tuple[str, ...]) -> tuple[Raw, ...]:
    """Extract the columns of a frame, with a fast path for numbers."""
    native, is_pandas = frame.to_native(), frame.implementation.is_pandas()
    found: list[Raw] = []
    for position, (numbers, name) in enumerate(zip(plain_columns(frame), names, strict=True)):
        if numbers is not None:
            found.append(raw_array(numbers, name))
        elif is_pandas:
            found.append(pandas_series(native.iloc[:, position], name))
        else:
            found.append(raw_series(frame[:, position], name))
    return tuple(found)


def plain_columns(frame: nw.DataFrame[Any]) -> list[np.ndarray | None]:
    """Return columns of numbers without missing values as numpy arrays, and None for all others."""
    native, library = frame.to_native(), frame.implementation
    if library.is_pandas():
        if len(native) <= FEW_ROWS:
            return columns_by_dtype(native)
        are_numbers = (column.to_numpy() if is_plain(column.dtype) else None for _, column in native.items())
    elif library.is_polars():
        are_numbers = (
            column.to_numpy() if str(column.dtype) in PLAIN_NUMBERS and not column.null_count() else None
            for column in native.get_columns()
        )
    elif library.is_pyarrow():
        are_numbers = (
            column.to_numpy() if str(column.type) in PLAIN_NUMBERS and not column.null_count else None
            for column in native.columns
        )
    else:
        are_numbers = (None for _ in range(frame.shape[1]))
    return list(are_numbers)


def columns_by_dtype(native: Any) -> list[np.ndarray | None]:
    """Return the same for a small pandas frame, with one access per dtype because each access is slow."""
    found: list[np.ndarray | None] = [None] * native.shape[1]
    places: dict[np.dtype, list[int]] = {}
    for place, dtype in enumerate(native.dtypes.to_numpy()):
        if is_plain(dtype):
            places.setdefault(dtype, []).append(place)
    for alike in places.values():
        for place, column in zip(alike, native.iloc[:, alike].to_numpy().T, strict=True):
            found[place] = column
    return found


def is_plain(dtype: object) -> bool:
    """Return whether a dtype of a pandas column is a numpy dtype of numbers."""
    return isinstance(dtype, np.dtype) and dtype.kind in "biuf"


def pandas_series(series: Any, name: str) -> Numbers | Dictionary | Untyped:
    """Extract one column of pandas, with a fast path for categories."""
    if hasattr(series.dtype, "categories"):
        return declared_dictionary(series.array.codes, series.dtype)
    # narwhals infers the type of an object column from its first value only.
    if series.dtype == object and not is_text(series):
        return raw_array(series.to_numpy(), name)
    return raw_series(nw.from_native(series, series_only=True), name)


def is_text(series: Any) -> bool:
    """Return whether all values of a pandas column that are not missing are text."""
    from pandas.api.types import infer_dtype

    return bool(infer_dtype(series, skipna=True) == "string")


def is_one_row(X: object) -> bool:
    """Return whether X is a pandas frame of one row with unique column names."""
    return nw.dependencies.is_pandas_dataframe(X) and len(X) == 1 and X.columns.is_unique


def raw_cells(row: Any, names: tuple[str, ...]) -> tuple[Raw, ...]:
    """Extract the columns of a frame of one row: numpy numbers as arrays, other columns as cells."""
    dtypes = row.dtypes.to_numpy()
    values = values_of(row, all_numbers=all(map(is_plain, dtypes)))

    def column_at(place: int, name: str) -> Numbers | Dictionary | Untyped:
        return pandas_series(row.iloc[:, place], name)

    return tuple(
        raw_array(np.array([value], dtype=dtype), name)
        if is_plain(dtype)
        else Cell(value, name, place, column_at)
        for place, (value, dtype, name) in enumerate(zip(values, dtypes, names, strict=True))
    )


def values_of(row: Any, *, all_numbers: bool) -> list[Any]:
    """Return the values of a row. Each keeps its own type, so that no integer is rounded to a float."""
    if not all_numbers:
        series = row.iloc[0]
        if series.dtype == object:
            values: list[Any] = series.tolist()
            return values
    return list(row.to_numpy(dtype=object)[0])


def raw_series(series: nw.Series[Any], name: str) -> Numbers | Dictionary | Untyped:
    """Extract one column of a frame according to its dtype."""
    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return categorical_dictionary(series, name)
    if dtype == nw.String:
        return text_dictionary(series)
    if dtype.is_nested():
        raise TypeError(f"Column {name!r} contains a {dtype} in each row. Split it into columns.")
    if dtype == nw.Boolean:
        filled = series if series.null_count() == 0 else series.cast(nw.Float64)
        return Numbers(Kind.BOOLEAN, filled.to_numpy())
    if dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    if dtype in WITHOUT_NUMPY_DTYPE:
        series = series.cast(nw.Float64)
    return raw_array(series.to_numpy(), name)


def text_dictionary(series: nw.Series[Any]) -> Dictionary:
    """Encode a column of text, in Python if it is short and otherwise with the library of the frame."""
    if len(series) <= FEW_ROWS:
        numbers_of: dict[str, int] = {}
        codes = [
            numbers_of.setdefault(value, len(numbers_of) + 1) if isinstance(value, str) else 0
            for value in series.to_list()
        ]
        return Dictionary(np.array(codes, dtype=np.int32), list(numbers_of))
    missing = series.is_null().to_numpy()
    present = series.drop_nulls()
    values = present.unique().to_list()
    numbered = np.zeros(len(series), dtype=np.int32)
    if values:
        numbers = list(range(1, len(values) + 1))
        numbered[~missing] = present.replace_strict(values, numbers, return_dtype=nw.Int32).to_numpy()
    return Dictionary(numbered, values)


def categorical_dictionary(series: nw.Series[Any], name: str) -> Dictionary:
    """Extract a column that its frame stores as codes and categories.

    A pandas category and a polars Enum declare the order of their categories. A polars Categorical and an
    Arrow dictionary number the values by first occurrence, which does not order them.
    """
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        return declared_dictionary(native.cat.codes, native.dtype)
    if series.implementation.is_polars():
        text = text_dictionary(series.cast(nw.String))
        if series.dtype != nw.Enum:
            return text
        declared = list(native.dtype.categories)
        codes = recode(text, {value: code for code, value in enumerate(declared, start=1)})
        return Dictionary(codes, declared, declared=True)
    if series.implementation.is_pyarrow() and str(native.type.value_type) in ("string", "large_string"):
        known = arrow_dictionary(native)
        if known is not None:
            return known
    return to_dictionary(raw_series(decode_arrow(series), name))


def declared_dictionary(codes: Any, dtype: Any) -> Dictionary:
    """Extract the codes of a pandas-like column with the categories that its dtype declares."""
    numbered = np.asarray(codes).astype(np.int32) + np.int32(1)
    categories = dtype.categories
    if getattr(categories.dtype, "kind", None) not in ("m", "M"):
        return Dictionary(numbered, plain(categories.tolist()), declared=True)
    # Dates become seconds, as in columns that are not categories.
    if getattr(categories, "tz", None) is not None:
        categories = categories.tz_convert(None)
    times = raw_array(categories.to_numpy(), "")
    assert isinstance(times, Numbers)
    return Dictionary(numbered, times.values.tolist(), declared=True, seconds_of=times.kind)


def arrow_dictionary(column: Any) -> Dictionary | None:
    """Extract the codes and values of an Arrow dictionary of text, or None if a value is null or repeated.

    Values that no row has are left out. Decoding the text instead would take many times the memory.
    """
    joined = column.unify_dictionaries().combine_chunks()
    # The indices may be unsigned, and -1 marks missing values.
    indices = joined.indices.cast("int64").fill_null(-1)
    codes = indices.to_numpy(zero_copy_only=False).astype(np.int32) + np.int32(1)
    values = joined.dictionary.to_pylist()
    if None in values or len(set(values)) < len(values):
        return None
    is_used = np.bincount(codes, minlength=len(values) + 1)[1:] > 0
    if is_used.all():
        return Dictionary(codes, values)
    new_codes = np.zeros(len(values) + 1, dtype=np.int32)
    new_codes[1:][is_used] = np.arange(1, is_used.sum() + 1)
    return Dictionary(new_codes[codes], [value for value, used in zip(values, is_used, strict=True) if used])


def decode_arrow(series: nw.Series[Any]) -> nw.Series[Any]:
    """Decode an Arrow dictionary, either an Arrow column or one inside pandas, into its values.

    Arrow's own conversion to numpy replaces a null by the value of another row.
    """
    native = series.to_native()
    if series.implementation.is_pyarrow():
        decoded = native.cast(native.type.value_type)
    else:
        decoded = native.astype(type(native.dtype)(native.dtype.pyarrow_dtype.value_type))
    return nw.from_native(decoded, series_only=True)
