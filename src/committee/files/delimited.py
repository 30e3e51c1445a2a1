"""Rows of text with a delimiter, as CSV and ARFF have them: batches of columns of text."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv

from committee.files.dialect import Dialect, lines_of
from committee.files.encodings import WrongEncoding, decoding
from committee.files.errors import BadTable
from committee.files.kinds import MISSING
from committee.files.opening import OpenedFile

# Arrow reads some dozens of blocks ahead. A block of few rows costs more time, and it must hold one at least.
BLOCK_BYTES = 2**21
BYTES_OF_A_COLUMN = 512
LARGEST_SHOWN = 60


@dataclass(frozen=True)
class Delimited:
    """A file of rows with a delimiter.

    Parameters
    ----------
    file : OpenedFile
    dialect : Dialect
    start : int, default=0
        The bytes before the first row.
    comment : str or None, default=None
        What a line begins with that is no row.
    title : str, default="CSV"
        What such a file is called.
    keeps_empty : bool, default=False
        Whether an empty line is a row without a value, if there is one column.
    """

    file: OpenedFile
    dialect: Dialect
    start: int = 0
    comment: str | None = None
    title: str = "CSV"
    keeps_empty: bool = False

    def batches(self, names: list[str]) -> Generator[Any]:
        """Some columns as batches of text, from the first row to the last; a row too long is an error.

        Parameters
        ----------
        names : list of str

        Yields
        ------
        pyarrow.RecordBatch
        """
        dialect, faults = self.dialect, list[Any]()
        read = pa.csv.ReadOptions(
            column_names=list(dialect.names),
            skip_rows=dialect.n_skipped,
            skip_rows_after_names=int(dialect.has_header),
            block_size=max(BLOCK_BYTES, BYTES_OF_A_COLUMN * len(dialect.names)),
            encoding=dialect.encoding.removesuffix("-sig"),
        )
        parse = pa.csv.ParseOptions(
            delimiter=dialect.delimiter,
            quote_char=dialect.quote,
            escape_char=dialect.escape or False,
            newlines_in_values=True,
            ignore_empty_lines=not self.keeps_empty or len(dialect.names) > 1,
            invalid_row_handler=self._on_wrong_row(faults),
        )
        convert = pa.csv.ConvertOptions(
            include_columns=names,
            column_types={name: pa.string() for name in names},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=MISSING,
        )
        with self.file.stream() as stream, self.file.reading(), decoding(self.file.name, dialect.encoding):
            stream.read(self.start)
            try:
                with pa.csv.open_csv(stream, read, parse, convert) as reader:
                    yield from reader
            except pa.ArrowInvalid as error:
                raise self._error(error, faults) from error

    def _on_wrong_row(self, faults: list[Any]) -> Callable[[Any], str]:
        """What is done with a row that has more or fewer values than there are columns."""

        def decide(row: Any) -> str:
            text = row.text.strip()
            if not text or (self.comment is not None and text.startswith(self.comment)):
                return "skip"
            faults.append(row)
            return "error"

        return decide

    def _fault(self, row: Any) -> str:
        """What is wrong with a row."""
        text = row.text.strip()
        shown = text if len(text) <= LARGEST_SHOWN else f"{text[:LARGEST_SHOWN]}..."
        line = self._line_of(text)
        where = "a row" if line is None else f"line {line}"
        return f"{where} has {row.actual_columns} values instead of {row.expected_columns}: {shown!r}"

    def _line_of(self, text: str) -> int | None:
        """The number of the line where a row begins. Arrow forgets it, so the file is read once more."""
        first, *_ = lines_of(text)
        with self.file.stream() as stream, self.file.reading():
            lines = io.TextIOWrapper(stream, encoding=self.dialect.encoding, errors="replace")
            return next((number for number, line in enumerate(lines, start=1) if line.strip() == first), None)

    def _error(self, error: Exception, faults: list[Any]) -> Exception:
        reason = " ".join(str(error).split())
        if "UTF8" in reason:
            return WrongEncoding(self.file.name, self.dialect.encoding)
        if "Empty CSV file" in reason:
            return BadTable(f"{self.file.name} has no rows.")
        fault = self._fault(faults[0]) if faults else reason.removeprefix("CSV parse error: ")
        return BadTable(
            f"{self.file.name} cannot be read as {self.title} with {self.dialect.delimiter!r} between "
            f"values: {fault}."
        )
