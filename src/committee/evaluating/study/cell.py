"""Run a cell of a study: one learner on one resample of one table.

In: a table, an estimator and a mask of the test rows. Out: votes on the test rows by a model fitted on all
other rows and, on request, honest (out-of-fold or out-of-bag) votes on the training rows. If the cell raises
an exception, the exception is its outcome.

A cell with a limit of time or memory runs in a separate process. The process is reused by the next cells of
the same thread, and ended when a cell takes too long. It also ends when its parent process ends, even by
`kill -9`.
"""

from __future__ import annotations

import math
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee import running
from committee.assembling.member_fits import fit_fold, fit_in_bags, fitted, has_bags
from committee.assembling.named_members import Member, seeded_by_name
from committee.members.member_votes import votes_of
from committee.members.training_set import TrainingSet
from committee.running import Runner, Task, TaskError
from committee.table.input_types import TableLike
from committee.table.schema import take_rows
from committee.votes.folds import drawn_folds
from committee.votes.vote_arrays import dtype_of

# The interval at which a waiting thread checks whether it should stop.
SECONDS_BETWEEN_CHECKS = 0.2
_of_thread = threading.local()


@dataclass(frozen=True, order=True)
class StudyCell:
    """One learner on one resample of one table.

    Parameters
    ----------
    resample : int
    table, learner : str
    """

    resample: int
    table: str
    learner: str

    def __str__(self) -> str:
        return f"{self.learner} on {self.table}, resample {self.resample}"


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a cell: votes, or an error.

    Parameters
    ----------
    votes : ndarray of shape (n_test_rows, n_outputs), or None
    honest_votes : ndarray of shape (n_train_rows, n_outputs), or None
        NaN in rows without an honest vote, such as rows that are in the bags of all trees.
    fit_seconds, predict_seconds : float
        The times of the fit on all training rows and of the votes on the test rows. For a rule that needs a
        fit, `fit_seconds` includes the time of its members' honest votes.
    seconds : float
        The time of the whole cell, including the honest votes.
    error : str or None
        The type of the error and its message.
    trace : str or None
        The traceback.
    """

    votes: np.ndarray | None = None
    honest_votes: np.ndarray | None = None
    fit_seconds: float = 0.0
    predict_seconds: float = 0.0
    seconds: float = 0.0
    error: str | None = None
    trace: str | None = None

    @classmethod
    def failed(cls, error: BaseException) -> Outcome:
        """Return the outcome of a cell that raised an error."""
        return cls(error=one_line(error), trace="".join(traceback.format_exception(error)).rstrip())

    def after(self, others: Sequence[tuple[float, float, float]], *, with_folds: bool) -> Outcome:
        """Add the times of other cells: of their fits, of their votes, and of the whole cells.

        With folds, the fit needed the honest votes of these cells, so its time includes everything except
        their votes on test rows.
        """
        fit, predict, whole = (sum(each) for each in zip(*others, strict=True))
        return replace(
            self,
            fit_seconds=self.fit_seconds + (whole - predict if with_folds else fit),
            predict_seconds=self.predict_seconds + predict,
            seconds=self.seconds + whole,
        )


def one_line(error: BaseException) -> str:
    """Return the type and the message of an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())


def run_cell(
    training: TrainingSet, cell: StudyCell, estimator: object, is_test: np.ndarray, cv: int | None
) -> Outcome:
    """Fit a learner on one resample of a table, and return its votes.

    Parameters
    ----------
    training : TrainingSet
        The whole table.
    cell : StudyCell
        Random seeds depend only on its resample and names.
    estimator : estimator
    is_test : ndarray of bool of shape (n_rows,)
    cv : int, splitter or None
        The folds for honest votes. None skips honest votes.

    Returns
    -------
    Outcome
    """
    began = time.perf_counter()
    try:
        member = seeded_by_name(Member(cell.learner, estimator), cell.resample)
        X_test = take_rows(training.X, np.flatnonzero(is_test))
        found = fit_and_vote(rows_of(training, ~is_test), X_test, member, cell, cv)
        return replace(found, seconds=time.perf_counter() - began)
    except Exception as error:
        return Outcome.failed(error)


def fit_and_vote(
    training: TrainingSet, X_test: TableLike, member: Member, cell: StudyCell, cv: int | None
) -> Outcome:
    """Fit a member on a training set, and return its votes on test rows."""
    uses_bags = cv is not None and has_bags(member.estimator)
    began = time.perf_counter()
    if uses_bags:
        model, rows, cast, _ = fit_in_bags(training, member.estimator, None, False)
    else:
        model = fitted(member.estimator, training, training.X, training.rows)
    fit_seconds = time.perf_counter() - began
    began = time.perf_counter()
    votes: np.ndarray = votes_of(model, X_test, training.task).astype(dtype_of(training.task))
    predict_seconds = time.perf_counter() - began
    found = Outcome(votes, None, fit_seconds, predict_seconds)
    if cv is None:
        return found
    shape = training.n_rows, training.task.n_outputs
    honest: np.ndarray = np.full(shape, np.nan, dtype=dtype_of(training.task))
    if uses_bags:
        honest[rows] = cast
        return replace(found, honest_votes=honest)
    every, rng = np.arange(training.n_rows), np.random.default_rng([cell.resample, 1])
    for train, held_out in drawn_folds(cv, every, training.y, None, rng, is_class_task=training.are_classes):
        _, rows, cast, _ = fit_fold(training, member.estimator, None, False, train, held_out, False)
        honest[rows] = cast
    return replace(found, honest_votes=honest)


def rows_of(training: TrainingSet, is_wanted: np.ndarray) -> TrainingSet:
    """Return some rows of a training set, without changing its classes."""
    rows = np.flatnonzero(is_wanted)
    return replace(
        training, X=take_rows(training.X, rows), y=training.y[rows], answers=training.answers[rows]
    )


class TimeLimitError(Exception):
    """A cell exceeded its time limit."""


def run_within(seconds: float, key: str, training: TrainingSet, cell: StudyCell, *arguments: Any) -> Outcome:
    """Run a cell in another process, and end it if it takes too long.

    Parameters
    ----------
    seconds : float
        The time limit of all fits and votes of the cell.
    key : str
        The fingerprint of the table. The table is sent to the process once.
    training, cell, *arguments : see `run_cell`

    Returns
    -------
    Outcome
    """
    if not hasattr(_of_thread, "process"):
        _of_thread.process = CellProcess()
    try:
        outcome: Outcome = _of_thread.process.run(seconds, key, training, cell, *arguments)
        return outcome
    except Exception as error:
        return Outcome.failed(error)


def end_process() -> None:
    """End the process of this thread, if there is one."""
    if hasattr(_of_thread, "process"):
        _of_thread.process.end()


class CellProcess:
    """A process for the cells of one thread, and the table that it has received."""

    def __init__(self) -> None:
        self._runner: Runner | None = None
        self._key = ""
        self._handle: Any = None

    def run(
        self, seconds: float, key: str, training: TrainingSet, cell: StudyCell, *arguments: Any
    ) -> Outcome:
        """Run a cell in the process."""
        if self._runner is None:
            self._runner = running.runner("processes", 1)
        if key != self._key:
            self._key, self._handle = key, self._runner.put(training)
            # The time limit of a cell does not include the start of the process, imports and the table.
            self._wait(self._runner.submit(begin, self._handle, *arguments), None, cell)
        task = self._runner.submit(run_cell, self._handle, cell, *arguments, name=str(cell))
        outcome: Outcome = self._wait(task, seconds, cell)
        return outcome

    def _wait(self, task: Task, seconds: float | None, cell: StudyCell) -> Any:
        """Return the result of a task within a time limit. Every error ends the process."""
        assert self._runner is not None
        left = math.inf if seconds is None else seconds
        deadline = time.monotonic() + left
        try:
            while self._runner.first_completed([task], min(SECONDS_BETWEEN_CHECKS, left)) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeLimitError(f"{cell} took longer than {seconds:g} s.")
        except BaseException:
            self.end()
            raise
        return task.result()

    def end(self) -> None:
        """End the process."""
        if self._runner is not None:
            self._runner.close()
        self._runner, self._key, self._handle = None, "", None


def begin(*given: object) -> None:
    """Do nothing, so that a process starts and imports the classes of its arguments."""


def outcome_of(task: Task) -> Outcome:
    """Return the outcome of the task of a cell. A worker that died is a failure of its cell."""
    error = task.exception()
    if error is None:
        outcome: Outcome = task.result()
        return outcome
    if isinstance(error, TaskError):
        return Outcome.failed(error)
    raise error
