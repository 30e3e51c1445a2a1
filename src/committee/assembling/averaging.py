"""Averaging: members weighted by their posterior or by a power of their accuracy, on honest votes."""

from __future__ import annotations

from committee.assembling.committee import Committee
from committee.combining.rule import Rule
from committee.learners.voting import Classifies, Regresses
from committee.parameters import anything, declared, number, one_of, parameter
from committee.saving import saved
from committee.table.typing import ArrayLike


@declared
class BayesianAveraging(Committee):
    """A committee weighted by the posterior of its members, or of mixtures of them."""

    over: str = parameter(
        "members",
        '"members" or "mixtures"',
        one_of("members", "mixtures"),
        "What the posterior is over. With more and more rows, all weight goes to the one best member, but "
        "need not go to a mixture of one: Bayesian model averaging, and Bayesian model combination.",
    )
    prior: ArrayLike | None = parameter(
        None,
        "an array-like of shape (n_members,) or None",
        anything,
        "How likely each member is before any row is seen, in any unit. None: all the same. It is for "
        'over="members".',
    )

    def _new_rule(self) -> Rule:
        if self.over == "members":
            return self._rule_with("bayesian_averaging", "prior")
        if self.prior is not None:
            raise ValueError('prior is of members. Set over="members", or prior=None.')
        return self._rule_with("bayesian_combination")


@saved
@declared
class BayesianAveragingClassifier(Classifies, BayesianAveraging):
    """Weigh members by their posterior probability, given the classes of rows that they have not seen.

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

    alpha: float = parameter(
        4,
        "a number >= 0",
        number(0),
        "The exponent. 0 is the mean of the members, 1 weighs by accuracy, large ones leave only the best.",
    )

    def _new_rule(self) -> Rule:
        return self._rule_with("cawpe", "alpha")
