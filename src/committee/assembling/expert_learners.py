"""Fit experts in one step of EM, on all rows, each with a share of its weight.

A learner holds the rows. It fits an expert by weights and by the expert before, and returns how likely the
expert finds each y. An `Expert` is a fitted model, and for numbers the variance of the noise around it.

EM sums over rows, and the last bits of sums depend on the order of their terms. So `Rows` are sorted, and
equal rows are one row of their joint weight: the order of the rows, or a row twice instead of weight 2,
does not change what is learnt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from committee.assembling.gating import SMALLEST, fit_weighted
from committee.assembling.softmax import (
    LinearModel,
    SoftmaxModel,
    fit_ridge,
    fit_softmax,
    softmax_penalty,
)
from committee.learners.training import Training
from committee.members.encoding import TableEncoder
from committee.members.tasks import naming, numbered
from committee.members.votes import Task, votes_of
from committee.table import Table
from committee.table.summaries import as_numbers, mean_and_deviation
from committee.task import Classification, Regression, scaled

# A share of the variance of y. An expert on a few rows would otherwise be infinitely likely.
MIN_VARIANCE = 1e-4
LOG_OF_TWO_PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that gates and experts learn from, shared by all restarts.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers of mean 0 and standard deviation 1.
    weights : ndarray of shape (n_rows,)
        All positive.
    task : Classification or Regression
    center, spread : float
        The mean and the standard deviation of numbers before they were scaled; 0 and 1 for classes.
    """

    matrix: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    task: Task
    center: float
    spread: float

    @classmethod
    def of(cls, training: Training, encoder: TableEncoder) -> Rows:
        """Encode the rows of a fit that count; the encoder is fitted here."""
        assert isinstance(training.table, Table)
        given = np.ones(len(training.y)) if training.weights is None else scaled(training.weights)
        table, y, weights = merged(training.table, training.y, given)
        matrix = encoder._fit_table(table, weights)._transform_table(table)
        counts, center, spread = weights > 0, 0.0, 1.0
        if isinstance(training.task, Regression):
            center, spread = mean_and_deviation(y, weights)
            y = (y - center) / spread
        return cls(matrix[counts], y[counts], weights[counts], training.task, center, spread)


def merged(table: Table, y: np.ndarray, weights: np.ndarray) -> tuple[Table, np.ndarray, np.ndarray]:
    """Return the distinct rows of a table with their y, sorted, and the joint weight of each.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([[2.0], [1.0], [2.0]])
    >>> table, y, weights = merged(table, np.array([5, 4, 5]), np.array([1.0, 1.0, 2.0]))
    >>> table.columns[0], y, weights
    (array([1., 2.]), array([4, 5]), array([1., 3.]))
    """
    # Tables have no infinite number, so infinity can stand for NaN, which equals nothing.
    keys = [np.nan_to_num(as_numbers(column), nan=np.inf, posinf=np.inf) for column in table.columns]
    keys.append(y)
    order = np.lexsort([weights, *reversed(keys)])
    is_new = np.zeros(len(y), dtype=bool)
    is_new[0] = True
    for key in keys:
        is_new[1:] |= key[order[1:]] != key[order[:-1]]
    first = np.flatnonzero(is_new)
    rows = order[first]
    columns = tuple(column[rows] for column in table.columns)
    return Table(table.schema, columns, len(rows)), y[rows], np.add.reduceat(weights[order], first)


@dataclass(frozen=True, eq=False)
class Expert:
    """A fitted model.

    Parameters
    ----------
    model : object
        With `predict_proba` and `classes_`, or with `predict`.
    variance : float, default=1.0
        Of the noise around its numbers.
    """

    model: Any
    variance: float = 1.0


class Learner(Protocol):
    """Makes experts."""

    def fit(self, weights: np.ndarray, before: Expert | None, number: int) -> Expert:
        """An expert for weighted rows."""

    def log_density(self, expert: Expert) -> np.ndarray:
        """The logarithm of the probability, or of the density, of each row's y."""

    def penalty(self, expert: Expert) -> float:
        """What the objective is less by."""


@dataclass(frozen=True, eq=False)
class SoftmaxLearner:
    """Makes experts for classes that are softmax regressions.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_features)
    codes : ndarray of int of shape (n_rows,)
        Of the classes.
    classes : ndarray of shape (n_classes,)
        Those that some row is of.
    alpha : float
        The penalty of squared coefficients.
    """

    matrix: np.ndarray
    codes: np.ndarray
    classes: np.ndarray
    alpha: float

    def fit(self, weights: np.ndarray, before: Expert | None, number: int) -> Expert:
        """An expert that is not worse than before."""
        targets = np.zeros((len(weights), len(self.classes)))
        targets[np.arange(len(weights)), self.codes] = weights
        start = np.zeros((self.matrix.shape[1] + 1, len(self.classes)))
        if before is not None:
            start = before.model.coefficients
        return Expert(SoftmaxModel(self.classes, fit_softmax(self.matrix, targets, self.alpha, start)))

    def log_density(self, expert: Expert) -> np.ndarray:
        """The logarithm of the probability of each row's class."""
        logs = expert.model.predict_log_proba(self.matrix)
        return logs[np.arange(len(logs)), self.codes]

    def penalty(self, expert: Expert) -> float:
        """What the objective is less by."""
        return softmax_penalty(expert.model.coefficients, self.alpha)


@dataclass(frozen=True, eq=False)
class LinearLearner:
    """Makes experts for numbers that are linear.

    Parameters
    ----------
    rows : Rows
    alpha : float
        The penalty of squared coefficients.
    """

    rows: Rows
    alpha: float

    def fit(self, weights: np.ndarray, before: Expert | None, number: int) -> Expert:
        """The best line for the variance before, then the best variance for the line."""
        variance = 1.0 if before is None else before.variance
        found = LinearModel(fit_ridge(self.rows.matrix, self.rows.y, weights, self.alpha * variance))
        # Rounding in a system that is close to singular must not lower the objective.
        if before is not None and not self._loss(found, weights, variance) < self._loss(
            before.model, weights, variance
        ):
            found = before.model
        return Expert(found, noise_variance(errors_of(found, self.rows), weights))

    def log_density(self, expert: Expert) -> np.ndarray:
        """The logarithm of the normal density of each row's number."""
        return log_normal(errors_of(expert.model, self.rows), expert.variance)

    def penalty(self, expert: Expert) -> float:
        """What the objective is less by."""
        return 0.5 * self.alpha * float((expert.model.coefficients[:-1] ** 2).sum())

    def _loss(self, model: LinearModel, weights: np.ndarray, variance: float) -> float:
        squares = float(weights @ errors_of(model, self.rows) ** 2)
        return 0.5 * squares / variance + self.penalty(Expert(model))


@dataclass(frozen=True, eq=False)
class OtherLearner:
    """Makes experts that are estimators of any kind whose `fit` takes weights.

    Parameters
    ----------
    rows : Rows
    estimator : estimator
    seed : tuple of int
    """

    rows: Rows
    estimator: Any
    seed: tuple[int, ...]

    def fit(self, weights: np.ndarray, before: Expert | None, number: int) -> Expert:
        """An expert that is fitted anew, to the rows that have weight."""
        rows, task = self.rows, self.rows.task
        seen = np.flatnonzero(weights > SMALLEST)
        answers = task.classes[rows.y[seen]] if isinstance(task, Classification) else rows.y[seen]
        with naming(numbered(number, self.estimator, "Expert"), "be fitted"):
            model = fit_weighted(
                self.estimator, rows.matrix[seen], answers, weights[seen], (*self.seed, number)
            )
        if isinstance(task, Classification):
            return Expert(model)
        with naming(numbered(number, model, "Expert"), "vote"):
            errors = errors_of(model, rows)
        return Expert(model, noise_variance(errors, weights))

    def log_density(self, expert: Expert) -> np.ndarray:
        """The logarithm of the probability, or of the density, of each row's y."""
        rows = self.rows
        if not isinstance(rows.task, Classification):
            return log_normal(errors_of(expert.model, rows), expert.variance)
        votes = votes_of(expert.model, rows.matrix, rows.task)
        return np.log(np.maximum(votes[np.arange(len(votes)), rows.y], SMALLEST))

    def penalty(self, expert: Expert) -> float:
        """Whatever it penalises is its own."""
        return 0.0


def errors_of(model: Any, rows: Rows) -> np.ndarray:
    """By how much the numbers of rows are above those of a model."""
    return rows.y - votes_of(model, rows.matrix, rows.task)[:, 0]


def noise_variance(errors: np.ndarray, weights: np.ndarray) -> float:
    """Return the mean of squared errors, or the smallest variance that is allowed."""
    return max(float(weights @ errors**2 / weights.sum()), MIN_VARIANCE)


def log_normal(errors: np.ndarray, variance: float) -> np.ndarray:
    """The logarithm of the normal density of errors."""
    return -0.5 * (errors**2 / variance + np.log(variance) + LOG_OF_TWO_PI)
