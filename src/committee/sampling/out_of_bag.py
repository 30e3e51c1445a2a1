"""The out-of-bag decision: for each row, what the trees say that have not seen it (Breiman 2001)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score

from committee import _engine
from committee.combining.fixed_rules import one_hot
from committee.learners.training_data import Training
from committee.metrics.row_losses import NoValueError
from committee.metrics.scoring import (
    check_scoring,
    is_made_scorer,
    metric_of,
    name_of_function,
    takes_arguments,
)
from committee.saving import Fields
from committee.task import NUMERIC, Classification, Regression


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """The decisions of the trees that have not seen a row, and what they tell of the forest.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        The votes of those trees.
    counts : ndarray of shape (n_rows,)
        How many trees they are.
    curve : ndarray of shape (n_trees,)
        The error of these sums after every tree: the misclassified share of the rows, or the mean squared
        error.
    losses : ndarray of shape (n_trees, n_columns), or None
        How much the error of each tree grows when a column is shuffled.
    score : float
        The metric on the rows that have a decision.
    """

    sums: np.ndarray
    counts: np.ndarray
    curve: np.ndarray
    losses: np.ndarray | None
    score: float

    @classmethod
    def of(
        cls,
        votes: _engine.OutOfBagVotes,
        training: Training,
        metric: Any,
        decision: np.ndarray | None,
        losses: np.ndarray | None = None,
    ) -> Self:
        """Take the out-of-bag votes from what the engine returns; a rule may have decided otherwise."""
        sums, counts = votes.sums, votes.counts
        score = score_of(means(sums, counts) if decision is None else decision, training, metric)
        return cls(sums, counts, votes.curve, losses, score)

    @classmethod
    def take(cls, fields: Fields, n_trees: int, n_columns: int, n_outputs: int) -> Self:
        """Take the out-of-bag decisions of a forest from a saved file."""
        sums = fields.array("sums", np.float64, (None, n_outputs))
        taken = cls(
            sums,
            fields.array("counts", np.uint32, (len(sums),)),
            fields.array("curve", np.float64, (n_trees,), finite=False),
            fields.optional_array("losses", np.float64, (n_trees, n_columns)),
            fields.take("score", float),
        )
        fields.finish()
        return taken

    @property
    def decision(self) -> np.ndarray:
        """The decision for each row, of shape (n_rows, n_outputs); NaN for a row that all trees have seen."""
        return means(self.sums, self.counts)

    @property
    def votes(self) -> _engine.OutOfBagVotes:
        """The votes, to which the engine can add those of further trees."""
        return _engine.OutOfBagVotes(self.sums, self.counts, self.curve)


@dataclass(frozen=True, eq=False)
class Tally:
    """The out-of-bag votes of members that come one after the other, summed as the engine sums trees'.

    Parameters
    ----------
    training : Training
    is_majority : bool
        Whether each counts for the class alone that it is highest for.
    sums : ndarray of shape (n_rows, n_outputs)
    counts : ndarray of uint32 of shape (n_rows,)
    curve : tuple of float
        The error after every member.

    Examples
    --------
    >>> from committee.table import read
    >>> task, y = Classification.of(["a", "b"])
    >>> tally = Tally.of(Training(read([[1], [2]]), task, y, None), None, False)
    >>> tally = tally.and_then(np.array([1]), np.array([[0.7, 0.3]]))
    >>> tally.and_then(np.array([1]), np.array([[0.0, 1.0]])).curve
    (1.0, 0.0)
    """

    training: Training
    is_majority: bool
    sums: np.ndarray
    counts: np.ndarray
    curve: tuple[float, ...]

    @classmethod
    def of(cls, training: Training, before: OutOfBag | None, is_majority: bool) -> Self:
        """The votes of the members of the previous fit, or none."""
        if before is not None:
            return cls(training, is_majority, before.sums, before.counts, tuple(before.curve))
        n_rows = training.table.n_rows
        sums = np.zeros((n_rows, training.task.n_outputs))
        return cls(training, is_majority, sums, np.zeros(n_rows, dtype=np.uint32), ())

    def and_then(self, rows: np.ndarray, votes: np.ndarray) -> Self:
        """The same with the votes of one more member on some rows."""
        sums, counts = self.sums.copy(), self.counts.copy()
        if self.is_majority:
            votes = one_hot(votes.argmax(axis=1), votes.shape[1])
        sums[rows] += votes
        counts[rows] += 1
        made = replace(self, sums=sums, counts=counts)
        return replace(made, curve=(*self.curve, made.error()))

    def error(self) -> float:
        """The misclassified share of the rows that have votes and a weight, or the mean squared error."""
        is_scored = self.counts > 0
        if self.training.weights is not None:
            is_scored &= self.training.weights > 0
        if not is_scored.any():
            return float("nan")
        y, sums = self.training.y[is_scored], self.sums[is_scored]
        if self.training.n_classes > 0:
            return float((sums.argmax(axis=1) != y).mean())
        return float(((sums[:, 0] / self.counts[is_scored] - y) ** 2).mean())

    @property
    def votes(self) -> _engine.OutOfBagVotes:
        """The votes, as the engine returns them."""
        return _engine.OutOfBagVotes(self.sums, self.counts, np.array(self.curve))


def check_can_resume(before: OutOfBag | None, n_rows: int, with_importances: bool) -> None:
    """Raise unless the out-of-bag votes of further trees can be added to those of the trees before."""
    if before is None or (with_importances and before.losses is None):
        raise ValueError(
            "The trees of the previous fit were not judged out of bag, and warm_start=True goes on with them. "
            "Set oob_score and oob_importances from the first fit on, or warm_start=False."
        )
    if len(before.counts) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, and the trees of the previous fit were judged on {len(before.counts)}. With "
            "warm_start=True, pass the same rows, or set oob_score=False."
        )


def warn_if_all_rows_seen(out_of_bag: OutOfBag | None) -> None:
    """Warn, from within a fit, if all trees have seen all rows."""
    if out_of_bag is not None and np.isnan(out_of_bag.curve[-1]):
        message = "Every tree has seen every row, so oob_score_ is NaN. Grow more trees."
        warnings.warn(message, stacklevel=4)


def means(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Sums by counts, NaN where nothing was counted."""
    with np.errstate(invalid="ignore"):
        return sums / counts[:, np.newaxis]


def is_named(metric: Any) -> bool:
    """Whether a metric is one of `committee.score`, by name or as a scorer, and no function of labels."""
    return isinstance(metric, str) or is_made_scorer(metric)


def check_metric(metric: Any, task: Classification | Regression) -> None:
    """Raise, before any work, if a metric cannot judge a task.

    That is a name that is no metric of it, a scorer of other labels, or a function that wants an estimator.

    Examples
    --------
    >>> check_metric(lambda estimator, X, y: estimator.score(X, y), Regression())
    Traceback (most recent call last):
    ValueError: oob_score=<lambda> cannot be called with answers and predictions. No estimator has made all \
of them: for a function of an estimator, X and y, take the name of a scorer, or what make_scorer makes.
    """
    if is_named(metric):
        if n_outputs_of(task) > task.n_outputs:
            metric_of(metric, n_outputs_of(task))
        else:
            check_scoring(metric, task.n_outputs, task.classes)
    elif callable(metric) and not takes_arguments(metric, 2):
        raise not_of_predictions(metric)


def not_of_predictions(metric: Any) -> ValueError:
    """The error of a function that is no metric of answers and predictions."""
    return ValueError(
        f"oob_score={name_of_function(metric)} cannot be called with answers and predictions. No estimator "
        "has made all of them: for a function of an estimator, X and y, take the name of a scorer, or what "
        "make_scorer makes."
    )


def n_outputs_of(task: Classification | Regression) -> int:
    """The number of outputs of a metric: one class is one of two, and no number."""
    return max(task.n_outputs, 2) if isinstance(task, Classification) else 1


def value_of(
    metric: Any, truth: np.ndarray, decision: np.ndarray, task: Classification | Regression
) -> float:
    """The value of a metric on decisions; NaN, with a warning, where it has none, as for lack of a class."""
    n_missing = n_outputs_of(task) - task.n_outputs
    decision = np.pad(decision, [(0, 0), (0, n_missing)])
    try:
        wanted = metric_of(metric, n_outputs_of(task), task.classes)
        return wanted.prepare(truth, decision)(np.ones(len(truth)))
    except NoValueError as error:
        warnings.warn(f"oob_score_ is NaN. {error}", stacklevel=2)
        return float("nan")


def score_of(decision: np.ndarray, training: Training, metric: Any) -> float:
    """The metric on the rows that have a decision and a weight; NaN if there are none."""
    task = training.task
    is_scored = ~np.isnan(decision[:, 0])
    if training.weights is not None:
        is_scored &= training.weights > 0
    if not is_scored.any():
        return float("nan")
    truth, decision = training.y[is_scored], decision[is_scored]
    if is_named(metric):
        return value_of(metric, truth, decision, task)
    if not isinstance(task, Classification):
        return called(metric if callable(metric) else r2_score, truth, decision[:, 0])
    answer = decision.argmax(axis=1)
    if not callable(metric):
        return called(accuracy_score, truth, answer)
    try:
        return called(metric, task.classes[truth], task.classes[answer])
    except (ValueError, TypeError):
        if task.classes.dtype.kind in NUMERIC:
            raise
        # Many a metric takes no text. scikit-learn's forests tell classes by their numbers.
        return called(metric, truth, answer)


def called(metric: Any, truth: np.ndarray, answer: np.ndarray) -> float:
    """What a function says of answers, or an error if it is no metric of them."""
    try:
        return float(metric(truth, answer))
    except AttributeError as error:
        if error.obj is not truth:
            raise
        raise not_of_predictions(metric) from error
