"""Honest votes: of models on rows that they have not seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from committee.combining.rule import Honest, Rule
from committee.members.encoding import TableEncoder, new_encoder
from committee.members.seeing import take_rows
from committee.members.votes import Task, dtype_of


@dataclass(frozen=True, eq=False)
class HonestVotes:
    """Votes on rows by models that have not seen them, with the answers.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    weights : ndarray of shape (n_rows,), or None
    groups : ndarray of int of shape (n_rows,), or None
    rows : ndarray of int of shape (n_rows,)
        Where the rows are in the training table: those that some fold held out, or that some tree has not
        seen.
    X : ndarray of shape (n_rows, n_features), default=None
        The rows as a matrix, if the rule looks at them.
    classes : ndarray of shape (n_outputs,), default=None
        The labels that outputs stand for; None for numbers.
    table : str, default=""
        The fingerprint of the training table.
    split : str, default=""
        The fingerprint of folds and groups; empty if nobody knows which rows the members have seen.
    """

    votes: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    groups: np.ndarray | None
    rows: np.ndarray
    X: np.ndarray | None = None
    classes: np.ndarray | None = None
    table: str = ""
    split: str = ""

    @classmethod
    def of(
        cls,
        votes: np.ndarray,
        rows: np.ndarray,
        task: Task,
        y: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
    ) -> HonestVotes:
        """Votes on some rows of a table, with what is known of them."""
        weights, groups = (None if part is None else part[rows] for part in (weights, groups))
        return cls(votes, y[rows], weights, groups, rows, classes=task.classes)

    def on(self, rows: Any) -> HonestVotes:
        """The votes on some of the rows, by their positions."""
        optional = (self.weights, self.groups, self.X)
        weights, groups, X = (None if part is None else part[rows] for part in optional)
        votes, y, numbers = self.votes[:, rows], self.y[rows], self.rows[rows]
        return replace(self, votes=votes, y=y, weights=weights, groups=groups, rows=numbers, X=X)

    def looked_at(self, table: Any) -> tuple[TableEncoder, HonestVotes]:
        """The encoder of a rule that looks at rows, which knows these alone, and the votes with X."""
        rows = take_rows(table, self.rows)
        encoder = new_encoder().fit(rows, sample_weight=self.weights)
        return encoder, replace(self, X=encoder.transform(rows))

    def teach(self, rule: Any) -> Rule:
        """Fit a rule on them."""
        fitted: Rule = rule.fit(
            self.votes, self.y, self.X, self.weights, groups=self.groups, classes=self.classes
        )
        return fitted

    def judged(self, votes: np.ndarray) -> Honest:
        """Other votes on the same rows, as losses take them."""
        return Honest.of(votes, self.y, sample_weight=self.weights, classes=self.classes)


def mean_votes(
    held_out: Sequence[Iterable[tuple[np.ndarray, np.ndarray]]], n_rows: int, task: Task
) -> tuple[np.ndarray, np.ndarray]:
    """The mean vote of each member on each row that all of them have voted on.

    Parameters
    ----------
    held_out : sequence of iterables of (ndarray, ndarray)
        For each member rows, and the votes on them; a row may be there several times. They are looked at one
        after the other, so they need not be in memory together.
    n_rows : int
    task : Classification or Regression

    Returns
    -------
    votes : ndarray of shape (n_members, n_honest_rows, n_outputs)
    rows : ndarray of int of shape (n_honest_rows,)

    Examples
    --------
    >>> from committee.task import Regression
    >>> cast = [(np.array([2, 0]), np.array([[1.0], [5.0]])), (np.array([2]), np.array([[2.0]]))]
    >>> mean_votes([cast], 3, Regression())
    (array([[[5. ],
            [1.5]]]), array([0, 2]))
    """
    votes: np.ndarray = np.empty((len(held_out), n_rows, task.n_outputs), dtype=dtype_of(task))
    has_vote = np.ones(n_rows, dtype=bool)
    for place, cast in enumerate(held_out):
        votes[place], is_voted_on = mean_of_models(cast, n_rows, task.n_outputs)
        has_vote &= is_voted_on
    honest = np.flatnonzero(has_vote)
    if len(honest) == 0:
        raise ValueError(
            "No row has an honest vote of every member, so the rule has nothing to learn from. Use more "
            "trees or folds."
        )
    if len(honest) < n_rows:
        # In place: there is never a second copy of all votes.
        for of_member in votes:
            of_member[: len(honest)] = of_member[honest]
    return votes[:, : len(honest)], honest


def mean_of_models(
    cast: Iterable[tuple[Any, np.ndarray]], n_rows: int, n_outputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of what the models of one member say of each row, and whether any says something.

    A class that a model does not know has the score minus infinity: the others alone are asked for it.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0, -np.inf]]), np.array([[3.0, -np.inf, -np.inf]])
    >>> mean_of_models([([0], each) for each in scores], n_rows=1, n_outputs=3)
    (array([[  2.,   2., -inf]]), array([ True]))
    """
    total, counts = np.zeros((n_rows, n_outputs)), np.zeros((n_rows, n_outputs), dtype=np.int32)
    for rows, votes in cast:
        is_known = votes > -np.inf
        total[rows] += np.where(is_known, votes, 0.0)
        counts[rows] += is_known
    nobody = counts == 0
    total /= np.maximum(counts, 1)
    total[nobody] = -np.inf
    return total, ~nobody.all(axis=1)


def folded_scores(scores: list[np.ndarray], n_folds: int) -> list[np.ndarray]:
    """The mean scores of the models of each of some folds, as `folded` has it for votes."""
    parts = (scores[fold::n_folds] for fold in range(n_folds))
    return [mean_of_models([(slice(None), each) for each in part], *part[0].shape)[0] for part in parts]
