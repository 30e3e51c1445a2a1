"""A member is fitted: with weights and groups if it takes them, with numbers for labels that it refuses.

Where rows are of one class, which many refuse, a constant is fitted instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier

from committee.combining.passing import arguments, request
from committee.learners.voting import Tabular
from committee.members.numbered import NumberedLabels


def fit_member(
    estimator: Any,
    X: Any,
    answers: np.ndarray,
    weights: np.ndarray | None,
    groups: np.ndarray | None = None,
    *,
    are_classes: bool,
) -> Any:
    """A clone of an estimator, fitted. If it refuses labels, it gets their numbers.

    On rows of one class it is a constant, unless the estimator is of our own: some refuse one class alone,
    and others, as naive Bayes, cannot vote after it.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> fit_member(LogisticRegression(), [[1], [2]], np.array(["a", "a"]), None, are_classes=True)
    DummyClassifier()
    """
    if are_classes and not isinstance(estimator, Tabular) and (answers == answers[0]).all():
        return DummyClassifier().fit(X, answers)
    try:
        return fit_clone(estimator, X, answers, weights, groups)
    except (ValueError, TypeError) as refusal:
        if not are_classes or are_numbered(answers):
            raise
        made: Any = NumberedLabels
        try:
            return fit_clone(made(estimator), X, answers, weights, groups)
        except (ValueError, TypeError):
            # It was not for the labels.
            raise refusal from None


def importances_of(model: Any, n_columns: int) -> np.ndarray:
    """What a fitted member says of the importances of its columns.

    To one that stands for rows of one class, no column is important.

    Examples
    --------
    >>> importances_of(DummyClassifier().fit([[1], [2]], ["a", "a"]), 1)
    array([0.])
    """
    if isinstance(model, DummyClassifier):
        return np.zeros(n_columns)
    own = model.estimator_ if isinstance(model, NumberedLabels) else model
    return np.asarray(own.feature_importances_)


def fit_clone(
    estimator: Any, X: Any, answers: np.ndarray, weights: np.ndarray | None, groups: np.ndarray | None
) -> Any:
    """Fit a clone of an estimator, with weights and groups if it takes some."""
    model = clone(estimator)
    request(model, "sample_weight", "groups")
    return model.fit(
        X, answers, **arguments(model, "sample_weight", weights), **arguments(model, "groups", groups)
    )


def are_numbered(labels: np.ndarray) -> bool:
    """Whether classes are the numbers 0, 1, 2 and so on, without a gap.

    Examples
    --------
    >>> are_numbered(np.array([1, 0, 1])), are_numbered(np.array([0, 2])), are_numbered(np.array(["a"]))
    (True, False, False)
    """
    found = np.unique(labels)
    return found.dtype.kind in "iu" and np.array_equal(found, np.arange(len(found)))
