"""Convert rows of text with a delimiter, from CSV and ARFF, to columns of values.

In: a file and its `Dialect`. Out: a `Gathering` of columns. The first values of a column decide its kind. If
a later value is of another kind, the column is read again from the file as categories, because numbers do not
keep their text. This second pass is rare, and the text of the other columns is never in memory.
"""

from __future__ import annotations

import contextlib
import csv
import io
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from committee.files.column_kinds import (
    BLANK,
    COMMA,
    MISSING,
    MISSING_UNLESS_TEXT,
    POINT,
    Column,
    ColumnKind,
    Convert,
    DecimalSign,
    Reading,
    Strays,
    cleaned,
    convert_most,
    converters,
    find_sign,
    find_signs,
    narrowed,
    other_sign,
    without_words,
)
from committee.files.csv_dialect import Dialect, lines_of
from committee.files.opened_file import OpenedFile, WrongEncoding, decoding
from committee.files.table_error import BadTable, some

# Arrow reads dozens of blocks ahead. A block needs at least one row, and blocks of few rows are slow.
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
        The number of bytes before the first row.
    comment : str, default="#"
        The beginning of a comment line.
    title : str, default="CSV"
        The name of the format in error messages.
    keeps_empty : bool, default=True
        Whether an empty line is a row with a missing value, if there is only one column.
    missing : tuple of str, default=()
        More words for missing values.
    """

    file: OpenedFile
    dialect: Dialect
    start: int = 0
    comment: str = "#"
    title: str = "CSV"
    keeps_empty: bool = True
    missing: tuple[str, ...] = ()

    @contextlib.contextmanager
    def rewritten(self, parse: Callable[[Iterable[str]], Iterable[list[str]]]) -> Iterator[Delimited]:
        """Copy the rows to a temporary file without blanks before quotes, which Arrow cannot parse.

        The copy has the same line breaks, so that errors name the same lines.

        Parameters
        ----------
        parse : callable
            Convert lines to rows of values.

        Yields
        ------
        Delimited
        """
        name, dialect = self.file.name, self.dialect
        with tempfile.NamedTemporaryFile("w", prefix="committee-", encoding="utf-8", newline="") as copy:
            writer = csv.writer(copy, delimiter=dialect.delimiter)
            with self.file.stream() as stream, decoding(name, dialect.encoding):
                stream.read(self.start)
                text = io.TextIOWrapper(stream, dialect.encoding, newline="")
                lines = chain([text.readline().removeprefix("\ufeff")], text)
                copy.writelines(islice(lines, dialect.n_skipped))
                try:
                    writer.writerows(map(self._unquoted, parse(lines)))
                except csv.Error as error:
                    raise BadTable(f"{name} cannot be read as {self.title}: {error}.") from error
            copy.flush()
            plain = replace(dialect, encoding="utf-8", quote='"', escape=None)
            yield replace(self, file=OpenedFile(name, Path(copy.name)), dialect=plain, start=0)

    def _unquoted(self, row: list[str]) -> list[str]:
        """Return a row that is written without quotes if it is a comment or a single empty value."""
        if row and row[0].startswith(self.comment) and len(row) != len(self.dialect.names):
            return [self.comment] * len(row)
        return [] if row == [""] else row

    def batches(self, names: list[str]) -> Generator[pa.RecordBatch]:
        """Read some columns as batches of text. Raise if a row has too few or too many values.

        Parameters
        ----------
        names : list of str

        Yields
        ------
        pyarrow.RecordBatch
        """
        dialect, wrong_rows = self.dialect, list[pa.csv.InvalidRow]()

        def on_wrong_row(row: pa.csv.InvalidRow) -> str:
            text = row.text.strip()
            if not text or text.startswith(self.comment):
                return "skip"
            wrong_rows.append(row)
            return "error"

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
            invalid_row_handler=on_wrong_row,
        )
        convert = pa.csv.ConvertOptions(
            include_columns=names,
            column_types={name: pa.string() for name in names},
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            null_values=MISSING,
        )
        with self.file.stream() as stream, decoding(self.file.name, dialect.encoding):
            stream.read(self.start)
            try:
                with pa.csv.open_csv(stream, read, parse, convert) as reader:
                    for batch in reader:
                        yield self._without_missing(batch)
            except pa.ArrowInvalid as error:
                raise self._error(" ".join(str(error).split()), wrong_rows) from error

    def _without_missing(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Replace the words of the user for missing values by null."""
        if not self.missing:
            return batch
        columns = [without_words(column, self.missing) for column in batch.columns]
        return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)

    def _error(self, reason: str, wrong_rows: list[pa.csv.InvalidRow]) -> BadTable:
        """Return the error for rows that cannot be read."""
        if "UTF8" in reason:
            return WrongEncoding(self.file.name, self.dialect.encoding)
        if "Empty CSV file" in reason:
            return BadTable(f"{self.file.name} has no rows.")
        problem = self._describe(wrong_rows[0]) if wrong_rows else reason.removeprefix("CSV parse error: ")
        return BadTable(
            f"{self.file.name} cannot be read as {self.title} with {self.dialect.delimiter!r} between "
            f"values: {problem}."
        )

    def _describe(self, row: pa.csv.InvalidRow) -> str:
        """Describe a wrong row. Arrow does not report its line number, so this reads the file again."""
        text = row.text.strip()
        first, *_ = lines_of(text)
        with self.file.stream() as stream:
            lines = enumerate(io.TextIOWrapper(stream, self.dialect.encoding, errors="replace"), start=1)
            number = next((number for number, line in lines if line.strip() == first), None)
        shown = text if len(text) <= LARGEST_SHOWN else f"{text[:LARGEST_SHOWN]}..."
        where = "a row" if number is None else f"line {number}"
        return f"{where} has {row.actual_columns} values instead of {row.expected_columns}: {shown!r}"


@dataclass(frozen=True)
class Gathering:
    """The columns of a file.

    Parameters
    ----------
    columns : dict of str to pyarrow.Array or pyarrow.ChunkedArray
        Text is dictionary-encoded unless most values are distinct.
    decimal : {".", ",", None}
        The decimal sign of the file, None if it has none.
    notes : list of str
        Messages to the user about the sign and about strays.
    formats : dict of str to str
        The formats of amounts and dates.
    """

    columns: dict[str, Column]
    decimal: str | None
    notes: list[str]
    formats: dict[str, str]


def gather(source: Delimited, readings: Mapping[str, Reading], known_decimal: str | None = None) -> Gathering:
    """Read columns of a file.

    Parameters
    ----------
    source : Delimited
    readings : mapping of str to Reading
        The columns to read.
    known_decimal : {".", ",", None}
        The decimal sign in the training table of a model.

    Returns
    -------
    Gathering
    """
    specified = [name for name, each in readings.items() if each.is_specified]

    def sign_of(texts: Mapping[str, pa.Array]) -> DecimalSign:
        return find_sign(texts, specified, source.dialect.delimiter, known_decimal)

    decimal = DecimalSign(source.dialect.decimal, is_proved=True)
    if decimal.sign is None:
        decimal = sign_of(
            first_values(source, [name for name in readings if ColumnKind.NUMBER in readings[name].kinds])
        )
    while True:
        columns = gathered(source, readings, decimal.sign)
        wrong = {name: each.wrong for name, each in columns.items() if each.wrong is not None}
        # A later value may prove a sign that the first values do not prove.
        later = decimal if decimal.is_proved else sign_of(wrong)
        if later.sign in (None, decimal.sign):
            break
        decimal = later
    mixed = [each for each in columns.values() if each.is_mixed]
    for each in mixed:
        if each.name in specified:
            raise each.error()
    columns |= gathered(source, {each.name: Reading((ColumnKind.CATEGORY,)) for each in mixed}, decimal.sign)
    # Arrow keeps freed memory for the next file.
    pa.default_memory_pool().release_unused()
    as_text = {name: text for name, text in wrong.items() if not columns[name].strays.n}
    notes = notes_of_sign(source.file.name, decimal, as_text)
    notes += [each.strays.note(name, each.kind) for name, each in columns.items() if each.strays.n]
    formats = {name: each.form for name, each in columns.items() if each.form}
    return Gathering({name: columns.pop(name).array() for name in readings}, decimal.sign, notes, formats)


def first_values(source: Delimited, names: list[str]) -> dict[str, pa.Array]:
    """Read the text of some columns in the first rows."""
    if not names:
        return {}
    with contextlib.closing(source.batches(names)) as batches:
        first = next(batches, None)
    return {} if first is None else dict(zip(names, first.columns, strict=True))


def gathered(source: Delimited, readings: Mapping[str, Reading], decimal: str | None) -> dict[str, Gathered]:
    """Read columns with one decimal sign."""
    columns = {name: Gathered(name, each, decimal) for name, each in readings.items()}
    for batch in source.batches(list(columns)) if columns else ():
        for name, text in zip(batch.schema.names, batch.columns, strict=True):
            columns[name].append(text)
    return columns


def notes_of_sign(name: str, decimal: DecimalSign, wrong: Mapping[str, pa.Array]) -> list[str]:
    """Report columns that may have the other decimal sign, and columns that are text because they have it."""
    if decimal.sign is None:
        return []
    separator, notes = other_sign(decimal.sign), []
    if decimal.doubtful:
        value = next(iter(decimal.doubtful.values()))
        read = value.replace(separator, "").replace(decimal.sign, POINT)
        notes.append(
            f"{name} has numbers such as {value} in {some(map(repr, decimal.doubtful))}, which are read as "
            f"{read}. No value proves the sign: pass --decimal {separator} if that is wrong."
        )
    for column, text in wrong.items():
        found = find_signs(text)
        if found.possible == separator:
            notes.append(
                f"Column {column!r} of {name} is read as text: {found.example} is not a number with the "
                f"decimal sign {decimal.sign!r}. Pass --decimal {separator} if that is the sign of the file, "
                f"or --types {column}=category if {found.example} is a name."
            )
    return notes


class Gathered:
    """A column that grows while its file is read.

    Parameters
    ----------
    name : str
    reading : Reading
    decimal : {".", ",", None}
    """

    def __init__(self, name: str, reading: Reading, decimal: str | None) -> None:
        self.name, self.kind, self.strays = name, reading.kinds[0], Strays()
        # The first values that are not numbers, or not of the kind of the values before them.
        self.wrong: pa.Array | None = None
        self._reading, self._decimal, self._is_guess = reading, decimal, not reading.is_specified
        self._converters = converters(decimal, is_specified=reading.is_specified, form=reading.form)
        self._convert: Convert | None = None
        self._has_other_kinds = False
        self._numbers = GrowingArray()
        self._chunks: list[pa.Array] = []
        self._n_missing_first = 0
        self._n_rows = self._n_rows_before_wrong = 0

    @property
    def is_mixed(self) -> bool:
        """Whether some values are of another kind, or more than the allowed share."""
        return self._has_other_kinds or self.strays.are_wrong(self._reading)

    @property
    def form(self) -> str:
        """The format of amounts or dates."""
        return self._reading.form or getattr(self._convert, "form", None) or ""

    def append(self, text: pa.Array) -> None:
        """Append the next values."""
        if self._has_other_kinds:
            return
        if self._convert is None and self._are_missing(text):
            self._n_missing_first += len(text)
        else:
            found = self._values(text)
            if found is None:
                self._has_other_kinds = True
                self._keep_wrong(text)
                self._numbers, self._chunks = GrowingArray(), []
                return
            if isinstance(found, np.ndarray):
                self._numbers.append(found)
            else:
                self._chunks.append(found)
        self._n_rows += len(text)

    def array(self) -> Column:
        """Return all values. Numbers have the smallest dtype that holds them."""
        if self._convert is None:
            return pa.nulls(self._n_rows, pa.float64())
        if self.kind is ColumnKind.NUMBER:
            return pa.array(narrowed(self._numbers.whole()))
        chunks, self._chunks = self._chunks, []
        if len({chunk.type for chunk in chunks}) > 1:
            chunks = [chunk.cast(pa.string()) for chunk in chunks]
        return pa.chunked_array([pa.nulls(self._n_missing_first, chunks[0].type), *chunks])

    def error(self) -> BadTable:
        """Return the error for a value that is not of the specified kind."""
        text: pa.Array = self.wrong
        signs = (self._decimal,) if self._decimal else (POINT, COMMA)
        tried = [convert for sign in signs for convert in self._converters_of(sign)]
        if self.kind is not ColumnKind.NUMBER and self._convert is not None:
            tried = [self._convert]
        cells = (text[i : i + 1] for i in range(len(text)))
        wrong = next((i for i, cell in enumerate(cells) if all(each(cell) is None for each in tried)), None)
        form = f" of the format {self._reading.form}" if self._reading.form else ""
        about = f"Column {self.name!r} should be a {self.kind.value}{form}, but"
        if wrong is None:
            return BadTable(f"{about} its values have several formats. Use one of them.")
        about += f" row {self._n_rows_before_wrong + wrong + 1} contains {text[wrong].as_py()!r}"
        possible = find_signs(text[wrong : wrong + 1], is_specified=True).possible
        if self._decimal and possible == other_sign(self._decimal):
            about += f", while the decimal sign is {self._decimal!r}"
            return BadTable(f"{about}. Correct it, or pass --decimal {possible}.")
        if self.strays.n > 1:
            about += f". {self.strays.n} of {self.strays.n_values} values are wrong"
        if self.kind is ColumnKind.DATE and not form:
            return BadTable(f"{about}. If dates have another format, pass it: {self.name}=date:%m/%d/%Y.")
        return BadTable(f"{about}. Correct it, or leave the cell empty.")

    def _converters_of(self, sign: str) -> list[Convert]:
        """Return functions that convert values of the column's kind with a decimal sign."""
        return converters(sign, is_specified=True, form=self._reading.form)[self.kind]

    def _keep_wrong(self, text: pa.Array) -> None:
        """Keep the first text with a value of another kind for messages."""
        if self.wrong is None or self._has_other_kinds:
            self.wrong, self._n_rows_before_wrong = text, self._n_rows

    def _are_missing(self, text: pa.Array) -> bool:
        """Return whether all values are missing, for every possible kind of the column."""
        words = MISSING_UNLESS_TEXT if self._is_guess or self.kind is not ColumnKind.CATEGORY else BLANK
        return bool(cleaned(text, words).null_count == len(text))

    def _values(self, text: pa.Array) -> np.ndarray | pa.Array | None:
        """Return values of the column's kind, or None. The first values of a column decide the kind."""
        if self._reading.most_strays:
            return self._most_values(text)
        if self._convert is not None:
            return self._convert(text)
        for kind in self._reading.kinds:
            # The rows before are read again: in a column of text, words for missing values may be text.
            if kind is ColumnKind.CATEGORY and self._is_guess and self._n_missing_first:
                return None
            for convert in self._converters[kind]:
                found = convert(text)
                if found is not None:
                    self.kind, self._convert = kind, convert
                    if kind is ColumnKind.NUMBER:
                        self._numbers.append(np.full(self._n_missing_first, np.nan))
                    return found
            if kind is ColumnKind.NUMBER:
                self.wrong = text
        return None

    def _most_values(self, text: pa.Array) -> np.ndarray | pa.Array | None:
        """Return values of the only kind, with strays as missing values."""
        tried = self._converters[self.kind] if self._convert is None else [self._convert]
        results = [(*convert_most(text, each), each) for each in tried]
        found, is_stray, chosen = min(results, key=lambda result: result[1].true_count)
        if is_stray.true_count:
            self._keep_wrong(text)
        self.strays = self.strays.with_batch(text, is_stray, self._n_rows)
        if self._convert is None:
            self._convert = chosen
            if self.kind is ColumnKind.NUMBER:
                self._numbers.append(np.full(self._n_missing_first, np.nan))
        return found


class GrowingArray:
    """An array of numbers that grows in place, so that no concatenation doubles its memory.

    Examples
    --------
    >>> array = GrowingArray()
    >>> array.append(np.array([1.0, 2.0]))
    >>> array.append(np.array([3.0]))
    >>> array.whole()
    array([1., 2., 3.])
    """

    def __init__(self) -> None:
        self._room = np.empty(0)
        self._n = 0

    def append(self, values: np.ndarray) -> None:
        """Append values."""
        n = self._n + len(values)
        if n > len(self._room):
            # The operating system can often extend the memory without a copy.
            self._room.resize(max(n, len(self._room) + len(self._room) // 4), refcheck=False)
        self._room[self._n : n] = values
        self._n = n

    def whole(self) -> np.ndarray:
        """Return all values. No more values can be appended."""
        self._room.resize(self._n, refcheck=False)
        return self._room
