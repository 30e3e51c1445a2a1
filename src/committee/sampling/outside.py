"""Votes of members on the rows outside of their bags, and the rules that learn from them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from committee import _engine
from committee.combining.fixed_rule import FixedRule
from committee.combining.rule import Rule
from committee.learners.training import Training
from committee.members.encoding import TableEncoder, new_encoder
from committee.members.seeing import take_rows
from committee.members.votes import Task, check_gives_probabilities, dtype_of
from committee.saving import Fields
from committee.saving.deciding import sums_votes
from committee.table import BinnedTable
from committee.task import Classification

# Votes that are held in memory at once while they are looked at: 64 MB.
NUMBERS_AT_ONCE = 2**23
# Rules that make no sense of votes for one class alone.
NEED_PROBABILITIES = ("product", "geometric_mean", "minimum", "maximum")


@dataclass(frozen=True, eq=False)
class OutsideVotes:
    """Out-of-bag votes, with the answers.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
        NaN where a member has seen the row.
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None

    Examples
    --------
    >>> seen = [np.nan, np.nan]
    >>> votes = np.array([[[0.2, 0.8], seen], [[0.6, 0.4], seen], [seen, seen]])
    >>> outside = OutsideVotes(votes, np.array([1, 0]), None)
    >>> outside.rows, outside.filled().round(2)[:, 0]
    (array([0]), array([[0.2, 0.8],
           [0.6, 0.4],
           [0.4, 0.6]]))
    """

    votes: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None

    @classmethod
    def take(cls, fields: Fields, n_members: int, n_rows: int | None, task: Task) -> Self:
        """Take them from a saved file, which may know the number of rows from elsewhere."""
        shape = (n_members, n_rows, task.n_outputs)
        votes = fields.array("votes", dtype_of(task), shape, finite=False)
        n_rows = votes.shape[1]
        are_classes = isinstance(task, Classification)
        y = fields.array("y", np.int32 if are_classes else np.float64, (n_rows,))
        weights = fields.optional_array("weights", np.float64, (n_rows,))
        fields.finish()
        fields.require(not np.isinf(votes).any(), "a vote is infinite")
        if are_classes:
            fields.require(not (votes < 0).any(), "a vote is negative")
            fields.require(((y >= 0) & (y < task.n_outputs)).all(), "y is of no class")
        fields.require(weights is None or (weights >= 0).all(), "a weight is negative")
        return cls(votes, y, weights)

    @property
    def has_voted(self) -> np.ndarray:
        """Whether each member has voted on each row, of shape (n_members, n_rows)."""
        return ~np.isnan(self.votes[:, :, 0])

    @property
    def rows(self) -> np.ndarray:
        """The rows that somebody has voted on."""
        return np.flatnonzero(self.has_voted.any(axis=0))

    def after(self, before: OutsideVotes) -> Self:
        """These votes behind those of the members of a fit before."""
        return replace(self, votes=np.concatenate([before.votes, self.votes]))

    def filled(self) -> np.ndarray:
        """The votes on `rows`, the mean of the other members where one has not voted."""
        votes = self.votes[:, self.rows].copy()
        is_own = ~np.isnan(votes)
        mean = np.where(is_own, votes, 0.0).sum(axis=0, dtype=np.float64) / is_own.sum(axis=0)
        np.copyto(votes, mean.astype(votes.dtype), where=~is_own)
        return votes

    def teach(self, rule: Rule, matrix: np.ndarray | None, classes: np.ndarray | None) -> Rule:
        """Let a rule learn from the votes on rows that weigh something."""
        rows = self.rows
        if self.weights is not None:
            rows = rows[self.weights[rows] > 0]
        if len(rows) == 0:
            raise ValueError(
                f"Every member has seen every row (n_samples={self.votes.shape[1]}), so the rule has nothing "
                "to learn from. Make more members, or set rule='mean'."
            )
        is_taught = np.isin(self.rows, rows)
        rule.fit(
            self.filled()[:, is_taught],
            self.y[rows],
            None if matrix is None else matrix[rows],
            None if self.weights is None else self.weights[rows],
            has_voted=self.has_voted[:, rows],
            classes=classes,
        )
        return rule

    def decided_by(self, rule: Rule, encoder: TableEncoder | None, native: Any) -> np.ndarray:
        """The decision of a rule for each row, of shape (n_rows, n_outputs); NaN where nobody has voted."""
        rows = self.rows
        decision = np.full(self.votes.shape[1:], np.nan)
        if len(rows):
            matrix = None if encoder is None else encoder.transform(take_rows(native, rows))
            decision[rows] = rule.combine(self.filled(), matrix)
        return decision


@dataclass(frozen=True, eq=False)
class Ruling:
    """A rule that has learnt what there was to learn.

    Parameters
    ----------
    rule : Rule, or None
        None if y has one class: there is nothing to decide.
    encoder : TableEncoder, or None
        What encodes rows for it, if it looks at them.
    votes : OutsideVotes, or None
    decision : ndarray of shape (n_rows, n_outputs), or None
        Its out-of-bag decision; None if that is the sum of the votes, or not wanted.
    """

    rule: Rule | None
    encoder: TableEncoder | None
    votes: OutsideVotes | None
    decision: np.ndarray | None

    @classmethod
    def of(cls, rule: Rule, task: Task, votes: OutsideVotes | None, native: Any, *, is_judged: bool) -> Self:
        """Fit a rule and let it decide out of bag, if that is to be judged."""
        fitted, encoder = fit_rule(rule, task, votes, native)
        decision = None
        if is_judged and fitted is not None and votes is not None and not sums_votes(fitted):
            decision = votes.decided_by(fitted, encoder, native)
        return cls(fitted, encoder, votes, decision)


def votes_outside(
    training: Training,
    forest: Any,
    outside_of: Callable[[int], np.ndarray],
    n_threads: int,
) -> OutsideVotes:
    """The votes of trees on rows outside of their bags, which `outside_of` tells for each; NaN elsewhere."""
    table, task = training.table, training.task
    assert not isinstance(table, BinnedTable)
    votes: np.ndarray = np.full((forest.n_trees, table.n_rows, task.n_outputs), np.nan, dtype=dtype_of(task))
    step = max(1, NUMBERS_AT_ONCE // (table.n_rows * task.n_outputs))
    for begin in range(0, forest.n_trees, step):
        trees = _engine.take_trees(forest, begin, min(begin + step, forest.n_trees))
        for i, cast in enumerate(trees.votes(list(table.columns), table.n_rows, n_threads), start=begin):
            outside = outside_of(i)
            votes[i, outside] = cast[outside]
    return OutsideVotes(votes, training.y, training.weights)


def check_values(table: Any, rule: Rule, keeps_votes: bool) -> None:
    """Raise if a rule needs votes on rows of which there are codes only."""
    if isinstance(table, BinnedTable) and (keeps_votes or rule._looks_at_X()):
        raise ValueError(
            "X is a BinnedTable, and the votes on its rows need the values. Pass the table that it was "
            "made of, or set rule='mean' and keep no votes."
        )


def votes_before(before: OutsideVotes | None) -> OutsideVotes:
    """The votes that a fit goes on with, if they were kept."""
    if before is None:
        raise ValueError(
            "The votes of the fit before were not kept, and warm_start=True goes on with its members. Set "
            "warm_start, rule and oob_score from the first fit on, or warm_start=False."
        )
    return before


def fit_rule(
    rule: Rule, task: Task, outside: OutsideVotes | None, native: Any
) -> tuple[Rule | None, TableEncoder | None]:
    """The rule, fitted if it learns, and what encodes rows for it if it looks at them.

    None if y has one class: there is nothing to decide.
    """
    if isinstance(task, Classification) and task.n_outputs == 1:
        return None, None
    encoder, matrix = None, None
    if rule._looks_at_X():
        if native is None:
            raise ValueError(f"{type(rule).__name__} looks at the rows. Pass X, the table of the fit.")
        weights = None if outside is None else outside.weights
        encoder = new_encoder().fit(native, sample_weight=weights)
        matrix = encoder.transform(native)
    if rule.needs_fit:
        if outside is None:
            raise ValueError(
                f"{type(rule).__name__} learns from out-of-bag votes, and none were kept. Fit with "
                "keep_votes=True."
            )
        rule = outside.teach(rule, matrix, task.classes)
    return rule, encoder


def check_probabilities(rule: Rule, member: Any, task: Task) -> None:
    """Raise if a rule is about probabilities and a member gives none."""
    name = getattr(rule, "rule", None) if isinstance(rule, FixedRule) else None
    needs = name in NEED_PROBABILITIES or type(rule).__name__ == "LogPoolRule"
    if needs and isinstance(task, Classification):
        wanted = f"the rule {name or type(rule).__name__!r}"
        check_gives_probabilities(member, wanted, "Set rule='majority'")
