"""What gates and experts learn from: rows in order, and equal ones as one row of their joint weight.

EM sums over rows, and sums depend in their last bits on the order of what is summed. What is learnt from rows
that are in order and merged does not change when the user's rows come in another order, or when a row is
there twice instead of having the weight 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.learners.training import Training
from committee.members.encoding import TableEncoder
from committee.members.votes import Task
from committee.table import Table
from committee.table.summaries import as_numbers, mean_and_deviation
from committee.task import Regression, scaled


@dataclass(frozen=True, eq=False)
class Rows:
    """What gates and experts learn from; it is shared by all restarts.

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
        """The rows of a fit that count, as an encoder, which is fitted here, makes them a matrix."""
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
    """The distinct rows of a table with their y, in order, and the weight that each has together.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([[2.0], [1.0], [2.0]])
    >>> table, y, weights = merged(table, np.array([5, 4, 5]), np.array([1.0, 1.0, 2.0]))
    >>> table.columns[0], y, weights
    (array([1., 2.]), array([4, 5]), array([1., 3.]))
    """
    # No number is infinite, and NaN equals nothing.
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
