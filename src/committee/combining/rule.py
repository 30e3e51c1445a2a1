"""A rule: from votes and, if it is trained, honest votes with their answers, to one decision.

A rule says in `_learn` what it takes from honest votes, and in `_decide` how a block of votes becomes the
support of each output; `Rule` does the rest, the same for all: it checks what comes in, goes through the
blocks, and rescales decisions on classes to sum to one. A rule that looks at X overrides `_combine`.

A fitted rule decides without scikit-learn, for the predictors of committees: what is only needed to learn is
imported in `_learn`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from committee.combining.kept import KeptRule
from committee.combining.votes import are_classes, blocks_of, check_votes, in_blocks
from committee.parameters import Parametrised, check_parameters
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


@dataclass(frozen=True, eq=False)
class Honest:
    """Honest votes: on rows whose answer is known, by members that have not learnt from those rows.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
        Finite, and for classes not negative; in the dtype they came in.
    y : ndarray of shape (n_rows,)
        int64 codes of classes from 0 to n_outputs - 1, or float64.
    weights : ndarray of float64 of shape (n_rows,)
        Of the rows: how often they stand there, or of mean 1; ones if none were given.
    X : table or None
    has_voted : ndarray of bool of shape (n_members, n_rows), or None
        Whether a member has voted on a row; None if all have, on all rows. Where it has not, as on the rows
        of its own bag, something else stands for its vote, by which the member is not to be judged.
    classes : ndarray of shape (n_outputs,), or None
        The labels that outputs stand for; None: their numbers. Only scorers of scikit-learn want to know.
    groups : ndarray of shape (n_rows,), or None
        Rows of one group belong together, for a rule that holds rows out.
    """

    votes: np.ndarray
    y: np.ndarray
    weights: np.ndarray
    X: Any
    has_voted: np.ndarray | None = None
    classes: np.ndarray | None = None
    groups: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        votes: Any,
        y: Any,
        X: Any = None,
        sample_weight: Any = None,
        has_voted: Any = None,
        classes: np.ndarray | None = None,
    ) -> Honest:
        """Check what belongs to honest votes.

        Examples
        --------
        >>> Honest.of([[[0.2, 0.8]]], [2])
        Traceback (most recent call last):
        ValueError: y must be integers from 0 to 1, the numbers of the classes. Got 2.
        """
        votes = check_votes(votes)
        n_rows = votes.shape[1]
        if n_rows == 0:
            raise ValueError("votes must have at least one row to learn from. Got none.")
        y = check_codes(y, votes) if are_classes(votes) else check_numbers(y, n_rows)
        if X is not None and n_rows_of(X) != n_rows:
            raise ValueError(f"X must have the {n_rows} rows of the votes. Got {n_rows_of(X)}.")
        weights = row_weights(sample_weight, n_rows)
        weights = np.ones(n_rows) if weights is None else scaled(weights)
        if has_voted is not None:
            has_voted = np.asarray(has_voted, dtype=bool)
            if has_voted.shape != votes.shape[:2]:
                raise ValueError(
                    f"has_voted must have the shape (n_members, n_rows) {votes.shape[:2]}. Got "
                    f"{has_voted.shape}."
                )
        largest = max(float(np.abs(block).max(initial=0)) for _, block in blocks_of(votes))  # and checks them
        if largest > LARGEST_SQUARED and not are_classes(votes):
            # A member that has lost all measure is bad enough with votes whose squares are finite.
            votes = np.clip(votes, -LARGEST_SQUARED, LARGEST_SQUARED)
        return cls(votes, y, weights, X, has_voted, classes)

    @property
    def n_members(self) -> int:
        """The number of members."""
        return self.votes.shape[0]

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self.votes.shape[1]

    @property
    def n_outputs(self) -> int:
        """The number of classes, or 1 for a regression."""
        return self.votes.shape[2]

    @property
    def are_classes(self) -> bool:
        """Whether the votes are for classes."""
        return are_classes(self.votes)

    @property
    def repeats(self) -> np.ndarray:
        """How often each row stands there: as its weight says, or once; a row of weight 0 never."""
        return repeats_of(self.weights)

    def own_rows(self) -> Sequence[np.ndarray | None]:
        """The rows that each member has voted on, as a mask; None for all of them."""
        return [None] * self.n_members if self.has_voted is None else list(self.has_voted)

    def of_members(self, members: np.ndarray) -> Honest:
        """The honest votes of some members."""
        has_voted = None if self.has_voted is None else self.has_voted[members]
        return replace(self, votes=self.votes[members], has_voted=has_voted)

    def on(self, rows: np.ndarray) -> Honest:
        """The honest votes on some of the rows, by their positions."""
        has_voted = None if self.has_voted is None else self.has_voted[:, rows]
        return replace(
            self,
            votes=self.votes[:, rows],
            y=self.y[rows],
            weights=self.weights[rows],
            X=None if self.X is None else rows_of(self.X, rows),
            has_voted=has_voted,
            groups=None if self.groups is None else self.groups[rows],
        )

    def teach(self, rule: Rule) -> Rule:
        """Fit a rule on them."""
        fitted: Rule = rule.fit(
            self.votes,
            self.y,
            self.X if rule._looks_at_X() else None,
            self.weights,
            has_voted=self.has_voted,
            classes=self.classes,
            groups=self.groups,
        )
        return fitted

    def blocks(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Votes as float64, y and weights of one block of rows after the other."""
        for rows, votes in blocks_of(self.votes):
            yield votes, self.y[rows], self.weights[rows]

    def judging(self) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """The same, with weights of shape (n_members, n_rows): 0 where a member has not voted."""
        for rows, votes in blocks_of(self.votes):
            weights = np.broadcast_to(self.weights[rows], votes.shape[:2])
            yield (
                votes,
                self.y[rows],
                weights if self.has_voted is None else weights * self.has_voted[:, rows],
            )


class Rule(KeptRule, Parametrised):
    """A rule, to be fitted on honest votes.

    A rule of your own says in `_learn` what it takes from honest votes (`Honest`: `votes`, `y`, `weights` of
    the rows, and `blocks()` of all three), and in `_decide` how votes of float64 support each output.

    Attributes
    ----------
    n_members_ : int
        The number of members it was fitted with.
    n_outputs_ : int
        The number of classes, or 1 for a regression.

    Examples
    --------
    The member decides whose votes are the surest on honest rows:

    >>> class Boldest(Rule):
    ...     def _learn(self, honest):
    ...         self.member_ = int(honest.votes.max(axis=2).mean(axis=1).argmax())
    ...
    ...     def _decide(self, votes):
    ...         return votes[self.member_]
    >>> votes = np.array([[[0.6, 0.4]], [[0.1, 0.9]]])
    >>> Boldest().fit(votes, [0]).combine(votes)
    array([[0.1, 0.9]])
    """

    # Whether it looks at the rows that the votes are on.
    needs_X: ClassVar[bool] = False
    # Whether it must be fitted before it combines.
    needs_fit: ClassVar[bool] = True
    # Whether it decides on the votes of each fold's models, where members have such, and the mean of these
    # decisions counts; else it decides on the mean of their votes.
    decides_by_fold: ClassVar[bool] = False
    # What it decides on.
    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    # A rule without parameters declares none.
    _declarations: ClassVar[list[Any]] = []

    def fit(
        self,
        votes: Any,
        y: Any,
        X: Any = None,
        sample_weight: Any = None,
        *,
        has_voted: Any = None,
        classes: Any = None,
        groups: Any = None,
    ) -> Any:
        """Learn how to combine from honest votes: of members that have not seen the rows they vote on.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
            Probabilities or crisp 0/1 votes for classes, or one number (n_outputs is 1).
        y : array-like of shape (n_rows,)
            Numbers of classes, from 0 to n_outputs - 1, or the numbers of a regression.
        X : table of shape (n_rows, n_columns), default=None
            The rows that the votes are on, for the rules that look at them.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Small integers say how often a row stands there; of others, the ratios
            count. None gives every row the weight 1.
        has_voted : array-like of bool of shape (n_members, n_rows), default=None
            Whether each vote is the member's own; something stands for the others, as the mean of those who
            have voted there. Rules that judge members by themselves or by their mean judge them by their own
            votes alone: those that weigh them or choose among them, and naive Bayes. Rules that look at all
            votes on a row together take them as they are. None: all are their own.
        classes : array-like of shape (n_outputs,), default=None
            The labels that outputs stand for, for a `metric` that is a scorer of scikit-learn: they tell
            which class is the positive one. None: the numbers of the outputs.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together by a meta-learner that is a committee.

        Returns
        -------
        Rule
            Itself.
        """
        check_parameters(self)
        honest = Honest.of(votes, y, X, sample_weight, has_voted)
        if classes is not None:
            honest = replace(honest, classes=check_labels(classes, honest.n_outputs))
        if groups is not None:
            honest = replace(honest, groups=check_groups(groups, honest.n_rows))
        self._check_task(honest.votes)
        self._check_X(X, honest.n_rows)
        self._check_kind(honest.n_members, honest.n_outputs, differ(honest.weights))
        self._learn(honest)
        self.n_members_, self.n_outputs_ = honest.n_members, honest.n_outputs
        return self

    def combine(self, votes: Any, X: Any = None) -> np.ndarray:
        """Combine votes into one decision.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
            Of the members that the rule was fitted with, in their order.
        X : table of shape (n_rows, n_columns), default=None
            The rows that the votes are on, for the rules that look at them.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            Decisions on classes are not negative and sum to one. The first of equal classes wins: support
            that differs by rounding alone is made equal.
        """
        return self._combine(self._check_combine(votes, X), X)

    def _learn(self, honest: Honest) -> None:
        """Take from honest votes what the rule decides by."""
        raise NotImplementedError

    def _combine(self, votes: np.ndarray, X: Any) -> np.ndarray:
        """Decide on votes whose shape is checked."""
        return in_blocks(self._decide, votes)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        """The support of each output, from a block of votes in float64. For classes, any scale will do."""
        raise NotImplementedError

    def _check_combine(self, votes: Any, X: Any) -> np.ndarray:
        """Votes as an array, if the rule is fitted and can decide on them."""
        self._check_fitted()
        votes = check_votes(votes)
        if hasattr(self, "n_members_"):
            self._check_shape(votes)
        self._check_task(votes)
        self._check_X(X, votes.shape[1])
        return votes

    def _check_fitted(self) -> None:
        if self.needs_fit and not hasattr(self, "n_members_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"This {type(self).__name__} is not fitted yet. Call fit with honest votes.")

    def _check_task(self, votes: np.ndarray) -> None:
        task = "classification" if are_classes(votes) else "regression"
        if task not in self.tasks:
            given = "votes for classes" if are_classes(votes) else "votes of one output"
            raise ValueError(
                f"{type(self).__name__} is a rule for {self.tasks[0]}. Got {given}, a {task}. Use the rule "
                "'mean'."
            )

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        """Raise if its parameters are none for so many members and outputs, and rows with weights or without.

        `fit` asks for it, and so do committees before any member is fitted.
        """

    def _looks_at_X(self) -> bool:
        """Whether it looks at the rows with the parameters that it has."""
        return self.needs_X

    def _without_names(self) -> Self:
        """Itself, with rules instead of their names, so that what they draw by can be set."""
        return self

    def _check_X(self, X: Any, n_rows: int) -> None:
        if not self._looks_at_X():
            return
        if X is None:
            raise ValueError(f"{type(self).__name__} looks at the rows. Pass X, the rows of the votes.")
        if n_rows_of(X) != n_rows:
            raise ValueError(f"X must have the {n_rows} rows of the votes. Got {n_rows_of(X)}.")

    def _check_shape(self, votes: np.ndarray) -> None:
        n_members, _, n_outputs = votes.shape
        if n_members != self.n_members_:
            raise ValueError(
                f"The rule was fitted with {self.n_members_} members and gets the votes of {n_members}. "
                "Pass the votes of the same members, or fit again."
            )
        if n_outputs != self.n_outputs_:
            raise ValueError(
                f"The rule was fitted with {self.n_outputs_} outputs and gets votes with {n_outputs}. "
                "Pass votes on the same classes, or fit again."
            )


def unfitted(rule: Rule) -> Rule:
    """A rule with the parameters of another, even the generators among them, that has learnt nothing."""
    return type(rule)(**rule.get_params(deep=False))


def check_rule(
    rule: Rule, n_members: int, task: Classification | Regression, *, is_weighted: bool = False
) -> None:
    """Raise for a rule that could not decide on a task, before members are fitted."""
    check_parameters(rule)
    name = "classification" if isinstance(task, Classification) else "regression"
    if name not in rule.tasks:
        raise ValueError(f"{type(rule).__name__} is a rule for {rule.tasks[0]}. Use another for {name}.")
    if name == "regression" or task.n_outputs > 1:
        rule._check_kind(n_members, task.n_outputs, is_weighted)
        check_judging(rule, task)


def differ(weights: np.ndarray | None) -> bool:
    """Whether rows that count at all have other weights than one, in whatever unit."""
    return weights is not None and bool((scaled(weights)[weights > 0] != 1).any())


def check_judging(rule: Any, task: Classification | Regression) -> None:
    """Raise if what a rule, or one inside of it, judges by cannot judge decisions on a task."""
    if isinstance(getattr(rule, "rule", None), Rule):
        check_judging(rule.rule, task)
    if getattr(rule, "metric", None) is not None:
        from committee.combining.scorers import check_of_decisions, check_scorer

        check_scorer(rule.metric, task)
        check_of_decisions(rule.metric, task.n_outputs)


def check_labels(classes: Any, n_outputs: int | None) -> np.ndarray:
    """The labels of the outputs, each there once."""
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(np.unique(labels)) != len(labels) or n_outputs not in (None, len(labels)):
        wanted = "" if n_outputs is None else f"{n_outputs} "
        raise ValueError(f"classes must be {wanted}different labels, one for each output. Got {classes!r}.")
    return labels


def check_groups(groups: Any, n_rows: int) -> np.ndarray:
    """The group of each row."""
    array = np.asarray(groups)
    if array.shape != (n_rows,):
        raise ValueError(f"groups must have one value for each of the {n_rows} rows. Got {array.shape}.")
    return array


def check_codes(y: Any, votes: np.ndarray) -> np.ndarray:
    """The numbers of the classes that rows are of."""
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


def check_numbers(y: Any, n_rows: int) -> np.ndarray:
    """The numbers that a regression is to find, if their squares are finite."""
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


def n_rows_of(X: Any) -> int:
    """The number of rows of a table of any kind."""
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of(X: Any, rows: np.ndarray) -> Any:
    """Some rows of a table of any kind, by their positions.

    Examples
    --------
    >>> import polars as pl
    >>> rows_of(pl.DataFrame({"age": [31, 54, 27]}), np.array([2, 0]))["age"].to_list()
    [27, 31]
    >>> rows_of([[31], [54]], np.array([1]))
    array([[54]])
    """
    import narwhals.stable.v2 as nw

    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows].to_native()
    return (X if hasattr(X, "shape") else np.asarray(X))[rows]
