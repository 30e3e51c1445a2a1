"""Reading tables: whatever the user has -> a schema and one array per column, or the engine's codes.

The data's way: `source` opens the container, `frame` and `raw` take its columns as they are, `categories`
orders the values of a category, `reading` makes the table, `matching` holds a later table to the schema,
`binning` makes codes, `estimating` reads and remembers as scikit-learn's estimators must.
"""

from committee.table.binning import bin_table, to_codes
from committee.table.estimating import keep_schema, predict_table
from committee.table.raw import is_missing
from committee.table.reading import read, read_like
from committee.table.schema import BinnedTable, Column, Kind, Schema, Table

__all__ = [
    "BinnedTable",
    "Column",
    "Kind",
    "Schema",
    "Table",
    "bin_table",
    "is_missing",
    "keep_schema",
    "predict_table",
    "read",
    "read_like",
    "to_codes",
]
