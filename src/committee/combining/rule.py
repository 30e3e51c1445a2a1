"""A rule: from votes and, if it is trained, honest votes with their answers, to one decision.

A rule says in `_learn` what it takes from honest votes, and in `_decide` how a block of votes becomes the
support of each output; `Rule` does the rest, the same for all: it checks what comes in, goes through the
blocks, and rescales decisions on classes to sum to one. A rule that looks at X overrides `_combine`.

A fitted rule decides without scikit-learn, for the predictors of committees: what is only needed to learn is
imported in `_learn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from committee.metrics.scoring import check_scoring
from committee.parameters import Parametrised, check_parameters
from committee.saving import DamagedFile, Fields, Saveable
from committee.saving.attributes import Kind, Sizes, Wrong, count, sentence
from committee.task import Classification, Regression, scaled
from committee.votes.arrays import are_classes, check_votes, in_blocks
from committee.votes.honest import HonestVotes, check_labels, n_rows_of

# What every fitted rule knows.
SHAPE: Mapping[str, Kind] = {"n_members_": count("members"), "n_outputs_": count("outputs")}


class Rule(Saveable, Parametrised):
    """A rule, to be fitted on honest votes.

    A rule of your own says in `_learn` what it takes from `HonestVotes` (`votes`, `y`, `weights` of the rows,
    and `blocks()` of all three), and in `_decide` how votes of float64 support each output.

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
    # What a fitted rule keeps in a file, in the order in which it is checked; None if it cannot be saved.
    kept: ClassVar[Mapping[str, Kind] | None] = None
    # Attributes that files know by another name: what it means there never changes.
    names_in_files: ClassVar[Mapping[str, str]] = {}
    # A rule without parameters declares none.
    _declarations: ClassVar[list[Any]] = []

    n_members_: int
    n_outputs_: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What a fit leaves is in `kept`."""

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
            The labels that outputs stand for, for a `scoring` that is a scorer of scikit-learn: they tell
            which class is the positive one. None: the numbers of the outputs.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together by a meta-learner that is a committee.

        Returns
        -------
        Rule
            Itself.
        """
        check_parameters(self)
        honest = HonestVotes.of(
            votes, y, X, sample_weight, has_voted=has_voted, classes=classes, groups=groups
        )
        if classes is not None:
            check_labels(classes, honest.n_outputs)
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

    def _learn(self, honest: HonestVotes) -> None:
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

    def _check_parameters(self) -> None:
        check_parameters(self)

    def _has_learnt(self) -> bool:
        return hasattr(self, "n_members_")

    def _learnt(self) -> dict[str, Any]:
        return {self.names_in_files.get(name, name): getattr(self, name) for name in self._kinds()}

    def _take_learnt(self, fields: Fields) -> None:
        sizes: Sizes = {}
        for name, kind in self._kinds().items():
            value = fields.take(self.names_in_files.get(name, name), object)
            try:
                kind(value, sizes)
            except Wrong as fault:
                raise DamagedFile(f"{sentence(name, fault)}.") from fault
            setattr(self, name, value)
        task = "classification" if self.n_outputs_ > 1 else "regression"
        fields.require(self.n_members_ > 0 and self.n_outputs_ > 0, "there are no members or no outputs")
        fields.require(task in self.tasks, f"a {type(self).__name__} is no rule for {task}")
        self._check_learnt()

    def _check_learnt(self) -> None:
        """Raise `DamagedFile` unless what was taken fits together, beyond what the kinds say."""

    def _kinds(self) -> Mapping[str, Kind]:
        if self.kept is None:
            raise TypeError(f"A fitted {type(self).__name__} cannot be saved. Save it before it is fitted.")
        return {**SHAPE, **self.kept}


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
    if getattr(rule, "scoring", None) is not None:
        check_scoring(rule.scoring, task.n_outputs, task.classes)
