"""Voting: members, and any rule."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import clone

from committee.assembling.committee import Committee
from committee.combining.naming import as_rule
from committee.combining.rule import FixedRule, Rule
from committee.learners.voting import Classifies, Regresses
from committee.parameters import anything, declared, parameter
from committee.saving import saved
from committee.table.typing import ArrayLike


@declared
class Voting(Committee):
    """A committee with a rule of one's choice."""

    cv: object = None

    rule: str | Callable[..., np.ndarray] | Rule = parameter(
        "mean",
        "the name of a rule, a function of votes or a rule",
        anything,
        'What decides. "mean" is the soft voting of scikit-learn and "majority" its hard voting. A rule that '
        "learns, such as CAWPERule(), makes members vote on rows that are held out first, as `cv` says.",
    )
    weights: ArrayLike | None = parameter(
        None,
        "an array-like of shape (n_members,) or None",
        anything,
        "What the vote of each member counts, for the rules that need no fit. None gives every member the "
        "same say.",
    )

    def _new_rule(self) -> Rule:
        rule = clone(as_rule(self.rule))
        if self.weights is None:
            return rule
        if not isinstance(rule, FixedRule):
            raise ValueError(
                f"weights are for rules that need no fit, and {type(rule).__name__} finds its own. "
                "Set them to None."
            )
        return rule.set_params(weights=self.weights)


@saved
@declared
class VotingClassifier(Classifies, Voting):
    """Members of any kind vote on classes, and a rule decides.

    With the rule "mean", this is the soft voting of scikit-learn. There are honest votes, for `leaderboard`
    and for `recombine` with a rule that learns, if `cv` asks for them or the rule needs them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, VotingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> voting = VotingClassifier(members, cv=5).fit(X, y)
    >>> voting.predict(X[:2])
    array([0, 0])
    >>> voting.leaderboard(["mean", "cawpe"])
    member  tree   0.9600 accuracy
    rule    mean   0.9600 accuracy
    rule    cawpe  0.9600 accuracy
    member  bayes  0.9533 accuracy
    >>> voting.recombine("cawpe").weights_.round(2)
    array([0.49, 0.51])
    """


@saved
@declared
class VotingRegressor(Regresses, Voting):
    """Members of any kind vote with numbers, and a rule decides.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionTreeRegressor, VotingRegressor
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor())]
    >>> VotingRegressor(members).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 6.0]).predict([[3.0]])
    array([5.75])
    """
