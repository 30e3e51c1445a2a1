"""What a network learns from: rows in an order of their own, as inputs, and who sees which of them.

In: a `Training`. Out: `NetworkRows`. The order of the rows comes from what is in them, and a row of weight 2
is there twice: so neither the order in which they were given nor how a row is repeated changes a bit of what
is learnt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee.learners.training import Training
from committee.running.stopping import check
from committee.table import Table
from committee.table.inputs import Inputs, learn_inputs
from committee.table.summaries import mean_and_deviation
from committee.task import Regression, are_repetitions
from committee.votes.folds import dealt_folds

# Fewer rows than these for each network are all seen by all of them.
LEAST_ROWS_KEPT = 5
# About so many inputs are bins at most: many columns have fewer.
MOST_INPUTS = 1024
BYTES_OF_INPUT = 4
# The share of a class that has no row to learn from, in rows.
HALF_A_ROW = 0.5


@dataclass(frozen=True, eq=False)
class NetworkRows:
    """Rows to learn from.

    Parameters
    ----------
    encoding : Inputs
    inputs : ndarray of float32 of shape (n_rows, n_inputs)
    classes : ndarray of int32 of shape (n_rows,)
        Codes; empty if the rows have numbers.
    numbers : ndarray of float32 of shape (n_rows,)
        Of mean 0 and standard deviation 1; empty if the rows have classes.
    weights : ndarray of float32 of shape (n_rows,)
        Of mean 1.
    start : ndarray of float32 of shape (n_outputs,)
        The outputs of a network that knows no inputs.
    scaling : ndarray of float64 of shape (4,)
        The mean, the standard deviation and the range of the numbers; 0, 1, 0, 1 for classes.
    """

    encoding: Inputs
    inputs: np.ndarray
    classes: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    start: np.ndarray
    scaling: np.ndarray

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.inputs)

    @classmethod
    def of(cls, training: Training, n_bins: int) -> NetworkRows:
        """The rows of a fit."""
        assert isinstance(training.table, Table)
        table, y, weights = in_order(training.table, training.y, training.weights)
        encoding = learn_inputs(table, weights, bins_of_a_column(n_bins, table.schema.n_columns))
        classes, numbers = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
        scaling = np.array([0.0, 1.0, 0.0, 1.0])
        if isinstance(training.task, Regression):
            center, spread = mean_and_deviation(y, weights)
            numbers = ((y - center) / spread).astype(np.float32)
            scaling = np.array([center, spread, y.min(), y.max()])
            start = np.zeros(1, dtype=np.float32)
        else:
            classes = y.astype(np.int32)
            totals = np.bincount(classes, weights=weights, minlength=training.n_classes)
            start = np.log((totals + HALF_A_ROW * weights.mean()) / weights.sum()).astype(np.float32)
        mean_one = (weights / weights.mean()).astype(np.float32)
        return cls(encoding, encoding.encode(table), classes, numbers, mean_one, start, scaling)

    def folds(self, n_folds: int, rng: np.random.RandomState) -> np.ndarray | None:
        """Return for each row the network that does not see it; None if there are too few rows for that."""
        if n_folds < 2 or self.n_rows < n_folds * LEAST_ROWS_KEPT:
            return None
        return dealt_folds(self.classes if len(self.classes) else self.numbers, n_folds, rng)


def bins_of_a_column(n_bins: int, n_columns: int) -> int:
    """How many bins a column of numbers has at most, if so many are wanted."""
    return max(1, min(n_bins, MOST_INPUTS // n_columns))


def bytes_of_inputs(n_rows: int, n_columns: int, n_encoded: int, n_bins: int) -> int:
    """What the inputs of rows take in memory at most: places in bins, holes, and numbers and values.

    Parameters
    ----------
    n_rows, n_columns : int
        Of the table.
    n_encoded : int
        The columns of numbers, and the values of categories.
    n_bins : int
        How many are wanted for a column.

    Examples
    --------
    >>> bytes_of_inputs(n_rows=1000, n_columns=4, n_encoded=4, n_bins=8)
    160000
    """
    n_inputs = n_encoded + (bins_of_a_column(n_bins, n_columns) + 1) * n_columns
    return BYTES_OF_INPUT * n_rows * n_inputs


def in_order(table: Table, y: np.ndarray, weights: np.ndarray | None) -> tuple[Table, np.ndarray, np.ndarray]:
    """The rows of positive weight in an order of their own; those that weights count are repeated.

    Examples
    --------
    >>> from committee.table import read
    >>> table, y = read([[2.0], [1.0], [7.0]]), np.array([5, 4, 5])
    >>> twice, _, weights = in_order(table, y, np.array([1.0, 2.0, 0.0]))
    >>> sorted(twice.columns[0].tolist()), weights
    ([1.0, 1.0, 2.0], array([0.5, 0.5, 0.5]))
    """
    weights = np.ones(table.n_rows) if weights is None else weights
    rows = np.flatnonzero(weights)
    # Numbers are counted, so that what unit they are in does not matter.
    ranks = np.unique(y[rows], return_inverse=True)[1]
    keys = row_keys([*(column[rows] for column in table.columns), ranks])
    rows = rows[np.lexsort([weights[rows], keys])]
    if are_repetitions(weights):
        rows = np.repeat(rows, weights[rows].astype(np.int64))
        weights = np.ones(table.n_rows)
    columns = tuple(column[rows] for column in table.columns)
    # Tiny and huge weights are brought near to one by a power of two, which changes no ratio.
    given = weights[rows] * np.ldexp(1.0, -int(np.frexp(weights.max())[1]))
    return Table(table.schema, columns, len(rows)), y[rows], given


def row_keys(columns: list[np.ndarray]) -> np.ndarray:
    """64 bits for each row that differ, but for chance, if a value does.

    Examples
    --------
    >>> keys = row_keys([np.array([0.0, -0.0, 1.0, np.nan, np.nan])])
    >>> keys[0] == keys[1], keys[1] == keys[2], keys[3] == keys[4]
    (np.True_, np.False_, np.True_)
    """
    keys = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        check()
        # Adding 0 makes the two zeros one.
        values = column.astype(np.float64) + 0.0
        values[np.isnan(values)] = np.nan
        keys = mixed(keys ^ mixed(values.view(np.uint64)))
    return keys


def mixed(bits: np.ndarray) -> np.ndarray:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
