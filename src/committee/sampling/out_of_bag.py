"""Compute and score out-of-bag decisions: each row gets votes of members without it in their bags.

The method is from Breiman (2001).
"""

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
    """The out-of-bag votes of a forest, and their score.

    Parameters
    ----------
    sums : ndarray of shape (n_rows, n_outputs)
        The sum of the out-of-bag votes on each row.
    counts : ndarray of shape (n_rows,)
        The number of these votes.
    curve : ndarray of shape (n_trees,)
        The error of the sums after every tree: the misclassified share of the rows, or the mean squared
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
        """Score the out-of-bag votes of the engine, or the decision of a rule that does not sum votes."""
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
        """The mean of the votes on each row, of shape (n_rows, n_outputs). NaN for rows without votes."""
        return means(self.sums, self.counts)

    @property
    def votes(self) -> _engine.OutOfBagVotes:
        """The votes, in the form in which the engine adds votes of further trees."""
        return _engine.OutOfBagVotes(self.sums, self.counts, self.curve)


@dataclass(frozen=True, eq=False)
class Tally:
    """The out-of-bag votes of members that the engine does not grow. Members are added one by one.

    Parameters
    ----------
    training : Training
    is_majority : bool
        Whether each vote counts for its highest class only.
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
        """Start with the votes of the previous fit, or without votes."""
        if before is not None:
            return cls(training, is_majority, before.sums, before.counts, tuple(before.curve))
        n_rows = training.table.n_rows
        sums = np.zeros((n_rows, training.task.n_outputs))
        return cls(training, is_majority, sums, np.zeros(n_rows, dtype=np.uint32), ())

    def and_then(self, rows: np.ndarray, votes: np.ndarray, labels: np.ndarray | None = None) -> Self:
        """Add the votes of one more member on some rows, with labels if they may differ from the votes."""
        sums, counts = self.sums.copy(), self.counts.copy()
        if self.is_majority:
            votes = one_hot(votes.argmax(axis=1) if labels is None else labels, votes.shape[1])
        sums[rows] += votes
        counts[rows] += 1
        made = replace(self, sums=sums, counts=counts)
        return replace(made, curve=(*self.curve, made.error()))

    def error(self) -> float:
        """Return the misclassified share or the mean squared error, on rows with votes and a weight."""
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
    """Raise if the out-of-bag votes of further trees cannot be added to those of the previous fit."""
    if before is None or (with_importances and before.losses is None):
        raise ValueError(
            "The previous fit computed no out-of-bag votes, and warm_start=True needs them. "
            "Set oob_score and oob_importances from the first fit on, or warm_start=False."
        )
    if len(before.counts) != n_rows:
        raise ValueError(
            f"X has {n_rows} rows, and the previous fit had {len(before.counts)}. With "
            "warm_start=True, pass the same rows, or set oob_score=False."
        )


def warn_if_all_rows_seen(out_of_bag: OutOfBag | None) -> None:
    """Warn in a fit if all bags contain some row, or all rows."""
    n_seen = 0 if out_of_bag is None else int((out_of_bag.counts == 0).sum())
    if out_of_bag is not None and np.isnan(out_of_bag.curve[-1]):
        message = "Every bag contains every row, so oob_score_ is NaN. Fit more members."
        warnings.warn(message, stacklevel=5)
    elif out_of_bag is not None and n_seen > 0:
        message = (
            f"Every bag contains {n_seen} of {len(out_of_bag.counts)} rows. They have no out-of-bag "
            "decision, and oob_score_ leaves them out. Fit more members."
        )
        warnings.warn(message, stacklevel=5)


def means(sums: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Divide sums by counts. The result is NaN where a count is 0."""
    with np.errstate(invalid="ignore"):
        return sums / counts[:, np.newaxis]


def is_named(metric: Any) -> bool:
    """Return whether a metric is a name or a scorer, as in `committee.score`, instead of a function."""
    return isinstance(metric, str) or is_made_scorer(metric)


def check_metric(metric: Any, task: Classification | Regression) -> None:
    """Raise before any work if a metric cannot score out-of-bag decisions on a task.

    The metric may not exist for the task, be a scorer of other labels, or be a function of an estimator.

    Examples
    --------
    >>> check_metric(lambda estimator, X, y: estimator.score(X, y), Regression())
    Traceback (most recent call last):
    ValueError: oob_score=<lambda> cannot be called with y_true and y_pred. Out-of-bag predictions have no \
single estimator, so pass a function of these two, the name of a scorer, or a result of make_scorer.
    """
    if is_named(metric):
        if n_outputs_of(task) > task.n_outputs:
            metric_of(metric, n_outputs_of(task))
        else:
            check_scoring(metric, task.n_outputs, task.classes)
    elif callable(metric) and not takes_arguments(metric, 2):
        raise error_of_arguments(metric)


def error_of_arguments(metric: Any) -> ValueError:
    """Make the error for a function that is not a metric of y_true and y_pred."""
    return ValueError(
        f"oob_score={name_of_function(metric)} cannot be called with y_true and y_pred. Out-of-bag "
        "predictions have no single estimator, so pass a function of these two, the name of a scorer, or a "
        "result of make_scorer."
    )


def n_outputs_of(task: Classification | Regression) -> int:
    """Return the number of outputs for a metric. A single class counts as two, never as regression."""
    return max(task.n_outputs, 2) if isinstance(task, Classification) else 1


def value_of(
    metric: Any, truth: np.ndarray, decision: np.ndarray, task: Classification | Regression
) -> float:
    """Return the value of a metric on decisions. Warn and return NaN if it has none on these rows."""
    n_missing = n_outputs_of(task) - task.n_outputs
    decision = np.pad(decision, [(0, 0), (0, n_missing)])
    try:
        wanted = metric_of(metric, n_outputs_of(task), task.classes)
        return wanted.prepare(truth, decision)(np.ones(len(truth)))
    except NoValueError as error:
        warnings.warn(f"oob_score_ is NaN. {error}", stacklevel=2)
        return float("nan")


def score_of(decision: np.ndarray, training: Training, metric: Any) -> float:
    """Return the metric on the rows with a decision and a positive weight; NaN without such rows."""
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
        return call_metric(metric if callable(metric) else r2_score, truth, decision[:, 0])
    answer = decision.argmax(axis=1)
    if not callable(metric):
        return call_metric(accuracy_score, truth, answer)
    try:
        return call_metric(metric, task.classes[truth], task.classes[answer])
    except (ValueError, TypeError):
        if task.classes.dtype.kind in NUMERIC:
            raise
        # Many metrics take no text. scikit-learn's forests always pass the positions of the classes.
        return call_metric(metric, truth, answer)


def call_metric(metric: Any, truth: np.ndarray, answer: np.ndarray) -> float:
    """Call a function with y_true and y_pred. Raise if it uses y_true as an estimator."""
    try:
        return float(metric(truth, answer))
    except AttributeError as error:
        if error.obj is not truth:
            raise
        raise error_of_arguments(metric) from error
