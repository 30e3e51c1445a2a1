"""The kinds of committees: each adds its rule to the one body.

Voting takes any rule. Averaging weighs members by their posterior or by a power of their accuracy. Selection
finds who of the members decides: everywhere (greedy), by region, or row by row. Stacking has a meta-learner.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator, clone

from committee.assembling.committee import Committee, parameter_of
from committee.combining.bayesian_rules import BayesianAveragingRule, BayesianCombinationRule
from committee.combining.rule import FixedRule, Rule
from committee.combining.rule_registry import as_rule
from committee.combining.selection.dynamic_selection import DynamicRule
from committee.combining.selection.greedy_selection import GreedyRule, Scoring
from committee.combining.selection.region_selection import RegionRule
from committee.combining.stacking import StackingRule
from committee.combining.weighted_rules import CAWPERule
from committee.learners.voter import Classifies, Regresses
from committee.parameters import Constraint, boolean, declared, one_of, parameter
from committee.saving import saved
from committee.table.input_types import ArrayLike


@declared
class Voting(Committee):
    """A committee with a rule of one's choice."""

    cv: object = None

    rule: str | Callable[..., np.ndarray] | Rule = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule"),
        'What decides. "mean" is the soft voting of scikit-learn and "majority" its hard voting. A rule that '
        "learns, such as CAWPERule(), makes members vote on rows that are held out first, as `cv` says.",
    )
    weights: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
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


@declared
class BayesianAveraging(Committee):
    """A committee weighted by the posterior of its members, or of mixtures of them."""

    over: str = parameter(
        "members",
        one_of("members", "mixtures"),
        "What the posterior is over. With more and more rows, all weight goes to the one best member, but "
        "need not go to a mixture of one: Bayesian model averaging, and Bayesian model combination.",
    )
    prior: ArrayLike | None = parameter_of(BayesianAveragingRule, "prior")

    def _new_rule(self) -> Rule:
        if self.over == "members":
            return BayesianAveragingRule(prior=self.prior)
        if self.prior is not None:
            raise ValueError('prior is of members. Set over="members", or prior=None.')
        return BayesianCombinationRule()


@saved
@declared
class BayesianAveragingClassifier(Classifies, BayesianAveraging):
    """Weigh members by their posterior probability, given the classes of rows that they have not seen.

    A `prior` is of members, and needs over="members".

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import BayesianAveragingClassifier, DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> BayesianAveragingClassifier(members).fit(X, y).weights_.round(2)
    array([1., 0.])
    """


@saved
@declared
class BayesianAveragingRegressor(Regresses, BayesianAveraging):
    """Weigh members by their posterior probability, given the numbers of rows that they have not seen.

    A `prior` is of members, and needs over="members".

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import BayesianAveragingRegressor, DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=1))]
    >>> BayesianAveragingRegressor(members).fit(X, y).weights_.round(2)
    array([1., 0.])
    """


@saved
@declared
class CAWPEClassifier(Classifies, Committee):
    """Weigh the members' probabilities by their cross-validated accuracy to the power alpha.

    By default the members are of the paper's five kinds, with the settings of scikit-learn and of
    `C45Classifier` and not those of Weka, in ten folds: eleven fits of each.

    References
    ----------
    J. Large, J. Lines, A. Bagnall, "A probabilistic classifier ensemble weighting scheme based on
    cross-validated accuracy estimates". Data Mining and Knowledge Discovery 33, 2019.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import CAWPEClassifier, DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> CAWPEClassifier(members).fit(X, y).weights_.round(2)
    array([0.81, 0.19])
    """

    cv: object = 10
    # The paper weighs probabilities, and its support vector machine has none of its own.
    calibrate: str | None = "sigmoid"

    alpha: float = parameter_of(CAWPERule, "alpha")

    def _new_rule(self) -> Rule:
        return CAWPERule(alpha=self.alpha)


@declared
class EnsembleSelection(Committee):
    """A committee whose members are selected one by one, with replacement."""

    scoring: Scoring = parameter_of(GreedyRule, "scoring")
    n_steps: int = parameter_of(GreedyRule, "n_steps")
    n_start: int = parameter_of(GreedyRule, "n_start")
    n_bags: int = parameter_of(GreedyRule, "n_bags")

    def _new_rule(self) -> Rule:
        return GreedyRule(
            scoring=self.scoring, n_steps=self.n_steps, n_start=self.n_start, n_bags=self.n_bags
        )


@saved
@declared
class EnsembleSelectionClassifier(Classifies, EnsembleSelection):
    """Add the member that lowers the loss of the mean vote most, again and again (Caruana et al. 2004).

    References
    ----------
    R. Caruana, A. Niculescu-Mizil, G. Crew, A. Ksikes (2004). Ensemble selection from libraries of models.
    ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, EnsembleSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> EnsembleSelectionClassifier(members).fit(X, y).weights_.round(1)
    array([1., 0.])
    """


@saved
@declared
class EnsembleSelectionRegressor(Regresses, EnsembleSelection):
    """Add the member that lowers the error of the mean most, again and again (Caruana et al. 2004).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionTreeRegressor, EnsembleSelectionRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> members = [("line", LinearRegression()), ("tree", DecisionTreeRegressor(max_depth=3))]
    >>> EnsembleSelectionRegressor(members).fit(X, y).weights_.round(1)
    array([0.9, 0.1])
    """


@declared
class RegionSelection(Committee):
    """A committee in which each region of the table is left to one member."""

    partition: str = parameter_of(RegionRule, "partition")
    n_regions: int = parameter_of(RegionRule, "n_regions")
    min_rows: int = parameter_of(RegionRule, "min_rows")

    def _new_rule(self) -> Rule:
        return RegionRule(partition=self.partition, n_regions=self.n_regions, min_rows=self.min_rows)


@saved
@declared
class RegionSelectionClassifier(Classifies, RegionSelection):
    """Leave each region of the table to the member that is best there (Kuncheva 2000).

    The regions are those of the matrix that `TableEncoder` makes of the table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, RegionSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> RegionSelectionClassifier(members, random_state=0).fit(X, y).predict(X[:2])
    array([0, 0])
    """


@saved
@declared
class RegionSelectionRegressor(Regresses, RegionSelection):
    """Leave each region of the table to the member that is best there.

    The regions are those of the matrix that `TableEncoder` makes of the table.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionStumpRegressor, RegionSelectionRegressor
    >>> X, y = [[float(i)] for i in range(20)], [float(max(i, 10)) for i in range(20)]
    >>> members = [("line", LinearRegression()), ("stump", DecisionStumpRegressor())]
    >>> regions = RegionSelectionRegressor(members, n_regions=2, min_rows=2, random_state=0).fit(X, y)
    >>> regions.predict([[2.0]]).round(2)
    array([10.43])
    """


@declared
class DynamicSelection(Committee):
    """A committee that asks for each row who is competent there."""

    method: str = parameter_of(DynamicRule, "method")
    n_neighbours: int | None = parameter_of(DynamicRule, "n_neighbours")

    def _new_rule(self) -> Rule:
        return DynamicRule(method=self.method, n_neighbours=self.n_neighbours)


@saved
@declared
class DynamicSelectionClassifier(Classifies, DynamicSelection):
    """Let those members decide on a row that are right on the rows near it.

    Rows are near in the matrix that `TableEncoder` makes of the table. See `DynamicRule` for the methods.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, DynamicSelectionClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("stump", DecisionTreeClassifier(max_depth=1))]
    >>> dynamic = DynamicSelectionClassifier(members, method="ola").fit(X, y)
    >>> dynamic.selected(X[100:101])[0]
    array([[1., 0.]])
    """


@saved
@declared
class DynamicSelectionRegressor(Regresses, DynamicSelection):
    """Let those members decide on a row that err little on the rows near it.

    Rows are near in the matrix that `TableEncoder` makes of the table. See `DynamicRule` for the methods.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> from committee import DecisionStumpRegressor, DynamicSelectionRegressor
    >>> X, y = [[float(i)] for i in range(20)], [float(max(i, 10)) for i in range(20)]
    >>> members = [("line", LinearRegression()), ("stump", DecisionStumpRegressor())]
    >>> dynamic = DynamicSelectionRegressor(members, method="ola", n_neighbours=3).fit(X, y)
    >>> dynamic.predict([[2.0]]).round(2)
    array([10.43])
    """


@declared
class Stacking(Committee):
    """A committee whose rule is a meta-learner."""

    final_estimator: str | BaseEstimator | None = parameter(
        None,
        Constraint("the name of a meta-learner, an estimator, or None"),
        "The meta-learner: an estimator, or one that `StackingRule` names (nnls, convex, mlr and others). "
        "None is logistic regression for classes and ridge regression for numbers. Another stacking "
        "committee here makes a second layer: its members see the votes of this one's.",
    )
    stack: str = parameter_of(StackingRule, "votes")
    passthrough: bool = parameter(
        False, boolean, "Whether the meta-learner sees the table too, as `TableEncoder` makes it a matrix."
    )
    drop_redundant: bool = parameter_of(StackingRule, "drop_redundant")

    def _new_rule(self) -> Rule:
        return StackingRule(
            final_estimator=self.final_estimator,
            votes=self.stack,
            passthrough=self.passthrough,
            drop_redundant=self.drop_redundant,
        )


@saved
@declared
class StackingClassifier(Classifies, Stacking):
    """Let a meta-learner decide on the members' honest votes for classes (Wolpert 1992).

    By default it does not see the redundant votes for the first class. scikit-learn leaves them out for two
    classes only.

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
