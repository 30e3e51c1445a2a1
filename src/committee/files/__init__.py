"""Tables in files: from CSV, Parquet, Arrow, Feather, JSON lines and ARFF to frames, and back.

The way of a table: `reading` puts it together. `opening` gets the bytes, packed or not, and recognises their
format and encoding. `dialect` finds how CSV is written. `delimited` turns its rows, and those of `arff`, into
values by `kinds`. `typed` reads files whose columns have types. `guessing` says what a column is. `writing`
goes the other way.
"""

try:
    import pyarrow  # noqa: F401 - its absence is reported in one line
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("Tables in files are read by pyarrow. Install committee[cli].") from error

from committee.files.dialect import AS_FOUND, CSVForm
from committee.files.errors import BadTable
from committee.files.guessing import Guess
from committee.files.kinds import ColumnKind
from committee.files.reading import FileTable, keep_nothing_freed, read_table, require_columns
from committee.files.writing import check_output, write_file

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
