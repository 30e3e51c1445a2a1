"""How weights and groups of rows reach a member, or those inside it."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config, model_selection
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

# What they are told at a fit goes to the estimator that they look for parameters of. Those by halving are
# there if somebody has asked scikit-learn for its experiments.
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
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
    >>> from sklearn.preprocessing import StandardScaler
    >>> weights_reach(Pipeline([("scaler", StandardScaler()), ("model", KNeighborsClassifier())]))
    False
    """
    if not weight_arguments(estimator, np.ones(1)):
        return False
    others = inside(estimator)
    return weights_reach(others[-1]) if others else True


def inside(estimator: Any) -> list[Any]:
    """The estimators that a pipeline or a search passes weights on to; none for another estimator."""
    if is_search(estimator):
        return [estimator.estimator]
    return [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else []


def is_search(estimator: Any) -> bool:
    """Whether an estimator looks for the parameters of another."""
    there = vars(model_selection)
    return isinstance(estimator, tuple(there[name] for name in SEARCHES if name in there))


def request_weights(estimator: Any) -> None:
    """Let those inside a pipeline or a search request weights, if they take any and have not said otherwise.

    Only where scikit-learn routes metadata: else the steps are told by name.
    """
    request(estimator, "sample_weight")


def request_groups(estimator: Any) -> None:
    """The same for groups."""
    request(estimator, "groups")


def request(estimator: Any, what: str) -> None:
    """Let those inside a pipeline or a search request something that is known of each row."""
    if not get_config()["enable_metadata_routing"]:
        return
    for step in inside(estimator):
        request(step, what)
        if step in (None, "passthrough") or not has_fit_parameter(step, what):
            continue
        requests = step.get_metadata_routing()
        if requests.fit.requests.get(what) is None:
            step.set_fit_request(**{what: True})
        # A search passes what it is told at a fit to its scores too.
        is_scored_by = what in requests.score.requests
        if is_scored_by and requests.score.requests[what] is None:
            step.set_score_request(**{what: True})


def weight_arguments(estimator: Any, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    """How weights of rows go to an estimator, or to those inside it; empty if nobody takes them.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
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


def arguments(estimator: Any, what: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """How what is known of each row goes to an estimator, or to those inside it."""
    if inside(estimator) and get_config()["enable_metadata_routing"]:
        return {what: values} if what in get_routing_for_object(estimator).consumes("fit", [what]) else {}
    if is_search(estimator):
        if what == "groups":
            # They go to its folds, and from there no further.
            return {what: values} if hasattr(estimator.cv, "set_split_request") else {}
        return arguments(estimator.estimator, what, values)
    if isinstance(estimator, Pipeline):
        return {
            f"{name}__{argument}": value
            for name, step in estimator.steps
            if step not in (None, "passthrough")
            for argument, value in arguments(step, what, values).items()
        }
    from sklearn.compose import TransformedTargetRegressor

    if isinstance(estimator, TransformedTargetRegressor):
        return arguments(estimator.regressor, what, values)
    return {what: values} if has_fit_parameter(estimator, what) else {}
