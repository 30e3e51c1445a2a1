"""A cell of a study: one learner, one table, one resample.

In: a table, an estimator, a mask of the rows that are judged on. Out: votes on these rows, by a model that
has seen all others; and, if they are wanted, honest votes on the others, out of fold or out of bag. What a
fit raises is an outcome like any other.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.assembling.fitting import fit_fold, fit_in_bags, fitted, has_bags
from committee.assembling.members import Member, seeded_by_name
from committee.members.lesson import Lesson
from committee.members.seeing import take_rows
from committee.members.votes import votes_of
from committee.votes.arrays import dtype_of
from committee.votes.folds import drawn_folds


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


def run_cell(lesson: Lesson, cell: Cell, estimator: Any, is_test: np.ndarray, cv: Any) -> Outcome:
    """Fit a learner on one resample of a table, and let it vote.

    Parameters
    ----------
    lesson : Lesson
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
            rows_of(lesson, ~is_test), take_rows(lesson.X, np.flatnonzero(is_test)), member, cell, cv
        )
        return replace(found, seconds=time.perf_counter() - began)
    except Exception as error:
        return Outcome.failed(error)


def asked(lesson: Lesson, X_test: Any, member: Member, cell: Cell, cv: Any) -> Outcome:
    """The votes of a member that learns from all rows of a lesson."""
    uses_bags = cv is not None and has_bags(member.estimator)
    began = time.perf_counter()
    if uses_bags:
        model, rows, cast = fit_in_bags(lesson, member.estimator, None, False)
    else:
        model = fitted(member.estimator, lesson, lesson.X, lesson.rows)
    fit_seconds = time.perf_counter() - began
    began = time.perf_counter()
    votes: np.ndarray = votes_of(model, X_test, lesson.task).astype(dtype_of(lesson.task))
    predict_seconds = time.perf_counter() - began
    found = Outcome(votes, None, fit_seconds, predict_seconds)
    if cv is None:
        return found
    shape = lesson.n_rows, lesson.task.n_outputs
    honest: np.ndarray = np.full(shape, np.nan, dtype=dtype_of(lesson.task))
    if uses_bags:
        honest[rows] = cast
        return replace(found, honest_votes=honest)
    every, rng = np.arange(lesson.n_rows), np.random.default_rng([cell.resample, 1])
    for train, held_out in drawn_folds(cv, every, lesson.y, None, rng, is_class_task=lesson.are_classes):
        _, rows, cast = fit_fold(lesson, member.estimator, None, False, train, held_out, False)
        honest[rows] = cast
    return replace(found, honest_votes=honest)


def rows_of(lesson: Lesson, is_wanted: np.ndarray) -> Lesson:
    """Some rows of a lesson, with all its classes."""
    rows = np.flatnonzero(is_wanted)
    return replace(lesson, X=take_rows(lesson.X, rows), y=lesson.y[rows], answers=lesson.answers[rows])
