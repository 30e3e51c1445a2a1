"""Pass weights and groups of rows to an estimator, or to the estimators inside it.

In: an estimator, a name such as "sample_weight", and a value for each row. Out: the arguments of its `fit`.
Pipelines pass them to their steps, searches to the estimator that they tune, and ensembles of scikit-learn to
their members. If metadata routing is enabled, the requests of these estimators decide.

All estimators import this module, so it recognises classes of scikit-learn by name and does not import them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

# These classes pass the arguments of `fit` to the estimator that they tune.
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
# These classes pass weights, and nothing else, to all their members.
ENSEMBLES = ("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor")


def arguments(estimator: Any, what: str, values: np.ndarray | None) -> dict[str, np.ndarray]:
    """Return the arguments of `fit` with the values, or an empty dict if no estimator accepts them.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV, GroupKFold
    >>> from sklearn.naive_bayes import GaussianNB
    >>> arguments(Pipeline([("model", GaussianNB())]), "sample_weight", np.ones(1))
    {'model__sample_weight': array([1.])}
    >>> arguments(GridSearchCV(GaussianNB(), {}, cv=GroupKFold()), "groups", np.zeros(1))
    {'groups': array([0.])}
    """
    if values is None:
        return {}
    if get_config()["enable_metadata_routing"]:
        return {what: values} if consumes(estimator, what) else {}
    if is_of(estimator, SEARCHES) and what == "groups":
        # A search uses groups only for its folds.
        return {what: values} if hasattr(estimator.cv, "set_split_request") else {}
    if isinstance(estimator, Pipeline):
        return {
            f"{name}__{argument}": value
            for name, step in estimator.steps
            if step not in (None, "passthrough")
            for argument, value in arguments(step, what, values).items()
        }
    others = inside(estimator)
    if is_of(estimator, ENSEMBLES):
        all_take_it = all(arguments(each, what, values).keys() == {what} for each in others)
        return {what: values} if what == "sample_weight" and all_take_it else {}
    if others:
        return arguments(others[0], what, values)
    return {what: values} if has_fit_parameter(estimator, what) else {}


def consumes(estimator: Any, what: str) -> bool:
    """Return whether an estimator requests values in `fit`, for itself or for estimators inside it."""
    if own_requests(estimator) is None and has_fit_parameter(estimator, what):
        return True  # The estimator checks the requests of inner estimators itself.
    if is_of(estimator, ENSEMBLES) and hasattr(estimator, "final_estimator"):
        # The final estimator gets all arguments of the ensemble, whether it requests them or not.
        return all(consumes(each, what) for each in inside(estimator))
    return what in get_routing_for_object(estimator).consumes("fit", [what])


def reaches(estimator: Any, what: str) -> bool:
    """Return whether values reach all predictors: the last step, the estimator of a search, all members.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> pipelines = (Pipeline([("model", model)]) for model in (GaussianNB(), KNeighborsClassifier()))
    >>> [reaches(pipeline, "sample_weight") for pipeline in pipelines]
    [True, False]
    """
    if not arguments(estimator, what, np.ones(1)):
        return False
    others = inside(estimator)
    return all(reaches(each, what) for each in (others[-1:] if isinstance(estimator, Pipeline) else others))


def accepts_weights(estimator: Any) -> bool:
    """Return whether weights of rows reach every part of an estimator once they are requested."""
    requesting = clone(estimator)
    request(requesting, "sample_weight")
    return reaches(requesting, "sample_weight")


def all_take_weights(member: Any) -> bool:
    """Return whether an estimator and all estimators inside it accept weights; False if unknown.

    Examples
    --------
    >>> from sklearn.calibration import CalibratedClassifierCV
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> models = GaussianNB(), KNeighborsClassifier()
    >>> [all_take_weights(CalibratedClassifierCV(model)) for model in models]
    [True, False]
    """
    parameters = member.get_params(deep=True)
    parts = [part for part in parameters.values() if callable(getattr(part, "fit", None))]
    if "estimators" in parameters:
        estimators = parameters["estimators"]
        if not isinstance(estimators, list | tuple):
            return False
        parts += [each[1] if isinstance(each, tuple) else each for each in estimators]
    return all(has_fit_parameter(each, "sample_weight") for each in [member, *parts])


def request(estimator: Any, *whats: str) -> None:
    """Set requests of values in an estimator and in all estimators inside it that accept them.

    Requests that the user has set are kept. This has an effect only if metadata routing is enabled.
    """
    if not get_config()["enable_metadata_routing"]:
        return
    for part in (estimator, *estimator.get_params(deep=True).values()):
        requests = own_requests(part)
        if requests is None:
            continue
        for what in set(whats) & requests.fit.requests.keys():
            if requests.fit.requests[what] is None:
                part.set_fit_request(**{what: True})
            # A search also passes the arguments of `fit` to `score`.
            if requests.score.requests.get(what, False) is None:
                part.set_score_request(**{what: True})


def own_requests(part: Any) -> MetadataRequest | None:
    """Return the requests of an estimator for itself; None if it is not an estimator or only routes."""
    if not hasattr(part, "get_metadata_routing") or isinstance(part, type):
        return None
    try:
        routing = get_routing_for_object(part)
    except NotImplementedError:  # scikit-learn does not support routing for this class.
        return None
    if isinstance(routing, MetadataRequest):
        return routing
    own = dict(routing).get("$self_request")
    return None if own is None else own.router


def inside(estimator: Any) -> list[Any]:
    """Return the estimators to which a pipeline, a search or an ensemble passes values."""
    if is_of(estimator, SEARCHES):
        return [estimator.estimator]
    if isinstance(estimator, Pipeline):
        return [step for _, step in estimator.steps]
    if is_of(estimator, ("TransformedTargetRegressor",)):
        if estimator.regressor is not None:
            return [estimator.regressor]
        default = LinearRegression()
        request(default, "sample_weight")
        return [default]
    if not is_of(estimator, ENSEMBLES):
        return []
    is_fitted = getattr(estimator, "cv", None) == "prefit"
    members = [] if is_fitted else [each for _, each in estimator.estimators if not isinstance(each, str)]
    last = getattr(estimator, "final_estimator", None)
    return members if last is None else [*members, last]


def is_of(estimator: object, names: tuple[str, ...]) -> bool:
    """Return whether an estimator is an instance of one of these classes of scikit-learn or of a subclass.

    Examples
    --------
    >>> is_of(Pipeline([]), ("Pipeline",)), is_of(Pipeline([]), SEARCHES)
    (True, False)
    """
    kinds = type(estimator).__mro__
    return any(each.__name__ in names and each.__module__.startswith("sklearn.") for each in kinds)
