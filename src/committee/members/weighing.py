"""How weights of rows reach a member, or those inside it."""

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
    if not get_config()["enable_metadata_routing"]:
        return
    for step in inside(estimator):
        request_weights(step)
        if step in (None, "passthrough") or not has_fit_parameter(step, "sample_weight"):
            continue
        requests = step.get_metadata_routing()
        if requests.fit.requests.get("sample_weight") is None:
            step.set_fit_request(sample_weight=True)
        # A search passes what it is told at a fit to its scores too.
        if hasattr(step, "set_score_request") and requests.score.requests.get("sample_weight") is None:
            step.set_score_request(sample_weight=True)


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
    if weights is None:
        return {}
    if inside(estimator) and get_config()["enable_metadata_routing"]:
        is_asked = "sample_weight" in get_routing_for_object(estimator).consumes("fit", ["sample_weight"])
        return {"sample_weight": weights} if is_asked else {}
    if is_search(estimator):
        return weight_arguments(estimator.estimator, weights)
    if isinstance(estimator, Pipeline):
        return {
            f"{name}__{argument}": value
            for name, step in estimator.steps
            if step not in (None, "passthrough")
            for argument, value in weight_arguments(step, weights).items()
        }
    from sklearn.compose import TransformedTargetRegressor

    if isinstance(estimator, TransformedTargetRegressor):
        return weight_arguments(estimator.regressor, weights)
    return {"sample_weight": weights} if has_fit_parameter(estimator, "sample_weight") else {}
