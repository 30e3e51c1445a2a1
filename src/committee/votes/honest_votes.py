"""Store honest votes, that is, out-of-fold or out-of-bag votes, together with the true y.

A vote is honest if the member was not trained on the row. In: votes of shape (n_members, n_rows, n_outputs),
y, weights, groups and X of the rows. Out: `HonestVotes`, which fits rules and computes their out-of-fold
decisions. Forests, bagging, committees, vote banks and rules all pass votes in this form.

Predictors import this module through the rules, so it does not import scikit-learn.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np

from committee.saving.format.fields import Fields
from committee.saving.predictors.score_votes import mean_of_models
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
from committee.votes.vote_arrays import are_classes, blocks_of, check_votes, dtype_of, label_dtype


class RuleLike(Protocol):
    """The methods of a rule that honest votes use; see `committee.combining.rule.Rule`."""

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
        """Fit the rule on honest votes."""

    def combine(self, votes: np.ndarray, X: TableLike | None = None) -> np.ndarray:
        """Combine votes into decisions."""
        ...

    def _looks_at_X(self) -> bool: ...

    def _reads_labels(self) -> bool: ...


# Rows, the votes of a model on them and, if they may differ from the highest votes, its labels.
Cast = tuple[np.ndarray, np.ndarray] | tuple[np.ndarray, np.ndarray, np.ndarray | None]
AnyRule = TypeVar("AnyRule", bound=RuleLike)


@dataclass(frozen=True, eq=False)
class HonestVotes:
    """Out-of-fold or out-of-bag votes, with y, the weights and the groups of their rows.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
        `of` checks that they are finite and, for classes, not negative. Out-of-bag votes are NaN if the bag
        of the member contains the row. Call `filled` to replace NaN before fitting a rule.
    y : ndarray of shape (n_rows,)
        Class codes from 0 to n_outputs - 1, or numbers.
    weights : ndarray of float64 of shape (n_rows,)
        The number of repetitions of each row, or relative weights. Ones if no weights were passed.
    rows : ndarray of int of shape (n_rows,)
        The positions of the rows in the training table.
    groups : ndarray of shape (n_rows,), default=None
        Rows of a group are held out together.
    X : table, default=None
        The features, for rules that use them.
    has_voted : ndarray of bool of shape (n_members, n_rows), default=None
        Whether a member has voted on a row. None if all have voted on all rows. If it has not, for example on
        the rows of its own bag, `votes` contains a substitute that does not count in the member's score.
    classes : ndarray of shape (n_outputs,), default=None
        The labels of the outputs, for scikit-learn scorers. None uses the class codes.
    table : str, default=""
        The fingerprint of the training table.
    split : str, default=""
        The fingerprint of folds and groups. Empty if the training rows of the members are unknown.
    labels : dict of int to ndarray of shape (n_rows,), default={}
        The codes of the predicted classes, for the places of the members whose prediction may differ from
        their class of the highest vote. They are arbitrary where the vote is NaN.
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
    labels: dict[int, np.ndarray] = field(default_factory=dict)

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
        """Check votes and the values of their rows, and convert them for rules and losses.

        Class codes become int64 and numbers float64. Weights that are not repetitions are scaled to mean 1.

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
        # `blocks_of` also checks the votes.
        largest = max(float(np.abs(block).max(initial=0)) for _, block in blocks_of(stack))
        if largest > LARGEST_SQUARED and not are_classes(stack):
            # Members may diverge. Clipping keeps the squares of their votes finite.
            stack = np.clip(stack, -LARGEST_SQUARED, LARGEST_SQUARED)
        labels = None if classes is None else np.asarray(classes)
        together = None if groups is None else check_groups(groups, n_rows)
        return cls(stack, target, weights, np.arange(n_rows), together, X, voted, labels)

    @classmethod
    def of_models(
        cls,
        cast: Sequence[Iterable[Cast]],
        task: Classification | Regression,
        y: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None,
    ) -> HonestVotes:
        """Average the votes of each member's models, on the rows that all members have voted on.

        Parameters
        ----------
        cast : sequence of iterables of (ndarray, ndarray) or (ndarray, ndarray, ndarray or None)
            For each member, the rows, the votes and any labels of each of its models. Several models may
            vote on a row. Their votes are averaged, and the label is the most frequent one, the first class
            if tied. Models are read one at a time, so their votes need not be in memory together.
        task : Classification or Regression
        y : ndarray of shape (n_table_rows,)
            Class codes, or numbers.
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
        labels: dict[int, np.ndarray] = {}
        for place, of_member in enumerate(cast):
            predicted: list[tuple[np.ndarray, np.ndarray | None]] = []
            models = without_labels(of_member, predicted)
            votes[place], is_voted_on = mean_of_models(models, len(y), task.n_outputs)
            has_vote &= is_voted_on
            known = [(rows, codes) for rows, codes in predicted if codes is not None]
            # Votes that an older version has stored have no labels.
            if known and len(known) == len(predicted):
                labels[place] = most_frequent(known, len(y), task.n_outputs)
        rows = np.flatnonzero(has_vote)
        if len(rows) == 0:
            raise ValueError(
                "No row has an honest vote of every member, so the rule has nothing to learn from. Use more "
                "trees or folds."
            )
        if len(rows) < len(y):
            # Rows are moved in place to avoid a second copy of all votes.
            for each in votes:
                each[: len(rows)] = each[rows]
        weights = np.ones(len(y)) if weights is None else weights
        groups = None if groups is None else groups[rows]
        return cls(
            votes[:, : len(rows)],
            y[rows],
            weights[rows],
            rows,
            groups,
            classes=task.classes,
            labels={place: codes[rows] for place, codes in labels.items()},
        )

    @classmethod
    def of_bags(
        cls,
        votes: np.ndarray,
        y: np.ndarray,
        weights: np.ndarray | None,
        groups: np.ndarray | None = None,
        labels: dict[int, np.ndarray] | None = None,
    ) -> HonestVotes:
        """Wrap out-of-bag votes on all rows of a table. They are NaN on the rows of a member's own bag."""
        weights = np.ones(len(y)) if weights is None else weights
        return cls(votes, y, weights, np.arange(len(y)), groups, labels=labels or {})

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
        """The repetitions of each row: its weight if weights are repetitions, else 1, or 0 for weight 0."""
        return repeats_of(self.weights)

    def own_rows(self) -> Sequence[np.ndarray | None]:
        """Return for each member a mask of the rows that it has voted on, or None for all rows."""
        return [None] * self.n_members if self.has_voted is None else list(self.has_voted)

    def of_members(self, members: np.ndarray | Sequence[int]) -> HonestVotes:
        """Select the votes of some members."""
        has_voted = None if self.has_voted is None else self.has_voted[members]
        places = np.arange(self.n_members)[members].tolist()
        labels = {new: self.labels[old] for new, old in enumerate(places) if old in self.labels}
        return replace(self, votes=self.votes[members], has_voted=has_voted, labels=labels)

    def on(self, rows: np.ndarray | slice) -> HonestVotes:
        """Select the votes on some rows, by their positions."""
        return replace(
            self,
            votes=self.votes[:, rows],
            y=self.y[rows],
            weights=self.weights[rows],
            rows=self.rows[rows],
            groups=None if self.groups is None else self.groups[rows],
            X=None if self.X is None else take_rows(self.X, rows),
            has_voted=None if self.has_voted is None else self.has_voted[:, rows],
            labels={place: codes[rows] for place, codes in self.labels.items()},
        )

    def after(self, before: HonestVotes) -> HonestVotes:
        """Append these votes to those of an earlier fit on the same rows."""
        labels = before.labels | {before.n_members + place: codes for place, codes in self.labels.items()}
        return replace(self, votes=np.concatenate([before.votes, self.votes]), labels=labels)

    def crisp(self) -> HonestVotes:
        """Replace the votes of members with labels by 1 for the label and 0 for the other classes.

        Examples
        --------
        >>> honest = HonestVotes.of([[[0.6, 0.4]]], [1])
        >>> replace(honest, labels={0: np.array([1])}).crisp().votes
        array([[[0., 1.]]])
        """
        if not self.labels:
            return self
        votes = self.votes.copy()
        for place, codes in self.labels.items():
            votes[place] = np.where(np.isnan(votes[place]), np.nan, np.eye(self.n_outputs)[codes])
        return replace(self, votes=votes, labels={})

    def seen_by(self, rule: RuleLike) -> HonestVotes:
        """Return the votes for a rule: `crisp` if it reads the labels of the members."""
        return self.crisp() if rule._reads_labels() else self

    def decided_by(self, rule: RuleLike) -> np.ndarray:
        """Return the decision of a fitted rule on these votes."""
        return rule.combine(self.seen_by(rule).votes, self.X if rule._looks_at_X() else None)

    def filled(self) -> HonestVotes:
        """Replace each NaN with the mean vote of the other members. Drop rows without any vote, and labels.

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
        return replace(known, votes=votes, labels={})

    def with_votes(self, votes: np.ndarray) -> HonestVotes:
        """Return other votes on the same rows, after checking them."""
        return HonestVotes.of(votes, self.y, sample_weight=self.weights, classes=self.classes)

    def fit_rule(self, rule: AnyRule) -> AnyRule:
        """Fit a rule on the votes and return it."""
        rule.fit(
            self.seen_by(rule).votes,
            self.y,
            self.X if rule._looks_at_X() else None,
            self.weights,
            has_voted=self.has_voted,
            classes=self.classes,
            groups=self.groups,
        )
        return rule

    def folds(self) -> list[Fold]:
        """Draw folds for a rule, the same on each call. The list is empty if no row can be held out."""
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
        """Return the decisions of a rule on the held-out rows of each fold.

        Parameters
        ----------
        new_rule : callable
            Returns an unfitted rule, for each fold.
        folds : iterable of (ndarray, ndarray)
            Positions of the training rows and of the held-out rows.
        seconds : float, default=0.0
            The expected time of a fit.
        deadline : float, default=inf
            The latest end of the last fit, in `time.monotonic` seconds.
        undecided : tuple of exceptions, default=()
            If a fit raises one of these, the rows of its fold get no decision. Other errors are raised.

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
            decision[held_out] = self.on(held_out).decided_by(rule)
        return decision

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield the votes as float64, y and weights, one block of rows at a time."""
        for rows, votes in blocks_of(self.votes):
            yield votes, self.y[rows], self.weights[rows]

    def blocks_by_member(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Yield blocks with weights of shape (n_members, n_rows), which are 0 if a member has not voted."""
        for rows, votes in blocks_of(self.votes):
            weights = np.broadcast_to(self.weights[rows], votes.shape[:2])
            yield (
                votes,
                self.y[rows],
                weights if self.has_voted is None else weights * self.has_voted[:, rows],
            )


def kept_labels(honest: HonestVotes) -> dict[str, np.ndarray]:
    """Return the labels of members for a file. It is empty if there are none."""
    if not honest.labels:
        return {}
    places = np.array(list(honest.labels), dtype=np.int64)
    return {"labelled": places, "labels": np.array(list(honest.labels.values()))}


def take_labels(
    fields: Fields, n_members: int, n_rows: int, task: Classification | Regression
) -> dict[int, np.ndarray]:
    """Take the labels of members from a file. Older files have none."""
    if "labelled" not in fields:
        return {}
    places = fields.array("labelled", np.int64, (None,))
    labels = fields.array("labels", label_dtype(task.n_outputs), (len(places), n_rows))
    are_members = ((places >= 0) & (places < n_members)).all() and len(np.unique(places)) == len(places)
    fields.require(are_members and (labels < task.n_outputs).all(), "a label is not of a member and a class")
    return dict(zip(places.tolist(), labels, strict=True))


def without_labels(
    cast: Iterable[Cast], predicted: list[tuple[np.ndarray, np.ndarray | None]]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the rows and the votes of models. Append their rows and labels to a list."""
    for rows, votes, *labels in cast:
        predicted.append((rows, labels[0] if labels else None))
        yield rows, votes


def most_frequent(
    predicted: Iterable[tuple[np.ndarray, np.ndarray]], n_rows: int, n_classes: int
) -> np.ndarray:
    """Return the most frequent label of each row, the first class if tied or if there is none.

    Examples
    --------
    >>> most_frequent([(np.array([1, 2]), np.array([1, 1])), (np.array([2]), np.array([0]))], 3, 2)
    array([0, 1, 0], dtype=uint8)
    """
    counts = np.zeros((n_rows, n_classes), dtype=np.uint16)
    for rows, labels in predicted:
        counts[rows, labels] += 1
    codes: np.ndarray = counts.argmax(axis=1).astype(label_dtype(n_classes))
    return codes


def check_labels(classes: ArrayLike, n_outputs: int | None) -> np.ndarray:
    """Return the labels of the outputs. Raise unless they are unique."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(np.unique(labels)) != len(labels) or n_outputs not in (None, len(labels)):
        wanted = "" if n_outputs is None else f"{n_outputs} "
        raise ValueError(f"classes must be {wanted}different labels, one for each output. Got {classes!r}.")
    return labels


def check_groups(groups: ArrayLike, n_rows: int) -> np.ndarray:
    """Return the group of each row as an array."""
    array = np.asarray(groups)
    if array.shape != (n_rows,):
        raise ValueError(f"groups must have one value for each of the {n_rows} rows. Got {array.shape}.")
    return array


def check_codes(y: ArrayLike, votes: np.ndarray) -> np.ndarray:
    """Return the class codes of the rows as int64."""
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
    """Return the target of a regression. Raise unless its values and their squares are finite."""
    numbers = to_numbers(y, "y")
    check_length(numbers, n_rows)
    if not np.isfinite(numbers).all():
        raise ValueError(f"y must be finite. Got {numbers[~np.isfinite(numbers)][0]}.")
    check_size(numbers)
    return numbers


def check_length(y: np.ndarray, n_rows: int) -> None:
    """Raise unless y has one value for each row."""
    if y.shape != (n_rows,):
        raise ValueError(f"y must have one value for each of the {n_rows} rows of the votes. Got {y.shape}.")


def n_rows_of(X: TableLike) -> int:
    """Return the number of rows of any supported table."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(np.asarray(X))
