"""Store a study in one SQLite file. Every finished cell is written in one transaction.

SQLite is part of Python, survives `kill -9` and power failures, and lets several processes write at the same
time. DuckDB would be another dependency and lets only one process write. Votes are in the same file, not in
Parquet files next to it, so that a cell and its votes are stored together or not at all, a study is one file
to copy. A store contains names, numbers and text. Opening it runs no
code.

    facts     the settings of all cells (test_size, cv), the metrics (scoring), and notes
    learners  the recipe (class and parameters) of each learner for each task
    tables    the fingerprint, the classes and y of each table
    splits    the test rows of each resample of a table, as one bit per row
    cells     the times of each cell, or its error and traceback
    votes     the votes on test rows (part "test") and the honest votes ("honest")
    scores    the score of each cell by metric; missing scores are computed from the votes
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from committee.evaluating.study.cell import Outcome, StudyCell
from committee.saving import DamagedFile

FILE = "study.sqlite"
VERSION = 1
SECONDS_TO_WAIT = 60
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS learners (
    name TEXT, task TEXT, recipe TEXT NOT NULL, PRIMARY KEY (name, task));
CREATE TABLE IF NOT EXISTS tables (
    name TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, task TEXT NOT NULL, n_rows INTEGER NOT NULL,
    n_columns INTEGER NOT NULL, classes TEXT, y BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS splits (
    table_name TEXT, resample INTEGER, is_test BLOB NOT NULL, PRIMARY KEY (table_name, resample));
CREATE TABLE IF NOT EXISTS cells (
    learner TEXT, table_name TEXT, resample INTEGER, fit_seconds REAL NOT NULL, predict_seconds REAL NOT NULL,
    seconds REAL NOT NULL, error TEXT, trace TEXT, PRIMARY KEY (learner, table_name, resample));
CREATE TABLE IF NOT EXISTS votes (
    learner TEXT, table_name TEXT, resample INTEGER, part TEXT, numbers BLOB NOT NULL,
    PRIMARY KEY (learner, table_name, resample, part));
CREATE TABLE IF NOT EXISTS scores (
    learner TEXT, table_name TEXT, resample INTEGER, metric TEXT, score REAL,
    PRIMARY KEY (learner, table_name, resample, metric));
"""
# Several processes may run the same cell: a failure in one does not overwrite a result of another.
KEEP_CELL = """
INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (learner, table_name, resample) DO UPDATE SET
    fit_seconds = excluded.fit_seconds, predict_seconds = excluded.predict_seconds,
    seconds = excluded.seconds, error = excluded.error, trace = excluded.trace
WHERE cells.error NOTNULL
"""
VOTES_OF_CELL = "SELECT numbers FROM votes WHERE learner = ? AND table_name = ? AND resample = ? AND part = ?"


@dataclass(frozen=True, eq=False)
class TableRecord:
    """The record of a table in a store.

    Parameters
    ----------
    name, fingerprint : str
    task : {"classification", "regression"}
    n_rows, n_columns : int
    classes : list or None
    y : ndarray of shape (n_rows,)
        Class codes, or numbers.
    """

    name: str
    fingerprint: str
    task: str
    n_rows: int
    n_columns: int
    classes: list[Any] | None
    y: np.ndarray

    @property
    def n_outputs(self) -> int:
        """The number of classes, or 1 for regression."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def dtype(self) -> np.dtype:
        """The dtype of votes."""
        return np.dtype("<f8" if self.classes is None else "<f4")


class Store:
    """The results of a study so far.

    Parameters
    ----------
    folder : path or None
        Created if it does not exist. None keeps the store in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.place = ":memory:"
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            self.place = str(folder / FILE)
        with translated_errors(self.place):
            self._connection = sqlite3.connect(self.place, timeout=SECONDS_TO_WAIT, isolation_level=None)
            # FULL writes the log to the disk before a transaction ends, so finished cells survive a crash.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(TABLES)
        found = self.fact("version")
        if found is None:
            self.set_fact("version", VERSION)
        elif found != VERSION:
            raise DamagedFile(
                f"{self.place} has version {found} of the format, and this committee reads version {VERSION}."
            )

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Write either everything within the block or nothing."""
        with translated_errors(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite rolls back on its own if the disk is full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def query(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with translated_errors(self.place):
            return self._connection.execute(text, values).fetchall()

    def _write(self, text: str, *values: object) -> None:
        """Run one statement in its own transaction."""
        with self.transaction() as connection:
            connection.execute(text, values)

    # Facts, learners, tables

    def fact(self, name: str) -> Any:
        """Return a fact, or None if it is not stored."""
        found = self.query("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(found[0][0]) if found else None

    def set_fact(self, name: str, value: object) -> None:
        """Store a fact, and replace the previous one."""
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def recipes(self) -> dict[tuple[str, str], str]:
        """Return the recipe of each learner for each task."""
        rows = self.query("SELECT name, task, recipe FROM learners ORDER BY rowid")
        return {(name, task): recipe for name, task, recipe in rows}

    def add_learner(self, name: str, task: str, recipe: str) -> None:
        """Store a learner. Raise if another learner has its name."""
        known = self.recipes().get((name, task))
        if known is not None and known != recipe:
            raise ValueError(
                f"Learner {name!r} of the study is {known}, and now it is {recipe}. Give it another name."
            )
        self._write("INSERT OR IGNORE INTO learners VALUES (?, ?, ?)", name, task, recipe)

    def tables(self) -> dict[str, TableRecord]:
        """Return all tables by name."""
        found = {}
        for row in self.query("SELECT * FROM tables ORDER BY rowid"):
            name, fingerprint, task, n_rows, n_columns, written, numbers = row
            classes = None if written is None else json.loads(written)
            y = np.frombuffer(numbers, dtype="<f8" if classes is None else "<i4")
            if len(y) != n_rows or (
                classes is not None and len(y) and not 0 <= y.min() <= y.max() < len(classes)
            ):
                raise DamagedFile(f"{self.place} is damaged: y of table {name!r} does not fit its rows.")
            found[name] = TableRecord(name, fingerprint, task, n_rows, n_columns, classes, y)
        return found

    def add_table(self, table: TableRecord) -> None:
        """Store a table. Raise if another table has its name."""
        known = self.query("SELECT fingerprint FROM tables WHERE name = ?", table.name)
        if known and known[0][0] != table.fingerprint:
            raise ValueError(
                f"Table {table.name!r} is not the table of this name in the study. Give it another name."
            )
        classes = None if table.classes is None else json.dumps(table.classes)
        y = table.y.astype("<f8" if table.classes is None else "<i4").tobytes()
        values = table.name, table.fingerprint, table.task, table.n_rows, table.n_columns, classes, y
        self._write("INSERT OR IGNORE INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def split(self, table: str, resample: int, n_rows: int) -> np.ndarray | None:
        """Return the mask of the test rows of a resample, or None if it is not stored."""
        found = self.query(
            "SELECT is_test FROM splits WHERE table_name = ? AND resample = ?", table, resample
        )
        if not found:
            return None
        bits = np.unpackbits(np.frombuffer(found[0][0], dtype=np.uint8))
        if not n_rows <= len(bits) < n_rows + 8:
            raise DamagedFile(f"{self.place} is damaged: a split of table {table!r} does not fit its rows.")
        return bits[:n_rows].astype(bool)

    def add_split(self, table: str, resample: int, is_test: np.ndarray) -> None:
        """Store the test rows of a resample."""
        bits = np.packbits(is_test).tobytes()
        self._write("INSERT OR IGNORE INTO splits VALUES (?, ?, ?)", table, resample, bits)

    # Cells

    def keep(
        self, cell: StudyCell, outcome: Outcome, scores: Iterable[tuple[str, float]], dtype: np.dtype
    ) -> None:
        """Store a cell with its votes and scores. Replace it if it failed before.

        A finished cell is never replaced, even if the same cell fails in another process.
        """
        of_cell = cell.learner, cell.table, cell.resample
        seconds = outcome.fit_seconds, outcome.predict_seconds, outcome.seconds
        with self.transaction() as connection:
            written = connection.execute(KEEP_CELL, (*of_cell, *seconds, outcome.error, outcome.trace))
            if written.rowcount < 1:
                return
            for part, votes in (("test", outcome.votes), ("honest", outcome.honest_votes)):
                if votes is not None:
                    numbers = np.ascontiguousarray(votes, dtype=dtype).tobytes()
                    connection.execute(
                        "INSERT OR REPLACE INTO votes VALUES (?, ?, ?, ?, ?)", (*of_cell, part, numbers)
                    )
            write_scores(connection, cell, scores)

    def add_scores(self, scores: Iterable[tuple[StudyCell, str, float]]) -> None:
        """Store scores that were computed from votes."""
        with self.transaction() as connection:
            for cell, metric, score in scores:
                write_scores(connection, cell, [(metric, score)])

    def finished(self) -> dict[StudyCell, tuple[float, float, float]]:
        """Return the cells with votes, and the seconds of the fit, of the votes, and of the whole cell."""
        rows = self.query(
            "SELECT resample, table_name, learner, fit_seconds, predict_seconds, seconds FROM cells "
            "WHERE error ISNULL"
        )
        return {StudyCell(*row[:3]): (row[3], row[4], row[5]) for row in rows}

    def failures(self) -> dict[StudyCell, tuple[str, str]]:
        """Return the failed cells, with the error and its traceback."""
        rows = self.query("SELECT resample, table_name, learner, error, trace FROM cells WHERE error NOTNULL")
        return {StudyCell(*row[:3]): (row[3], row[4]) for row in rows}

    def scores(self) -> dict[tuple[StudyCell, str], float]:
        """Return all stored scores by cell and metric. They are NaN if a metric has no value."""
        rows = self.query("SELECT resample, table_name, learner, metric, score FROM scores")
        return {(StudyCell(*row[:3]), row[3]): float("nan") if row[4] is None else row[4] for row in rows}

    def votes(self, cell: StudyCell, part: str, table: TableRecord) -> np.ndarray | None:
        """Return the votes of a cell, or None if there are none."""
        place = cell.learner, cell.table, cell.resample, part
        found = self.query(VOTES_OF_CELL, *place)
        if not found:
            return None
        numbers = np.frombuffer(found[0][0], dtype=table.dtype)
        if len(numbers) % table.n_outputs:
            raise DamagedFile(f"{self.place} is damaged: votes of {cell} do not fit its classes.")
        return numbers.reshape(-1, table.n_outputs)


def write_scores(
    connection: sqlite3.Connection, cell: StudyCell, scores: Iterable[tuple[str, float]]
) -> None:
    """Store the scores of a cell. Scores that are not finite are NULL."""
    rows = [
        (cell.learner, cell.table, cell.resample, metric, score if np.isfinite(score) else None)
        for metric, score in scores
    ]
    connection.executemany("INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)", rows)


@contextmanager
def translated_errors(place: str) -> Iterator[None]:
    """Raise errors of SQLite as errors that name the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(f"Cannot read or write {place}: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise DamagedFile(f"{place} is not a study of committee, or is damaged: {error}.") from error
