"""From a table to grown trees: what all estimators that grow trees share.

In: X, y and the weights as the user has them. Out: `Training`, which the engine learns from, and the options
that the engine is given. The parameters of trees are declared here, once for trees and forests.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from committee import _engine
from committee.learners.parameters import (
    Declaration,
    anything,
    declared,
    either,
    integer,
    is_float,
    number,
    one_of,
    optional,
    parameter,
    share,
)
from committee.learners.voting import Voter
from committee.table import Table, fit_table
from committee.task import Classification, Regression, check_lengths, class_weights, row_weights

# Codes are at most 16 bits wide, so splits are exact for columns of up to as many distinct values.
MAX_BINS = 65_535
NO_LIMIT = 2**32 - 1
# Numbers up to this one can be summed over many trees.
LARGEST_TARGET = 1e300

# What the engine does unless an estimator asks for something else: one tree on all rows.
OPTIONS: dict[str, Any] = {
    "criterion": "gini",
    "max_depth": NO_LIMIT,
    "max_leaf_nodes": 0,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
    "max_features": 0,
    "random_thresholds": False,
    "exact": True,
    "needs_gain": False,
    "keep_records": True,
    "ccp_alpha": 0.0,
    "monotonic": [],
    "first_tree": 0,
    "n_trees": 1,
    "seed": 0,
    "bootstrap": False,
    "n_draws": 0,
    "class_weights": [],
    "balance_bags": False,
    "out_of_bag": False,
    "out_of_bag_importances": False,
    "keep_leaf_rows": False,
    "rule": "mean",
    "flat_trees": 0,
    "before": None,
}

CLASS_CRITERION: Declaration = (
    '"gini", "entropy", "log_loss" or "gain_ratio"',
    one_of("gini", "entropy", "log_loss", "gain_ratio"),
    'What a split should lower. "log_loss" is another name of "entropy". "gain_ratio" takes, of the columns '
    "of at least average gain of information, the one with the highest ratio of gain to the information of "
    "the split itself.",
)
NUMBER_CRITERION: Declaration = (
    '"squared_error" or "poisson"',
    one_of("squared_error", "poisson"),
    "What a split should lower: the squared error, or half the Poisson deviance, for y >= 0.",
)
CLASS_WEIGHT: Declaration = (
    'None, "balanced" or a dict of label to weight',
    anything,
    'Weights of the classes, multiplied with those of the rows. "balanced" gives every class the same sum. A '
    "class that the dict leaves out weighs 1.",
)
CATEGORICAL_FEATURES: Declaration = (
    '"from_dtype", a mask, or an iterable of indices or names',
    anything,
    "Columns to take as categories beside those whose dtype says so.",
)


@dataclass(frozen=True, eq=False)
class Training:
    """What a fit learns from.

    Parameters
    ----------
    table : Table
    task : Classification or Regression
    y : ndarray of shape (n_rows,)
        Codes of the classes as int32, or numbers as float64.
    weights : ndarray of float64 of shape (n_rows,), or None
        The weights of the rows, times those of their classes.
    fixed : ndarray of uint32 of shape (n_rows,), or None
        The same in fixed point, for the engine.
    """

    table: Table
    task: Classification | Regression
    y: np.ndarray
    weights: np.ndarray | None
    fixed: np.ndarray | None

    @property
    def n_classes(self) -> int:
        """The number of classes, 0 in regression."""
        return self.task.n_outputs if isinstance(self.task, Classification) else 0

    @property
    def total_weight(self) -> int:
        """The sum of the fixed-point weights."""
        return self.table.n_rows if self.fixed is None else int(self.fixed.sum(dtype=np.uint64))

    @property
    def weight_unit(self) -> float:
        """The weight that a fixed-point weight of one stands for."""
        return 1.0 if self.weights is None else float(self.weights.sum()) / self.total_weight

    @property
    def has_missing(self) -> np.ndarray:
        """A boolean for each column: whether some row has no value."""
        table = self.table
        return np.array(
            [
                not column.all() if is_category else bool(np.isnan(column).any())
                for column, is_category in zip(table.columns, table.schema.is_category, strict=True)
            ]
        )

    def bin(self, n_threads: int) -> _engine.BinnedTable:
        """The table in the engine's codes."""
        table = self.table
        n_categories = table.schema.n_categories.astype(np.uint32)
        return _engine.bin_table(
            list(table.columns), n_categories, table.n_rows, self.fixed, MAX_BINS, n_threads
        )

    def grow(self, options: dict[str, Any], n_threads: int, progress: Any = None) -> dict[str, Any]:
        """Let the engine grow trees. `options` says what differs from `OPTIONS`."""
        options = OPTIONS | options
        return _engine.grow_forest(
            self.bin(n_threads),
            self.y,
            self.n_classes,
            self.fixed,
            max(self.total_weight, options["n_draws"]),
            options,
            progress,
            n_threads,
        )


def read_training(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Training:
    """Read and check what an estimator is fitted on. Sets what scikit-learn wants to know of X."""
    table = fit_table(estimator, X, categorical_features=estimator.categorical_features)
    return training_of(estimator, table, y, sample_weight, getattr(estimator, "class_weight", None))


def training_of(estimator: Any, table: Table, y: Any, sample_weight: Any, class_weight: Any) -> Training:
    """Check y and the weights that belong to a table."""
    task, target = estimator._task_type.of(y)
    check_lengths(table.n_rows, target)
    if isinstance(task, Regression):
        check_numbers(target, is_rate=getattr(estimator, "criterion", None) == "poisson")
    weights = row_weights(sample_weight, table.n_rows)
    if isinstance(task, Classification):
        weights = class_weights(class_weight, task, target, weights)
    fixed = None if weights is None else _engine.fixed_weights(np.ascontiguousarray(weights))
    return Training(table, task, np.ascontiguousarray(target), weights, fixed)


def check_numbers(y: np.ndarray, is_rate: bool) -> None:
    """Raise unless the numbers can be summed and, where they are rates, are not negative."""
    largest = y[np.abs(y).argmax()]
    if abs(largest) > LARGEST_TARGET:
        limits = f"{-LARGEST_TARGET:g} and {LARGEST_TARGET:g}"
        raise ValueError(f"y must be between {limits}. Got {largest}. Scale it.")
    if not is_rate:
        return
    if (y < 0).any():
        raise ValueError(f'criterion="poisson" needs y >= 0. Got {y.min()}. Use "squared_error".')
    if not y.any():
        raise ValueError('criterion="poisson" needs some y > 0. All are 0. Use "squared_error".')


@declared
class Growing(Voter):
    """The parameters of every grown tree."""

    max_depth: int | None = parameter(
        None,
        "an integer >= 1 or None",
        optional(integer(1)),
        "How many splits there may be between the root and a leaf. None sets no limit.",
    )
    min_samples_split: int | float = parameter(
        2,
        "an integer >= 2 or a float in (0, 1]",
        either(integer(2), share(whole=True)),
        "How many rows a node must have to be split; a float is a share of all rows.",
    )
    min_samples_leaf: int | float = parameter(
        1,
        "an integer >= 1 or a float in (0, 1)",
        either(integer(1), share(whole=False)),
        "How many rows a leaf must have; a float is a share of all rows.",
    )
    min_weight_fraction_leaf: float = parameter(
        0.0,
        "a number in [0, 0.5]",
        number(0, 0.5),
        "The share of the weight of all rows that a leaf must have.",
    )
    max_features: int | float | str | None = parameter(
        None,
        'an integer >= 1, a float in (0, 1], "sqrt", "log2" or None',
        either(integer(1), share(whole=True), one_of("sqrt", "log2", None)),
        "How many columns, drawn anew at every node, are tried for a split; a float is a share of all, "
        "None is all of them. If none of the drawn can be split, others are tried.",
    )
    random_state: Any = parameter(
        None,
        "an integer, a RandomState or None",
        anything,
        "The seed. The same seed gives the same trees on any number of threads, None other ones each time.",
    )
    categorical_features: Any = parameter("from_dtype", *CATEGORICAL_FEATURES)

    def _options(self, training: Training) -> dict[str, Any]:
        n_rows = training.table.n_rows
        return {
            "max_depth": NO_LIMIT if self.max_depth is None else min(int(self.max_depth), NO_LIMIT),
            "min_samples_split": max(2, rows_of(self.min_samples_split, n_rows)),
            "min_samples_leaf": rows_of(self.min_samples_leaf, n_rows),
            "min_weight_fraction_leaf": float(self.min_weight_fraction_leaf),
            "max_features": self._n_columns_tried(training.table.schema.n_columns),
        }

    def _n_columns_tried(self, n_columns: int) -> int:
        return columns_of(self.max_features, n_columns)

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(0, 2**64, dtype=np.uint64))


@declared
class CartGrowing(Growing):
    """The further parameters of CART, alone or in a forest. Subclasses declare `criterion`."""

    max_leaf_nodes: int | None = parameter(
        None,
        "an integer >= 2 or None",
        optional(integer(2)),
        "How many leaves a tree may have: the splits that lower the impurity most are made first. None sets "
        "no limit.",
    )
    min_impurity_decrease: float = parameter(
        0.0,
        "a number >= 0",
        number(0),
        "By how much a split must lower the impurity, times the node's share of the weight.",
    )
    ccp_alpha: float = parameter(
        0.0,
        "a number >= 0",
        number(0),
        "Minimal cost-complexity pruning cuts subtrees that lower the impurity by less than this per leaf.",
    )
    monotonic_cst: Any = parameter(
        None,
        "None or a value of -1, 0 or 1 for each column",
        anything,
        "1: the prediction (the probability of the second of two classes) may only rise with the column. -1: "
        "it may only fall. 0: no constraint.",
    )

    def _options(self, training: Training) -> dict[str, Any]:
        return super()._options(training) | {
            "criterion": self.criterion,
            "max_leaf_nodes": self.max_leaf_nodes or 0,
            "min_impurity_decrease": float(self.min_impurity_decrease),
            "monotonic": directions_of(self.monotonic_cst, training),
        }


def rows_of(asked: int | float, n_rows: int) -> int:
    """A number of rows, given as such or as a share of all."""
    return math.ceil(asked * n_rows) if is_float(asked) else min(int(asked), NO_LIMIT)


def columns_of(asked: int | float | str | None, n_columns: int) -> int:
    """The number of columns to try, at least one and at most all.

    Examples
    --------
    >>> [columns_of(asked, 28) for asked in ("sqrt", "log2", 0.5, None, 99)]
    [5, 4, 14, 28, 28]
    """
    if asked is None:
        return n_columns
    if isinstance(asked, str):
        wanted = math.sqrt(n_columns) if asked == "sqrt" else math.log2(n_columns)
    else:
        wanted = asked * n_columns if is_float(asked) else asked
    return max(1, min(int(wanted), n_columns))


def directions_of(monotonic_cst: Any, training: Training) -> list[int]:
    """The constraints as the engine takes them: none if there is nothing to constrain."""
    if monotonic_cst is None:
        return []
    directions = np.asarray(monotonic_cst)
    schema = training.table.schema
    if directions.shape != (schema.n_columns,) or not np.isin(directions, (-1, 0, 1)).all():
        raise ValueError(
            f"monotonic_cst must be None or a value of -1, 0 or 1 for each of {schema.n_columns} columns. "
            f"Got {monotonic_cst!r}."
        )
    if not directions.any():
        return []
    if training.n_classes > 2:
        raise ValueError(f"monotonic_cst needs two classes, and y has {training.n_classes}. Set it to None.")
    constrained = np.flatnonzero(schema.is_category & (directions != 0))
    if len(constrained):
        names = [schema.names[column] for column in constrained]
        raise ValueError(
            f"monotonic_cst constrains the categories {names}, which have no order. Give them 0."
        )
    return [int(direction) for direction in directions]
