"""The tables of a study: each has a name and is read when its cells are to be run, or is in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.assembling.ballots import table_print
from committee.evaluating.store import TableRecord
from committee.members.lesson import Lesson
from committee.task import Classification, Regression, check_target

TASKS = {"classification": Classification, "regression": Regression}


@dataclass(frozen=True, eq=False)
class StudyTable:
    """A table of a study.

    Parameters
    ----------
    name : str
    load : callable
        Gives X, y and the task, or None for the task that y tells.
    """

    name: str
    load: Callable[[], tuple[Any, Any, str | None]]

    def read(self) -> tuple[Lesson, TableRecord]:
        """The table as learners see it, and what a store knows of it."""
        try:
            X, y, task = self.load()
            found = task_of(y) if task is None else task
            lesson = Lesson.of(TASKS[found], X, y, None, None)
        except (ValueError, TypeError) as error:
            raise type(error)(f"Table {self.name!r}: {error}") from error
        classes = lesson.task.classes.tolist() if isinstance(lesson.task, Classification) else None
        if classes is not None and len(classes) < 2:
            raise ValueError(f"Table {self.name!r} has one class, {classes[0]!r}: there is nothing to learn.")
        fingerprint = table_print(lesson.data, lesson.schema, lesson.task)
        return lesson, TableRecord(
            self.name, fingerprint, found, lesson.n_rows, lesson.schema.n_columns, classes, lesson.y
        )


def tables_of(given: Any) -> list[StudyTable]:
    """The tables that a user gives.

    Parameters
    ----------
    given : mapping of str to table, or iterable of StudyTable
        A table is (X, y), (X, y, task), or a function that gives either.

    Returns
    -------
    list of StudyTable

    Examples
    --------
    >>> tables_of({"small": ([[1.0], [2.0]], [0.5, 1.5])})[0].read()[1].task
    'regression'
    """
    if not isinstance(given, Mapping):
        found = list(given) if isinstance(given, Iterable) else [given]
        if not all(isinstance(each, StudyTable) for each in found):
            raise ValueError("tables must be a dict from names to (X, y), or to functions that give it.")
        return found
    return [StudyTable(str(name), loader(str(name), table)) for name, table in given.items()]


def loader(name: str, table: Any) -> Callable[[], tuple[Any, Any, str | None]]:
    """A function that gives X, y and the task, of what a user gives as a table."""

    def load() -> tuple[Any, Any, str | None]:
        found = table() if callable(table) else table
        if not isinstance(found, tuple | list) or len(found) not in (2, 3):
            raise ValueError("it must be (X, y) or (X, y, task), or a function that gives one of them.")
        task = found[2] if len(found) == 3 else None
        if task not in (None, *TASKS):
            raise ValueError(f"its task must be one of {', '.join(TASKS)}. Got {task!r}.")
        return found[0], found[1], task

    return load


def task_of(y: Any) -> str:
    """What the task is, by y alone: numbers with a fraction are a regression, all else are classes.

    Examples
    --------
    >>> task_of([0, 1, 2]), task_of([0.5, 1.0]), task_of(["a", "b"])
    ('classification', 'regression', 'classification')
    """
    values = check_target(y)
    is_broken = values.dtype.kind == "f" and bool((values != np.floor(values)).any())
    return "regression" if is_broken else "classification"
