"""The scores of a sum of trees after each of its rounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from committee import _engine
from committee.table import Table

# So many scores are found at a time: rows become codes once for all rounds among them.
SCORES_AT_A_TIME = 2**20


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
