"""Read tables from CSV, Parquet, Arrow, Feather, JSON lines and ARFF files, and write them.

`file_table` reads a whole table. `opened_file` unpacks the bytes and detects their format and encoding, and
`remote_files` fetches and stores files at URLs.
`csv_dialect` detects the delimiter, quotes and header of CSV. `delimited` converts its rows, and those of
`arff`, to values by `column_kinds` and `value_formats`. `typed_formats` reads files whose columns have types.
`column_inference` infers the kind of a column. `table_writer` writes tables.
"""

try:
    import pyarrow  # noqa: F401 - its absence is reported in one line
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("Tables in files are read by pyarrow. Install committee[cli].") from error

from committee.files.column_inference import Guess
from committee.files.column_kinds import ColumnKind
from committee.files.csv_dialect import AS_FOUND, CSVForm
from committee.files.file_table import (
    FileTable,
    column_names,
    keep_nothing_freed,
    keep_pandas_out,
    read_table,
    read_unchanged,
    require_columns,
)
from committee.files.table_error import BadTable
from committee.files.table_writer import format_of_output, write_file

__all__ = [
    "AS_FOUND",
    "BadTable",
    "CSVForm",
    "ColumnKind",
    "FileTable",
    "Guess",
    "column_names",
    "format_of_output",
    "keep_nothing_freed",
    "keep_pandas_out",
    "read_table",
    "read_unchanged",
    "require_columns",
    "write_file",
]
