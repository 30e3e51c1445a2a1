"""Tables in files: from CSV, Parquet, Arrow, Feather, JSON lines and ARFF to frames, and back.

The way of a table: `file_table` puts it together. `opened_file` gets the bytes, packed or not, and recognises
their format and encoding. `csv_dialect` finds how CSV is written. `delimited` turns its rows, and those of
`arff`, into values by `column_kinds`. `typed_formats` reads files whose columns have types.
`column_inference` says what a column is. `table_writer` goes the other way.
"""

try:
    import pyarrow  # noqa: F401 - its absence is reported in one line
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("Tables in files are read by pyarrow. Install committee[cli].") from error

from committee.files.column_inference import Guess
from committee.files.column_kinds import ColumnKind
from committee.files.csv_dialect import AS_FOUND, CSVForm
from committee.files.file_table import FileTable, keep_nothing_freed, read_table, require_columns
from committee.files.table_error import BadTable
from committee.files.table_writer import check_output, write_file

__all__ = [
    "AS_FOUND",
    "BadTable",
    "CSVForm",
    "ColumnKind",
    "FileTable",
    "Guess",
    "check_output",
    "keep_nothing_freed",
    "read_table",
    "require_columns",
    "write_file",
]
