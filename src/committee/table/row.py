"""One row of a pandas frame, as raw columns.

A row that is asked about by itself is all overhead: pandas takes longer to hand out a column than a forest
takes to vote. So the values come from the row as a whole, and a column is only opened if its value does not
say enough.
"""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from committee.table.frame import is_plain, pandas_series
from committee.table.raw import Cell, Dictionary, Numbers, Raw, Untyped, raw_array


def is_one_row(X: object) -> bool:
    """Whether X is a pandas frame of one row, whose columns have each a name of its own."""
    return nw.dependencies.is_pandas_dataframe(X) and len(X) == 1 and X.columns.is_unique


def raw_cells(row: Any, names: tuple[str, ...]) -> tuple[Raw, ...]:
    """Take the columns of a frame of one row: numbers of numpy as they are, the others as cells."""
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
    """The values, each of its own type: none is rounded to suit the others."""
    if not all_numbers:
        series = row.iloc[0]
        if series.dtype == object:
            values: list[Any] = series.tolist()
            return values
    return list(row.to_numpy(dtype=object)[0])
