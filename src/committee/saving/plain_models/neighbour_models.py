"""Predict with the votes of the nearest training rows, which the engine finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from committee.saving.format.attributes import (
    Kind,
    array_of,
    count,
    either,
    floats,
    integer,
    integers,
    labels,
)
from committee.table.nearest_rows import Nearest

# The number of neighbours in memory at a time.
NEIGHBOURS_AT_ONCE = 1 << 20
NEIGHBOURS: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "_fit_X": either(floats("rows", "features"), array_of("biu", "rows", "features")),
}
Named = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class NearestModel:
    """A model that averages the answers of the nearest training rows.

    Parameters
    ----------
    n_features_in_ : int
    nearest : Nearest
        The search among the training rows.
    answers : ndarray of shape (n_training_rows, n_outputs)
        1 for the class of a row and 0 for others, or its number.
    n_neighbours : int
    by_distance : bool
        Whether neighbours count in proportion to 1 / distance. Rows at distance 0 then count alone.
    """

    n_features_in_: int
    nearest: Nearest
    answers: np.ndarray
    n_neighbours: int
    by_distance: bool

    @classmethod
    def taken(cls, parameters: Named, fitted: Named, answers: np.ndarray) -> dict[str, Any] | None:
        """Take the parameters of this class. Other distances than the Euclidean one have no copy."""
        metric, p = parameters.get("metric", "minkowski"), parameters.get("p", 2)
        is_euclidean = metric in ("euclidean", "l2") or (metric == "minkowski" and p == 2)
        weights = parameters.get("weights", "uniform")
        if not is_euclidean or parameters.get("metric_params") or weights not in ("uniform", "distance"):
            return None
        n_neighbours = parameters.get("n_neighbors", 5)
        integer(1)(n_neighbours, {})
        rows = np.asarray(fitted["_fit_X"], dtype=np.float64)
        return {
            "n_features_in_": fitted["n_features_in_"],
            "nearest": Nearest(rows),
            "answers": answers,
            "n_neighbours": min(int(n_neighbours), len(rows)),
            "by_distance": weights == "distance",
        }

    def means(self, X: np.ndarray) -> np.ndarray:
        """Return the weighted mean answer of the neighbours of each row, of shape (n_rows, n_outputs)."""
        means = np.empty((len(X), self.answers.shape[1]))
        step = max(1, NEIGHBOURS_AT_ONCE // (self.n_neighbours * self.answers.shape[1]))
        for begin in range(0, len(X), step):
            rows = slice(begin, begin + step)
            distances, neighbours = self.nearest.find(X[rows], self.n_neighbours)
            weights = by_distances(distances) if self.by_distance else np.ones_like(distances)
            totals = np.einsum("ij,ijk->ik", weights, self.answers[neighbours])
            means[rows] = totals / weights.sum(axis=1, keepdims=True)
        return means


@dataclass(frozen=True, eq=False)
class NeighbourClassifier(NearestModel):
    """A vote of the nearest training rows for their classes."""

    classes_: np.ndarray

    kinds: ClassVar[Mapping[str, Kind]] = {
        **NEIGHBOURS,
        "classes_": labels(),
        "_y": integers("rows", below="classes"),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self | None:
        """Take the attributes."""
        classes = fitted["classes_"]
        taken = cls.taken(parameters, fitted, np.eye(len(classes))[fitted["_y"]])
        return None if taken is None else cls(**taken, classes_=classes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return self.classes_[self.means(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        return self.means(X)


@dataclass(frozen=True, eq=False)
class NeighbourRegressor(NearestModel):
    """The mean number of the nearest training rows."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        **NEIGHBOURS,
        "_y": either(floats("rows"), integers("rows", low=-(2**53))),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self | None:
        """Take the attributes."""
        taken = cls.taken(parameters, fitted, np.asarray(fitted["_y"], dtype=np.float64)[:, np.newaxis])
        return None if taken is None else cls(**taken)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        return self.means(X)[:, 0]


def by_distances(distances: np.ndarray) -> np.ndarray:
    """Return weights 1 / distance. In a row with distances of 0, these count 1 and the others 0.

    Examples
    --------
    >>> by_distances(np.array([[0.5, 2.0], [0.0, 1.0]]))
    array([[2. , 0.5],
           [1. , 0. ]])
    """
    with np.errstate(divide="ignore"):
        weights: np.ndarray = 1 / distances
    has_same = np.isinf(weights).any(axis=1)
    weights[has_same] = np.isinf(weights[has_same])
    return weights


NEIGHBOUR_MODELS = {
    "sklearn.neighbors.KNeighborsClassifier": NeighbourClassifier,
    "sklearn.neighbors.KNeighborsRegressor": NeighbourRegressor,
}
