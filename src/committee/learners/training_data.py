"""Read and check the training data of a fit, and grow trees on it in the engine.

In: X, y and the weights as the user passes them. Out: `Training`, on which the engine grows trees.
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
from committee.task import Classification, Regression, check_lengths, check_size, class_weights, row_weights

NO_LIMIT = 2**32 - 1

# The memory of smaller models, in bytes, is not checked.
SMALL_MODEL = 2**26


@dataclass(frozen=True, eq=False)
class Training:
    """The training data of a fit: the table, the target and the weights.

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
        """The number of rows of positive weight."""
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
        """The description of the training table for a saved model.

        It is None for a `BinnedTable`, which contains no values, and for a part of a table, because the
        caller describes the whole table.
        """
        if isinstance(self.table, BinnedTable) or isinstance(self.table.columns, PartColumns):
            return None
        return Data.of(self.table, self.y, self.weights)

    def bin(self, n_threads: int, *, keep_cuts: bool = True) -> BinnedTable:
        """Return the table in the engine's codes, with or without the cuts between them."""
        if isinstance(self.table, BinnedTable):
            return self.table
        return to_codes(self.table, self.fixed, n_threads, keep_cuts=keep_cuts)

    def rows_by_content(self, binned: BinnedTable, n_threads: int) -> np.ndarray:
        """Return the rows of positive weight in an order that depends on their content, not their position.

        Equal rows are ordered by their weights.

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
        """Grow one tree on all rows. Return it and a mask of the columns that have missing values."""
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
            The largest total weight of the rows of a tree. None is the weight of all rows.
        before : OutOfBagVotes, default=None
            The out-of-bag votes of the trees of the previous fit.
        progress : callable, default=None
            Called with the number of trees done. The work stops if it returns True.

        Returns
        -------
        GrownForest
            If the work ended early, `interruption` contains the reason, and the trees so far are complete.
        """
        if not parameters.grow.keep_records:
            # n_estimators="auto" grows at least twice as many trees as one mean of the error covers.
            n_trees = 2 * parameters.flat_trees or parameters.n_trees - parameters.first_tree
            check_classes(self.n_classes, n_trees)
        parameters.weight_unit = self.weight_unit
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
    """Read and check the X, y and weights of an estimator's fit."""
    table = fit_table(estimator, X, sample_weight)
    return training_of(estimator, table, y, sample_weight, getattr(estimator, "class_weight", None))


def seen_table(estimator: Any, X: Any, sample_weight: Any) -> Table:
    """Read the X of an estimator's fit, with the categories of rows of positive weight."""
    table = read(X, categorical_features=estimator.categorical_features)
    return forget_unseen(table, row_weights(sample_weight, table.n_rows))


def fit_table(estimator: Any, X: Any, sample_weight: Any) -> Table | BinnedTable:
    """Read the X of an estimator's fit. Return a `BinnedTable` unchanged."""
    if not isinstance(X, BinnedTable):
        return seen_table(estimator, X, sample_weight)
    marks = estimator.categorical_features
    if not (isinstance(marks, str) and marks == "from_dtype"):
        raise ValueError("categorical_features comes too late for a BinnedTable. Pass it to bin_table.")
    return X


def read_resumed_table(estimator: Any, X: Any) -> Table | BinnedTable:
    """Read the X of a fit that resumes the fit of an estimator."""
    if not isinstance(X, BinnedTable):
        return predict_table(estimator, X)
    if X.schema != estimator.schema_:
        raise ValueError("warm_start=True needs the columns of the previous fit. Set it to False.")
    return X


def check_same_task(task: Classification | Regression, before: Classification | Regression) -> None:
    """Raise if two fits have different tasks: classification and regression, or different classes."""
    if isinstance(task, Classification) and isinstance(before, Classification):
        is_same = np.array_equal(task.classes, before.classes)
    else:
        is_same = type(task) is type(before)
    if not is_same:
        raise ValueError("warm_start=True needs the classes of the previous fit. Set it to False.")


def check_same_rows(n_rows: int, n_before: int) -> None:
    """Raise unless a resumed fit has as many rows as the previous one."""
    if n_rows != n_before:
        raise ValueError(
            f"X has {n_rows} rows, and the previous fit had {n_before}. With warm_start=True, pass the same "
            "rows."
        )


def check_grows(n_estimators: int, n_before: int, what: str, name: str = "n_estimators") -> None:
    """Raise if a resumed fit should have fewer members than the previous one."""
    if n_estimators < n_before:
        raise ValueError(
            f"{name}={n_estimators} must be larger or equal to the {n_before} {what} of the previous "
            "fit, with warm_start=True."
        )


def training_of(
    estimator: Any, table: Table | BinnedTable, y: Any, sample_weight: Any, class_weight: Any
) -> Training:
    """Check y and the weights of a table, and return all three as training data."""
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
    """Raise if trees for these classes do not fit in memory: every leaf has a number for each class."""
    needed = 8.0 * n_trees * n_classes**2
    if needed > SMALL_MODEL and needed > (free := available_bytes()):
        raise ValueError(
            f"The {n_classes:,} classes of y take {needed / 2**30:,.1f} GiB of memory, a number for each in "
            f"every leaf, and {free / 2**30:,.1f} GiB are free. Merge rare classes, grow fewer trees, or use "
            "a regressor if y is a number."
        )


def check_numbers(y: np.ndarray, is_rate: bool) -> None:
    """Raise if numbers are too large to be squared. Raise if rates are negative or all 0."""
    check_size(y)
    if not is_rate:
        return
    if (y < 0).any():
        raise ValueError(f'criterion="poisson" needs y >= 0. Got {y.min()}. Use "squared_error".')
    if not y.any():
        raise ValueError('criterion="poisson" needs some y > 0. All are 0. Use "squared_error".')
