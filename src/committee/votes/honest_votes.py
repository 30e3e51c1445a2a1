"""Honest votes: by members on rows that they have not learnt from, and whose answer is known.

In: votes of shape (n_members, n_rows, n_outputs), y, and what else is known of the rows. Out: `HonestVotes`,
which fits rules, and says what a rule decides on rows that it has not learnt from either. Forests, bagging,
committees, banks and rules pass this one object.

Predictors load this module with the rules, so it does not import scikit-learn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from committee.table.input_types import ArrayLike, TableLike
from committee.table.schema import take_rows
from committee.task import (
    LARGEST_SQUARED,
    Classification,
    Regression,
    check_size,
    repeats_of,
    row_weights,
    scaled,
    to_numbers,
)
from committee.votes.folds import N_FOLDS, Fold, drawn_folds, most_folds
from committee.votes.vote_arrays import are_classes, blocks_of, check_votes, dtype_of, mean_of_models


class RuleLike(Protocol):
    """What honest votes need to know of a rule; see `committee.combining.rule.Rule`."""

    def fit(
        self,
        votes: np.ndarray,
        y: np.ndarray,
        X: TableLike | None = None,
        sample_weight: np.ndarray | None = None,
        *,
        has_voted: np.ndarray | None = None,
        classes: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> object:
        """Learn from honest votes."""

    def combine(self, votes: np.ndarray, X: TableLike | None = None) -> np.ndarray:
        """Decide on votes."""
        ...

    def _looks_at_X(self) -> bool: ...


AnyRule = TypeVar("AnyRule", bound=RuleLike)


@dataclass(frozen=True, eq=False)
class HonestVotes:
    """Votes by members that have not learnt from the rows they vote on, with the answers.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
        Finite, and for classes not negative, once `of` has checked them. Out-of-bag votes are NaN where a
        member has seen the row; rules learn from what `filled` makes of them.
    y : ndarray of shape (n_rows,)
        Codes of classes from 0 to n_outputs - 1, or numbers.
    weights : ndarray of float64 of shape (n_rows,)
        How often each row counts, or relative weights; ones if no weights were given.
    rows : ndarray of int of shape (n_rows,)
        The positions of the rows in the training table.
    groups : ndarray of shape (n_rows,), default=None
        Rows of one group are held out together.
    X : table, default=None
        The rows, for rules that look at them.
    has_voted : ndarray of bool of shape (n_members, n_rows), default=None
        Whether a member has voted on a row; None if all have voted on all rows. Where it has not, as on the
        rows of its own bag, another number stands for its vote, and the member is not judged by it.
    classes : ndarray of shape (n_outputs,), default=None
        The labels of the outputs, which only scorers of scikit-learn need; None stands for their numbers.
    table : str, default=""
        The fingerprint of the training table.
    split : str, default=""
        The fingerprint of folds and groups; empty if it is unknown which rows the members have seen.
    """

    votes: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    rows: np.ndarray
    groups: np.ndarray | None = None
    X: TableLike | None = None
    has_voted: np.ndarray | None = None
    classes: np.ndarray | None = None
    table: str = ""
    split: str = ""

    @classmethod
    def of(
        cls,
        votes: ArrayLike,
        y: ArrayLike,
        X: TableLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        has_voted: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> HonestVotes:
        """Check votes and what belongs to them, as rules and losses take them.

        Codes become int64 and numbers float64; weights that are not repetitions get the mean 1.

        Examples
        --------
        >>> HonestVotes.of([[[0.2, 0.8]]], [2])
        Traceback (most recent call last):
        ValueError: y must be integers from 0 to 1, the numbers of the classes. Got 2.
        """
        stack = check_votes(votes)
        n_rows: int = stack.shape[1]
        if n_rows == 0:
            raise ValueError("votes must have at least one row to learn from. Got none.")
        target = check_codes(y, stack) if are_classes(stack) else check_numbers(y, n_rows)
        if X is not None and n_rows_of(X) != n_rows:
            raise ValueError(f"X must have the {n_rows} rows of the votes. Got {n_rows_of(X)}.")
        weights = row_weights(sample_weight, n_rows)
        weights = np.ones(n_rows) if weights is None else scaled(weights)
        voted = None if has_voted is None else np.asarray(has_voted, dtype=bool)
        if voted is not None and voted.shape != stack.shape[:2]:
            raise ValueError(
                f"has_voted must have the shape (n_members, n_rows) {stack.shape[:2]}. Got {voted.shape}."
            )
        largest = max(float(np.abs(block).max(initial=0)) for _, block in blocks_of(stack))  # and checks them
        if largest > LARGEST_SQUARED and not are_classes(stack):
            # A diverged member is bad enough with votes whose squares are finite.
            stack = np.clip(stack, -LARGEST_SQUARED, LARGEST_SQUARED)
        labels = None if classes is None else np.asarray(classes)
        together = None if groups is None else check_groups(groups, n_rows)
        return cls(stack, target, weights, np.arange(n_rows), together, X, voted, labels)

    @classmethod
    def of_models(
        cls,
        cast: Sequence[Iterable[tuple[np.ndarray, np.ndarray]]],
        task: Classification | Regression,
        y: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
    ) -> HonestVotes:
        """Take the mean vote of each member's models on the rows that all members have voted on.

        Parameters
        ----------
        cast : sequence of iterables of (ndarray, ndarray)
            Rows and the votes on them, from each model of each member; a row may be there several times.
            They are read one after the other, so they need not be in memory together.
        task : Classification or Regression
        y : ndarray of shape (n_table_rows,)
            Codes of classes, or numbers.
        weights, groups : ndarray of shape (n_table_rows,), or None

        Examples
        --------
        >>> cast = [(np.array([2, 0]), np.array([[1.0], [5.0]])), (np.array([2]), np.array([[2.0]]))]
        >>> honest = HonestVotes.of_models([cast], Regression(), np.array([4.0, 3.0, 2.0]), None, None)
        >>> honest.votes, honest.rows
        (array([[[5. ],
                [1.5]]]), array([0, 2]))
        """
        votes: np.ndarray = np.empty((len(cast), len(y), task.n_outputs), dtype=dtype_of(task))
        has_vote = np.ones(len(y), dtype=bool)
        for place, of_member in enumerate(cast):
            votes[place], is_voted_on = mean_of_models(of_member, len(y), task.n_outputs)
            has_vote &= is_voted_on
        rows = np.flatnonzero(has_vote)
        if len(rows) == 0:
            raise ValueError(
                "No row has an honest vote of every member, so the rule has nothing to learn from. Use more "
                "trees or folds."
            )
        if len(rows) < len(y):
            # In place: there is never a second copy of all votes.
            for each in votes:
                each[: len(rows)] = each[rows]
        weights = np.ones(len(y)) if weights is None else weights
        groups = None if groups is None else groups[rows]
        return cls(votes[:, : len(rows)], y[rows], weights[rows], rows, groups, classes=task.classes)

    @classmethod
    def of_bags(
        cls, votes: np.ndarray, y: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None = None
    ) -> HonestVotes:
        """Take the votes of members on all rows of a table, NaN on the rows of a member's own bag."""
        weights = np.ones(len(y)) if weights is None else weights
        return cls(votes, y, weights, np.arange(len(y)), groups)

    @property
    def n_members(self) -> int:
        """The number of members."""
        return len(self.votes)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.y)

    @property
    def n_outputs(self) -> int:
        """The number of classes, or 1 for a regression."""
        return int(self.votes.shape[2])

    @property
    def are_classes(self) -> bool:
        """Whether the votes are for classes."""
        return are_classes(self.votes)

    @property
    def repeats(self) -> np.ndarray:
        """How often each row counts: as its weight says, or once; a row of weight 0 never."""
        return repeats_of(self.weights)

    def own_rows(self) -> Sequence[np.ndarray | None]:
        """Return a mask of the rows that each member has voted on; None stands for all rows."""
        return [None] * self.n_members if self.has_voted is None else list(self.has_voted)

    def of_members(self, members: np.ndarray | Sequence[int]) -> HonestVotes:
        """Take the votes of some members."""
        has_voted = None if self.has_voted is None else self.has_voted[members]
        return replace(self, votes=self.votes[members], has_voted=has_voted)

    def on(self, rows: np.ndarray | slice) -> HonestVotes:
        """Take the votes on some of the rows, by their positions."""
        return replace(
            self,
            votes=self.votes[:, rows],
            y=self.y[rows],
            weights=self.weights[rows],
            rows=self.rows[rows],
            groups=None if self.groups is None else self.groups[rows],
            X=None if self.X is None else take_rows(self.X, rows),
            has_voted=None if self.has_voted is None else self.has_voted[:, rows],
        )

    def after(self, before: HonestVotes) -> HonestVotes:
        """Put these votes behind those of the members of an earlier fit on the same rows."""
        return replace(self, votes=np.concatenate([before.votes, self.votes]))

    def filled(self) -> HonestVotes:
        """Replace each NaN by the mean vote of the members who have voted; leave rows out if none has.

        Examples
        --------
        >>> seen = [np.nan, np.nan]
        >>> votes = np.array([[[0.2, 0.8], seen], [[0.6, 0.4], seen], [seen, seen]])
        >>> honest = HonestVotes.of_bags(votes, np.array([1, 0]), None).filled()
        >>> honest.rows, honest.votes.round(2)[:, 0], honest.has_voted[:, 0]
        (array([0]), array([[0.2, 0.8],
               [0.6, 0.4],
               [0.4, 0.6]]), array([ True,  True, False]))
        """
        has_voted = ~np.isnan(self.votes[:, :, 0])
        known = replace(self, has_voted=has_voted).on(np.flatnonzero(has_voted.any(axis=0)))
        votes = np.ascontiguousarray(known.votes)
        is_own = ~np.isnan(votes)
        mean = np.where(is_own, votes, 0.0).sum(axis=0, dtype=np.float64) / is_own.sum(axis=0)
        np.copyto(votes, mean.astype(votes.dtype), where=~is_own)
        return replace(known, votes=votes)

    def with_votes(self, votes: np.ndarray) -> HonestVotes:
        """Take other votes on the same rows, checked as losses need them."""
        return HonestVotes.of(votes, self.y, sample_weight=self.weights, classes=self.classes)

    def fit_rule(self, rule: AnyRule) -> AnyRule:
        """Fit a rule on the votes, and return it."""
        rule.fit(
            self.votes,
            self.y,
            self.X if rule._looks_at_X() else None,
            self.weights,
            has_voted=self.has_voted,
            classes=self.classes,
            groups=self.groups,
        )
        return rule

    def folds(self) -> list[Fold]:
        """Draw folds for a rule, the same each time; the list is empty if nothing can be held out."""
        rows = np.flatnonzero(self.weights)
        groups = None if self.groups is None else self.groups[rows]
        if most_folds(self.y[rows], groups, self.are_classes) < 2:
            return []
        rng = np.random.default_rng(0)
        return drawn_folds(N_FOLDS, rows, self.y, self.groups, rng, is_class_task=self.are_classes)

    def decide_out_of_fold(
        self,
        new_rule: Callable[[], RuleLike],
        folds: Iterable[Fold],
        *,
        seconds: float = 0.0,
        deadline: float = math.inf,
        undecided: tuple[type[Exception], ...] = (),
    ) -> np.ndarray:
        """Return what a rule decides on rows that it has not learnt from.

        Parameters
        ----------
        new_rule : callable
            Makes an unfitted rule for each fold.
        folds : iterable of (ndarray, ndarray)
            Positions of the rows to learn from, and of those to decide on.
        seconds : float, default=0.0
            How long a fit takes.
        deadline : float, default=inf
            When the last fit must have ended, by `time.monotonic`.
        undecided : tuple of exceptions, default=()
            Errors of a fit that leave the rows of its fold without a decision. Other errors are raised.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_outputs)
            NaN on rows without a decision.

        Examples
        --------
        >>> from committee.combining.weighted_rules import CAWPERule
        >>> honest = HonestVotes.of([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]], [0, 0, 1, 1])
        >>> folds = [(np.array([1, 2]), np.array([0, 3]))]
        >>> honest.decide_out_of_fold(CAWPERule, folds).round(2)
        array([[0.9, 0.1],
               [nan, nan],
               [nan, nan],
               [0.4, 0.6]])
        """
        decision = np.full(self.votes.shape[1:], np.nan)
        for train, held_out in folds:
            if time.monotonic() + seconds > deadline:
                break
            try:
                rule = self.on(train).fit_rule(new_rule())
            except undecided:
                continue
            X = take_rows(self.X, held_out) if rule._looks_at_X() else None
            decision[held_out] = rule.combine(self.votes[:, held_out], X)
        return decision

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the votes as float64, y and weights, one block of rows after the other."""
        for rows, votes in blocks_of(self.votes):
            yield votes, self.y[rows], self.weights[rows]

    def blocks_by_member(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the same with weights of shape (n_members, n_rows): 0 where a member has not voted."""
        for rows, votes in blocks_of(self.votes):
            weights = np.broadcast_to(self.weights[rows], votes.shape[:2])
            yield (
                votes,
                self.y[rows],
                weights if self.has_voted is None else weights * self.has_voted[:, rows],
            )


def check_labels(classes: ArrayLike, n_outputs: int | None) -> np.ndarray:
    """Return the labels of the outputs, if they differ."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(np.unique(labels)) != len(labels) or n_outputs not in (None, len(labels)):
        wanted = "" if n_outputs is None else f"{n_outputs} "
        raise ValueError(f"classes must be {wanted}different labels, one for each output. Got {classes!r}.")
    return labels


def check_groups(groups: ArrayLike, n_rows: int) -> np.ndarray:
    """Return the group of each row."""
    array = np.asarray(groups)
    if array.shape != (n_rows,):
        raise ValueError(f"groups must have one value for each of the {n_rows} rows. Got {array.shape}.")
    return array


def check_codes(y: ArrayLike, votes: np.ndarray) -> np.ndarray:
    """Return the numbers of the classes that rows are of."""
    _, n_rows, n_classes = votes.shape
    codes = np.asarray(y)
    check_length(codes, n_rows)
    expected = f"y must be integers from 0 to {n_classes - 1}, the numbers of the classes."
    if codes.dtype.kind not in "iub":
        raise ValueError(f"{expected} Got {codes.dtype}.")
    wrong = codes[(codes < 0) | (codes >= n_classes)]
    if len(wrong):
        raise ValueError(f"{expected} Got {wrong[0]}.")
    return codes.astype(np.int64)


def check_numbers(y: ArrayLike, n_rows: int) -> np.ndarray:
    """Return the numbers that a regression is to find, if their squares are finite."""
    numbers = to_numbers(y, "y")
    check_length(numbers, n_rows)
    if not np.isfinite(numbers).all():
        raise ValueError(f"y must be finite. Got {numbers[~np.isfinite(numbers)][0]}.")
    check_size(numbers)
    return numbers


def check_length(y: np.ndarray, n_rows: int) -> None:
    """Raise unless there is a y for each row."""
    if y.shape != (n_rows,):
        raise ValueError(f"y must have one value for each of the {n_rows} rows of the votes. Got {y.shape}.")


def n_rows_of(X: TableLike) -> int:
    """Return the number of rows of a table of any kind."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(np.asarray(X))
