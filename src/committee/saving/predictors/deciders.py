"""Compute the decisions of fitted models, of shape (n_rows, n_outputs).

A decider is the part of an estimator that a predictor needs: trees of the engine and a rule on their votes,
or the predictors of members and a rule. Every member reads the rows by its own schema, because members can
have different categories or columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from committee import _engine
from committee.saving.format.file_errors import require
from committee.saving.predictors.predictor import (
    Decide,
    Predictor,
    Rows,
    Task,
    read_column,
    read_rows,
    table_of,
)
from committee.saving.predictors.probabilities import shares_of, softmax
from committee.saving.predictors.score_votes import Calibration, folded_scores, for_highest
from committee.table.matrix_encoding import MatrixEncoding
from committee.table.schema import PLAIN, Schema, Table
from committee.table.target_statistics import TargetStatistics
from committee.task import Classification, Regression, weighted_median

# The number of votes in memory for a weighted median, which needs the votes of all members for a row.
NUMBERS_AT_ONCE = 2**22
# The most rows in a block that all members of a committee vote on together.
ROWS_AT_ONCE = 1 << 14
# The number of values of a matrix that are encoded at a time.
VALUES_AT_ONCE = 1 << 20
# Rules that only sum votes, so that the votes of members need not be in memory at the same time.
SUMMED = ("mean", "majority")
# The functions from shares of votes to probabilities.
LINKS = ("share", "softmax_of_shares")
AnyTrees = _engine.Forest | _engine.C45Forest | _engine.RotationForest


class VotingRule(Protocol):
    """The interface of `combining.Rule`, which is in a higher layer."""

    @property
    def needs_fit(self) -> bool:
        """Whether the rule is fitted on honest votes."""

    @property
    def decides_by_fold(self) -> bool:
        """Whether the rule combines the votes of each fold instead of their mean."""

    def _has_learnt(self) -> bool:
        """Return whether the rule is fitted."""

    def _looks_at_X(self) -> bool:
        """Return whether the rule needs the rows."""

    def _reads_labels(self) -> bool:
        """Return whether the rule only uses the predicted classes."""

    def combine(self, votes: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""


class TableDecider:
    """A decider on tables."""

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""
        raise NotImplementedError

    def matrix_function(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return a fast function from a matrix of numbers to its decisions, None if there is none."""
        return None

    def bind(self, schema: Schema) -> Decide:
        """Return a function from rows of a schema to the decision for each row."""
        is_plain = all(column.kind in PLAIN for column in schema.columns)
        decide_matrix = self.matrix_function() if is_plain else None

        def decide(X: Rows) -> np.ndarray:
            if decide_matrix is None:
                return self.decide(table_of(X, schema), 1)
            try:
                return decide_matrix(X)  # type: ignore[arg-type]
            except TypeError:
                return self.decide(read_rows(X, schema), 1)

        return decide


@dataclass(frozen=True, eq=False)
class TreesDecider(TableDecider):
    """Trees whose votes or scores the engine sums.

    Parameters
    ----------
    forest : the engine's Forest, C45Forest or RotationForest
    rule : {"mean", "majority"}, default="mean"
    statistics : TargetStatistics, default=None
        The columns of numbers that replace columns of many categories.
    """

    forest: AnyTrees
    rule: str = "mean"
    statistics: TargetStatistics | None = None

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the decision for each row."""
        columns = list(table.columns) if self.statistics is None else self.statistics.columns(table)
        return self.forest.predict(columns, table.n_rows, self.rule, n_threads)

    def matrix_function(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """Return the engine's function for few rows, None if there are categories."""
        forest, rule = self.forest, self.rule
        if self.statistics is not None or forest.n_categories.any():
            return None
        if isinstance(forest, _engine.Forest):
            return _engine.Prepared(forest, rule).predict_matrix
        return lambda X: forest.predict_matrix(X, rule, 1)


@dataclass(frozen=True, eq=False)
class VotesDecider(TableDecider):
    """Trees and a rule on their votes.

    Parameters
    ----------
    members : the engine's Forest, C45Forest or RotationForest
    rule : Rule
    encoding : MatrixEncoding or None
        The encoding of the rows for a rule that needs them.
    """

    members: AnyTrees
    rule: VotingRule
    encoding: MatrixEncoding | None

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the decision for each row."""
        votes = self.members.votes(list(table.columns), table.n_rows, n_threads)
        return self.rule.combine(votes, None if self.encoding is None else self.encoding.encode(table))


def sums_votes(rule: object) -> bool:
    """Return whether a rule is the mean or the majority of members without weights.

    None, the rule for a single class, counts as the mean.
    """
    if rule is None:
        return True
    is_fixed = type(rule).__name__ == "FixedRule" and getattr(rule, "weights", None) is None
    return is_fixed and getattr(rule, "rule", None) in SUMMED


def name_of_sum(rule: object) -> str:
    """Return how the engine sums votes for a rule: "majority", or "mean" for all other rules."""
    return str(getattr(rule, "rule", "mean")) if sums_votes(rule) else "mean"


@dataclass(frozen=True, eq=False)
class MedianDecider(TableDecider):
    """Trees and the weighted median of their votes, for AdaBoost.R2.

    Parameters
    ----------
    members : the engine's Forest
    weights : ndarray of shape (n_members,)
    """

    members: _engine.Forest
    weights: np.ndarray

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the decision for each row."""
        n_rows = max(1, NUMBERS_AT_ONCE // self.members.n_trees)
        medians = []
        for begin in range(0, table.n_rows, n_rows):
            columns = [column[begin : begin + n_rows] for column in table.columns]
            votes = self.members.votes(columns, len(columns[0]), n_threads)
            medians.append(weighted_median(votes[:, :, 0], self.weights))
        return np.concatenate(medians)[:, np.newaxis]


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Rows that several members decide on.

    Mappings are read once. For members with other categories in some columns, only these are read again.

    Parameters
    ----------
    X : ndarray, mapping, or sequence of mappings
    table : Table
        The rows, read by the schema of the committee.
    changes : mapping of Schema to (tuple of int or None)
        The columns that differ in the schemas of members; None if their names differ.
    """

    X: Rows
    table: Table
    changes: Mapping[Schema, tuple[int, ...] | None]
    tables: dict[tuple[Schema, tuple[int, ...] | None], Table] = field(default_factory=dict)

    def decided(self, member: Predictor, columns: list[int] | None) -> np.ndarray:
        """Return the decision of a member, which sees some or all columns."""
        if isinstance(self.X, np.ndarray) or not isinstance(member.decider, TableDecider):
            return member.decide(rows_for(member, self.X, self.table.schema, columns))
        key = member.schema, None if columns is None else tuple(columns)
        if key not in self.tables:
            self.tables[key] = self._read(member, columns)
        return member.decider.decide(self.tables[key], 1)

    def _read(self, member: Predictor, columns: list[int] | None) -> Table:
        """Read the rows by the schema of a member."""
        whole, schema = self.table, member.schema
        changes = None if columns is not None else self.changes.get(schema)
        if changes is None:
            return read_rows(rows_for(member, self.X, whole.schema, columns), schema)
        rows: Any = [self.X] if isinstance(self.X, Mapping) else self.X
        found = list(whole.columns)
        for place in changes:
            column = schema.columns[place]
            found[place] = read_column([row[column.name] for row in rows], column)
        return Table(schema, tuple(found), whole.n_rows)


@dataclass(frozen=True, eq=False)
class PreparedMember:
    """The predictors of a member of a committee.

    Parameters
    ----------
    predictors : tuple of Predictor
        One predictor, or one for each fold. The vote of the member is their mean.
    columns : list of int, or None
        The columns of the member; None for all.
    calibration : Calibration or None
        It turns scores into votes. The predictors then return scores.
    own_labels : bool
        Whether rules that read labels get the predictions of the models.
    """

    predictors: tuple[Predictor, ...]
    columns: list[int] | None
    calibration: Calibration | None
    own_labels: bool

    def votes(self, rows: SharedRows, task: Task, n_folds: int, as_labels: bool) -> list[np.ndarray]:
        """Return the votes of the models of each fold."""
        absent = 0.0 if self.calibration is None else -np.inf
        each = [aligned(rows.decided(one, self.columns), one, task, absent) for one in self.predictors]
        as_labels = as_labels and self.own_labels
        if self.calibration is not None:
            return [self.calibration.votes(scores, as_labels) for scores in folded_scores(each, n_folds)]
        # A model with a predictor predicts the class of its highest probability.
        return folded([for_highest(votes) for votes in each] if as_labels else each, n_folds)


@dataclass(frozen=True, eq=False)
class RuleDecider:
    """Members and a rule on their votes.

    Parameters
    ----------
    fitted_members : tuple of PreparedMember
    rule : Rule, or None
        None if there is only one class.
    task : Classification or Regression
    encoding : MatrixEncoding or None
        The encoding of the rows for a rule that needs them.
    """

    fitted_members: tuple[PreparedMember, ...]
    rule: VotingRule | None
    task: Task
    encoding: MatrixEncoding | None

    def bind(self, schema: Schema) -> Decide:
        """Return a function from rows of a schema to the decision for each row."""
        dtype = np.float32 if isinstance(self.task, Classification) else np.float64
        n_folds = folds_of_rule(self.rule, [len(member.predictors) for member in self.fitted_members])
        schemas = {each.schema for member in self.fitted_members for each in member.predictors}
        changes = {each: schema.changes(each) for each in schemas}
        as_labels = self.rule is not None and self.rule._reads_labels()

        def decide_block(X: Rows) -> np.ndarray:
            rows = SharedRows(X, table_of(X, schema), changes)
            if self.rule is None:
                return np.ones((rows.table.n_rows, 1))
            shape = (n_folds, len(self.fitted_members), rows.table.n_rows, self.task.n_outputs)
            votes = np.empty(shape, dtype=dtype)
            for place, member in enumerate(self.fitted_members):
                votes[:, place] = member.votes(rows, self.task, n_folds, as_labels)
            matrix = None if self.encoding is None else self.encoding.encode(rows.table)
            return decided_by_fold(self.rule, votes, matrix)

        def decide(X: Rows) -> np.ndarray:
            if not isinstance(X, np.ndarray | Sequence) or len(X) <= ROWS_AT_ONCE:
                return decide_block(X)
            return np.concatenate([decide_block(X[rows]) for rows in row_blocks(len(X))])

        return decide


@dataclass(frozen=True, eq=False)
class EncodedDecider(TableDecider):
    """The decider of a model on the matrix that an encoding makes of a table.

    Parameters
    ----------
    encoding : MatrixEncoding
    inner : Predictor
        The predictor of the model on the matrix.
    """

    encoding: MatrixEncoding
    inner: Predictor

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the decision of the model for each row."""
        step = max(1, VALUES_AT_ONCE // self.encoding.width)
        ends = [*range(step, table.n_rows, step), table.n_rows]
        parts = [table.between(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
        # A plain model votes on the matrix itself, without a table of its columns.
        decide = getattr(self.inner.decider, "votes", self.inner.decide)
        return np.concatenate([decide(self.encoding.encode(part)) for part in parts])


@dataclass(frozen=True, eq=False)
class BoostedDecider:
    """Members of AdaBoost and their weights.

    Parameters
    ----------
    members : tuple of Predictor
    weights : ndarray of shape (n_members,)
    weighing : tuple of (bool, str, float), or None
        Whether votes are crisp, the link, and its scale. None for the weighted median.
    task : Classification or Regression
    """

    members: tuple[Predictor, ...]
    weights: np.ndarray
    weighing: tuple[bool, str, float] | None
    task: Task

    def bind(self, schema: Schema) -> Decide:
        """Return a function from rows of a schema to the decision for each row."""

        def decide(X: Rows) -> np.ndarray:
            decisions = [member.decide(rows_for(member, X, schema, None)) for member in self.members]
            if self.weighing is None:
                return weighted_median(np.array(decisions)[:, :, 0], self.weights)[:, np.newaxis]
            is_crisp, link, scale = self.weighing
            sums = np.zeros(1)
            for weight, votes, member in zip(self.weights, decisions, self.members, strict=True):
                # A crisp vote is 1 for the class with the highest probability, the first of equal ones.
                counted = np.eye(votes.shape[1])[votes.argmax(axis=1)] if is_crisp else votes
                cast = aligned(counted, member, self.task, 0.0)
                # A negative vote counts for the other classes.
                sums = sums + (weight * cast if weight >= 0 else -weight * (1 - cast))
            shares = shares_of(sums)
            return shares if link == "share" else softmax(scale * shares)

        return decide


def row_blocks(n_rows: int) -> list[slice]:
    """Divide rows into blocks of nearly equal size: one, or an even number.

    Committees and their predictors decide on one block after the other, so that few votes are in memory.

    Examples
    --------
    >>> row_blocks(50_000)
    [slice(0, 12500, None), slice(12500, 25000, None), slice(25000, 37500, None), slice(37500, 50000, None)]
    """
    n_blocks = 1 if n_rows <= ROWS_AT_ONCE else 2 * -(-n_rows // (2 * ROWS_AT_ONCE))
    return [slice(n_rows * block // n_blocks, n_rows * (block + 1) // n_blocks) for block in range(n_blocks)]


def folds_of_rule(rule: VotingRule | None, n_models: list[int]) -> int:
    """Return the number of folds whose votes a rule combines separately, 1 if it combines mean votes."""
    return min(n_models) if rule is not None and rule.decides_by_fold else 1


def decided_by_fold(rule: VotingRule, votes: np.ndarray, X: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of a rule's decisions on the votes of each fold, of shape (n_rows, n_outputs).

    Parameters
    ----------
    rule : Rule
    votes : ndarray of shape (n_folds, n_members, n_rows, n_outputs)
    X : ndarray of shape (n_rows, n_columns), default=None
        The rows, for a rule that needs them.
    """
    n_folds, n_members, n_rows, n_outputs = votes.shape
    if n_folds == 1:
        return np.asarray(rule.combine(votes[0], X))
    if hasattr(rule, "shift"):
        # The shift is not linear, so it comes after the mean.
        return np.asarray(rule.shift(decided_by_fold(rule.rule_, votes, X)))  # type: ignore[attr-defined]
    # One call with the rows of all folds is faster than a call for each fold.
    joined = votes.swapaxes(0, 1).reshape(n_members, n_folds * n_rows, n_outputs)
    decisions = rule.combine(joined, None if X is None else np.tile(X, (n_folds, 1)))
    return np.asarray(decisions.reshape(n_folds, n_rows, n_outputs).mean(axis=0))


def folded(votes: list[np.ndarray], n_folds: int) -> list[np.ndarray]:
    """Return the mean votes of the models of each fold. Repetitions of all folds follow each other.

    Examples
    --------
    >>> folded([np.array([1.0]), np.array([2.0]), np.array([5.0])], n_folds=2)
    [array([3.]), array([2.])]
    """
    parts = [votes[fold::n_folds] for fold in range(n_folds)]
    return [part[0] if len(part) == 1 else np.mean(part, axis=0) for part in parts]


def rows_for(member: Predictor, X: Rows, schema: Schema, columns: list[int] | None) -> Rows:
    """Return the columns of a member, by its own names, from rows of a schema."""
    if isinstance(X, np.ndarray):
        return X if columns is None else X[:, columns]
    names = schema.names if columns is None else tuple(schema.names[column] for column in columns)
    if names == member.feature_names and columns is None:
        return X
    rows = [X] if isinstance(X, Mapping) else X
    return [{own: row[name] for own, name in zip(member.feature_names, names, strict=True)} for row in rows]


def aligned(votes: np.ndarray, member: Predictor, task: Task, absent: float) -> np.ndarray:
    """Extend the votes of a member to all classes of a task, with a value for those that it has not seen."""
    if isinstance(task, Regression) or isinstance(member.task, Regression):
        return votes
    if member.task.n_outputs == task.n_outputs:  # its classes are among those of the task
        return votes
    every = np.full((len(votes), task.n_outputs), absent)
    every[:, np.searchsorted(task.classes, member.task.classes)] = votes
    return every


def check_member(member: Predictor, n_columns: int, task: Task) -> None:
    """Raise `DamagedFile` unless a member has the expected columns, task and classes."""
    require(member.schema.n_columns == n_columns, "A member was fitted on other columns")
    require(type(member.task) is type(task), "A member has another task")
    if isinstance(task, Classification) and isinstance(member.task, Classification):
        known = np.isin(member.task.classes, task.classes).all()
        require(known, "A member votes for other classes")
