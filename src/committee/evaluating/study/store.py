"""The store of a study: one SQLite file, to which every finished cell is written in one transaction.

SQLite, because it comes with Python, survives `kill -9` and the loss of power, and lets several processes
write at the same time; DuckDB would be one library more, and lets one process write. Votes are in it too,
and not in Parquet files beside it: so a cell and its votes are there both or neither, a study is one file to
copy, and two are merged cell by cell. What is kept are names, numbers and text. No code is run by opening a
store.

    facts     what holds for all cells (test_size, cv), the metrics (scoring), and notes
    learners  the recipe of each learner for each task: another recipe needs another name
    tables    the fingerprint, the classes and y of each table
    splits    which rows a resample of a table judges on, a bit for each
    cells     how each ended: seconds, or the error and its traceback
    votes     those on the rows that are judged on (part "test") and the honest ones ("honest")
    scores    by metric; what is not here is computed from the votes
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

from committee.evaluating.study.cell import Cell, Outcome
from committee.saving import DamagedFile

# What must be the same in two stores that are merged.
SETTINGS = ("test_size", "cv")
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
# Several processes may run the same cell: what has finished is not lost by the failure of another.
KEEP_CELL = """
INSERT INTO cells VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (learner, table_name, resample) DO UPDATE SET
    fit_seconds = excluded.fit_seconds, predict_seconds = excluded.predict_seconds,
    seconds = excluded.seconds, error = excluded.error, trace = excluded.trace
WHERE cells.error NOTNULL
"""
OF_CELL = "learner = ? AND table_name = ? AND resample = ?"


@dataclass(frozen=True, eq=False)
class TableRecord:
    """What a store knows of a table.

    Parameters
    ----------
    name, fingerprint : str
    task : {"classification", "regression"}
    n_rows, n_columns : int
    classes : list or None
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
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
        """The number of classes, or 1."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def dtype(self) -> np.dtype:
        """That of votes."""
        return np.dtype("<f8" if self.classes is None else "<f4")


class Store:
    """What a study has done so far.

    Parameters
    ----------
    folder : path or None
        It is made if it is not there. None keeps all in memory.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        place = ":memory:"
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            place = str(folder / FILE)
        self.place = place
        with speaking(place):
            self._connection = sqlite3.connect(place, timeout=SECONDS_TO_WAIT, isolation_level=None)
            # The log is written ahead, and is on the disk before a cell counts as finished.
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")
            self._connection.executescript(TABLES)
        found = self.fact("version")
        if found is None:
            self.set_fact("version", VERSION)
        elif found != VERSION:
            raise DamagedFile(f"{place} has version {found} of a study, and this committee reads {VERSION}.")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All that is written within the block is there afterwards, or nothing of it."""
        with speaking(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself if the disk is full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def ask(self, text: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows that a question is answered with."""
        with speaking(self.place):
            return self._connection.execute(text, values).fetchall()

    def _write(self, text: str, *values: object) -> None:
        """Run one statement in a transaction of its own."""
        with self.transaction() as connection:
            connection.execute(text, values)

    # Facts, learners, tables

    def fact(self, name: str) -> Any:
        """A fact; None if it is not known."""
        found = self.ask("SELECT value FROM facts WHERE name = ?", name)
        return json.loads(found[0][0]) if found else None

    def set_fact(self, name: str, value: object) -> None:
        """Write a fact down, in place of what was known."""
        self._write("INSERT OR REPLACE INTO facts VALUES (?, ?)", name, json.dumps(value))

    def recipes(self) -> dict[tuple[str, str], str]:
        """The recipe of each learner for each task."""
        rows = self.ask("SELECT name, task, recipe FROM learners ORDER BY rowid")
        return {(name, task): recipe for name, task, recipe in rows}

    def add_learner(self, name: str, task: str, recipe: str) -> None:
        """Write a learner down, or raise if its name is that of another."""
        known = self.recipes().get((name, task))
        if known is not None and known != recipe:
            raise ValueError(
                f"Learner {name!r} of the study is {known}, and now it is {recipe}. Give it another name."
            )
        self._write("INSERT OR IGNORE INTO learners VALUES (?, ?, ?)", name, task, recipe)

    def tables(self) -> dict[str, TableRecord]:
        """All tables, by name."""
        found = {}
        for row in self.ask("SELECT * FROM tables ORDER BY rowid"):
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
        """Write a table down, or raise if its name is that of another."""
        known = self.ask("SELECT fingerprint FROM tables WHERE name = ?", table.name)
        if known and known[0][0] != table.fingerprint:
            raise ValueError(
                f"Table {table.name!r} is not the one that the study has results on. Give it another name."
            )
        classes = None if table.classes is None else json.dumps(table.classes)
        y = table.y.astype("<f8" if table.classes is None else "<i4").tobytes()
        values = table.name, table.fingerprint, table.task, table.n_rows, table.n_columns, classes, y
        self._write("INSERT OR IGNORE INTO tables VALUES (?, ?, ?, ?, ?, ?, ?)", *values)

    def split(self, table: str, resample: int, n_rows: int) -> np.ndarray | None:
        """A mask of the rows that a resample judges on, if it is known."""
        found = self.ask("SELECT is_test FROM splits WHERE table_name = ? AND resample = ?", table, resample)
        if not found:
            return None
        bits = np.unpackbits(np.frombuffer(found[0][0], dtype=np.uint8))
        if not n_rows <= len(bits) < n_rows + 8:
            raise DamagedFile(f"{self.place} is damaged: a split of table {table!r} does not fit its rows.")
        return bits[:n_rows].astype(bool)

    def add_split(self, table: str, resample: int, is_test: np.ndarray) -> None:
        """Write down which rows a resample judges on."""
        bits = np.packbits(is_test).tobytes()
        self._write("INSERT OR IGNORE INTO splits VALUES (?, ?, ?)", table, resample, bits)

    # Cells

    def keep(
        self, cell: Cell, outcome: Outcome, scores: Iterable[tuple[str, float]], dtype: np.dtype
    ) -> None:
        """Write a cell down, with its votes and scores, in place of one that failed.

        A cell that has finished stays as it is, whatever came of it in another process.
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

    def add_scores(self, scores: Iterable[tuple[Cell, str, float]]) -> None:
        """Write scores down that were computed from votes."""
        with self.transaction() as connection:
            for cell, metric, score in scores:
                write_scores(connection, cell, [(metric, score)])

    def finished(self) -> dict[Cell, tuple[float, float, float]]:
        """The cells that have votes, with the seconds of the fit, of the votes, and of all of the cell."""
        rows = self.ask(
            "SELECT resample, table_name, learner, fit_seconds, predict_seconds, seconds FROM cells "
            "WHERE error ISNULL"
        )
        return {Cell(*row[:3]): (row[3], row[4], row[5]) for row in rows}

    def failures(self) -> dict[Cell, tuple[str, str]]:
        """The cells that failed, with the error and its traceback."""
        rows = self.ask("SELECT resample, table_name, learner, error, trace FROM cells WHERE error NOTNULL")
        return {Cell(*row[:3]): (row[3], row[4]) for row in rows}

    def scores(self) -> dict[tuple[Cell, str], float]:
        """All scores that are written down, by cell and metric; NaN where a metric has no value."""
        rows = self.ask("SELECT resample, table_name, learner, metric, score FROM scores")
        return {(Cell(*row[:3]), row[3]): float("nan") if row[4] is None else row[4] for row in rows}

    def votes(self, cell: Cell, part: str, table: TableRecord) -> np.ndarray | None:
        """The votes of a cell, if it has some."""
        found = self.ask(
            f"SELECT numbers FROM votes WHERE {OF_CELL} AND part = ?",
            *(cell.learner, cell.table, cell.resample, part),
        )
        if not found:
            return None
        numbers = np.frombuffer(found[0][0], dtype=table.dtype)
        if len(numbers) % table.n_outputs:
            raise DamagedFile(f"{self.place} is damaged: votes of {cell} do not fit its classes.")
        return numbers.reshape(-1, table.n_outputs)


def write_scores(connection: sqlite3.Connection, cell: Cell, scores: Iterable[tuple[str, float]]) -> None:
    """Write down the scores of a cell; what is no number is NULL."""
    connection.executemany(
        "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?)",
        [
            (cell.learner, cell.table, cell.resample, metric, score if np.isfinite(score) else None)
            for metric, score in scores
        ],
    )


@contextmanager
def speaking(place: str) -> Iterator[None]:
    """Errors of SQLite as errors that name the file."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OSError(f"Cannot read or write {place}: {error}.") from error
    except sqlite3.DatabaseError as error:
        raise DamagedFile(f"{place} is not a study of committee's, or is damaged: {error}.") from error


def merge(store: Store, other: Store) -> int:
    """Add what another store has to a store.

    Parameters
    ----------
    store, other : Store
        The other stays as it is. Nothing is added if the two contradict each other.

    Returns
    -------
    int
        How many finished cells were added.
    """
    conflict = next(conflicts(store, other), None)
    if conflict is not None:
        raise ValueError(f"{other.place} cannot be merged into {store.place}: {conflict}")
    for name in SETTINGS:
        store.set_fact(name, other.fact(name))
    for (name, task), recipe in other.recipes().items():
        store.add_learner(name, task, recipe)
    tables = other.tables()
    for table in tables.values():
        store.add_table(table)
    for name, resample in other.ask("SELECT table_name, resample FROM splits"):
        is_test = other.split(name, resample, tables[name].n_rows)
        assert is_test is not None
        store.add_split(name, resample, is_test)
    here, failed = store.finished(), store.failures()
    scores: dict[Cell, list[tuple[str, float]]] = {}
    for (cell, metric), score in other.scores().items():
        scores.setdefault(cell, []).append((metric, score))
    n_added = 0
    for cell, seconds in other.finished().items():
        if cell in here:
            continue
        table = tables[cell.table]
        votes, honest = (other.votes(cell, part, table) for part in ("test", "honest"))
        store.keep(cell, Outcome(votes, honest, *seconds), scores.get(cell, []), table.dtype)
        n_added += 1
    for cell, (error, trace) in other.failures().items():
        if cell not in here and cell not in failed:
            store.keep(cell, Outcome(error=error, trace=trace), [], tables[cell.table].dtype)
    return n_added


def conflicts(store: Store, other: Store) -> Iterator[str]:
    """What contradicts, a line for each."""
    for name in SETTINGS:
        ours, theirs = store.fact(name), other.fact(name)
        if ours is not None and theirs is not None and ours != theirs:
            yield f"{name} is {theirs[0]} there, and {ours[0]} here."
    recipes = store.recipes()
    for (name, task), recipe in other.recipes().items():
        known = recipes.get((name, task), recipe)
        if known != recipe:
            yield f"learner {name!r} is {recipe} there, and {known} here."
    tables, others = store.tables(), other.tables()
    for name, table in others.items():
        if name in tables and tables[name].fingerprint != table.fingerprint:
            yield f"table {name!r} is another one there."
    for name, resample in other.ask("SELECT table_name, resample FROM splits"):
        n_rows = others[name].n_rows
        if not are_same(*(each.split(name, resample, n_rows) for each in (store, other))):
            yield f"resample {resample} of table {name!r} judges on other rows there."
    for cell in store.finished().keys() & other.finished().keys():
        for part in ("test", "honest"):
            if not are_same(*(each.votes(cell, part, others[cell.table]) for each in (store, other))):
                yield f"{cell} has other votes there."


def are_same(known: np.ndarray | None, found: np.ndarray | None) -> bool:
    """Whether two arrays do not contradict each other: one of them may be missing."""
    return known is None or found is None or np.array_equal(known, found, equal_nan=known.dtype.kind == "f")
