"""What is voted on: the answers of one table, and the split that says which rows each fold holds out.

A `Poll` has fingerprints of table, split and test rows, so that votes on others are known for what they are.
It holds no row of the table.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from committee.members.lesson import Lesson
from committee.members.votes import Task
from committee.saving import Data, Fields
from committee.saving.codec import Decoder, Encoder
from committee.saving.container import read_container, write_container
from committee.saving.errors import require
from committee.saving.plain import with_keys
from committee.table import Schema, read_like
from committee.task import Classification, Regression, check_lengths, check_target
from committee.votes.folds import Fold, split_print


@dataclass(frozen=True, eq=False)
class Poll:
    """What is voted on.

    Parameters
    ----------
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None
    groups : ndarray of int of shape (n_rows,), or None
    held_out : list of ndarray of int
        The rows that each fold holds out.
    n_test_rows : int
    y_test : ndarray of shape (n_test_rows,), or None
    table, split, test : str
        Fingerprints: of the table with y and weights, of the folds with groups, of the test rows.
    """

    task: Task
    y: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    held_out: list[np.ndarray]
    n_test_rows: int
    y_test: np.ndarray | None
    table: str
    split: str
    test: str

    @classmethod
    def of(cls, lesson: Lesson, folds: list[Fold], X_test: Any = None, y_test: Any = None) -> Poll:
        """The poll on a table that is held out in folds, and on test rows."""
        n_test_rows, answers, test = 0, None, ""
        if X_test is not None:
            rows = read_like(X_test, lesson.schema)
            answers = None if y_test is None else test_answers(y_test, lesson.task, rows.n_rows)
            n_test_rows = rows.n_rows
            # Without the answers, which may become known later.
            alone = Data.of(rows, np.full(n_test_rows, np.nan), None)
            test = table_print(alone, lesson.schema, lesson.task)
        return cls(
            lesson.task,
            lesson.y,
            lesson.weights,
            lesson.groups,
            [held_out for _, held_out in folds],
            n_test_rows,
            answers,
            table_print(lesson.data, lesson.schema, lesson.task),
            split_print(folds, lesson.groups),
            test,
        )

    @property
    def n_rows(self) -> int:
        """The number of rows of the table."""
        return len(self.y)

    @property
    def key(self) -> str:
        """What every ballot of this poll carries."""
        return f"{self.table}-{self.split}-{self.test}"

    @cached_property
    def is_held_out(self) -> np.ndarray:
        """For each row, whether some fold holds it out."""
        found = np.zeros(self.n_rows, dtype=bool)
        for rows in self.held_out:
            found[rows] = True
        return found

    def check_same(self, other: Poll, folder: Path) -> None:
        """Raise if a folder, which has this poll, is to be used for another."""
        are_alike = self.y_test is None or other.y_test is None or np.array_equal(self.y_test, other.y_test)
        for what, is_same in (
            ("another table", self.table == other.table),
            ("another split of this table", self.split == other.split),
            ("other test rows", self.test == other.test),
            ("test rows with other answers", are_alike),
        ):
            if not is_same:
                raise ValueError(f"The folder {folder} holds votes on {what}. Use a folder of its own.")

    def write(self, path: Path) -> None:
        """Write the poll to a file."""
        encoder = Encoder()
        parts = {part.name: getattr(self, part.name) for part in fields(self)}
        write_container(path, {"poll": encoder.named(parts, "poll")}, encoder.arrays)

    @classmethod
    def read(cls, path: Path) -> Poll:
        """Read the poll of a file, each part checked."""
        description, arrays = read_container(path)
        decoder = Decoder(arrays)
        parts = Fields(decoder.named(with_keys(description, {"poll"}, "poll")["poll"], "poll"), "poll")
        decoder.finish()
        task: Any = parts.take("task", object)
        require(isinstance(task, Classification | Regression), f"{path} is of no task")
        are_classes = isinstance(task, Classification)
        dtype = np.int32 if are_classes else np.float64
        y = parts.array("y", dtype, (None,))
        n_test_rows = parts.integer("n_test_rows", 0, 2**48)
        found = cls(
            task,
            y,
            parts.optional_array("weights", np.float64, y.shape),
            parts.optional_array("groups", np.int64, y.shape),
            parts.take("held_out", list),
            n_test_rows,
            parts.optional_array("y_test", dtype, (n_test_rows,)),
            *(parts.take(name, str) for name in ("table", "split", "test")),
        )
        parts.finish()
        for rows in found.held_out:
            are_rows = isinstance(rows, np.ndarray) and rows.dtype == np.int64 and rows.ndim == 1
            require(are_rows and len(rows) and 0 <= rows.min() <= rows.max() < len(y), "A fold has no rows")
        if are_classes:
            for codes in (y, found.y_test):
                are_codes = codes is None or ((codes >= 0) & (codes < task.n_outputs)).all()
                require(are_codes, f"{path} has answers of no class")
        require(found.weights is None or (found.weights >= 0).all(), f"{path} has a negative weight")
        return found


def test_answers(y_test: Any, task: Task, n_rows: int) -> np.ndarray:
    """The answers to the test rows as codes or numbers.

    Examples
    --------
    >>> test_answers(["no", "perhaps"], Classification.of(["no", "yes"])[0], n_rows=2)
    Traceback (most recent call last):
    ValueError: y_test has 'perhaps', and the classes are ['no', 'yes'].
    """
    if isinstance(task, Regression):
        answers: np.ndarray = Regression.of(y_test, "y_test")[1]
        check_lengths(n_rows, answers)
        return answers
    labels = check_target(y_test, "y_test")
    check_lengths(n_rows, labels)
    codes = {label: code for code, label in enumerate(task.classes.tolist())}
    for label in labels.tolist():
        if label not in codes:
            raise ValueError(f"y_test has {label!r}, and the classes are {task.classes.tolist()}.")
    return np.array([codes[label] for label in labels.tolist()], dtype=np.int32)


def table_print(data: Data, schema: Schema, task: Task) -> str:
    """A fingerprint of the values, the columns and, if there are any, the classes of a table."""
    classes = repr(task.classes.tolist()) if isinstance(task, Classification) else ""
    text = json.dumps([data.fingerprint, columns_text(schema), classes])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def columns_text(schema: Schema) -> list[Any]:
    """Names, kinds and categories of columns, as JSON can hold them."""
    return [[column.name, column.kind.value, repr(column.categories)] for column in schema.columns]
