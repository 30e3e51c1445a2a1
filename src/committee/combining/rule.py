"""The base class of rules, which combine votes into one decision.

A rule implements `_learn`, which fits it on honest votes, and `_decide`, which computes the support of each
output from a block of votes. `Rule` checks the input, splits votes into blocks, and rescales decisions on
classes to sum to one. A rule that uses X overrides `_combine`. `FixedRule` wraps a function and needs no
training.

Fitted rules decide without scikit-learn, because predictors use them. Modules that only `_learn` needs are
imported there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from committee.combining.fixed_rules import FIXED, Function, majority, plurality, trimmed_mean
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
from committee.saving import DamagedFile, Fields, Saveable
from committee.saving.format.attributes import Kind, Wrong, check_all, count
from committee.saving.saved_estimators import RULE_FUNCTIONS
from committee.table.input_types import ArrayLike, TableLike
from committee.task import Classification, Regression, scaled
from committee.votes.honest_votes import HonestVotes, check_labels, n_rows_of
from committee.votes.vote_arrays import are_classes, check_member_weights, check_votes, in_blocks, rescaled

RULE_FUNCTIONS.update({function: name for name, function in FIXED.items()})
# The attributes of all fitted rules.
SHAPE: Mapping[str, Kind] = {"n_members_": count("members"), "n_outputs_": count("outputs")}


class Rule(Saveable, Parametrised):
    """The base class of rules, which are fitted on honest votes.

    A custom rule implements `_learn`, which gets `HonestVotes` (`votes`, `y`, `weights` of the rows, and
    `blocks()` of all three), and `_decide`, which returns the support of each output for float64 votes.

    Attributes
    ----------
    n_members_ : int
        The number of members in the fit.
    n_outputs_ : int
        The number of classes, or 1 for a regression.

    Examples
    --------
    Choose the member with the most confident honest votes:

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

    # Whether the rule uses X, the rows of the votes.
    needs_X: ClassVar[bool] = False
    # Whether the rule only uses which class each member predicts. A committee then passes votes of 1 for
    # the class that a member's `predict` returns, and 0 for the others.
    reads_labels: ClassVar[bool] = False
    # Whether the rule must be fitted before `combine`.
    needs_fit: ClassVar[bool] = True
    # Whether the rule is applied to the votes of the models of each fold, and its decisions are averaged.
    # Otherwise it is applied to the mean votes of these models.
    decides_by_fold: ClassVar[bool] = False
    # The tasks that the rule supports.
    tasks: ClassVar[tuple[str, ...]] = ("classification",)
    # The attributes to save, in the order in which they are checked. None if the rule cannot be saved.
    kept: ClassVar[Mapping[str, Kind] | None] = None
    # The names in files of attributes that were renamed, because names in files never change.
    names_in_files: ClassVar[Mapping[str, str]] = {}
    # The declared parameters. A rule without parameters does not need `declared`.
    _declarations: ClassVar[list[Any]] = []

    n_members_: int
    n_outputs_: int

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Allow any attribute, because `kept` defines those of a fitted rule."""

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
        """Fit the rule on honest votes, which are votes of members on rows that they were not fitted on.

        Parameters
        ----------
        votes : array-like of shape (n_members, n_rows, n_outputs)
            Probabilities or crisp 0/1 votes for classes, or one number (n_outputs is 1).
        y : array-like of shape (n_rows,)
            Numbers of classes, from 0 to n_outputs - 1, or the numbers of a regression.
        X : table of shape (n_rows, n_columns), default=None
            The rows of the votes, for rules that use them.
        sample_weight : array-like of shape (n_rows,), default=None
            Weights of the rows. Small integers are repetitions of rows. Of other numbers, only the ratios
            matter. None gives all rows the weight 1.
        has_voted : array-like of bool of shape (n_members, n_rows), default=None
            Whether a member has voted on a row. Otherwise its vote is a substitute, such as the mean of the
            other members. Rules that weigh or select members, and naive Bayes, evaluate members only on the
            rows that they have voted on. Rules that use all votes on a row together use the substitutes too.
            None means that all members have voted on all rows.
        classes : array-like of shape (n_outputs,), default=None
            The labels of the outputs, from which a scorer of scikit-learn in `scoring` finds the positive
            class. None uses the numbers of the outputs.
        groups : array-like of shape (n_rows,), default=None
            Groups of rows to hold out together. They are passed to meta-learners that accept groups.

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
            The votes of the members of the fit, in the same order.
        X : table of shape (n_rows, n_columns), default=None
            The rows of the votes, for rules that use them.

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
            Decisions on classes are not negative and sum to one. Classes whose support differs only by
            rounding get equal values, so that the first of them wins.
        """
        return self._combine(self._check_combine(votes, X), X)

    def _learn(self, honest: HonestVotes) -> None:
        """Fit the rule on honest votes."""
        raise NotImplementedError

    def _combine(self, votes: np.ndarray, X: TableLike | None) -> np.ndarray:
        """Combine votes of a valid shape."""
        return in_blocks(self._decide, votes)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        """Return the support of each output for a block of float64 votes, for classes on any scale."""
        raise NotImplementedError

    def _check_combine(self, votes: ArrayLike, X: TableLike | None) -> np.ndarray:
        """Check that the rule is fitted and can combine these votes. Return them as an array."""
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
                f"{type(self).__name__} is a rule for {self.tasks[0]}. Got {given}, which are for {task}. "
                "Use the rule 'mean'."
            )

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        """Raise if the parameters do not fit the number of members or outputs, or weights of rows.

        `fit` calls this method, and committees call it before any member is fitted.
        """

    def _looks_at_X(self) -> bool:
        """Return whether the rule uses X with its parameters."""
        return self.needs_X

    def _reads_labels(self) -> bool:
        """Return whether the rule only uses the predicted classes with its parameters."""
        return self.reads_labels

    def _without_names(self) -> Self:
        """Replace names of rules in parameters by rules, so that their random states can be set."""
        return self

    def _check_X(self, X: TableLike | None, n_rows: int) -> None:
        if not self._looks_at_X():
            return
        if X is None:
            raise ValueError(f"{type(self).__name__} uses the columns of X. Pass X, the rows of the votes.")
        if n_rows_of(X) != n_rows:
            raise ValueError(f"X must have the {n_rows} rows of the votes. Got {n_rows_of(X)}.")

    def _check_shape(self, votes: np.ndarray) -> None:
        n_members, _, n_outputs = votes.shape
        if n_members != self.n_members_:
            raise ValueError(
                f"The rule was fitted with {self.n_members_} members. Got the votes of {n_members}. "
                "Pass the votes of the same members, or fit again."
            )
        if n_outputs != self.n_outputs_:
            raise ValueError(
                f"The rule was fitted with {self.n_outputs_} outputs. Got votes with {n_outputs}. "
                "Pass votes for the same classes, or fit again."
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
        except Wrong as error:
            raise DamagedFile(f"{error}.") from error
        vars(self).update(learnt)
        task = "classification" if self.n_outputs_ > 1 else "regression"
        fields.require(self.n_members_ > 0 and self.n_outputs_ > 0, "there are no members or no outputs")
        fields.require(task in self.tasks, f"a {type(self).__name__} does not support {task}")
        self._check_learnt()

    def _check_learnt(self) -> None:
        """Raise `DamagedFile` if attributes from a file contradict each other."""

    def _kinds(self) -> Mapping[str, Kind]:
        if self.kept is None:
            raise TypeError(f"A fitted {type(self).__name__} cannot be saved. Save it before it is fitted.")
        return {**SHAPE, **self.kept}


@declared
class FixedRule(Rule):
    """Combine votes by a function that needs no training, with or without weights of the members.

    `fit` only checks that the rule can combine such votes.

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
        "The name of a rule, or a function of votes of shape (n_members, n_rows, n_outputs) that returns a "
        "decision of shape (n_rows, n_outputs). If `weights` is set, it is passed to the function too.",
    )
    weights: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
        "The weight of each member's vote. None gives all members the same weight.",
    )
    trim: float | None = parameter(
        None,
        optional(number(0, 0.5, closed="left")),
        "For trimmed_mean: the share of the weight to remove at each end. None is 0.2.",
    )

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members, if there are any."""
        if self.weights is None:
            raise AttributeError(f"The rule {self.rule!r} has no weights for members.")
        return np.asarray(self.weights, dtype=np.float64)

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        # One row is enough to check that the function accepts such votes.
        self._combine(np.full((n_members, 1, n_outputs), 1 / n_outputs), None)

    def _reads_labels(self) -> bool:
        return self.rule in ("majority", "plurality", majority, plurality)

    def _learn(self, honest: HonestVotes) -> None:
        """Do nothing, because there is nothing to fit."""

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
    """Check the decision of a user's function. Rescale decisions on classes to sum to one."""
    if decision.shape != votes.shape[1:]:
        raise ValueError(
            f"A rule must return the shape (n_rows, n_outputs) {votes.shape[1:]}. Got {decision.shape}."
        )
    if not np.isfinite(decision).all() or (are_classes(votes) and (decision < 0).any()):
        raise ValueError("A rule must return finite numbers, for classes >= 0. Check the function.")
    return rescaled(decision) if are_classes(votes) else decision


def unfitted(rule: Rule) -> Rule:
    """Return an unfitted rule with the same parameters, including the same random generators."""
    return type(rule)(**rule.get_params(deep=False))


def check_rule(
    rule: Rule, n_members: int, task: Classification | Regression, *, is_weighted: bool = False
) -> None:
    """Raise an error before members are fitted if a rule does not support a task."""
    check_parameters(rule)
    name = "classification" if isinstance(task, Classification) else "regression"
    if name not in rule.tasks:
        raise ValueError(f"{type(rule).__name__} is a rule for {rule.tasks[0]}. Use another for {name}.")
    if name == "regression" or task.n_outputs > 1:
        rule._check_kind(n_members, task.n_outputs, is_weighted)
        inner: object = rule
        while isinstance(inner, Rule):
            scoring = getattr(inner, "scoring", None)
            if scoring is not None:
                check_scoring(scoring, task.n_outputs, task.classes)
            inner = getattr(inner, "rule", None)


def differ(weights: np.ndarray | None) -> bool:
    """Return whether a row has another weight than 0 or 1, after weights are rescaled."""
    return weights is not None and bool((scaled(weights)[weights > 0] != 1).any())
