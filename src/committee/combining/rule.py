"""A rule: from votes and, if it is trained, honest votes with their answers, to one decision.

A rule says in `_learn` what it takes from honest votes, and in `_decide` how a block of votes becomes the
support of each output. `Rule` does the rest for all of them: it checks what comes in, goes through the
blocks, and rescales decisions on classes to sum to one. A rule that looks at X overrides `_combine`.
`FixedRule` is the rule that learns nothing.

A fitted rule decides without scikit-learn, for the predictors of committees. What is only needed to learn is
imported in `_learn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from committee.combining.fixed_rules import FIXED, Function, trimmed_mean
from committee.metrics.scoring import check_scoring
from committee.parameters import (
    Constraint,
    Parametrised,
    check_parameters,
    declared,
    number,
    optional,
    parameter,
)
from committee.saving import DamagedFile, Fields, Saveable, saved
from committee.saving.format.attributes import Kind, Wrong, check_all, count
from committee.saving.saved_estimators import RULE_FUNCTIONS
from committee.table.input_types import ArrayLike, TableLike
from committee.task import Classification, Regression, scaled
from committee.votes.honest_votes import HonestVotes, check_labels, n_rows_of
from committee.votes.vote_arrays import are_classes, check_member_weights, check_votes, in_blocks, rescaled

RULE_FUNCTIONS.update({function: name for name, function in FIXED.items()})
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
    # Whether it decides on the votes of each fold's models, where members have some, and the mean of these
    # decisions counts. Otherwise it decides on the mean of their votes.
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
        votes: ArrayLike,
        y: ArrayLike,
        X: TableLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        has_voted: ArrayLike | None = None,
        classes: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
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
            Weights of the rows. Small integers say how often a row counts; of other numbers, only the
            ratios matter. None gives every row the weight 1.
        has_voted : array-like of bool of shape (n_members, n_rows), default=None
            Whether each vote is the member's own. Another number, such as the mean of the other members,
            stands for a vote that is not. Rules that weigh members or choose among them, and naive Bayes,
            judge members by their own votes alone. Rules that look at all votes on a row together take them
            as they are. None: all are their own.
        classes : array-like of shape (n_outputs,), default=None
            The labels that outputs stand for. A `scoring` that is a scorer of scikit-learn finds the
            positive class by them. None: the numbers of the outputs.
        groups : array-like of shape (n_rows,), default=None
            Rows of one group are held out together by a meta-learner that is a committee.

        Returns
        -------
        self
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

    def combine(self, votes: ArrayLike, X: TableLike | None = None) -> np.ndarray:
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
            Decisions on classes are not negative and sum to one. Support that differs by rounding alone is
            made equal, so the first of equal classes wins.
        """
        return self._combine(self._check_combine(votes, X), X)

    def _learn(self, honest: HonestVotes) -> None:
        """Learn from honest votes."""
        raise NotImplementedError

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        """Decide on votes whose shape is checked."""
        return in_blocks(self._decide, votes)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        """Return the support of each output, on any scale for classes, from a block of votes in float64."""
        raise NotImplementedError

    def _check_combine(self, votes: ArrayLike, X: TableLike | None) -> np.ndarray:
        """Return votes as an array, if the rule is fitted and can decide on them."""
        self._check_fitted()
        checked = check_votes(votes)
        if hasattr(self, "n_members_"):
            self._check_shape(checked)
        self._check_task(checked)
        self._check_X(X, checked.shape[1])
        return checked

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
        """Raise if the parameters do not suit the numbers of members and outputs, or weights of rows.

        `fit` calls it, and so do committees before any member is fitted.
        """

    def _looks_at_X(self) -> bool:
        """Return whether the rule looks at the rows with the parameters that it has."""
        return self.needs_X

    def _without_names(self) -> Self:
        """Return itself, with rules instead of their names, so that their random states can be set."""
        return self

    def _check_X(self, X: TableLike | None, n_rows: int) -> None:
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
        kinds = self._kinds()
        learnt = {name: fields.take(self.names_in_files.get(name, name), object) for name in kinds}
        try:
            check_all(kinds, learnt, {})
        except Wrong as fault:
            raise DamagedFile(f"{fault}.") from fault
        vars(self).update(learnt)
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


@saved
@declared
class FixedRule(Rule):
    """A rule that needs no training: a function of the votes, with or without weights of the members.

    `fit` only checks that the rule can decide on such votes.

    Examples
    --------
    >>> votes = np.array([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])
    >>> FixedRule(rule="mean", weights=[0.7, 0.2, 0.1]).combine(votes).round(2)
    array([[0.33, 0.67]])
    """

    needs_fit: ClassVar[bool] = False
    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")
    kept: ClassVar[Mapping[str, Kind]] = {}

    rule: str | Function = parameter(
        "mean",
        Constraint(
            f"one of {', '.join(FIXED)}, or a function of votes",
            lambda value: value in FIXED if isinstance(value, str) else callable(value),
        ),
        "What decides: from votes of shape (n_members, n_rows, n_outputs) to a decision of shape (n_rows, "
        "n_outputs). A function is called with `weights` too if there are any.",
    )
    weights: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
        "What the vote of each member counts. None gives every member the same say.",
    )
    trim: float | None = parameter(
        None,
        optional(number(0, 0.5, closed="left")),
        "For trimmed_mean: the share of the weight that is left out at each end. None is 0.2.",
    )

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members, if there are any."""
        if self.weights is None:
            raise AttributeError(f"The rule {self.rule!r} has no weights for members.")
        return np.asarray(self.weights, dtype=np.float64)

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        # One row shows whether the function takes such votes.
        self._combine(np.full((n_members, 1, n_outputs), 1 / n_outputs), None)

    def _learn(self, honest: HonestVotes) -> None:
        """Learn nothing."""

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        check_parameters(self)
        function = FIXED[self.rule] if isinstance(self.rule, str) else self.rule
        given: dict[str, object] = {}
        if self.weights is not None:
            given["weights"] = check_member_weights(self.weights, len(votes))
        if self.trim is not None:
            if function is not trimmed_mean:
                raise ValueError(f"trim is for rule='trimmed_mean'. Got rule={self.rule!r}. Set it to None.")
            given["trim"] = self.trim
        decision = np.asarray(function(votes, **given), dtype=np.float64)
        return decision if isinstance(self.rule, str) else check_decision(decision, votes)


def check_decision(decision: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Check the decision of a user's function, and rescale one for classes to sum to one."""
    if decision.shape != votes.shape[1:]:
        raise ValueError(
            f"A rule must decide with the shape (n_rows, n_outputs) {votes.shape[1:]}. Got {decision.shape}."
        )
    if not np.isfinite(decision).all() or (are_classes(votes) and (decision < 0).any()):
        raise ValueError("A rule must decide with finite numbers, for classes >= 0. Check the function.")
    return rescaled(decision) if are_classes(votes) else decision


def unfitted(rule: Rule) -> Rule:
    """Return an unfitted rule with the parameters of another, even the generators among them."""
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
        judges: object = rule
        while isinstance(judges, Rule):
            scoring = getattr(judges, "scoring", None)
            if scoring is not None:
                check_scoring(scoring, task.n_outputs, task.classes)
            judges = getattr(judges, "rule", None)


def differ(weights: np.ndarray | None) -> bool:
    """Return whether rows that count at all have other weights than one, in whatever unit."""
    return weights is not None and bool((scaled(weights)[weights > 0] != 1).any())
