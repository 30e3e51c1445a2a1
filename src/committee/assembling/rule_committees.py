"""Committees, one class for each rule and task.

Voting accepts any rule. Bayesian averaging and CAWPE weight members by their posterior or by a power of their
accuracy. Selection chooses members for all rows (greedy), by region or row by row. Stacking fits a
meta-learner.
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
from committee.table.input_types import ArrayLike


@declared
class Voting(Committee):
    """A committee with any rule."""

    cv: object = None

    rule: str | Callable[..., np.ndarray] | Rule = parameter(
        "mean",
        Constraint("the name of a rule, a function of votes or a rule"),
        'The rule that decides. "mean" is the soft voting of scikit-learn and "majority" its hard voting. '
        "Rules of labels use the class that a member's `predict` returns, also if another class has a higher "
        "probability. A rule that learns, such as CAWPERule(), is fitted on votes on held-out rows. `cv` "
        "specifies the split.",
    )
    weights: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
        "The weight of each member's vote, for rules that need no fit. None gives every member the same "
        "weight.",
    )

    def _new_rule(self) -> Rule:
        rule = clone(as_rule(self.rule))
        if self.weights is None:
            return rule
        if not isinstance(rule, FixedRule):
            raise ValueError(
                f"weights are for rules that need no fit, and {type(rule).__name__} finds its own. Set "
                "weights=None."
            )
        return rule.set_params(weights=self.weights)


@declared
class VotingClassifier(Classifies, Voting):
    """Combine the votes of classifiers of any kind by a rule.

    With the rule "mean", this is the soft voting of scikit-learn. `leaderboard`, and `recombine` with a rule
    that learns, need honest votes. There are honest votes if `cv` is not None or the rule learns.

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
                                    accuracy     95 % interval       difference  models
    committee (mean)                  0.9600  0.9153 to 0.9816
    tree                              0.9600  0.9153 to 0.9816  not significant       1
    rule mean                         0.9600  0.9153 to 0.9816  not significant
    rule cawpe                        0.9600  0.9153 to 0.9816  not significant
    bayes                             0.9533  0.9066 to 0.9773  not significant       1
    most frequent class (baseline)    0.3333  0.2627 to 0.4124            worse
    >>> voting.recombine("cawpe").weights_.round(2)
    array([0.49, 0.51])
    """


@declared
class VotingRegressor(Regresses, Voting):
    """Combine the predictions of regressors of any kind by a rule.

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
        'The hypotheses of the posterior. "members" is Bayesian model averaging: with many rows, all weight '
        'goes to the best member. "mixtures" is Bayesian model combination: the weight goes to the best '
        "mixture, which can contain several members.",
    )
    prior: ArrayLike | None = parameter_of(BayesianAveragingRule, "prior")

    def _new_rule(self) -> Rule:
        if self.over == "members":
            return BayesianAveragingRule(prior=self.prior)
        if self.prior is not None:
            raise ValueError('prior needs over="members". Set over="members", or prior=None.')
        return BayesianCombinationRule()


@declared
class BayesianAveragingClassifier(Classifies, BayesianAveraging):
    """Weight classifiers by their posterior probability, given held-out rows.

    A `prior` needs over="members".

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


@declared
class BayesianAveragingRegressor(Regresses, BayesianAveraging):
    """Weight regressors by their posterior probability, given held-out rows.

    A `prior` needs over="members".

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


@declared
class CAWPEClassifier(Classifies, Committee):
    """Weight the members' probabilities by their cross-validated accuracy to the power alpha.

    The default members are the five kinds of the paper with the default settings of scikit-learn and
    `C45Classifier`, not those of Weka. Each is fitted eleven times: in ten folds and on all rows.

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
    # The paper weights probabilities, and linear support vector machines have none without calibration.
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


@declared
class EnsembleSelectionClassifier(Classifies, EnsembleSelection):
    """Add, step by step, the member that most reduces the loss of the mean vote (Caruana et al. 2004).

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


@declared
class EnsembleSelectionRegressor(Regresses, EnsembleSelection):
    """Add, step by step, the member that most reduces the error of the mean vote (Caruana et al. 2004).

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
    """A committee in which one member decides in each region of the feature space."""

    partition: str = parameter_of(RegionRule, "partition")
    n_regions: int = parameter_of(RegionRule, "n_regions")
    min_rows: int = parameter_of(RegionRule, "min_rows")

    def _new_rule(self) -> Rule:
        return RegionRule(partition=self.partition, n_regions=self.n_regions, min_rows=self.min_rows)


@declared
class RegionSelectionClassifier(Classifies, RegionSelection):
    """Use the best member in each region of the feature space (Kuncheva 2000).

    Regions are formed in the matrix from `TableEncoder`.

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


@declared
class RegionSelectionRegressor(Regresses, RegionSelection):
    """Use the best member in each region of the feature space.

    Regions are formed in the matrix from `TableEncoder`.

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
    """A committee that chooses competent members for each row."""

    method: str = parameter_of(DynamicRule, "method")
    n_neighbours: int | None = parameter_of(DynamicRule, "n_neighbours")

    def _new_rule(self) -> Rule:
        return DynamicRule(method=self.method, n_neighbours=self.n_neighbours)


@declared
class DynamicSelectionClassifier(Classifies, DynamicSelection):
    """Choose for each row the members that are right on the nearest training rows.

    Neighbours are searched in the matrix from `TableEncoder`. `DynamicRule` describes the methods.

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


@declared
class DynamicSelectionRegressor(Regresses, DynamicSelection):
    """Choose for each row the members with small errors on the nearest training rows.

    Neighbours are searched in the matrix from `TableEncoder`. `DynamicRule` describes the methods.

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
        "The meta-learner: an estimator, or a name that `StackingRule` knows (nnls, convex, mlr and others). "
        "None is logistic regression for classes and ridge regression for numbers. Another stacking "
        "committee is a second layer, whose members see the votes of the first.",
    )
    stack: str = parameter_of(StackingRule, "votes")
    passthrough: bool = parameter(
        False, boolean, "Whether the meta-learner also sees the table, as a matrix from `TableEncoder`."
    )
    drop_redundant: bool = parameter_of(StackingRule, "drop_redundant")

    def _new_rule(self) -> Rule:
        return StackingRule(
            final_estimator=self.final_estimator,
            votes=self.stack,
            passthrough=self.passthrough,
            drop_redundant=self.drop_redundant,
        )


@declared
class StackingClassifier(Classifies, Stacking):
    """Fit a meta-learner on the honest votes of classifiers (Wolpert 1992).

    By default the votes for the first class are dropped, because they are redundant. scikit-learn drops them
    for two classes only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from committee import DecisionTreeClassifier, StackingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> members = [("bayes", GaussianNB()), ("tree", DecisionTreeClassifier(max_depth=3))]
    >>> StackingClassifier(members).fit(X, y).predict(X[:2])
    array([0, 0])

    Two layers, whose second combines its members with weights that sum to one:

    >>> second = StackingClassifier(members, final_estimator="convex")
    >>> StackingClassifier(members, final_estimator=second).fit(X, y).predict(X[:2])
    array([0, 0])
    """


@declared
class StackingRegressor(Regresses, Stacking):
    """Fit a meta-learner on the honest predictions of regressors (Wolpert 1992, Breiman 1996).

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
