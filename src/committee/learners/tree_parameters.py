"""The parameters of grown trees: declared once for trees and forests, with what they tell the engine."""

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

# A limit may be as large as one likes: the engine gets NO_LIMIT.
ANY_SIZE = math.inf

CLASS_CRITERION: Declaration = (
    one_of("gini", "entropy", "log_loss", "gain_ratio"),
    'What a split should lower. "log_loss" is another name of "entropy". "gain_ratio" takes, of the columns '
    "of at least average gain of information, the one with the highest ratio of gain to the information of "
    "the split itself.",
)
NUMBER_CRITERION: Declaration = (
    one_of("squared_error", "poisson"),
    "What a split should lower: the squared error, or half the Poisson deviance, for y >= 0.",
)
CLASS_WEIGHT: Declaration = (
    either(one_of(None, "balanced"), Constraint("a dict of label to weight", is_mapping)),
    'Weights of the classes, multiplied with those of the rows. "balanced" makes them inverse to the number '
    "of rows of each class, whatever `sample_weight` is. A class that the dict leaves out weighs 1.",
)
CATEGORICAL_FEATURES: Declaration = (
    Constraint('"from_dtype", a mask, or a list of indices or names'),
    "Columns to take as categories beside those whose dtype says so.",
)
N_JOBS: Declaration = (
    Constraint(
        "an integer other than 0, or None", lambda value: value is None or (is_integer(value) and value != 0)
    ),
    "The number of threads, which changes nothing but the time. None and -1 are all cores (None is one in "
    "scikit-learn), -2 is one fewer.",
)
RUNNER: Declaration = (
    either(
        one_of("serial", "threads", "processes"),
        Constraint("a Runner", lambda value: isinstance(value, Runner)),
    ),
    "Where members are fitted that are not of the engine. It changes nothing but the time.",
)


VERBOSE: Declaration = (
    either(integer(0), Constraint("a boolean", is_boolean)),
    "Whether to show how far the fit is: as a bar in terminals and notebooks if rich is installed, else on "
    "stderr.",
)
MAX_DEPTH: Declaration = (
    optional(integer(1, ANY_SIZE)),
    "How many splits there may be between the root and a leaf. None sets no limit.",
)
MIN_SAMPLES_SPLIT: Declaration = (
    either(integer(2, ANY_SIZE), share(whole=True)),
    "How many rows a node must have to be split, whatever they weigh; a float is a share of all rows that "
    "weigh something.",
)
MIN_SAMPLES_LEAF: Declaration = (
    either(integer(1, ANY_SIZE), share(whole=False)),
    "How many rows a leaf must have, whatever they weigh; a float is a share of all rows that weigh "
    "something.",
)
MIN_WEIGHT_FRACTION_LEAF: Declaration = (
    number(0, 0.5),
    "The share of the weight of all rows that a leaf must have.",
)
MAX_FEATURES: Declaration = (
    either(integer(1, ANY_SIZE), share(whole=True), one_of("sqrt", "log2", None)),
    "How many columns, drawn anew at every node, are tried for a split; a float is a share of all, None is "
    "all of them. If none of the drawn can be split, others are tried.",
)
TREE_SEED: Declaration = (
    RANDOM_STATE,
    "The seed. The same seed gives the same trees on any number of threads. None draws a new seed on every "
    "fit.",
)
MAX_LEAF_NODES: Declaration = (
    optional(integer(2, ANY_SIZE)),
    "How many leaves a tree may have: the splits that lower the impurity most are made first. None sets no "
    "limit.",
)
MIN_IMPURITY_DECREASE: Declaration = (
    number(0),
    "By how much a split must lower the impurity, times the node's share of the weight.",
)
CCP_ALPHA: Declaration = (
    number(0),
    "Minimal cost-complexity pruning cuts subtrees that lower the impurity by less than this per leaf.",
)
MONOTONIC_CST: Declaration = (
    Constraint("None, a value of -1, 0 or 1 for each column, or a dict of names to such values"),
    "1: the prediction (the probability of the second of two classes) may only rise with the column. -1: it "
    "may only fall. 0, and columns that a dict leaves out: no constraint.",
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
    return grow


def draw_seed(random_state: Any) -> int:
    """The engine's seed: always another one if the state is None."""
    return int(check_random_state(random_state).randint(0, 2**64, dtype=np.uint64))


def rows_of(asked: int | float, n_rows: int) -> int:
    """A number of rows, given as such or as a share of all."""
    return math.ceil(asked * n_rows) if is_float(asked) else min(int(asked), NO_LIMIT)


def columns_of(asked: int | float | str | None, n_columns: int) -> int:
    """The number of columns to try, at least one and at most all.

    Examples
    --------
    >>> [columns_of(asked, 28) for asked in ("sqrt", "log2", "auto", 0.5, None, 99)]
    [5, 4, 5, 14, 28, 28]
    """
    if asked is None:
        return n_columns
    if asked == "auto":
        wanted = math.log2(n_columns) + 1
    elif isinstance(asked, str):
        wanted = math.sqrt(n_columns) if asked == "sqrt" else math.log2(n_columns)
    else:
        wanted = asked * n_columns if is_float(asked) else asked
    return max(1, min(int(wanted), n_columns))


def directions_of(monotonic_cst: Any, training: Training) -> list[int]:
    """The constraints as the engine takes them: none if there is nothing to constrain."""
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
            f"monotonic_cst constrains the categories {names}, which have no order. Give them 0."
        )
    return [int(direction) for direction in directions]


def check_names(monotonic_cst: Mapping[Any, Any], schema: Schema) -> None:
    """Raise unless all columns that are to be constrained are there."""
    if not schema.named:
        raise ValueError(
            "monotonic_cst names columns, and those of X have no names. Give it a value for each column."
        )
    unknown = [name for name in monotonic_cst if name not in schema.names]
    if unknown:
        raise ValueError(f"monotonic_cst names the columns {unknown}, which X does not have.")
