"""Reading tables: whatever the user has -> a schema and one array per column, or the engine's codes.

The way of the data: `source` opens the container, `frame` and `raw_column` take its columns as they are,
`table_reading` makes the table and reads later tables by its schema, `binning` makes codes,
`target_statistics` puts numbers in the place of categories.

The names are imported when they are asked for: a schema needs none of the libraries that read tables.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from committee.table.binning import bin_table, to_codes
    from committee.table.raw_column import is_missing
    from committee.table.schema import BinnedTable, Column, Kind, Schema, Table
    from committee.table.table_reading import (
        forget_unseen,
        forget_weightless,
        keep_schema,
        predict_table,
        read,
        read_like,
        takes_any_table,
    )
    from committee.table.target_statistics import TargetStatistics

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

# Where the names are, the module that needs least first.
_PLACES = ("schema", "raw_column", "target_statistics", "table_reading", "binning")


def __getattr__(name: str) -> Any:
    for place in _PLACES if name in __all__ else ():
        module = importlib.import_module(f"committee.table.{place}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
