"""What rounds of boosting leave beside their trees: how the loss fell, and which columns did it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from committee import _engine
from committee.table import Table, TargetStatistics

# So many scores are found at a time: rows become codes once for all rounds among them.
SCORES_AT_A_TIME = 2**20


class Steps(NamedTuple):
    """How many rounds there are, and what the values of their leaves are multiplied by."""

    n_rounds: int
    learning_rate: float


@dataclass(frozen=True, eq=False)
class Boosted:
    """The record of some rounds.

    Parameters
    ----------
    n_rounds : int
        How many rounds the model has.
    learning_rate : float
        What the values of their leaves were multiplied by, in the last rounds if it changed.
    statistics : TargetStatistics, or None
        What stands in place of columns of many categories.
    gains : ndarray of shape (n_columns,)
        How much the splits on each column lower the loss.
    split_counts : ndarray of int of shape (n_columns,)
        How many splits there are on each column.
    has_missing : ndarray of bool of shape (n_columns,)
        Whether some training row misses the column.
    train_score, validation_score : ndarray
        Minus the mean loss, before the first round and after each.
    has_init_score : bool, default=False
        Whether the rounds began from scores of the user's.
    """

    n_rounds: int
    learning_rate: float
    statistics: TargetStatistics | None
    gains: np.ndarray
    split_counts: np.ndarray
    has_missing: np.ndarray
    train_score: np.ndarray
    validation_score: np.ndarray
    has_init_score: bool = False

    @classmethod
    def of(
        cls,
        answer: _engine.Boosted,
        learning_rate: float,
        has_missing: np.ndarray,
        statistics: TargetStatistics | None,
        n_columns: int,
    ) -> Self:
        """Take what the engine tells of its columns as what it tells of those of the table."""
        sources = sources_of(statistics, n_columns)
        return cls(
            answer.n_rounds,
            learning_rate,
            statistics,
            np.bincount(sources, answer.gain, n_columns),
            np.bincount(sources, answer.n_splits, n_columns).astype(np.int64),
            np.bincount(sources, has_missing, n_columns) > 0,
            -answer.train_loss,
            -answer.validation_loss,
        )

    @classmethod
    def unfinished(
        cls, steps: Steps, has_missing: np.ndarray, statistics: TargetStatistics | None, n_columns: int
    ) -> Self:
        """What is known while the rounds go on: enough to predict."""
        unknown = np.full(n_columns, np.nan)
        missing = np.bincount(sources_of(statistics, n_columns), has_missing, n_columns) > 0
        return cls(*steps, statistics, unknown, unknown, missing, np.empty(0), np.empty(0))

    @property
    def importances(self) -> np.ndarray:
        """The shares of the columns in what all splits lower the loss by; all 0 if there are no splits."""
        return self.gains / self.gains.sum() if self.gains.any() else self.gains

    def after(self, before: Boosted) -> Boosted:
        """These rounds and those before them, in one record."""
        return Boosted(
            before.n_rounds + self.n_rounds,
            self.learning_rate,
            self.statistics,
            before.gains + self.gains,
            before.split_counts + self.split_counts,
            before.has_missing | self.has_missing,
            joined(before.train_score, self.train_score, before.n_rounds, self.n_rounds),
            joined(before.validation_score, self.validation_score, before.n_rounds, self.n_rounds),
            before.has_init_score,
        )


def sources_of(statistics: TargetStatistics | None, n_columns: int) -> np.ndarray:
    """For each column that the engine sees, the column of the table that it was made of."""
    return np.arange(n_columns) if statistics is None else statistics.sources(n_columns)


def joined(before: np.ndarray, after: np.ndarray, n_before: int, n_after: int) -> np.ndarray:
    """The scores of some rounds, of which the first `n_before` were kept, and of the rounds after them.

    Either may be empty, if there were no rows to validate by, and is NaN then.

    Examples
    --------
    >>> joined(np.array([-3.0, -2.0, -1.0]), np.array([-2.0, -1.5]), 1, 1)
    array([-3. , -2. , -1.5])
    >>> joined(np.empty(0), np.array([-2.0, -1.5]), 1, 1)
    array([ nan, -2. , -1.5])
    """
    if not len(before) and not len(after):
        return before
    if not len(before):
        return np.concatenate([np.full(n_before, np.nan), after])
    return np.concatenate([before[: n_before + 1], after[1:] if len(after) else np.full(n_after, np.nan)])


def staged_scores(
    forest: _engine.Forest | _engine.C45Forest, table: Table, trees_per_round: int, n_threads: int
) -> Iterator[np.ndarray]:
    """The scores of the rows after each round, each an array of shape (n_rows, n_scores) of its own."""
    columns, n_trees = list(table.columns), forest.n_trees
    if isinstance(forest, _engine.C45Forest):
        scores: Any = 0.0
        for first in range(0, n_trees, trees_per_round):
            last = first + trees_per_round
            scores = scores + forest.scores(columns, table.n_rows, first, last, n_threads)
            yield scores
        return
    n_scores = max(table.n_rows, 1) * forest.n_scores
    step = trees_per_round * max(1, SCORES_AT_A_TIME // n_scores)
    before = None
    for first in range(0, n_trees, step):
        last = min(first + step, n_trees)
        stages = forest.staged_scores(columns, table.n_rows, first, last, trees_per_round, before, n_threads)
        before = stages[-1]
        yield from stages
