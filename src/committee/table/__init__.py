"""Reading tables: whatever the user has -> a schema and one array per column.

The data's way: `source` opens the container, `frame` and `raw` take its columns as they are, `categories`
orders the values of a category, `reading` makes the table, `matching` holds a later table to the schema,
`estimating` does both as scikit-learn's estimators must.
"""

from committee.table.estimating import fit_table, predict_table
from committee.table.reading import read, read_like
from committee.table.schema import Column, Kind, Schema, Table

__all__ = ["Column", "Kind", "Schema", "Table", "fit_table", "predict_table", "read", "read_like"]
