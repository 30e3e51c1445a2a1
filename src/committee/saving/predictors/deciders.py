"""Fitted models as functions: from rows to a decision of shape (n_rows, n_outputs).

A decider is what a predictor keeps of an estimator: trees of the engine, and how their votes decide, or
members that decide together, each prepared by itself. Every member reads the rows by its own schema: it may
have seen other categories than its neighbours, or some of the columns only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from committee import _engine
from committee.saving.format.file_errors import require
from committee.saving.predictors.predictor import (
    Decide,
    Decider,
    Predictor,
    Rows,
    Task,
    checked_matrix,
    read_rows,
)
from committee.table.schema import PLAIN, Schema, Table
from committee.table.target_statistics import TargetStatistics
from committee.task import Classification, Regression, weighted_median

# A median needs the votes of all members for a row: so many numbers at a time.
NUMBERS_AT_ONCE = 2**22
# Rules by which the votes of members need not be held together.
SUMMED = ("mean", "majority")
# How the engine and members of other kinds make probabilities of shares of votes.
LINKS = ("share", "softmax_of_shares")
AnyTrees = _engine.Forest | _engine.C45Forest | _engine.RotationForest


class VotingRule(Protocol):
    """What decides on votes: a `combining.Rule`, which is a layer above."""

    @property
    def needs_fit(self) -> bool:
        """Whether it learns from honest votes."""

    @property
    def decides_by_fold(self) -> bool:
        """Whether it decides on the votes of each fold, and not on their mean."""

    def _has_learnt(self) -> bool:
        """Whether it is fitted."""

    def _looks_at_X(self) -> bool:
        """Whether it needs the rows to decide on their votes."""

    def combine(self, votes: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""


class TableDecider:
    """Decides on tables, and so on all that can be read as one."""

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row, of shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def prepare(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """A function that decides on matrices of numbers at once, if there is one."""
        return None

    def ask(self, schema: Schema) -> Decide:
        """A function from rows of a schema to the decision for each."""

        def decide_columns(X: Rows) -> np.ndarray:
            matrix = checked_matrix(X, schema)
            return self.decide(Table(schema, tuple(matrix.T), len(matrix)), 1)

        is_plain = all(column.kind in PLAIN for column in schema.columns)
        decide_matrix: Callable[[Any], np.ndarray] = (self.prepare() if is_plain else None) or decide_columns

        def decide(X: Rows) -> np.ndarray:
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
    rule: VotingRule

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """The decision for each row."""
        return self.rule.combine(self.members.votes(list(table.columns), table.n_rows, n_threads))


def sums_votes(rule: object) -> bool:
    """Return whether a rule is the mean or the majority of members that all count alike.

    None, where there is nothing to decide, is the mean.
    """
    if rule is None:
        return True
    is_fixed = type(rule).__name__ == "FixedRule" and getattr(rule, "weights", None) is None
    return is_fixed and getattr(rule, "rule", None) in SUMMED


def name_of_sum(rule: object) -> str:
    """Name how the engine sums votes for a rule: "mean" or "majority"; "mean" if the rule does more."""
    return str(getattr(rule, "rule", "mean")) if sums_votes(rule) else "mean"


def decider_of_trees(members: AnyTrees, rule: VotingRule | None) -> Decider:
    """Return how trees decide by a rule: in the engine if votes are summed."""
    if rule is None or sums_votes(rule):
        return TreesDecider(members, name_of_sum(rule))
    return VotesDecider(members, rule)


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


@dataclass(frozen=True, eq=False)
class PreparedMember:
    """A member of a committee.

    Parameters
    ----------
    predictors : tuple of Predictor
        One, or one for each fold, whose mean vote counts.
    columns : list of int, or None
        The columns that they see; None for all.
    """

    predictors: tuple[Predictor, ...]
    columns: list[int] | None

    def votes(self, X: Rows, schema: Schema, task: Task, n_folds: int) -> list[np.ndarray]:
        """The votes of the models of each of some folds on rows of a schema."""
        each = [
            aligned(one.decide(seen_by(one, X, schema, self.columns)), one, task) for one in self.predictors
        ]
        return folded(each, n_folds)


@dataclass(frozen=True, eq=False)
class RuleDecider:
    """Members, and a rule on their votes.

    Parameters
    ----------
    fitted_members : tuple of PreparedMember
    rule : Rule, or None
        None if there is one class, so that nothing is to decide.
    task : Classification or Regression
    """

    fitted_members: tuple[PreparedMember, ...]
    rule: VotingRule | None
    task: Task

    def ask(self, schema: Schema) -> Decide:
        """A function from rows of a schema to the decision for each."""
        dtype = np.float32 if isinstance(self.task, Classification) else np.float64
        n_folds = folds_of_rule(self.rule, [len(member.predictors) for member in self.fitted_members])

        def decide(X: Rows) -> np.ndarray:
            n_rows = check_rows(X, schema)
            if self.rule is None:
                return np.ones((n_rows, 1))
            votes = np.empty((n_folds, len(self.fitted_members), n_rows, self.task.n_outputs), dtype=dtype)
            for place, member in enumerate(self.fitted_members):
                votes[:, place] = member.votes(X, schema, self.task, n_folds)
            return decided_by_fold(self.rule, votes)

        return decide


@dataclass(frozen=True, eq=False)
class BoostedDecider:
    """Members whose votes AdaBoost weighs.

    Parameters
    ----------
    members : tuple of Predictor
    weights : ndarray of shape (n_members,)
    weighing : tuple of (bool, str, float), or None
        Whether votes are crisp, the link and its scale; None takes the weighted median.
    task : Classification or Regression
    """

    members: tuple[Predictor, ...]
    weights: np.ndarray
    weighing: tuple[bool, str, float] | None
    task: Task

    def ask(self, schema: Schema) -> Decide:
        """A function from rows of a schema to the decision for each."""

        def decide(X: Rows) -> np.ndarray:
            each = [member.decide(seen_by(member, X, schema, None)) for member in self.members]
            if self.weighing is None:
                return weighted_median(np.array(each)[:, :, 0], self.weights)[:, np.newaxis]
            is_crisp, link, scale = self.weighing
            sums = np.zeros(1)
            for weight, votes, member in zip(self.weights, each, self.members, strict=True):
                sums = sums + weight * aligned(crisp(votes) if is_crisp else votes, member, self.task)
            shares = shares_of(sums)
            return shares if link == "share" else softmax(scale * shares)

        return decide


def folds_of_rule(rule: VotingRule | None, n_models: list[int]) -> int:
    """In how many folds a rule decides, each time on the votes of their models; 1 if on mean votes."""
    return min(n_models) if rule is not None and rule.decides_by_fold else 1


def decided_by_fold(rule: VotingRule, votes: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
    """The mean of what a rule decides on the votes of each fold, of shape (n_rows, n_outputs).

    Parameters
    ----------
    rule : Rule
    votes : ndarray of shape (n_folds, n_members, n_rows, n_outputs)
    X : ndarray of shape (n_rows, n_columns), default=None
        For a rule that looks at the rows.
    """
    n_folds, n_members, n_rows, n_outputs = votes.shape
    if n_folds == 1:
        return np.asarray(rule.combine(votes[0], X))
    # The rows of all folds one after the other: a rule that is asked once is quicker.
    joined = votes.swapaxes(0, 1).reshape(n_members, n_folds * n_rows, n_outputs)
    decisions = rule.combine(joined, None if X is None else np.tile(X, (n_folds, 1)))
    return np.asarray(decisions.reshape(n_folds, n_rows, n_outputs).mean(axis=0))


def folded(votes: list[np.ndarray], n_folds: int) -> list[np.ndarray]:
    """The mean votes of the models of each of some folds: models of repeated folds come one after the other.

    Examples
    --------
    >>> folded([np.array([1.0]), np.array([2.0]), np.array([5.0])], n_folds=2)
    [array([3.]), array([2.])]
    """
    parts = [votes[fold::n_folds] for fold in range(n_folds)]
    return [part[0] if len(part) == 1 else np.mean(part, axis=0) for part in parts]


def check_rows(X: Rows, schema: Schema) -> int:
    """The number of rows, if they are such as a schema says."""
    return len(checked_matrix(X, schema)) if isinstance(X, np.ndarray) else read_rows(X, schema).n_rows


def seen_by(member: Predictor, X: Rows, schema: Schema, columns: list[int] | None) -> Rows:
    """Rows of a schema as a member knows them: its columns by its own names."""
    if isinstance(X, np.ndarray):
        return X if columns is None else X[:, columns]
    names = schema.names if columns is None else tuple(schema.names[column] for column in columns)
    if names == member.feature_names and columns is None:
        return X
    rows = [X] if isinstance(X, Mapping) else X
    return [{own: row[name] for own, name in zip(member.feature_names, names, strict=True)} for row in rows]


def aligned(votes: np.ndarray, member: Predictor, task: Task) -> np.ndarray:
    """Votes of a member for the classes that it has seen, as votes for all of them."""
    if isinstance(task, Regression) or isinstance(member.task, Regression):
        return votes
    every = np.zeros((len(votes), task.n_outputs))
    every[:, np.searchsorted(task.classes, member.task.classes)] = votes
    return every


def crisp(votes: np.ndarray) -> np.ndarray:
    """1 for the class of the highest vote, the first of equal ones, and else 0."""
    labels = np.zeros(votes.shape)
    labels[np.arange(len(votes)), votes.argmax(axis=1)] = 1.0
    return labels


def check_member(member: Predictor, n_columns: int, task: Task) -> None:
    """Raise `DamagedFile` unless a member votes on some columns and for classes of a task."""
    require(member.schema.n_columns == n_columns, "A member votes on other columns")
    require(type(member.task) is type(task), "A member has another task")
    if isinstance(task, Classification) and isinstance(member.task, Classification):
        known = np.isin(member.task.classes, task.classes).all()
        require(known, "A member votes for other classes")


def shares_of(sums: np.ndarray) -> np.ndarray:
    """Sums of votes as shares; all the same for a row that has none.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    totals = sums.sum(axis=1, keepdims=True)
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1 / sums.shape[1])


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to exp(scores).

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]])).round(2)
    array([[0.25, 0.75]])
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
