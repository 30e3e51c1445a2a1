"""Declare the parameters of grown trees once, for trees and forests, and convert them for the engine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from committee import _engine
from committee.learners.training_data import NO_LIMIT, Training
from committee.parameters import (
    RANDOM_STATE,
    Constraint,
    Declaration,
    boolean,
    either,
    integer,
    is_boolean,
    is_float,
    is_integer,
    is_mapping,
    number,
    one_of,
    optional,
    share,
)
from committee.running import Runner
from committee.table import Schema

# Users may pass any limit. The engine gets at most NO_LIMIT.
ANY_SIZE = math.inf

CLASS_CRITERION: Declaration = (
    one_of("gini", "entropy", "log_loss", "gain_ratio"),
    'The measure that a split lowers. "log_loss" is another name of "entropy". "gain_ratio" considers the '
    "columns of at least average information gain and takes the one with the highest ratio of gain to the "
    "information of the split itself.",
)
NUMBER_CRITERION: Declaration = (
    one_of("squared_error", "absolute_error", "poisson"),
    "The measure that a split lowers: the squared error, the absolute error from the median, which is then "
    "the prediction of a leaf and takes longer, or half the Poisson deviance, for y >= 0.",
)
CLASS_WEIGHT: Declaration = (
    either(one_of(None, "balanced"), Constraint("a dict of label to weight", is_mapping)),
    'Weights of the classes, multiplied by those of the rows. "balanced" makes them inversely proportional '
    "to the number of rows of each class, whatever `sample_weight` is. A class that is not in the dict has "
    "the weight 1.",
)
CATEGORICAL_FEATURES: Declaration = (
    Constraint('"from_dtype", a mask, or a list of indices or names'),
    "Columns to treat as categories, besides those with a categorical dtype.",
)
N_JOBS: Declaration = (
    Constraint(
        "an integer other than 0, or None", lambda value: value is None or (is_integer(value) and value != 0)
    ),
    "The number of threads, which only changes the time. None and -1 use all cores (None is one core in "
    "scikit-learn), -2 leaves one core unused.",
)
RUNNER: Declaration = (
    either(
        one_of("serial", "threads", "processes"),
        Constraint("a Runner", lambda value: isinstance(value, Runner)),
    ),
    "Where members that the engine does not grow are fitted. It only changes the time.",
)
VERBOSE: Declaration = (
    either(integer(0), Constraint("a boolean", is_boolean)),
    "Whether to show the progress of the fit: as a bar in terminals and notebooks if rich is installed, else "
    "on stderr.",
)
MAX_DEPTH: Declaration = (
    optional(integer(1, ANY_SIZE)),
    "The maximum number of splits between the root and a leaf. None sets no limit.",
)
MIN_SAMPLES_SPLIT: Declaration = (
    either(integer(2, ANY_SIZE), share(whole=True)),
    "The minimum number of rows that a node needs to be split, whatever their weights. A float is a share of "
    "the rows of positive weight.",
)
MIN_SAMPLES_LEAF: Declaration = (
    either(integer(1, ANY_SIZE), share(whole=False)),
    "The minimum number of rows of a leaf, whatever their weights. A float is a share of the rows of "
    "positive weight.",
)
MIN_WEIGHT_FRACTION_LEAF: Declaration = (number(0, 0.5), "The minimum share of the total weight in a leaf.")
MAX_FEATURES: Declaration = (
    either(integer(1, ANY_SIZE), share(whole=True), one_of("sqrt", "log2", None)),
    "The number of columns that are drawn at every node and tried for a split. A float is a share of all "
    "columns, None is all. If no drawn column can be split, others are tried.",
)
SEED: Declaration = (
    RANDOM_STATE,
    "The seed of all random choices of the fit. The same seed gives the same model on any number of threads "
    "and with any runner. None draws a new seed on every fit.",
)
WARM_START: Declaration = (
    boolean,
    "Whether `fit` adds members to those of the previous fit, up to `n_estimators`, on the same rows. An "
    "interrupted fit (Ctrl-C) keeps the finished members, and the next fit resumes it. With False, an "
    "interrupted fit changes nothing.",
)
MAX_LEAF_NODES: Declaration = (
    optional(integer(2, ANY_SIZE)),
    "The maximum number of leaves of a tree. The splits that lower the impurity most are made first. None "
    "sets no limit.",
)
MIN_IMPURITY_DECREASE: Declaration = (
    number(0),
    "The minimum decrease of the impurity by a split, times the node's share of the weight.",
)
CCP_ALPHA: Declaration = (
    number(0),
    "Minimal cost-complexity pruning cuts subtrees that lower the impurity by less than this per leaf.",
)
MONOTONIC_CST: Declaration = (
    Constraint("None, a value of -1, 0 or 1 for each column, or a dict of names to such values"),
    "1: the prediction (the probability of the second of two classes) may only rise with the column. -1: it "
    "may only fall. 0, or a column that is not in the dict: no constraint.",
)


def limits_of(estimator: Any, training: Training) -> _engine.GrowParameters:
    """Return the limits of the trees of an estimator as the engine takes them."""
    grow, n_rows = _engine.GrowParameters(), training.n_rows
    grow.exact = True
    if estimator.max_depth is not None:
        grow.max_depth = min(int(estimator.max_depth), NO_LIMIT)
    grow.min_samples_split = max(2, rows_of(estimator.min_samples_split, n_rows))
    grow.min_samples_leaf = rows_of(estimator.min_samples_leaf, n_rows)
    grow.min_weight_fraction_leaf = float(estimator.min_weight_fraction_leaf)
    grow.max_features = columns_of(estimator.max_features, training.table.schema.n_columns)
    return grow


def cart_parameters_of(estimator: Any, training: Training) -> _engine.GrowParameters:
    """Return the parameters of the CART trees of an estimator as the engine takes them."""
    grow = limits_of(estimator, training)
    grow.criterion = estimator.criterion
    grow.max_leaf_nodes = min(int(estimator.max_leaf_nodes or 0), NO_LIMIT)
    grow.min_impurity_decrease = float(estimator.min_impurity_decrease)
    grow.monotonic = directions_of(estimator.monotonic_cst, training)
    if grow.monotonic and estimator.criterion == "absolute_error":
        raise ValueError('monotonic_cst needs means. Use criterion="squared_error" or "poisson".')
    return grow


def draw_seed(random_state: Any) -> int:
    """Return a seed for the engine. It differs on every call if the state is None."""
    return int(check_random_state(random_state).randint(0, 2**64, dtype=np.uint64))


def rows_of(value: int | float, n_rows: int) -> int:
    """Return a number of rows that is given as such or as a share of all rows."""
    return math.ceil(value * n_rows) if is_float(value) else min(int(value), NO_LIMIT)


def columns_of(value: int | float | str | None, n_columns: int) -> int:
    """Return the number of columns to try, at least one and at most all.

    Examples
    --------
    >>> [columns_of(value, 28) for value in ("sqrt", "log2", "auto", 0.5, None, 99)]
    [5, 4, 5, 14, 28, 28]
    """
    if value is None:
        return n_columns
    if isinstance(value, str):
        by_name = {
            "auto": math.log2(n_columns) + 1,
            "sqrt": math.sqrt(n_columns),
            "log2": math.log2(n_columns),
        }
        wanted = by_name[value]
    else:
        wanted = value * n_columns if is_float(value) else value
    return max(1, min(int(wanted), n_columns))


def directions_of(monotonic_cst: Any, training: Training) -> list[int]:
    """Return the constraints as the engine takes them. The list is empty if no column is constrained."""
    if monotonic_cst is None:
        return []
    schema = training.table.schema
    error = ValueError(
        f"monotonic_cst must be None or a value of -1, 0 or 1 for each of {schema.n_columns} columns. "
        f"Got {monotonic_cst!r}."
    )
    if is_mapping(monotonic_cst):
        check_names(monotonic_cst, schema)
        monotonic_cst = [monotonic_cst.get(name, 0) for name in schema.names]
    try:
        directions = np.asarray(monotonic_cst)
    except ValueError as ragged:
        raise error from ragged
    if directions.shape != (schema.n_columns,) or not np.isin(directions, (-1, 0, 1)).all():
        raise error
    if not directions.any():
        return []
    if training.n_classes > 2:
        raise ValueError(f"monotonic_cst needs two classes, and y has {training.n_classes}. Set it to None.")
    constrained = np.flatnonzero(schema.is_category & (directions != 0))
    if len(constrained):
        names = [schema.names[column] for column in constrained]
        raise ValueError(
            f"monotonic_cst constrains the categories {names}, which have no order. Set them to 0."
        )
    return directions.astype(int).tolist()


def check_names(monotonic_cst: Mapping[Any, Any], schema: Schema) -> None:
    """Raise if a column that is to be constrained is not in the table."""
    if not schema.named:
        raise ValueError(
            "monotonic_cst names columns, and those of X have no names. Pass a value for each column."
        )
    unknown = [name for name in monotonic_cst if name not in schema.names]
    if unknown:
        raise ValueError(f"monotonic_cst names the columns {unknown}, which X does not have.")
