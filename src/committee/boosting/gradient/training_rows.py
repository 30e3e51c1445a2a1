"""The rows of a fit: those that it learns from, and those that tell it when to stop.

In: X, y, weights and initial scores as the user has them. Out: `Rows`, of positive weight only, so that a row
of weight zero is a row that is not there, whatever else is drawn by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee import _engine
from committee.boosting.gradient.objectives import LARGEST_NUMBER
from committee.learners.training_data import Training
from committee.table import BinnedTable, Table, TargetStatistics, read_like, to_codes
from committee.task import (
    REPETITIONS_END,
    Classification,
    Regression,
    are_repetitions,
    check_lengths,
    class_weights,
    of_mean_one,
    row_weights,
    scaled,
    to_numbers,
)
from committee.votes.folds import spare_share

# The engine rounds the derivatives of a row, so three rows are not quite a row of weight 3, and that would
# decide between splits that are equally good. Small tables have such splits, so their rows are repeated.
MOST_REPEATED = 2**15
# In no open table do more than 0.56 of the rows have an equal one. If more have, they are copies.
COPIED = 0.6
# How many rows of average target a category has before it is seen.
PRIOR_ROWS = 1.0


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows with their targets.

    Parameters
    ----------
    table : Table or BinnedTable
    y : ndarray of shape (n_rows,)
        Codes of the classes as int32, or numbers as float64.
    weights : ndarray of float64 of shape (n_rows,), or None
        All positive.
    scores : ndarray of float64 of shape (n_rows, n_scores), or None
        The user's scores before the first round.
    """

    table: Table | BinnedTable
    y: np.ndarray
    weights: np.ndarray | None
    scores: np.ndarray | None

    def take(self, rows: np.ndarray) -> Rows:
        """Some of the rows."""
        return Rows(
            take_table(self.table, rows),
            self.y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.scores is None else self.scores[rows],
        )


def training_rows(training: Training, init_score: Any, n_scores: int, *, may_repeat: bool) -> Rows:
    """The rows to learn from. Their weights mean 1 unless they may be, and are, repetitions."""
    scores = initial_scores(init_score, training.table.n_rows, n_scores, "init_score")
    weights = training.weights
    if weights is None:
        return Rows(training.table, training.y, None, scores)
    weights_of = scaled if may_repeat else of_mean_one
    rows = Rows(training.table, training.y, weights_of(weights), scores)
    return rows.take(np.flatnonzero(weights)) if (weights == 0).any() else rows


def repeated(rows: Rows) -> Rows:
    """Rows as often as their weights say, if these are repetitions and there are not too many."""
    weights = rows.weights
    if weights is None or not are_repetitions(weights) or weights.sum() > MOST_REPEATED:
        return rows
    return replace(rows, weights=None).take(np.repeat(np.arange(len(weights)), weights.astype(np.int64)))


def validation_rows(
    estimator: Any,
    training: Training,
    given: tuple[Any, Any, Any, Any],
    n_scores: int,
) -> Rows:
    """The rows of X_val, y_val, sample_weight_val and init_score_val, read as those of the fit were."""
    X, y, sample_weight, init_score = given
    check_given(X, y, sample_weight)
    try:
        table = read_like(X, training.table.schema)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val does not fit X. {error}") from error
    target = validation_target(y, training.task)
    check_lengths(table.n_rows, target)
    weights = row_weights(sample_weight, table.n_rows, "sample_weight_val")
    class_weight = getattr(estimator, "class_weight", None)
    if isinstance(training.task, Classification) and class_weight is not None:
        by_class = np.ones(training.n_classes)
        by_class[training.y] = class_weights(class_weight, training.task, training.y, None)
        weights = by_class[target] * (1.0 if weights is None else weights)
    scores = initial_scores(init_score, table.n_rows, n_scores, "init_score_val")
    rows = Rows(table, target, weights, scores)
    if weights is not None and (weights == 0).any():
        if not weights.any():
            raise ValueError("class_weight leaves no row of X_val any weight. Add rows of other classes.")
        rows = rows.take(np.flatnonzero(weights))
    return rows


def check_given(X: Any, y: Any, sample_weight: Any) -> None:
    """Raise unless the rows to validate by are complete."""
    if X is None and y is None:
        there = "init_score_val" if sample_weight is None else "sample_weight_val"
        raise ValueError(f"{there} needs X_val and y_val. Pass all or none.")
    if X is None or y is None:
        there, other = ("X_val", "y_val") if y is None else ("y_val", "X_val")
        raise ValueError(f"{there} needs {other}. Pass both or none.")
    if isinstance(X, BinnedTable):
        raise TypeError("X_val is a BinnedTable, whose bins are its own. Pass the table that it was made of.")


def check_two_classes(y: np.ndarray, task: Classification | Regression) -> None:
    """Raise if there is nothing to tell apart."""
    if isinstance(task, Classification) and (y == y[0]).all():
        label = task.classes[y[0]]
        raise ValueError(f"y has one class, {label}, and boosting needs two. Add rows of another class.")


def hold_out(rows: Rows, n_classes: int, fraction: float, seed: int) -> tuple[Rows, Rows]:
    """Split rows into those to learn from and those to validate by, with the same shares of the classes.

    No class loses its last row.
    """
    classes = rows.y if n_classes else np.zeros(len(rows.y), dtype=np.int32)
    is_held_out = spare_share(classes, fraction, seed)
    return rows.take(np.flatnonzero(~is_held_out)), rows.take(np.flatnonzero(is_held_out))


def initial_scores(init_score: Any, n_rows: int, n_scores: int, name: str) -> np.ndarray | None:
    """The user's scores as a matrix."""
    if init_score is None:
        return None
    scores = to_numbers(init_score, name)
    expected = (n_rows,) if n_scores == 1 else (n_rows, n_scores)
    if scores.shape not in (expected, (n_rows, n_scores)):
        raise ValueError(f"{name} must have the shape {expected}. Got {scores.shape}.")
    if not np.isfinite(scores).all():
        raise ValueError(f"{name} must be finite. Got {scores[~np.isfinite(scores)][0]}.")
    largest = scores.flat[np.abs(scores).argmax()]
    if abs(largest) > LARGEST_NUMBER:
        limits = f"{-LARGEST_NUMBER:g} and {LARGEST_NUMBER:g}"
        raise ValueError(f"{name} must be between {limits}. Got {largest:g}. Scale it.")
    return np.ascontiguousarray(scores.reshape(n_rows, n_scores))


def validation_target(y: Any, task: Classification | Regression) -> np.ndarray:
    """The codes or numbers of y_val."""
    if isinstance(task, Regression):
        return np.ascontiguousarray(Regression.of(y, "y_val")[1])
    found, codes = Classification.of(y, "y_val")
    known = {label: code for code, label in enumerate(task.classes.tolist())}
    labels = found.classes.tolist()
    unseen = [label for label in labels if label not in known]
    if unseen:
        raise ValueError(
            f"y_val has the classes {unseen}, which y does not have. It has {list(known)}. Drop those rows."
        )
    return np.array([known[label] for label in labels], dtype=np.int32)[codes]


def take_table(table: Table | BinnedTable, rows: np.ndarray) -> Table | BinnedTable:
    """Some rows of a table."""
    if isinstance(table, BinnedTable):
        codes = _engine.take_rows(table.codes, rows.astype(np.uint32))
        return BinnedTable(table.schema, codes, len(rows))
    return Table(table.schema, tuple(column[rows] for column in table.columns), len(rows))


def with_statistics(
    rows: Rows, n_classes: int, columns: list[int], order: np.ndarray
) -> tuple[TargetStatistics, Rows]:
    """Replace columns of training rows: what is averaged is the number, or whether a row is of a class."""
    assert isinstance(rows.table, Table)
    targets = np.eye(n_classes)[rows.y] if n_classes > 2 else rows.y.astype(np.float64)[:, np.newaxis]
    statistics, table = learn_statistics(rows.table, targets, rows.weights, columns, order)
    return statistics, replace(rows, table=table)


def encoded(rows: Rows, statistics: TargetStatistics) -> Rows:
    """Replace columns of rows to validate by."""
    assert isinstance(rows.table, Table)
    return replace(rows, table=statistics.encode(rows.table))


def scored(rows: Rows, forest: _engine.Forest, threads: int) -> Rows:
    """Rows with the scores that the trees so far give them."""
    table = rows.table
    assert isinstance(table, Table)
    scores = forest.scores(list(table.columns), table.n_rows, 0, forest.n_trees, threads)
    return replace(rows, scores=scores if rows.scores is None else rows.scores + scores)


def binned_rows(rows: Rows, threads: int, max_bins: int) -> BinnedTable:
    """The rows in the engine's codes."""
    if isinstance(rows.table, BinnedTable):
        return rows.table
    fixed = None if rows.weights is None else _engine.fixed_weights(rows.weights)
    return to_codes(rows.table, fixed, threads, max_bins)


def content_order(rows: Rows, binned: BinnedTable, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """An order of rows that depends on what they contain, not on where they stand; and which are copies.

    What is drawn along it is the same for any order of the table.
    """
    hashes = _engine.hash_rows(binned.codes, threads)
    order = np.lexsort([rows.y, hashes])
    return order, copies_of(hashes[order], rows.y[order])


def validation_codes(rows: Rows, binned: BinnedTable, threads: int) -> _engine.BoostRows:
    """Return rows to validate by in the bins of the training rows, as the engine takes them."""
    table = rows.table
    if isinstance(table, BinnedTable):
        codes = table.codes
    else:
        codes = _engine.encode(binned.codes, list(table.columns), table.n_rows, threads)
    return _engine.BoostRows(codes, rows.y, rows.weights, rows.scores)


def copies_of(hashes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Which rows are copies of one, made for its weight: they must not part into two folds.

    Rows that are equal but for their target are no copies. Nor are any where few rows have an equal one, or
    where they have many on average: new rows will equal old ones as often.

    Parameters
    ----------
    hashes, targets : ndarray of shape (n_rows,)
        What tells rows apart, and the targets, in the order of both.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers from 0 on, the same for all copies of a row.

    Examples
    --------
    >>> copies_of(np.array([5, 5, 6, 6, 7, 7, 8, 8]), np.array([0, 0, 1, 1, 0, 0, 0, 1]))
    array([0, 0, 1, 1, 2, 2, 3, 4])
    >>> copies_of(np.array([5, 6, 7, 8, 8, 9]), np.array([0, 1, 0, 1, 1, 0]))
    array([0, 1, 2, 3, 4, 5])
    """
    is_new = np.diff(hashes, prepend=hashes[:1]) != 0
    is_new[0] = True
    first = np.flatnonzero(is_new)
    sizes = np.diff(first, append=len(hashes))
    differs = targets[first] != targets[first + sizes - 1]
    copies = np.cumsum(is_new | np.repeat(differs, sizes)) - 1
    sizes = np.bincount(copies)
    are_copies = sizes.mean() <= REPETITIONS_END and sizes[sizes > 1].sum() > COPIED * len(copies)
    return copies if are_copies else np.arange(len(copies))


def learn_statistics(
    table: Table, targets: np.ndarray, weights: np.ndarray | None, columns: Sequence[int], order: np.ndarray
) -> tuple[TargetStatistics, Table]:
    """Learn the statistics of some columns, and replace these in the training rows.

    Parameters
    ----------
    table : Table
    targets : ndarray of shape (n_rows, n_statistics)
        The number to average, or for each class whether the row is of it.
    weights : ndarray of shape (n_rows,), or None
    columns : sequence of int
        The columns of categories to replace.
    order : ndarray of shape (n_rows,)
        The rows in a random order.

    Returns
    -------
    statistics : TargetStatistics
        For new rows.
    table : Table
        The training rows, each with the statistics of the rows before it.

    Examples
    --------
    >>> from committee.table import read
    >>> table = read([["Oslo"], ["Oslo"], ["Bonn"], ["Oslo"]])
    >>> targets = np.array([[1.0], [1.0], [0.0], [0.0]])
    >>> statistics, training = learn_statistics(table, targets, None, [0], np.array([2, 1, 0, 3]))
    >>> statistics.encode(read([["Bonn"], ["Oslo"]])).columns
    (array([0.25 , 0.625]),)
    >>> training.columns
    (array([0.75      , 0.5       , 0.5       , 0.83333333]),)
    """
    weights = np.ones(table.n_rows) if weights is None else weights
    prior = PRIOR_ROWS * np.average(targets, axis=0, weights=weights)
    before, of_all = {}, {}
    for column in columns:
        codes = table.columns[column]
        before[column] = statistics_before(codes, targets, weights, prior, order)
        n_codes = len(table.schema.columns[column].categories) + 1
        totals = np.bincount(codes, weights, minlength=n_codes)
        sums = np.column_stack([np.bincount(codes, weights * each, minlength=n_codes) for each in targets.T])
        of_all[column] = (sums + prior) / (totals + PRIOR_ROWS)[:, np.newaxis]
    statistics = TargetStatistics(of_all)
    return statistics, statistics.replace(table, before)


def statistics_before(
    codes: np.ndarray, targets: np.ndarray, weights: np.ndarray, prior: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """For each row, the statistics of its category among the rows that `order` has before it.

    Examples
    --------
    >>> codes, targets = np.array([1, 1, 2, 1]), np.array([[1.0], [0.0], [0.0], [0.0]])
    >>> statistics_before(codes, targets, np.ones(4), np.array([0.25]), np.arange(4)).ravel()
    array([0.25      , 0.625     , 0.25      , 0.41666667])
    """
    by_category = order[np.argsort(codes[order], kind="stable")]
    sorted_codes = codes[by_category]
    begins = np.searchsorted(sorted_codes, sorted_codes)
    total = sums_before(weights[by_category], begins)
    statistics = np.empty(targets.shape)
    for output, target in enumerate(targets.T):
        sums = sums_before((weights * target)[by_category], begins)
        statistics[by_category, output] = (sums + prior[output]) / (total + PRIOR_ROWS)
    return statistics


def sums_before(values: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """For each position, the sum of the values from where its group begins up to it, itself left out."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    return running[:-1] - running[begins]
