"""Linear and constant models of scikit-learn, as numbers: what a meta-learner of stacking needs to decide.

In: the description of a fitted model of scikit-learn. Out: one with its `predict`, or `predict_proba` and
`classes_`, that needs numpy alone and gives the same bits.
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
# What is read of each: the attributes of scikit-learn.
NUMBERS: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "coef_": floats("features"),
    "intercept_": number(),
}
CLASSES: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "classes_": labels(),
    "coef_": floats("decisions", "features"),
    "intercept_": floats("decisions"),
}
ALWAYS_A_NUMBER: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "constant_": either(floats(1, 1), integers(1, 1, low=-(2**53))),
}
ALWAYS_A_CLASS: Mapping[str, Kind] = {"n_features_in_": count("features"), "classes_": labels(1)}


@dataclass(frozen=True, eq=False)
class LinearRegression:
    """A number: a weighted sum of the columns."""

    n_features_in_: int
    coef_: np.ndarray
    intercept_: float

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The number for each row."""
        numbers: np.ndarray = X @ self.coef_ + self.intercept_
        return numbers


@dataclass(frozen=True, eq=False)
class LogisticRegression:
    """Probabilities of classes: the logistic function of a weighted sum, or the softmax of several."""

    n_features_in_: int
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class for each row."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The probabilities of the classes for each row."""
        sums = X @ self.coef_.T + self.intercept_
        if len(self.coef_) > 1:
            return softmax(sums)
        # Exponentials of the C library, as scipy takes them: those of numpy differ in the last bit.
        second = np.array([logistic(each) for each in sums[:, 0].tolist()])
        return np.stack([1 - second, second], axis=1)


@dataclass(frozen=True, eq=False)
class Constant:
    """The same number for every row."""

    n_features_in_: int
    constant_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The number for each row."""
        return np.full(len(X), self.constant_[0, 0])


@dataclass(frozen=True, eq=False)
class OneClass:
    """The same class for every row."""

    n_features_in_: int
    classes_: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class for each row."""
        return np.repeat(self.classes_, len(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """All is for the one class."""
        return np.ones((len(X), 1))


SUMS: Mapping[str, tuple[Any, Mapping[str, Kind]]] = {
    **{LINEAR + name: (LinearRegression, NUMBERS) for name in REGRESSORS},
    LINEAR + "LogisticRegression": (LogisticRegression, CLASSES),
    LINEAR + "LogisticRegressionCV": (LogisticRegression, CLASSES),
}
KNOWN = {
    **SUMS,
    "sklearn.dummy.DummyRegressor": (Constant, ALWAYS_A_NUMBER),
    "sklearn.dummy.DummyClassifier": (OneClass, ALWAYS_A_CLASS),
}
# Models that answer as these do, besides them.
QUICK = {**SUMS, "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": (LogisticRegression, CLASSES)}


def linear_model(described: Described) -> object | None:
    """Return the model of a description; None if it is of another kind."""
    made, kinds = KNOWN.get(described.name, (None, {}))
    if made is None or described.fitted is None:
        return None
    try:
        check_all(kinds, described.fitted, {})
    except Wrong as fault:
        raise DamagedFile(f"{described.name}: {fault}.") from fault
    model = made(**{name: described.fitted[name] for name in kinds})
    return None if is_one_by_one(described.parameters.get("solver"), model) else model


def as_plain_model(model: Any) -> Any:
    """A fitted linear model of scikit-learn as one of these, which answers a row many times faster.

    Any other model stays as it is.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = as_plain_model(LinearRegression().fit([[1.0], [2.0]], [2.0, 4.0]))
    >>> type(model).__module__, model.predict(np.array([[3.0]])).round(6)
    ('committee.saving.predictors.linear_models', array([6.]))
    """
    package = ".".join(type(model).__module__.split(".")[:2])
    made, kinds = QUICK.get(f"{package}.{type(model).__name__}", (None, {}))
    if made is None:
        return model
    found = made(**{name: getattr(model, name) for name in kinds})
    return model if is_one_by_one(getattr(model, "solver", None), found) else found


def is_one_by_one(solver: object, model: object) -> bool:
    """Whether a classifier has a logistic function of its own for each of more than two classes."""
    return bool(solver == "liblinear") and len(getattr(model, "classes_", ())) > 2


def logistic(x: float) -> float:
    """One divided by one and the exponential of -x.

    Examples
    --------
    >>> logistic(0.0), logistic(-1000.0)
    (0.5, 0.0)
    """
    try:
        return 1 / (1 + math.exp(-x))
    except OverflowError:
        return 0.0
