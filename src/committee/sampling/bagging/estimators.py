"""Bagging (Breiman 1996), pasting (Breiman 1999), random subspaces (Ho 1998) and random patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.learners import DecisionTreeClassifier, DecisionTreeRegressor
from committee.learners.tree_parameters import CLASS_WEIGHT
from committee.learners.voter import Classifies, Regresses
from committee.parameters import declared, one_of, parameter
from committee.sampling.bagging.bagging import Bagging
from committee.saving import saved


class ClassMembers(Classifies, Bagging):
    """What the committees of classifiers share.

    Attributes
    ----------
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        With `oob_score`. NaN for a row that all members saw.
    """

    _default_member = DecisionTreeClassifier

    @property
    def oob_decision_function_(self) -> np.ndarray:
        """The out-of-bag probabilities, of shape (n_rows, n_classes); NaN for a row that all members saw."""
        return self._oob_decision()


class NumberMembers(Regresses, Bagging):
    """What the committees of regressors share.

    Attributes
    ----------
    oob_prediction_ : ndarray of shape (n_rows,)
        With `oob_score`. NaN for a row that all members saw.
    """

    _default_member = DecisionTreeRegressor

    @property
    def oob_prediction_(self) -> np.ndarray:
        """The out-of-bag prediction for each row; NaN for a row that all members saw."""
        return self._oob_decision()[:, 0]


@saved
@declared
class BaggingClassifier(ClassMembers):
    """A committee of classifiers of one kind, each fitted on rows of its own.

    Every member sees rows drawn with replacement; `bootstrap=False` draws them without (pasting),
    `max_features` draws columns as well (random patches). A member without `predict_proba` votes for one
    class. Trees that the engine grows on rows drawn with replacement sort large nodes into at most 256 bins,
    as those of `RandomForestClassifier` do.

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
        '"stratified" draws from each class by itself, so that every bag has the classes in the proportions '
        'of the table. "balanced" draws from each class as many rows as the rarest has: every bag has as '
        "many of each. Groups are then drawn by class, and each must have one class only.",
    )
    class_weight: Any = parameter(
        None,
        CLASS_WEIGHT[0],
        "Weights of the classes, multiplied with those of the rows: with `bootstrap`, rows are drawn in "
        'proportion to both, as many as without, and `sampling` must be "plain". "balanced" makes them '
        "inverse to the number of rows of each class, whatever `sample_weight` is (rows of weight 0 count "
        "too). A class that the dict leaves out weighs 1. A `class_weight` of the member itself is for the "
        "rows that it has drawn.",
    )


@saved
@declared
class BaggingRegressor(NumberMembers):
    """A committee of regressors of one kind, each fitted on rows of its own.

    Every member sees rows drawn with replacement; `bootstrap=False` draws them without (pasting),
    `max_features` draws columns as well (random patches).

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


@saved
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


@saved
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
