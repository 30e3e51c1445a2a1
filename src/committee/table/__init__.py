"""Read tables of any kind into a schema and one array per column, or into the engine's codes.

The modules in the order of the data: `source` opens the container, `frame` and `raw_column` extract its
columns, `table_reading` makes the table and reads later tables with its schema, `binning` makes codes, and
`target_statistics` replaces categories by numbers.

Names are imported on first use, because a schema needs none of the libraries that read tables.
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

# The modules that define the names. The one with the fewest imports is first.
_MODULES = ("schema", "raw_column", "target_statistics", "table_reading", "binning")


def __getattr__(name: str) -> Any:
    for submodule in _MODULES if name in __all__ else ():
        module = importlib.import_module(f"committee.table.{submodule}")
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
