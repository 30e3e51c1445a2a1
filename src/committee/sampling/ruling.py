"""Rules on the votes of members outside of their bags: what those learn that learn, and what they decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from committee.combining.rule import Rule
from committee.members.encoding import TableEncoder, new_encoder
from committee.members.votes import Task
from committee.sampling.outside import OutsideVotes
from committee.saving.deciding import sums_votes
from committee.task import Classification

# A rule that learns is judged on rows that it has not learnt from: it learns once for each of so many parts.
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Teaching:
    """What a rule learns from.

    Parameters
    ----------
    outside : OutsideVotes
    votes : ndarray of shape (n_members, n_taught, n_outputs)
        On the rows that somebody has voted on; the mean of the others where a member has not.
    matrix : ndarray of shape (n_rows, n_numbers), or None
        The rows, for a rule that looks at them.
    classes : ndarray of shape (n_outputs,), or None
    """

    outside: OutsideVotes
    votes: np.ndarray
    matrix: np.ndarray | None
    classes: np.ndarray | None

    @classmethod
    def of(cls, outside: OutsideVotes, matrix: np.ndarray | None, classes: np.ndarray | None) -> Self:
        """Fill the votes, once for all that is learnt from them."""
        return cls(outside, outside.filled(), matrix, classes)

    def teach(self, rule: Rule, is_taught: Any = True) -> Rule:
        """Let a rule learn from the votes on rows that weigh something: on all of them, or those told."""
        outside = self.outside
        is_taught = is_taught & self._weighs
        rows = outside.rows[is_taught]
        if len(rows) == 0:
            raise ValueError(
                f"Every member has seen every row (n_samples={len(outside.y)}), so the rule has nothing to "
                "learn from. Make more members, or set rule='mean'."
            )
        rule.fit(
            self.votes[:, is_taught],
            outside.y[rows],
            None if self.matrix is None else self.matrix[rows],
            None if outside.weights is None else outside.weights[rows],
            has_voted=outside.has_voted[:, rows],
            classes=self.classes,
            groups=None if outside.groups is None else outside.groups[rows],
        )
        return rule

    def decided_by(self, rule: Rule) -> np.ndarray:
        """The decision of a rule on each fifth of the rows, by what it learns from the others.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            NaN where nobody has voted, or there is nothing else to learn from.
        """
        decision = np.full(self.outside.votes.shape[1:], np.nan)
        folds = self.folds()
        for fold in np.unique(folds):
            is_held_out = folds == fold
            if not (~is_held_out & self._weighs).any():
                continue
            rows = self.outside.rows[is_held_out]
            taught = self.teach(clone(rule), ~is_held_out)
            matrix = None if self.matrix is None else self.matrix[rows]
            decision[rows] = taught.combine(self.votes[:, is_held_out], matrix)
        return decision

    def folds(self) -> np.ndarray:
        """The fold of each row that was voted on: groups stay together, and folds have like answers.

        Rows are dealt in an order that depends on the votes and not on where they stand, but for rows that
        are alike in votes and answers. So the order of a table changes no score.
        """
        rows = self.outside.rows
        rng, n_members = np.random.default_rng(0), len(self.votes)
        mixed = rng.random(n_members) @ self.votes[:, :, 0]
        mixed += rng.random(n_members) @ self.outside.has_voted[:, rows]
        order = np.lexsort((mixed, self.outside.y[rows]))
        groups = self.outside.groups
        units = np.arange(len(rows)) if groups is None else groups[rows]
        _, first, unit = np.unique(units[order], return_index=True, return_inverse=True)
        folds = np.empty(len(rows), dtype=np.int64)
        folds[order] = first.argsort().argsort()[unit] % N_FOLDS
        return folds

    @property
    def _weighs(self) -> np.ndarray:
        """Whether each row that was voted on weighs something."""
        rows, weights = self.outside.rows, self.outside.weights
        return np.ones(len(rows), dtype=bool) if weights is None else weights[rows] > 0


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
    def of(
        cls,
        rule: Rule,
        task: Task,
        votes: OutsideVotes | None,
        native: Any,
        *,
        is_judged: bool,
    ) -> Self:
        """Fit a rule, and let it decide out of bag if that is to be judged."""
        if isinstance(task, Classification) and task.n_outputs == 1:
            return cls(None, None, votes, None)
        encoder, matrix = encoded_for(rule, votes, native)
        if not rule.needs_fit:
            decision = None
            if is_judged and votes is not None and not sums_votes(rule):
                decision = votes.decided_by(rule)
            return cls(rule, encoder, votes, decision)
        if votes is None:
            raise ValueError(
                f"{type(rule).__name__} learns from out-of-bag votes, and none were kept. Fit with "
                "keep_votes=True."
            )
        teaching = Teaching.of(votes, matrix, task.classes)
        decision = teaching.decided_by(rule) if is_judged else None
        return cls(teaching.teach(rule), encoder, votes, decision)


def encoded_for(
    rule: Rule, outside: OutsideVotes | None, native: Any
) -> tuple[TableEncoder | None, np.ndarray | None]:
    """What encodes rows for a rule that looks at them, and the rows of the fit; None and None for others."""
    if not rule._looks_at_X():
        return None, None
    if native is None:
        raise ValueError(f"{type(rule).__name__} looks at the rows. Pass X, the table of the fit.")
    weights = None if outside is None else outside.weights
    encoder = new_encoder().fit(native, sample_weight=weights)
    return encoder, encoder.transform(native)
