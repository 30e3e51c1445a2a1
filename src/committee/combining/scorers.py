"""Scorers of scikit-learn as losses of whole decisions. What does without them does without this module."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names

from committee.combining.losses import Loss
from committee.combining.rule import Honest
from committee.combining.votes import as_shares


def is_scorer(name: Any) -> bool:
    """Whether scikit-learn has a scorer of a name."""
    return name in get_scorer_names()


@functools.cache
def task_of_scorer(name: str) -> str:
    """What a scorer of scikit-learn is for: numbers if it takes them without complaint, and classes else.

    Examples
    --------
    >>> task_of_scorer("f1_macro"), task_of_scorer("r2")
    ('classification', 'regression')
    """
    y = np.array([0.5, 1.25, 2.0, 3.5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            decision_scorer(get_scorer(name), 1)(y, y[::-1, None], None)
        except Exception:
            return "classification"
    return "regression"


def scorer_loss(name: str, honest: Honest) -> Loss:
    """The negative of a scorer of scikit-learn, as a function of y, a decision and weights."""
    scored = decision_scorer(get_scorer(name), honest.n_outputs)
    is_weighted = bool((honest.weights != honest.weights[0]).any())

    def loss(y: np.ndarray, decision: np.ndarray, weights: np.ndarray) -> float:
        return -scored(y, decision, weights if is_weighted else None)

    return loss


def decision_scorer(scorer: Any, n_outputs: int) -> Callable[[np.ndarray, np.ndarray, Any], float]:
    """A scorer of scikit-learn as a function of y, a decision and weights, which may be None."""
    echo: Any = EchoClassifier(n_classes=n_outputs) if n_outputs > 1 else EchoRegressor()
    echo.fit()

    def scored(y: np.ndarray, decision: np.ndarray, weights: np.ndarray | None) -> float:
        given = {} if weights is None else {"sample_weight": weights}
        return float(scorer(echo, decision, y, **given))

    return scored


class EchoClassifier(ClassifierMixin, BaseEstimator):
    """An estimator whose rows are decisions already, so that a scorer can be asked about them."""

    def __init__(self, n_classes: int = 2) -> None:
        self.n_classes = n_classes

    def fit(self, X: Any = None, y: Any = None) -> EchoClassifier:
        """Name the classes by their codes."""
        self.classes_ = np.arange(self.n_classes)
        return self

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The decisions, which scikit-learn wants to sum to one very nearly."""
        return as_shares(X, 1e-9)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The classes that are decided on."""
        classes: np.ndarray = X.argmax(axis=1)
        return classes


class EchoRegressor(RegressorMixin, BaseEstimator):
    """The same for numbers."""

    def fit(self, X: Any = None, y: Any = None) -> EchoRegressor:
        """Nothing to learn."""
        self.is_fitted_ = True
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The numbers that are decided on."""
        return X[:, 0]
