"""A cell of a study: one learner, one table, one resample.

In: a table, an estimator, a mask of the rows that are judged on. Out: votes on these rows, by a model that
has seen all others; and, if they are wanted, honest votes on the others, out of fold or out of bag. What a
fit raises is an outcome like any other.

A cell with a limit of time or memory runs in a process of its own, which can be ended. The process stays for
the next cells of the same thread, so that its start is paid once, and is ended when a cell takes too long. It
ends by itself when the process that started it is gone, `kill -9` included.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from committee import running
from committee.assembling.member_fits import fit_fold, fit_in_bags, fitted, has_bags
from committee.assembling.named_members import Member, seeded_by_name
from committee.members.member_votes import votes_of
from committee.members.training_set import TrainingSet
from committee.parameters import is_integer, is_number
from committee.running import Runner, Task, TaskError
from committee.table.input_types import TableLike
from committee.table.schema import take_rows
from committee.votes.folds import drawn_folds
from committee.votes.vote_arrays import dtype_of

# A thread that is asked to stop notices after so long.
SECONDS_BETWEEN_LOOKS = 0.2
_of_thread = threading.local()


@dataclass(frozen=True, order=True)
class Cell:
    """Where an outcome belongs.

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
    """What came of a cell: votes, or an error.

    Parameters
    ----------
    votes : ndarray of shape (n_test_rows, n_outputs), or None
    honest_votes : ndarray of shape (n_train_rows, n_outputs), or None
        NaN in rows that nobody honest has voted on, as trees that have all seen a row.
    fit_seconds, predict_seconds : float
        How long the fit on all rows took, and the votes on those that are judged on. The fit of a rule that
        learns has the honest votes of its members in it.
    seconds : float
        How long all of the cell took, the honest votes included.
    error : str or None
        The type of the error and what it says.
    trace : str or None
        Where it comes from.
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
        """The outcome of a cell that raised."""
        told = " ".join(f"{type(error).__name__}: {error}".split())
        return cls(error=told, trace="".join(traceback.format_exception(error)).rstrip())

    def after(self, others: Sequence[tuple[float, float, float]], *, with_folds: bool) -> Outcome:
        """The outcome with the seconds of the cells that it was made from: of fits, of votes and of all.

        With folds, their honest votes were needed for the fit: all but the votes on new rows is part of it.
        """
        fit, predict, whole = (sum(each) for each in zip(*others, strict=True))
        return replace(
            self,
            fit_seconds=self.fit_seconds + (whole - predict if with_folds else fit),
            predict_seconds=self.predict_seconds + predict,
            seconds=self.seconds + whole,
        )


def run_cell(
    training: TrainingSet, cell: Cell, estimator: object, is_test: np.ndarray, cv: int | None
) -> Outcome:
    """Fit a learner on one resample of a table, and let it vote.

    Parameters
    ----------
    training : TrainingSet
        The whole table.
    cell : Cell
        Its names and number are what all draws depend on.
    estimator : estimator
    is_test : ndarray of bool of shape (n_rows,)
    cv : int, splitter or None
        The folds of honest votes. None: there are none.

    Returns
    -------
    Outcome
    """
    began = time.perf_counter()
    try:
        member = seeded_by_name(Member(cell.learner, estimator), cell.resample)
        found = asked(
            rows_of(training, ~is_test), take_rows(training.X, np.flatnonzero(is_test)), member, cell, cv
        )
        return replace(found, seconds=time.perf_counter() - began)
    except Exception as error:
        return Outcome.failed(error)


def asked(training: TrainingSet, X_test: TableLike, member: Member, cell: Cell, cv: int | None) -> Outcome:
    """The votes of a member that learns from all rows of a training."""
    uses_bags = cv is not None and has_bags(member.estimator)
    began = time.perf_counter()
    if uses_bags:
        model, rows, cast = fit_in_bags(training, member.estimator, None, False)
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
        _, rows, cast = fit_fold(training, member.estimator, None, False, train, held_out, False)
        honest[rows] = cast
    return replace(found, honest_votes=honest)


def rows_of(training: TrainingSet, is_wanted: np.ndarray) -> TrainingSet:
    """Some rows of a training, with all its classes."""
    rows = np.flatnonzero(is_wanted)
    return replace(
        training, X=take_rows(training.X, rows), y=training.y[rows], answers=training.answers[rows]
    )


@dataclass(frozen=True)
class Limits:
    """What a cell may take.

    Parameters
    ----------
    seconds : float or None, default=None
        For all fits of the cell and its votes.
    n_bytes : int or None, default=None
        Of memory, beside the table. Only Linux can hold a process to it.
    """

    seconds: float | None = None
    n_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not (is_number(self.seconds) and self.seconds > 0):
            raise ValueError(f"time_limit must be a number of seconds > 0, or None. Got {self.seconds!r}.")
        if self.n_bytes is not None and not (is_integer(self.n_bytes) and self.n_bytes >= 1):
            raise ValueError(f"memory_limit must be a number of bytes >= 1, or None. Got {self.n_bytes!r}.")
        if self.n_bytes is not None and sys.platform != "linux":
            raise ValueError("memory_limit needs Linux: no other system holds a process to it. Leave it out.")

    @property
    def are_set(self) -> bool:
        """Whether there is any."""
        return self.seconds is not None or self.n_bytes is not None


class TimeLimitError(Exception):
    """A cell has taken longer than it may."""


def run_within(limits: Limits, key: str, training: TrainingSet, cell: Cell, *arguments: Any) -> Outcome:
    """Run a cell in another process, and end it if it takes too long.

    Parameters
    ----------
    limits : Limits
    key : str
        The fingerprint of the table, which is sent to the process once.
    training, cell, *arguments : see `run_cell`

    Returns
    -------
    Outcome
    """
    bench = getattr(_of_thread, "bench", None) or Bench()
    _of_thread.bench = bench
    try:
        return bench.run(limits, key, training, cell, *arguments)
    except Exception as error:
        return Outcome.failed(error)


def end_process() -> None:
    """End the process of this thread, if it has one."""
    bench = getattr(_of_thread, "bench", None)
    if bench is not None:
        bench.end()


class Bench:
    """A process for the cells of one thread, and the table that it knows."""

    def __init__(self) -> None:
        self._runner: Runner | None = None
        self._key = ""
        self._handle: Any = None

    def run(self, limits: Limits, key: str, training: TrainingSet, cell: Cell, *arguments: Any) -> Outcome:
        """Run a cell here."""
        if self._runner is None:
            self._runner = running.runner("processes", 1)
        if key != self._key:
            self._key, self._handle = key, self._runner.put(training)
            # What a process takes to begin, to import and to open the table is not the cell's.
            self._wait(self._runner.submit(begin, self._handle, *arguments), None, cell)
        given = limits.n_bytes, self._handle, cell, *arguments
        outcome: Outcome = self._wait(
            self._runner.submit(run_in_memory, *given, name=str(cell)), limits.seconds, cell
        )
        return outcome

    def _wait(self, task: Task, seconds: float | None, cell: Cell) -> Any:
        """The result of a task, which may take some seconds. Whatever ends the waiting ends the process."""
        assert self._runner is not None
        left = math.inf if seconds is None else seconds
        deadline = time.monotonic() + left
        is_over = False
        try:
            while self._runner.first_completed([task], min(SECONDS_BETWEEN_LOOKS, left)) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeLimitError(f"{cell} took longer than {seconds:g} s.")
            is_over = True
        finally:
            if not is_over:
                self.end()
        return task.result()

    def end(self) -> None:
        """End the process."""
        if self._runner is not None:
            self._runner.close()
        self._runner, self._key, self._handle = None, "", None


def begin(*given: object) -> None:
    """Nothing: a process that has called it has begun, and has imported what it was given."""


def run_in_memory(n_bytes: int | None, training: TrainingSet, cell: Cell, *arguments: Any) -> Outcome:
    """Run a cell in this process, which may take so much memory more than it has."""
    if n_bytes is None:
        return run_cell(training, cell, *arguments)
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + n_bytes, before[1]))
    try:
        outcome = run_cell(training, cell, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    if outcome.error is not None and outcome.error.startswith(("MemoryError", "_ArrayMemoryError")):
        told = f"MemoryError: {cell} takes more than {n_bytes / 1e6:.0f} MB of memory."
        return Outcome(error=told, trace=outcome.trace)
    return outcome


def data_bytes() -> int:
    """What this process has taken of the memory that a limit counts."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status does not tell VmData, so memory_limit cannot be held.")


def outcome_of(task: Task) -> Outcome:
    """What came of the task of a cell: a worker that has died is a failure of its cell."""
    error = task.exception()
    if error is None:
        outcome: Outcome = task.result()
        return outcome
    if isinstance(error, TaskError):
        return Outcome.failed(error)
    raise error
