"""Predict with support vector machines by matrix products of rows with the support vectors.

Rows are centred at the mean of the support vectors, which changes no distance and keeps the rounding errors
of squared distances small.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from committee.saving.format.attributes import Kind, count, floats, integers, labels, number

# The number of kernel values in memory at a time.
VALUES_AT_ONCE = 1 << 20
KERNELS = ("linear", "poly", "rbf", "sigmoid")
MACHINE: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "support_vectors_": floats("vectors", "features"),
    "_gamma": number(0.0, 1e15),
}
Named = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel of rows with the support vectors.

    Parameters
    ----------
    name : {"linear", "poly", "rbf", "sigmoid"}
    vectors : ndarray of shape (n_vectors, n_columns)
    gamma, coef0, degree : float
    """

    name: str
    vectors: np.ndarray
    gamma: float
    coef0: float
    degree: int

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Kernel | None:
        """Take the kernel of a machine, None if it is a function or a matrix that the caller computes."""
        name, coef0 = parameters.get("kernel", "rbf"), parameters.get("coef0", 0.0)
        if not isinstance(name, str) or name not in KERNELS:
            return None
        number()(coef0, {})
        vectors = np.asarray(fitted["support_vectors_"], dtype=np.float64)
        return cls(name, vectors, float(fitted["_gamma"]), float(coef0), int(parameters.get("degree", 3)))

    def weighed(self, X: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the sums of the kernel values of each row times the weights of the vectors.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
        weights : ndarray of shape (n_vectors, n_sums)

        Returns
        -------
        ndarray of shape (n_rows, n_sums)
        """
        sums = np.empty((len(X), weights.shape[1]))
        values_of = self._distance_function() if self.name == "rbf" else self._products
        step = max(1, VALUES_AT_ONCE // max(1, len(self.vectors)))
        for begin in range(0, len(X), step):
            rows = slice(begin, begin + step)
            sums[rows] = values_of(X[rows]) @ weights
        return sums

    def _distance_function(self) -> Callable[[np.ndarray], np.ndarray]:
        center = self.vectors.mean(axis=0) if len(self.vectors) else 0.0
        vectors = self.vectors - center
        norms = np.einsum("ij,ij->i", vectors, vectors)

        def values_of(X: np.ndarray) -> np.ndarray:
            rows = X - center
            values = rows @ vectors.T
            values *= -2
            values += np.einsum("ij,ij->i", rows, rows)[:, None]
            values += norms
            np.maximum(values, 0, out=values)
            values *= -self.gamma
            return np.exp(values, out=values)

        return values_of

    def _products(self, X: np.ndarray) -> np.ndarray:
        products: np.ndarray = X @ self.vectors.T
        if self.name == "linear":
            return products
        products *= self.gamma
        products += self.coef0
        return np.tanh(products, out=products) if self.name == "sigmoid" else products**self.degree


@dataclass(frozen=True, eq=False)
class MachineRegressor:
    """A support vector machine for numbers."""

    n_features_in_: int
    kernel: Kernel
    weights: np.ndarray
    offset: float

    kinds: ClassVar[Mapping[str, Kind]] = {
        **MACHINE,
        "dual_coef_": floats(1, "vectors"),
        "intercept_": floats(1),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> MachineRegressor | None:
        """Take the attributes. Sparse support vectors and kernels that are functions have no copy."""
        kernel = Kernel.of(parameters, fitted)
        if kernel is None:
            return None
        return cls(fitted["n_features_in_"], kernel, fitted["dual_coef_"].T, float(fitted["intercept_"][0]))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        numbers: np.ndarray = self.kernel.weighed(X, self.weights)[:, 0] + self.offset
        return numbers


@dataclass(frozen=True, eq=False)
class MachineClassifier:
    """A support vector machine for classes: a decision for each pair of classes.

    Parameters
    ----------
    n_features_in_ : int
    classes_ : ndarray of shape (n_classes,)
    kernel : Kernel
    weights : ndarray of shape (n_vectors, n_pairs)
    offsets : ndarray of shape (n_pairs,)
    decision_function_shape : {"ovr", "ovo"}
    break_ties : bool
        Whether the class with the highest score is predicted if several classes win the same number of pairs.
    """

    n_features_in_: int
    classes_: np.ndarray
    kernel: Kernel
    weights: np.ndarray
    offsets: np.ndarray
    decision_function_shape: str
    break_ties: bool

    kinds: ClassVar[Mapping[str, Kind]] = {
        **MACHINE,
        "classes_": labels(),
        "dual_coef_": floats("other classes", "vectors"),
        "intercept_": floats("pairs"),
        "_n_support": integers("classes"),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> MachineClassifier | None:
        """Take the attributes. The probabilities of the library's own cross-validation have no copy."""
        kernel = Kernel.of(parameters, fitted)
        has_own_probabilities = parameters.get("probability") is True or len(fitted.get("_probA", ())) > 0
        n_support = fitted["_n_support"]
        if kernel is None or has_own_probabilities or n_support.sum() != len(kernel.vectors):
            return None
        return cls(
            fitted["n_features_in_"],
            fitted["classes_"],
            kernel,
            weights_of_pairs(fitted["dual_coef_"], n_support),
            fitted["intercept_"],
            str(parameters.get("decision_function_shape", "ovr")),
            parameters.get("break_ties") is True,
        )

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return the scores of the classes or, with "ovo", of the pairs; a vector for two classes."""
        decisions = self._decisions(X)
        if decisions.shape[1] == 1:
            return decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return decisions
        scores = self._scores(decisions)
        return self._wins(decisions) + scores / (3 * (np.abs(scores) + 1))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row: that which wins most pairs, the first of several."""
        if len(self.classes_) == 2:
            return self.classes_[(self._decisions(X)[:, 0] > 0).astype(np.intp)]
        scores = self.decision_function(X) if self.break_ties else self._wins(self._decisions(X))
        return self.classes_[scores.argmax(axis=1)]

    def _decisions(self, X: np.ndarray) -> np.ndarray:
        decisions: np.ndarray = self.kernel.weighed(X, self.weights) + self.offsets
        return decisions

    def _wins(self, decisions: np.ndarray) -> np.ndarray:
        """Return how many pairs each class wins."""
        wins = np.zeros((len(decisions), len(self.classes_)))
        for (first, second), decision in zip(pairs_of(len(self.classes_)), decisions.T, strict=True):
            wins[:, first] += decision >= 0
            wins[:, second] += decision < 0
        return wins

    def _scores(self, decisions: np.ndarray) -> np.ndarray:
        """Return the sum of the decisions for each class."""
        scores = np.zeros((len(decisions), len(self.classes_)))
        for (first, second), decision in zip(pairs_of(len(self.classes_)), decisions.T, strict=True):
            scores[:, first] += decision
            scores[:, second] -= decision
        return scores


def pairs_of(n_classes: int) -> list[tuple[int, int]]:
    """Return the pairs of classes in the order of a machine's decisions."""
    return list(itertools.combinations(range(n_classes), 2))


def weights_of_pairs(coefficients: np.ndarray, n_support: np.ndarray) -> np.ndarray:
    """Return the weight of each support vector in the decision of each pair of classes.

    Parameters
    ----------
    coefficients : ndarray of shape (n_classes - 1, n_vectors)
        For each vector, its weights against the other classes. The vectors are sorted by class.
    n_support : ndarray of int of shape (n_classes,)

    Examples
    --------
    >>> weights_of_pairs(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), np.array([1, 1, 1]))
    array([[1., 4., 0.],
           [2., 0., 5.],
           [0., 3., 6.]])
    """
    ends = np.cumsum(n_support)
    begins = ends - n_support
    pairs = pairs_of(len(n_support))
    weights = np.zeros((coefficients.shape[1], len(pairs)))
    for place, (first, second) in enumerate(pairs):
        for own, row in ((first, second - 1), (second, first)):
            vectors = slice(begins[own], ends[own])
            weights[vectors, place] = coefficients[row, vectors]
    return weights


KERNEL_MACHINES = {"sklearn.svm.SVC": MachineClassifier, "sklearn.svm.SVR": MachineRegressor}
