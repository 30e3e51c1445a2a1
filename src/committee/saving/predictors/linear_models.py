"""Predict with the linear and constant models of scikit-learn that stacking uses, without scikit-learn.

In: the description of a fitted model of scikit-learn. Out: a model with `predict`, or `predict_proba` and
`classes_`, that needs only numpy and returns the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    Wrong,
    check_all,
    count,
    either,
    floats,
    integers,
    labels,
    number,
)
from committee.saving.format.file_errors import DamagedFile
from committee.saving.predictors.deciders import softmax
from committee.saving.saved_estimators import Described

LINEAR = "sklearn.linear_model."
REGRESSORS = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV")
# The attributes of scikit-learn's models that are read.
N_FEATURES: Mapping[str, Kind] = {"n_features_in_": count("features")}
NUMBERS: Mapping[str, Kind] = {**N_FEATURES, "coef_": floats("features"), "intercept_": number()}
CLASSES: Mapping[str, Kind] = {
    **N_FEATURES,
    "classes_": labels(),
    "coef_": floats("decisions", "features"),
    "intercept_": floats("decisions"),
}
CONSTANT: Mapping[str, Kind] = {**N_FEATURES, "constant_": either(floats(1, 1), integers(1, 1, low=-(2**53)))}
ONE_CLASS: Mapping[str, Kind] = {**N_FEATURES, "classes_": labels(1)}


@dataclass(frozen=True, eq=False)
class LinearRegression:
    """A regressor that returns a weighted sum of the columns."""

    n_features_in_: int
    coef_: np.ndarray
    intercept_: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        numbers: np.ndarray = X @ self.coef_ + self.intercept_
        return numbers


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """A classifier with the logistic function of a weighted sum, or the softmax of several sums."""

    n_features_in_: int
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        sums = X @ self.coef_.T + self.intercept_
        if len(self.coef_) > 1:
            return softmax(sums)
        # scipy uses the exponentials of the C library. Those of numpy differ in the last bit.
        second = np.array([logistic(each) for each in sums[:, 0].tolist()])
        return np.stack([1 - second, second], axis=1)


@dataclass(frozen=True, eq=False)
class Constant:
    """A regressor that returns the same number for every row."""

    n_features_in_: int
    constant_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        return np.full(len(X), self.constant_[0, 0])


@dataclass(frozen=True, eq=False)
class OneClass:
    """A classifier with a single class."""

    n_features_in_: int
    classes_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return np.repeat(self.classes_, len(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return probabilities of 1."""
        return np.ones((len(X), 1))


SUMS: Mapping[str, tuple[Any, Mapping[str, Kind]]] = {
    **{LINEAR + name: (LinearRegression, NUMBERS) for name in REGRESSORS},
    LINEAR + "LogisticRegression": (LogisticRegression, CLASSES),
    LINEAR + "LogisticRegressionCV": (LogisticRegression, CLASSES),
}
KNOWN = {
    **SUMS,
    "sklearn.dummy.DummyRegressor": (Constant, CONSTANT),
    "sklearn.dummy.DummyClassifier": (OneClass, ONE_CLASS),
}
# Fitted models that `as_plain_model` can replace.
REPLACEABLE = {
    **SUMS,
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": (LogisticRegression, CLASSES),
}


def linear_model(described: Described) -> object | None:
    """Return the model of a description, None for other kinds of models."""
    made, kinds = KNOWN.get(described.name, (None, {}))
    if made is None or described.fitted is None:
        return None
    try:
        check_all(kinds, described.fitted, {})
    except Wrong as error:
        raise DamagedFile(f"{described.name}: {error}.") from error
    model = made(**{name: described.fitted[name] for name in kinds})
    return None if is_one_by_one(described.parameters.get("solver"), model) else model


def as_plain_model(model: Any) -> Any:
    """Return a much faster copy of a fitted linear model of scikit-learn.

    Return any other model unchanged.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = as_plain_model(LinearRegression().fit([[1.0], [2.0]], [2.0, 4.0]))
    >>> type(model).__module__, model.predict(np.array([[3.0]])).round(6)
    ('committee.saving.predictors.linear_models', array([6.]))
    """
    package = ".".join(type(model).__module__.split(".")[:2])
    made, kinds = REPLACEABLE.get(f"{package}.{type(model).__name__}", (None, {}))
    if made is None:
        return model
    found = made(**{name: getattr(model, name) for name in kinds})
    return model if is_one_by_one(getattr(model, "solver", None), found) else found


def is_one_by_one(solver: object, model: object) -> bool:
    """Return whether a classifier has a separate logistic function for each of more than two classes."""
    return bool(solver == "liblinear") and len(getattr(model, "classes_", ())) > 2


def logistic(x: float) -> float:
    """Return 1 / (1 + exp(-x)).

    Examples
    --------
    >>> logistic(0.0), logistic(-1000.0)
    (0.5, 0.0)
    """
    try:
        return 1 / (1 + math.exp(-x))
    except OverflowError:
        return 0.0
