"""Bagging (Breiman 1996), pasting (Breiman 1999), random subspaces (Ho 1998) and random patches."""

from __future__ import annotations

from typing import Any

from committee.learners import DecisionTreeClassifier, DecisionTreeRegressor
from committee.learners.tree_parameters import CLASS_WEIGHT
from committee.learners.voter import Classifies, Regresses
from committee.parameters import declared, one_of, parameter
from committee.sampling.bagging.bagging import Bagging
from committee.sampling.ensemble import oob_decision_function, oob_prediction


class ClassMembers(Classifies, Bagging):
    """The base of bagging of classifiers.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        With `oob_score`. NaN for a row in the bags of all members.
    """

    _default_member = DecisionTreeClassifier

    oob_decision_function_ = property(oob_decision_function)


class NumberMembers(Regresses, Bagging):
    """The base of bagging of regressors.

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_rows,)
        With `oob_score`. NaN for a row in the bags of all members.
    """

    _default_member = DecisionTreeRegressor

    oob_prediction_ = property(oob_prediction)


@declared
class BaggingClassifier(ClassMembers):
    """A committee of classifiers of one kind, each fitted on other rows.

    Each member is fitted on rows drawn with replacement. `bootstrap=False` draws them without replacement
    (pasting), `max_features` also draws columns (random patches). A member without `predict_proba` votes for
    one class. Trees that the engine grows on rows drawn with replacement sort large nodes into at most 256
    bins, as those of `RandomForestClassifier` do.

    References
    ----------
    L. Breiman, "Bagging predictors". Machine Learning 24, 1996.
    L. Breiman, "Pasting small votes for classification in large databases and on-line". Machine Learning 36,
    1999.
    G. Louppe, P. Geurts, "Ensembles on random patches". ECML PKDD, 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> bagging = BaggingClassifier(GaussianNB(), 20, oob_score=True, random_state=0).fit(X, y)
    >>> bagging.oob_score_ > 0.9, bagging.predict(X[:2])
    (True, array([0, 0]))
    """

    sampling: str = parameter(
        "plain",
        one_of("plain", "stratified", "balanced"),
        '"stratified" draws from each class separately, so that every bag contains the classes in the '
        'proportions of the table. "balanced" draws from each class as many rows as the rarest class has. '
        "Groups are drawn by class too, and each must contain only one class.",
    )
    class_weight: Any = parameter(
        None,
        CLASS_WEIGHT[0],
        "Weights of the classes, multiplied by those of the rows. With `bootstrap`, rows are drawn in "
        "proportion to both, their number does not depend on them, and `sampling` must be "
        '"plain". "balanced" makes them inversely proportional to the number of rows of each class, '
        "including rows of weight 0, whatever `sample_weight` is. A class that is not in the dict has the "
        "weight 1. A `class_weight` of the member itself applies to the rows in its bag.",
    )


@declared
class BaggingRegressor(NumberMembers):
    """A committee of regressors of one kind, each fitted on other rows.

    Each member is fitted on rows drawn with replacement. `bootstrap=False` draws them without replacement
    (pasting), `max_features` also draws columns (random patches).

    References
    ----------
    L. Breiman, "Bagging predictors". Machine Learning 24, 1996.

    Examples
    --------
    >>> X, y = [[1], [2], [8], [9]] * 5, [1.0, 1.0, 5.0, 6.0] * 5
    >>> bagging = BaggingRegressor(n_estimators=20, rule="median", random_state=0).fit(X, y)
    >>> bagging.predict([[0], [10]])
    array([1., 6.])
    """


@declared
class RandomSubspaceClassifier(ClassMembers):
    """A committee of classifiers of one kind, each fitted on all rows and half of the columns.

    References
    ----------
    T. K. Ho, "The random subspace method for constructing decision forests". IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20, 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> subspaces = RandomSubspaceClassifier(random_state=0).fit(X, y)
    >>> subspaces.estimators_features_[0], subspaces.predict(X[:2])
    (array([2, 3]), array([0, 0]))
    """

    max_features: int | float = 0.5
    bootstrap: bool = False


@declared
class RandomSubspaceRegressor(NumberMembers):
    """A committee of regressors of one kind, each fitted on all rows and half of the columns.

    References
    ----------
    T. K. Ho, "The random subspace method for constructing decision forests". IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20, 1998.

    Examples
    --------
    >>> X, y = [[1, 3], [2, 5], [8, 6], [9, 9]] * 5, [1.0, 1.0, 5.0, 6.0] * 5
    >>> RandomSubspaceRegressor(random_state=0).fit(X, y).predict([[1, 3], [9, 9]])
    array([1., 6.])
    """

    max_features: int | float = 0.5
    bootstrap: bool = False
