"""Tables in files: from CSV, Parquet, Arrow, Feather, JSON lines and ARFF to frames, and back.

The data's way: `opening` gets the bytes, packed or not; `formats` says what they are, `encodings` how they
spell text, `dialect` how CSV is written, and `quoting` makes its quotes plain; `delimited` and `arff` give
columns of text, which `gathering` turns into values by `kinds`, numbers by the sign that `decimals` finds;
`typed` reads files whose columns have types; `guessing` says what a column is; `reading` puts it together;
`writing` goes the other way.
"""

try:
    import pyarrow as pa
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("Tables in files are read by pyarrow. Install committee[cli].") from error

from committee.files.errors import BadTable
from committee.files.guessing import Guess
from committee.files.kinds import ColumnKind
from committee.files.naming import require_columns
from committee.files.reading import FileTable, read_file, read_frame
from committee.files.writing import check_output, write_file

__all__ = [
    "BadTable",
    "ColumnKind",
    "FileTable",
    "Guess",
    "check_output",
    "keep_nothing_freed",
    "read_file",
    "read_frame",
    "require_columns",
    "write_file",
]


def keep_nothing_freed() -> None:
    """Let Arrow give freed memory back, which its own pools keep. It is for programs, not for a library."""
    pa.set_memory_pool(pa.system_memory_pool())
