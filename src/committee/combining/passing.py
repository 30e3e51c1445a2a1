"""What is known of each row, as its weight or its group, on its way to an estimator or to those inside it.

In: an estimator, a word such as "sample_weight", and a value for each row. Out: the arguments of its `fit`. A
pipeline passes them on to its steps, a search to what it looks for parameters of, and an ensemble of
scikit-learn's to its members. Where scikit-learn routes metadata, all of them are asked what they request.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import get_config, model_selection
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object
from sklearn.utils.validation import has_fit_parameter

# What they are told at a fit goes to the estimator that they look for parameters of. Those by halving are
# there if somebody has asked scikit-learn for its experiments.
SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
# They tell all their members the weights, and nothing else.
ENSEMBLES = ("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor")


def arguments(estimator: Any, what: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """How it goes to an estimator, or to those inside it; empty if nobody takes it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> arguments(Pipeline([("model", GaussianNB())]), "sample_weight", np.ones(1))
    {'model__sample_weight': array([1.])}
    """
    if get_config()["enable_metadata_routing"]:
        return {what: values} if consumes(estimator, what) else {}
    if is_search(estimator) and what == "groups":
        # They go to its folds, and from there no further.
        return {what: values} if hasattr(estimator.cv, "set_split_request") else {}
    if isinstance(estimator, Pipeline):
        return {
            f"{name}__{argument}": value
            for name, step in estimator.steps
            if step not in (None, "passthrough")
            for argument, value in arguments(step, what, values).items()
        }
    others = inside(estimator)
    if is_ensemble(estimator):
        all_take_it = all(arguments(each, what, values).keys() == {what} for each in others)
        return {what: values} if what == "sample_weight" and all_take_it else {}
    if others:
        return arguments(others[0], what, values)
    return {what: values} if has_fit_parameter(estimator, what) else {}


def consumes(estimator: Any, what: str) -> bool:
    """Whether an estimator requests it at a fit, for itself or for those inside it."""
    if own_requests(estimator) is None and has_fit_parameter(estimator, what):
        return True  # those inside it, if there are any, have their say when it is told
    if is_ensemble(estimator) and hasattr(estimator, "final_estimator"):
        # The last one is told whatever the ensemble is told, and not asked.
        return all(consumes(each, what) for each in inside(estimator))
    return what in get_routing_for_object(estimator).consumes("fit", [what])


def reaches(estimator: Any, what: str) -> bool:
    """Whether it reaches all who answer: the last step of a pipeline, the estimator of a search, all members.

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


def request(estimator: Any, what: str) -> None:
    """Let an estimator and all inside it request it, if they take it and have not said otherwise.

    Only where scikit-learn routes metadata: else the steps are told by name.
    """
    if not get_config()["enable_metadata_routing"]:
        return
    for part in (estimator, *estimator.get_params(deep=True).values()):
        requests = own_requests(part)
        if requests is None or what not in requests.fit.requests:
            continue
        if requests.fit.requests[what] is None:
            part.set_fit_request(**{what: True})
        # A search passes what it is told at a fit to its scores too.
        is_scored_by = what in requests.score.requests
        if is_scored_by and requests.score.requests[what] is None:
            part.set_score_request(**{what: True})


def own_requests(part: Any) -> MetadataRequest | None:
    """What an estimator requests for itself; None if it is none, or requests for others alone."""
    if not hasattr(part, "get_metadata_routing") or isinstance(part, type):
        return None
    try:
        routing = get_routing_for_object(part)
    except NotImplementedError:  # scikit-learn does not route through it yet
        return None
    if isinstance(routing, MetadataRequest):
        return routing
    own = dict(routing).get("$self_request")
    return None if own is None else own.router


def inside(estimator: Any) -> list[Any]:
    """The estimators that a pipeline, a search or an ensemble passes it on to; none for another estimator."""
    from sklearn.compose import TransformedTargetRegressor

    if is_search(estimator):
        return [estimator.estimator]
    if isinstance(estimator, Pipeline):
        return [step for _, step in estimator.steps]
    if isinstance(estimator, TransformedTargetRegressor):
        return [default_regressor() if estimator.regressor is None else estimator.regressor]
    if not is_ensemble(estimator):
        return []
    is_fitted = getattr(estimator, "cv", None) == "prefit"
    members = [] if is_fitted else [each for _, each in estimator.estimators if not isinstance(each, str)]
    last = getattr(estimator, "final_estimator", None)
    return members if last is None else [*members, last]


def default_regressor() -> Any:
    """What scikit-learn fits to a transformed target if it is told of nothing else."""
    from sklearn.linear_model import LinearRegression

    regressor = LinearRegression()
    request(regressor, "sample_weight")
    return regressor


def is_search(estimator: Any) -> bool:
    """Whether an estimator looks for the parameters of another."""
    there = vars(model_selection)
    return isinstance(estimator, tuple(there[name] for name in SEARCHES if name in there))


def is_ensemble(estimator: Any) -> bool:
    """Whether an estimator is one of scikit-learn's ensembles of members of any kind."""
    from sklearn import ensemble

    return isinstance(estimator, tuple(vars(ensemble)[name] for name in ENSEMBLES))
