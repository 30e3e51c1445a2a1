"""Fitted models as functions: from the columns of a table to a decision of shape (n_rows, n_outputs).

A decider is what a predictor keeps of an estimator: trees of the engine, and how their votes decide. Those of
members that decide together are in `together`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from committee import _engine
from committee.saving.rows import check_matrix, read_rows
from committee.table.schema import PLAIN, Schema, Table
from committee.table.statistics import TargetStatistics
from committee.task import weighted_median

# A median needs the votes of all members for a row: so many numbers at a time.
NUMBERS_AT_ONCE = 2**22
# Rules by which the votes of members need not be held together.
SUMMED = ("mean", "majority")

AnyTrees = _engine.Forest | _engine.C45Forest | _engine.RotationForest


class Decider(Protocol):
    """Decides on what a service has: matrices, and rows as mappings."""

    def ask(self, schema: Schema) -> Callable[[Any], np.ndarray]:
        """A function from rows of a schema to the decision for each, of shape (n_rows, n_outputs)."""


class TableDecider:
    """Decides on tables, and so on all that can be read as one."""

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row, of shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def prepare(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """A function that decides on matrices of numbers at once, if there is one."""
        return None

    def ask(self, schema: Schema) -> Callable[[Any], np.ndarray]:
        """A function from rows of a schema to the decision for each."""

        def decide_columns(X: Any) -> np.ndarray:
            check_matrix(X, schema)
            return self.decide(Table(schema, tuple(X.T), len(X)), 1)

        is_plain = all(column.kind in PLAIN for column in schema.columns)
        decide_matrix = (self.prepare() if is_plain else None) or decide_columns

        def decide(X: Any) -> np.ndarray:
            try:
                return decide_matrix(X)
            except TypeError:
                return self.decide(read_rows(X, schema), 1)

        return decide


@dataclass(frozen=True, eq=False)
class TreesDecider(TableDecider):
    """Trees whose leaves add to scores, and a link.

    Parameters
    ----------
    forest : the engine's Forest, C45Forest or RotationForest
    rule : {"mean", "majority"}, default="mean"
    statistics : TargetStatistics, default=None
        What the trees see in place of columns of many categories.
    """

    forest: AnyTrees
    rule: str = "mean"
    statistics: TargetStatistics | None = None

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row."""
        seen = table if self.statistics is None else self.statistics.encode(table)
        return self.forest.predict(list(seen.columns), seen.n_rows, self.rule, n_threads)

    def prepare(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """What the engine has for single rows; it takes no categories."""
        forest, rule = self.forest, self.rule
        if self.statistics is not None or forest.n_categories.any():
            return None
        if isinstance(forest, _engine.Forest):
            return _engine.Prepared(forest, rule).predict_matrix
        return lambda X: forest.predict_matrix(X, rule, 1)


@dataclass(frozen=True, eq=False)
class VotesDecider(TableDecider):
    """Trees, and a rule on their votes.

    Parameters
    ----------
    members : the engine's Forest, C45Forest or RotationForest
    rule : Rule
    """

    members: AnyTrees
    rule: Any

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row."""
        decision: np.ndarray = self.rule.combine(
            self.members.votes(list(table.columns), table.n_rows, n_threads)
        )
        return decision


def sums_votes(rule: Any) -> bool:
    """Whether a rule is the mean or the majority of members that all count alike: votes are summed then.

    None, where there is nothing to decide, is the mean.
    """
    if rule is None:
        return True
    is_fixed = type(rule).__name__ == "FixedRule" and rule.weights is None
    return is_fixed and isinstance(rule.rule, str) and rule.rule in SUMMED


def name_of_sum(rule: Any) -> str:
    """How the engine sums votes for a rule: "mean" or "majority"; "mean" for one that does more than sum."""
    return str(rule.rule) if rule is not None and sums_votes(rule) else "mean"


def decider_of_trees(members: AnyTrees, rule: Any) -> Decider:
    """How trees decide by a rule: in the engine if votes are summed."""
    return TreesDecider(members, name_of_sum(rule)) if sums_votes(rule) else VotesDecider(members, rule)


@dataclass(frozen=True, eq=False)
class MedianDecider(TableDecider):
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
