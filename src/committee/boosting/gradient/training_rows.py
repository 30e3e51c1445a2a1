"""Prepare the training and validation rows of boosting.

In: X, y, weights and initial scores as the user passes them. Out: `TrainingRows` of positive weight only. So
rows of weight zero have no effect, not even on random draws.
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

# The engine rounds the derivatives of a row, so that three equal rows differ slightly from a row of weight 3.
# In small tables this could decide between equally good splits, so their rows are repeated.
MOST_REPEATED = 2**15
# In the public tables examined, at most 0.56 of the rows are equal to another row. More indicate copies.
COPIED = 0.6
# The number of rows with the average target that are added to each category as a prior.
PRIOR_ROWS = 1.0


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows with their targets, for training or for validation.

    Parameters
    ----------
    table : Table or BinnedTable
    y : ndarray of shape (n_rows,)
        The codes of the classes as int32, or numbers as float64.
    weights : ndarray of float64 of shape (n_rows,), or None
        Positive weights.
    scores : ndarray of float64 of shape (n_rows, n_scores), or None
        The user's initial scores.
    """

    table: Table | BinnedTable
    y: np.ndarray
    weights: np.ndarray | None
    scores: np.ndarray | None

    @classmethod
    def of(cls, training: Training, init_score: Any, n_scores: int, *, may_repeat: bool) -> TrainingRows:
        """Make the training rows. Scale weights to a mean of 1 unless they are repetitions."""
        scores = initial_scores(init_score, training.table.n_rows, n_scores, "init_score")
        weights = training.weights
        if weights is None:
            return cls(training.table, training.y, None, scores)
        return cls(
            training.table, training.y, (scaled if may_repeat else of_mean_one)(weights), scores
        ).without_weightless()

    def take(self, rows: np.ndarray) -> TrainingRows:
        """Select rows by position."""
        return TrainingRows(
            take_table(self.table, rows),
            self.y[rows],
            None if self.weights is None else self.weights[rows],
            None if self.scores is None else self.scores[rows],
        )

    def without_weightless(self) -> TrainingRows:
        """Drop the rows of weight 0."""
        if self.weights is None or self.weights.all():
            return self
        return self.take(np.flatnonzero(self.weights))

    def repeated(self) -> TrainingRows:
        """Repeat rows according to their weights, if these are repetitions and their sum is small."""
        weights = self.weights
        if weights is None or not are_repetitions(weights) or weights.sum() > MOST_REPEATED:
            return self
        return replace(self, weights=None).take(np.repeat(np.arange(len(weights)), weights.astype(np.int64)))

    def divided(self, is_held_out: np.ndarray) -> tuple[TrainingRows, TrainingRows]:
        """Divide the rows into training and validation rows."""
        return self.take(np.flatnonzero(~is_held_out)), self.take(np.flatnonzero(is_held_out))

    def with_statistics(
        self, n_classes: int, columns: list[int], order: np.ndarray
    ) -> tuple[TargetStatistics, TrainingRows]:
        """Replace columns by statistics of the numeric target, or of the indicator of each class."""
        assert isinstance(self.table, Table)
        targets = np.eye(n_classes)[self.y] if n_classes > 2 else self.y.astype(np.float64)[:, np.newaxis]
        statistics, table = learn_statistics(self.table, targets, self.weights, columns, order)
        return statistics, replace(self, table=table)

    def encoded(self, statistics: TargetStatistics) -> TrainingRows:
        """Replace columns of validation rows by statistics."""
        assert isinstance(self.table, Table)
        return replace(self, table=statistics.encode(self.table))

    def scored(self, forest: _engine.Forest, threads: int) -> TrainingRows:
        """Add the scores of the existing trees."""
        table = self.table
        assert isinstance(table, Table)
        scores = forest.scores(list(table.columns), table.n_rows, 0, forest.n_trees, threads)
        return replace(self, scores=scores if self.scores is None else self.scores + scores)

    def binned(self, threads: int, max_bins: int) -> BinnedTable:
        """Return the binned table."""
        if isinstance(self.table, BinnedTable):
            return self.table
        fixed = None if self.weights is None else _engine.fixed_weights(self.weights)
        return to_codes(self.table, fixed, threads, max_bins)

    def by_content(self, binned: BinnedTable, threads: int) -> tuple[np.ndarray, np.ndarray]:
        """Sort the rows by content and find copies.

        Random draws in this order do not depend on the order of the table.

        Returns
        -------
        order, copies : ndarray of shape (n_rows,)
            `copies` numbers the rows in this order, with the same number for copies.
        """
        hashes = _engine.hash_rows(binned.codes, threads)
        order = np.lexsort([self.y, hashes])
        return order, copies_of(hashes[order], self.y[order])

    def codes_like(self, binned: BinnedTable, threads: int) -> _engine.BoostRows:
        """Return validation rows for the engine, in the bins of the training rows."""
        table = self.table
        if isinstance(table, BinnedTable):
            codes = table.codes
        else:
            codes = _engine.encode(binned.codes, list(table.columns), table.n_rows, threads)
        return _engine.BoostRows(codes, self.y, self.weights, self.scores)


def validation_rows(
    estimator: Any, training: Training, given: tuple[Any, Any, Any, Any], n_scores: int
) -> TrainingRows:
    """Read X_val, y_val, sample_weight_val and init_score_val with the schema of the training table."""
    X, y, sample_weight, init_score = given
    check_given(X, y, sample_weight)
    try:
        table = read_like(X, training.table.schema)
    except (TypeError, ValueError) as error:
        raise type(error)(f"X_val does not fit X. {error}") from error
    target = training.task.encode(y, "y_val")
    check_lengths(table.n_rows, target)
    weights = row_weights(sample_weight, table.n_rows, "sample_weight_val")
    class_weight = getattr(estimator, "class_weight", None)
    if isinstance(training.task, Classification) and class_weight is not None:
        by_class = np.ones(training.n_classes)
        by_class[training.y] = class_weights(class_weight, training.task, training.y, None)
        weights = by_class[target] * (1.0 if weights is None else weights)
    scores = initial_scores(init_score, table.n_rows, n_scores, "init_score_val")
    if weights is not None and not weights.any():
        raise ValueError(
            "class_weight sets the weight of every row of X_val to zero. Add rows of other classes."
        )
    return TrainingRows(table, target, weights, scores).without_weightless()


def check_given(X: Any, y: Any, sample_weight: Any) -> None:
    """Raise unless the validation rows are complete."""
    if X is None and y is None:
        there = "init_score_val" if sample_weight is None else "sample_weight_val"
        raise ValueError(f"{there} needs X_val and y_val. Pass all or none.")
    if X is None or y is None:
        there, other = ("X_val", "y_val") if y is None else ("y_val", "X_val")
        raise ValueError(f"{there} needs {other}. Pass both or none.")
    if isinstance(X, BinnedTable):
        raise TypeError("X_val is a BinnedTable with its own bins. Pass the table that it was made from.")


def check_two_classes(y: np.ndarray, task: Classification | Regression) -> None:
    """Raise if all rows are of one class."""
    if isinstance(task, Classification) and (y == y[0]).all():
        label = task.classes[y[0]]
        raise ValueError(f"y has one class, {label}, and boosting needs two. Add rows of another class.")


def initial_scores(init_score: Any, n_rows: int, n_scores: int, name: str) -> np.ndarray | None:
    """Convert the user's initial scores to a matrix."""
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


def take_table(table: Table | BinnedTable, rows: np.ndarray) -> Table | BinnedTable:
    """Select rows of a table by position."""
    if isinstance(table, BinnedTable):
        codes = _engine.take_rows(table.codes, rows.astype(np.uint32))
        return BinnedTable(table.schema, codes, len(rows))
    return Table(table.schema, tuple(column[rows] for column in table.columns), len(rows))


def copies_of(hashes: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Number rows so that copies, which users make to weight a row, have the same number.

    Copies must be in the same fold. Rows that differ only in their target are not copies. No rows are copies
    if the share of equal rows is small, or if there are many equal rows on average, because new rows will
    then equal training rows just as often.

    Parameters
    ----------
    hashes, targets : ndarray of shape (n_rows,)
        The hashes of the rows and their targets, sorted by both.

    Returns
    -------
    ndarray of shape (n_rows,)
        Numbers from 0, equal for all copies of a row.

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
    """Compute target statistics of some columns, and replace these columns in the training rows.

    Parameters
    ----------
    table : Table
    targets : ndarray of shape (n_rows, n_statistics)
        The numeric target, or the indicators of the classes.
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
        The training rows. The statistics of a row are computed from the rows before it.

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
    """Compute for each row the statistics of its category over the rows that precede it in `order`.

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
    """Sum for each position the values from the beginning of its group up to the previous position."""
    running = np.concatenate([[0.0], np.cumsum(values)])
    return running[:-1] - running[begins]
