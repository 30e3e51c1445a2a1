"""Stacking: a meta-learner on honest votes, in one layer or several."""

from __future__ import annotations

from sklearn.base import BaseEstimator

from committee.assembling.committee import Committee
from committee.combining.rule import Rule
from committee.combining.stacking import StackingRule
from committee.learners.voting import Classifies, Regresses
from committee.parameters import anything, declared, is_boolean, one_of, parameter
from committee.saving import saved


@declared
class Stacking(Committee):
    """A committee whose rule is a meta-learner."""

    final_estimator: str | BaseEstimator | None = parameter(
        None,
        "the name of a meta-learner, an estimator, or None",
        anything,
        "The meta-learner: an estimator, or one that `StackingRule` names (nnls, convex, mlr and others). "
        "None is logistic regression for classes and ridge regression for numbers. Another stacking "
        "committee here makes a second layer: its members see the votes of this one's.",
    )
    stack: str = parameter(
        "probabilities",
        '"probabilities", "log_odds" or "labels"',
        one_of("probabilities", "log_odds", "labels"),
        "What the meta-learner sees of votes for classes.",
    )
    passthrough: bool = parameter(
        False,
        "True or False",
        is_boolean,
        "Whether the meta-learner sees the table too, as `TableEncoder` makes it a matrix.",
    )
    drop_redundant: bool = parameter(
        True,
        "True or False",
        is_boolean,
        "Whether the votes for the first class are left out: they follow from the others. scikit-learn does "
        "so for two classes only.",
    )

    def _new_rule(self) -> Rule:
        return StackingRule(
            self.final_estimator,
            votes=self.stack,
            passthrough=self.passthrough,
            drop_redundant=self.drop_redundant,
        )


@saved
@declared
class StackingClassifier(Classifies, Stacking):
    """Let a meta-learner decide on the members' honest votes for classes (Wolpert 1992).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> StackingClassifier(members).fit(X, y).predict(X[:2])
    array([0, 0])

    Two layers, and weights that sum to one above them:

    >>> second = StackingClassifier(members, final_estimator="convex")
    >>> StackingClassifier(members, final_estimator=second).fit(X, y).predict(X[:2])
    array([0, 0])
    """


@saved
@declared
class StackingRegressor(Regresses, Stacking):
    """Let a meta-learner decide on the members' honest numbers (Wolpert 1992, Breiman 1996).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionTreeRegressor, StackingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> StackingRegressor(members, final_estimator="convex").fit(X, y).weights_.round(1)
    array([0.9, 0.1])
    """
