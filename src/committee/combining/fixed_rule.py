"""A rule made of a function of votes alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from committee.combining import fixed
from committee.combining.rule import Rule
from committee.parameters import anything, check_parameters, declared, number, optional, parameter
from committee.saving import saved
from committee.saving.attributes import Kind
from committee.saving.estimators import RULE_FUNCTIONS
from committee.votes.arrays import are_classes, check_member_weights, rescaled
from committee.votes.honest import HonestVotes

Function = Callable[..., np.ndarray]
FIXED: Mapping[str, Function] = {
    function.__name__: function
    for function in (
        fixed.mean,
        fixed.median,
        fixed.trimmed_mean,
        fixed.minimum,
        fixed.maximum,
        fixed.product,
        fixed.geometric_mean,
        fixed.majority,
        fixed.plurality,
        fixed.borda,
    )
}
RULE_FUNCTIONS.update({function: name for name, function in FIXED.items()})


@saved
@declared
class FixedRule(Rule):
    """A rule that needs no training: a function of the votes, with weights for the members or without.

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

    rule: Any = parameter(
        "mean",
        f"one of {', '.join(FIXED)}, or a function of votes",
        lambda value: value in FIXED if isinstance(value, str) else callable(value),
        "What decides: from votes of shape (n_members, n_rows, n_outputs) to a decision of shape (n_rows, "
        "n_outputs). A function is called with `weights` too if there are any.",
    )
    weights: Any = parameter(
        None,
        "an array-like of shape (n_members,) or None",
        anything,
        "What the vote of each member counts. None gives every member the same say.",
    )
    trim: Any = parameter(
        None,
        "a number >= 0 and < 0.5, or None",
        optional(lambda value: number(0)(value) and value < 0.5),
        "For trimmed_mean: the share of the weight that is left out at each end. None is 0.2.",
    )

    @property
    def weights_(self) -> np.ndarray:
        """The weights of the members, if there are any."""
        if self.weights is None:
            raise AttributeError(f"The rule {self.rule!r} has no weights for members.")
        return np.asarray(self.weights, dtype=np.float64)

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        # One row tells whether the function takes such votes.
        self._combine(np.full((n_members, 1, n_outputs), 1 / n_outputs), None)

    def _learn(self, honest: HonestVotes) -> None:
        """There is nothing to learn."""

    def _combine(self, votes: np.ndarray, X: Any) -> np.ndarray:
        check_parameters(self)
        function = FIXED[self.rule] if isinstance(self.rule, str) else self.rule
        given = {}
        if self.weights is not None:
            given["weights"] = check_member_weights(self.weights, len(votes))
        if self.trim is not None:
            if function is not fixed.trimmed_mean:
                raise ValueError(f"trim is for rule='trimmed_mean'. Got rule={self.rule!r}. Set it to None.")
            given["trim"] = self.trim
        decision = np.asarray(function(votes, **given), dtype=np.float64)
        return decision if isinstance(self.rule, str) else check_decision(decision, votes)


def named_if_ours(rule: Any) -> Any:
    """The name of a function of ours, by which it can be saved; any other rule as it is.

    Examples
    --------
    >>> named_if_ours(fixed.borda), named_if_ours("mean"), named_if_ours(max)
    ('borda', 'mean', <built-in function max>)
    """
    return next((name for name, function in FIXED.items() if function is rule), rule)


def check_decision(decision: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """The decision of a user's function, for classes rescaled to sum to one, if it is one."""
    if decision.shape != votes.shape[1:]:
        raise ValueError(
            f"A rule must decide with the shape (n_rows, n_outputs) {votes.shape[1:]}. Got {decision.shape}."
        )
    is_sound = np.isfinite(decision).all() and not (are_classes(votes) and (decision < 0).any())
    if not is_sound:
        raise ValueError("A rule must decide with finite numbers, for classes >= 0. Check the function.")
    return rescaled(decision) if are_classes(votes) else decision
