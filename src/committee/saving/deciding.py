"""Fitted models as functions: from the columns of a table to a decision of shape (n_rows, n_outputs).

A decider is what a predictor keeps of an estimator: trees of the engine, and how their votes decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from committee import _engine
from committee.table.schema import Table
from committee.table.statistics import TargetStatistics
from committee.task import weighted_median

# A median needs the votes of all members for a row: so many numbers at a time.
NUMBERS_AT_ONCE = 2**22


class Decider(Protocol):
    """Decides on tables."""

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row, of shape (n_rows, n_outputs)."""

    def prepare(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """A function that decides on matrices of numbers at once, if there is one."""


@dataclass(frozen=True, eq=False)
class TreesDecider:
    """Trees whose leaves add to scores, and a link.

    Parameters
    ----------
    forest : the engine's Forest
    rule : {"mean", "majority"}, default="mean"
    statistics : TargetStatistics, default=None
        What the trees see in place of columns of many categories.
    """

    forest: _engine.Forest
    rule: str = "mean"
    statistics: TargetStatistics | None = None

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row."""
        seen = table if self.statistics is None else self.statistics.encode(table)
        return self.forest.predict(list(seen.columns), seen.n_rows, self.rule, n_threads)

    def prepare(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """What the engine has for single rows; it takes no categories."""
        if self.statistics is not None or self.forest.n_categories.any():
            return None
        return _engine.Prepared(self.forest, self.rule).predict_matrix


@dataclass(frozen=True, eq=False)
class MedianDecider:
    """Trees whose weighted median decides: AdaBoost.R2.

    Parameters
    ----------
    members : the engine's Forest
    weights : ndarray of shape (n_members,)
    """

    members: _engine.Forest
    weights: np.ndarray

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row."""
        n_rows = max(1, NUMBERS_AT_ONCE // self.members.n_trees)
        medians = []
        for begin in range(0, table.n_rows, n_rows):
            columns = [column[begin : begin + n_rows] for column in table.columns]
            votes = self.members.votes(columns, len(columns[0]), n_threads)
            medians.append(weighted_median(votes[:, :, 0], self.weights))
        return np.concatenate(medians)[:, np.newaxis]

    def prepare(self) -> None:
        """There is no shorter way."""


@dataclass(frozen=True, eq=False)
class C45Decider:
    """A C4.5 tree.

    Parameters
    ----------
    tree : the engine's C45Tree
    """

    tree: _engine.C45Tree

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The shares of the classes in the leaf of each row, mixed where a value is missing."""
        return self.tree.predict(table.as_float64(), table.n_rows)

    def prepare(self) -> None:
        """There is no shorter way."""
