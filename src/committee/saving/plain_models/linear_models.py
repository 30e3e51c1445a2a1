"""Predict with linear and constant models of scikit-learn by numpy.

In: the parameters and the fitted attributes of a model of scikit-learn. Out: a model with `predict` and, for
classes, `classes_` and `predict_proba` or `decision_function`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    count,
    either,
    floats,
    integer,
    integers,
    labels,
    number,
    one_of,
    shares,
)
from committee.saving.predictors.probabilities import logistic, softmax, two_shares

MODULE = "sklearn.linear_model."
REGRESSORS = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "LassoCV", "ElasticNet", "ElasticNetCV")
N_FEATURES: Mapping[str, Kind] = {"n_features_in_": count("features")}
SUMS: Mapping[str, Kind] = {
    **N_FEATURES,
    "coef_": either(floats("features"), floats(1, "features")),
    "intercept_": either(number(), floats(1)),
}
CLASSES: Mapping[str, Kind] = {
    **N_FEATURES,
    "classes_": labels(),
    "coef_": floats("decisions", "features"),
    "intercept_": either(number(), floats("decisions", low=-np.inf, high=np.inf)),
}
Named = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class LinearRegressor:
    """A regressor that returns a weighted sum of the columns."""

    n_features_in_: int
    coef_: np.ndarray
    intercept_: float

    kinds: ClassVar[Mapping[str, Kind]] = SUMS

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self:
        """Take the attributes of a model with one output."""
        intercept = np.ravel(fitted["intercept_"])[0]
        return cls(fitted["n_features_in_"], np.ravel(fitted["coef_"]), float(intercept))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        numbers: np.ndarray = X @ self.coef_ + self.intercept_
        return numbers


@dataclass(frozen=True, eq=False)
class LinearClassifier:
    """A classifier with a weighted sum of the columns for the second of two classes, or for each class."""

    n_features_in_: int
    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    kinds: ClassVar[Mapping[str, Kind]] = CLASSES

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> LinearClassifier | None:
        """Take the attributes."""
        offsets = np.broadcast_to(fitted["intercept_"], len(fitted["coef_"]))
        return cls(fitted["n_features_in_"], fitted["classes_"], fitted["coef_"], offsets)

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the sums, as a vector for two classes."""
        sums: np.ndarray = X @ self.coef_.T + self.intercept_
        return sums[:, 0] if len(self.coef_) == 1 else sums

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        sums = self.decision_function(X)
        return self.classes_[(sums > 0).astype(np.intp) if sums.ndim == 1 else sums.argmax(axis=1)]


@dataclass(frozen=True, eq=False)
class LogisticClassifier(LinearClassifier):
    """A linear classifier with the logistic function of the sum, or the softmax of several sums."""

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> LinearClassifier | None:
        """Take the attributes. The solver "liblinear" separates each class from the others."""
        if cls is LogisticClassifier and parameters.get("solver") == "liblinear":
            return OneVersusRest.of(parameters, fitted)
        return super().of(parameters, fitted)

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        sums = self.decision_function(X)
        return self._shares(sums) if sums.ndim == 2 else two_shares(logistic(sums))

    def _shares(self, sums: np.ndarray) -> np.ndarray:
        return softmax(sums)


@dataclass(frozen=True, eq=False)
class OneVersusRest(LogisticClassifier):
    """A linear classifier with a logistic function for each of several classes."""

    def _shares(self, sums: np.ndarray) -> np.ndarray:
        each = logistic(sums)
        each[~each.any(axis=1)] = 1.0
        return each / each.sum(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False)
class ConstantRegressor:
    """A regressor that returns the same number for every row."""

    n_features_in_: int
    constant: float

    kinds: ClassVar[Mapping[str, Kind]] = {
        **N_FEATURES,
        "constant_": either(floats(1, 1), integers(1, 1, low=-(2**53))),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self:
        """Take the attributes."""
        return cls(fitted["n_features_in_"], float(fitted["constant_"][0, 0]))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        return np.full(len(X), self.constant)


@dataclass(frozen=True, eq=False)
class ConstantClassifier:
    """A classifier that returns the same probabilities for every row."""

    n_features_in_: int
    classes_: np.ndarray
    probabilities: np.ndarray

    kinds: ClassVar[Mapping[str, Kind]] = {
        **N_FEATURES,
        "n_outputs_": integer(1, 1),
        "classes_": labels(),
        "class_prior_": shares("classes"),
        "_strategy": one_of("most_frequent", "prior", "stratified", "uniform", "constant"),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self | None:
        """Take the attributes. The strategies that draw at random or return a given class have no copy."""
        n_classes, found = len(fitted["classes_"]), fitted["class_prior_"]
        if fitted["_strategy"] == "most_frequent" or n_classes == 1:
            found = np.eye(n_classes)[found.argmax()]
        elif fitted["_strategy"] != "prior":
            return None
        return cls(fitted["n_features_in_"], fitted["classes_"], found)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return np.repeat(self.classes_[self.probabilities.argmax()], len(X))

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        return np.tile(self.probabilities, (len(X), 1))


LINEAR_MODELS = {
    **{MODULE + name: LinearRegressor for name in REGRESSORS},
    "sklearn.svm.LinearSVR": LinearRegressor,
    "sklearn.svm.LinearSVC": LinearClassifier,
    MODULE + "LogisticRegression": LogisticClassifier,
    MODULE + "LogisticRegressionCV": LogisticClassifier,
    "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": LogisticClassifier,
    "sklearn.dummy.DummyRegressor": ConstantRegressor,
    "sklearn.dummy.DummyClassifier": ConstantClassifier,
}
