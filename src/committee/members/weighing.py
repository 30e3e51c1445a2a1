"""How weights and groups of rows reach a member, or those inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from committee.combining.passing import arguments, reaches, request

# The parameters of committees that say who their members are.
COMMITTEES = ("estimators", "members")


def takes_weights(member: Any) -> bool:
    """Whether an estimator can be fitted with `sample_weight`.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> takes_weights(GaussianNB()), takes_weights(KNeighborsClassifier())
    (True, False)
    """
    return has_fit_parameter(member, "sample_weight")


def all_take_weights(member: Any) -> bool:
    """Whether an estimator and all that it is made of take weights; one that is told by name is not known.

    Examples
    --------
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> all_take_weights(CalibratedClassifierCV(GaussianNB()))
    True
    >>> all_take_weights(CalibratedClassifierCV(KNeighborsClassifier()))
    False
    """
    parameters = member.get_params(deep=True)
    parts = [part for part in parameters.values() if callable(getattr(part, "fit", None))]
    for seats in (parameters[name] for name in COMMITTEES if name in parameters):
        if not isinstance(seats, list | tuple):
            return False
        parts += [seat[1] if isinstance(seat, tuple) else seat for seat in seats]
    return all(takes_weights(each) for each in [member, *parts])


def weights_reach(estimator: Any) -> bool:
    """Whether weights reach the one that answers: the last step of a pipeline, the estimator of a search.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> weights_reach(Pipeline([("scaler", StandardScaler()), ("model", KNeighborsClassifier())]))
    False
    """
    return reaches(estimator, "sample_weight")


def request_weights(estimator: Any) -> None:
    """Let those inside a pipeline or a search request weights, if they take any and have not said otherwise.

    Only where scikit-learn routes metadata: else the steps are told by name.
    """
    request(estimator, "sample_weight")


def request_groups(estimator: Any) -> None:
    """The same for groups."""
    request(estimator, "groups")


def weight_arguments(estimator: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """How weights of rows go to an estimator, or to those inside it; empty if nobody takes them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import Pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> pipeline = Pipeline([("scaler", StandardScaler()), ("model", KNeighborsClassifier())])
    >>> weight_arguments(pipeline, np.ones(1))
    {'scaler__sample_weight': array([1.])}
    """
    return {} if weights is None else arguments(estimator, "sample_weight", weights)


def group_arguments(estimator: Any, groups: np.ndarray | None) -> dict[str, np.ndarray]:
    """How groups of rows go to an estimator that holds rows out: a committee, or a search in folds of groups.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> group_arguments(GaussianNB(), np.zeros(1))
    {}
    >>> group_arguments(GridSearchCV(GaussianNB(), {}, cv=GroupKFold()), np.zeros(1))
    {'groups': array([0.])}
    """
    return {} if groups is None else arguments(estimator, "groups", groups)
