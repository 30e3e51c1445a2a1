"""What is known of each row, as its weight or its group, on its way to an estimator or to those inside it.

In: an estimator, a word such as "sample_weight", and a value for each row. Out: the arguments of its `fit`. A
pipeline passes them on to its steps, and a search to what it looks for parameters of.
"""

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


def arguments(estimator: Any, what: str, values: np.ndarray) -> dict[str, np.ndarray]:
    """How it goes to an estimator, or to those inside it; empty if nobody takes it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> arguments(Pipeline([("model", GaussianNB())]), "sample_weight", np.ones(1))
    {'model__sample_weight': array([1.])}
    """
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


def reaches(estimator: Any, what: str) -> bool:
    """Whether it reaches the one that answers: the last step of a pipeline, the estimator of a search.

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
    return reaches(others[-1], what) if others else True


def request(estimator: Any, what: str) -> None:
    """Let those inside a pipeline or a search request it, if they take it and have not said otherwise.

    Only where scikit-learn routes metadata: else the steps are told by name.
    """
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


def inside(estimator: Any) -> list[Any]:
    """The estimators that a pipeline or a search passes it on to; none for another estimator."""
    if is_search(estimator):
        return [estimator.estimator]
    return [step for _, step in estimator.steps] if isinstance(estimator, Pipeline) else []


def is_search(estimator: Any) -> bool:
    """Whether an estimator looks for the parameters of another."""
    there = vars(model_selection)
    return isinstance(estimator, tuple(there[name] for name in SEARCHES if name in there))
