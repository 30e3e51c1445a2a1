"""What a fit learns from, and the engine's growing of trees.

In: X, y and the weights as the user has them. Out: `Training`, from which the engine grows trees by options.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from committee import _engine
from committee.running import available_bytes
from committee.saving import Data
from committee.table import BinnedTable, Table, forget_unseen, predict_table, read, to_codes
from committee.table.schema import PartColumns
from committee.task import (
    Classification,
    Regression,
    check_lengths,
    check_size,
    class_weights,
    row_weights,
)

NO_LIMIT = 2**32 - 1

# There is always room for a model of so many bytes.
SMALL_MODEL = 2**26


@dataclass(frozen=True, eq=False)
class Training:
    """What a fit learns from.

    Parameters
    ----------
    table : Table or BinnedTable
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of the classes as int32, or numbers as float64.
    weights : ndarray of float64 of shape (n_rows,), or None
        The weights of the rows, times those of their classes.
    """

    table: Table | BinnedTable
    task: Classification | Regression
    y: np.ndarray
    weights: np.ndarray | None

    @property
    def n_classes(self) -> int:
        """The number of classes, 0 in regression."""
        return self.task.n_outputs if isinstance(self.task, Classification) else 0

    @property
    def n_rows(self) -> int:
        """The number of rows that weigh something."""
        return self.table.n_rows if self.weights is None else int(np.count_nonzero(self.weights))

    @cached_property
    def fixed(self) -> np.ndarray | None:
        """The weights in fixed point, for the engine: uint32 of shape (n_rows,), or None."""
        return None if self.weights is None else _engine.fixed_weights(self.weights)

    @cached_property
    def total_weight(self) -> int:
        """The sum of the fixed-point weights."""
        return self.table.n_rows if self.fixed is None else int(self.fixed.sum(dtype=np.uint64))

    @property
    def weight_unit(self) -> float:
        """The weight that a fixed-point weight of one stands for."""
        return 1.0 if self.weights is None else float(self.weights.sum()) / self.total_weight

    @cached_property
    def data(self) -> Data | None:
        """What a saved model tells of the table that it was fitted on.

        None for codes, which have no values, and for a part of a table, which is the business of whoever has
        the whole.
        """
        if isinstance(self.table, BinnedTable) or isinstance(self.table.columns, PartColumns):
            return None
        return Data.of(self.table, self.y, self.weights)

    def bin(self, n_threads: int, *, keep_cuts: bool = True) -> BinnedTable:
        """The table in the engine's codes, perhaps without the cuts between them."""
        if isinstance(self.table, BinnedTable):
            return self.table
        return to_codes(self.table, self.fixed, n_threads, keep_cuts=keep_cuts)

    def rows_by_content(self, binned: BinnedTable, n_threads: int) -> np.ndarray:
        """The rows that weigh something, in the order of what they and y contain, not of where they stand.

        Equal rows lie in the order of their weights.

        Parameters
        ----------
        binned : BinnedTable
            The table in codes.
        n_threads : int

        Returns
        -------
        ndarray of uint32
        """
        bits = self.y.astype(np.uint64) if self.n_classes > 0 else (self.y + 0.0).view(np.uint64)
        rows = _engine.order_by_content(binned.codes, bits, self.fixed, n_threads)
        return rows if self.weights is None else rows[self.weights[rows] > 0]

    def grow_tree(
        self, grow: _engine.GrowParameters, seed: int, n_threads: int
    ) -> tuple[_engine.GrownForest, np.ndarray]:
        """Grow one tree on all rows. The array says which columns some row has no value in."""
        grow.keep_records = True
        parameters = _engine.ForestParameters()
        parameters.grow, parameters.n_trees, parameters.seed = grow, 1, seed
        binned = self.bin(n_threads, keep_cuts=grow.random_thresholds)
        grown = self.grow(binned, parameters, n_threads)
        if grown.interruption is not None:
            raise grown.interruption
        return grown, binned.has_missing

    def grow(
        self,
        binned: BinnedTable,
        parameters: _engine.ForestParameters,
        n_threads: int,
        *,
        bags: _engine.Drawing | None = None,
        most_weight: int | None = None,
        before: _engine.OutOfBagVotes | None = None,
        progress: Any = None,
    ) -> _engine.GrownForest:
        """Grow trees.

        Parameters
        ----------
        binned : BinnedTable
            The table in codes. Only random thresholds, which are drawn between cuts, need the cuts.
        parameters : ForestParameters
        n_threads : int
        bags : Drawing, default=None
            How the rows of each tree are drawn. None lets every tree see all rows.
        most_weight : int, default=None
            The most that the rows of a tree may weigh. None is what all rows weigh.
        before : OutOfBagVotes, default=None
            The out-of-bag votes of the trees of a fit before.
        progress : callable, default=None
            Called with the number of trees done. The work ends if it answers True.

        Returns
        -------
        GrownForest
            What has ended the work before its time is its `interruption`; the trees so far are whole.
        """
        if not parameters.grow.keep_records:
            # If the error decides how many trees there are, there are at least twice as many as it looks at.
            n_trees = 2 * parameters.flat_trees or parameters.n_trees - parameters.first_tree
            check_classes(self.n_classes, n_trees)
        return _engine.grow_forest(
            binned.codes,
            self.y,
            self.n_classes,
            self.fixed,
            self.total_weight if most_weight is None else most_weight,
            parameters,
            bags,
            before,
            list(binned.values),
            progress,
            n_threads,
        )


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Read and check what an estimator is fitted on."""
    table = fit_table(estimator, X, sample_weight)
    return training_of(estimator, table, y, sample_weight, getattr(estimator, "class_weight", None))


def seen_table(estimator: Any, X: Any, sample_weight: Any) -> Table:
    """Read the X of an estimator's fit, with the categories of rows that weigh something."""
    table = read(X, categorical_features=estimator.categorical_features)
    return forget_unseen(table, row_weights(sample_weight, table.n_rows))


def fit_table(estimator: Any, X: Any, sample_weight: Any) -> Table | BinnedTable:
    """The same; a table that is binned is taken as it is."""
    if not isinstance(X, BinnedTable):
        return seen_table(estimator, X, sample_weight)
    marks = estimator.categorical_features
    if not (isinstance(marks, str) and marks == "from_dtype"):
        raise ValueError("categorical_features comes too late for a BinnedTable. Pass it to bin_table.")
    return X


def table_to_go_on(estimator: Any, X: Any) -> Table | BinnedTable:
    """Read the X of a fit that goes on with what a fitted estimator has learnt."""
    if not isinstance(X, BinnedTable):
        return predict_table(estimator, X)
    if X.schema != estimator.schema_:
        raise ValueError("warm_start=True goes on with the columns of the fit before. Set it to False.")
    return X


def check_same_task(task: Classification | Regression, before: Classification | Regression) -> None:
    """Raise unless a fit may go on with what another has learnt: both regression, or of the same classes."""
    if isinstance(task, Classification) and isinstance(before, Classification):
        is_same = np.array_equal(task.classes, before.classes)
    else:
        is_same = type(task) is type(before)
    if not is_same:
        raise ValueError("warm_start=True goes on with the classes of the fit before. Set it to False.")


def training_of(
    estimator: Any, table: Table | BinnedTable, y: Any, sample_weight: Any, class_weight: Any
) -> Training:
    """Check y and the weights that belong to a table."""
    task, target = estimator._task_type.of(y)
    check_lengths(table.n_rows, target)
    if isinstance(task, Classification):
        check_classes(task.n_outputs)
    else:
        check_numbers(target, is_rate=getattr(estimator, "criterion", None) == "poisson")
    weights = row_weights(sample_weight, table.n_rows)
    if isinstance(task, Classification):
        weights = class_weights(class_weight, task, target, weights)
    if weights is not None:
        weights = np.ascontiguousarray(weights)
    return Training(table, task, np.ascontiguousarray(target), weights)


def check_classes(n_classes: int, n_trees: int = 1) -> None:
    """Raise if trees of so many classes do not fit into memory: every leaf has a number for each class."""
    needed = 8.0 * n_trees * n_classes**2
    if needed > SMALL_MODEL and needed > (free := available_bytes()):
        raise ValueError(
            f"The {n_classes:,} classes of y take {needed / 2**30:,.1f} GiB of memory, a number for each in "
            f"every leaf, and {free / 2**30:,.1f} GiB are free. Merge rare classes, grow fewer trees, or use "
            "a regressor if y is a number."
        )


def check_numbers(y: np.ndarray, is_rate: bool) -> None:
    """Raise unless the numbers can be squared and, where they are rates, are not negative."""
    check_size(y)
    if not is_rate:
        return
    if (y < 0).any():
        raise ValueError(f'criterion="poisson" needs y >= 0. Got {y.min()}. Use "squared_error".')
    if not y.any():
        raise ValueError('criterion="poisson" needs some y > 0. All are 0. Use "squared_error".')
