"""Reading tables: whatever the user has -> a schema and one array per column, or the engine's codes.

The data's way: `source` opens the container, `frame`, `row` and `raw` take its columns as they are,
`categories` orders the values of a category and forgets those that no row has, `reading` makes the table,
`matching` holds a later table to the schema, `binning` makes codes, `statistics` puts numbers in the place of
categories, `estimating` reads and remembers as scikit-learn's estimators must.

The names are imported when they are asked for: a schema needs none of the libraries that read tables.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committee.table.binning import bin_table, to_codes
    from committee.table.categories import forget_unseen, forget_weightless
    from committee.table.estimating import keep_schema, predict_table, takes_any_table
    from committee.table.raw import is_missing
    from committee.table.reading import read, read_like
    from committee.table.schema import BinnedTable, Column, Kind, Schema, Table
    from committee.table.statistics import TargetStatistics

__all__ = [
    "BinnedTable",
    "Column",
    "Kind",
    "Schema",
    "Table",
    "TargetStatistics",
    "bin_table",
    "forget_unseen",
    "forget_weightless",
    "is_missing",
    "keep_schema",
    "predict_table",
    "read",
    "read_like",
    "takes_any_table",
    "to_codes",
]

_PLACES = {
    "schema": ("BinnedTable", "Column", "Kind", "Schema", "Table"),
    "binning": ("bin_table", "to_codes"),
    "categories": ("forget_unseen", "forget_weightless"),
    "raw": ("is_missing",),
    "estimating": ("keep_schema", "predict_table", "takes_any_table"),
    "reading": ("read", "read_like"),
    "statistics": ("TargetStatistics",),
}


def __getattr__(name: str) -> Any:
    for module, names in _PLACES.items():
        if name in names:
            return getattr(importlib.import_module(f"committee.table.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
