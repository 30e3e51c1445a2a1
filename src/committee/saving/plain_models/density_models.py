"""Predict with the normal distributions of naive Bayes and of quadratic discriminant analysis by numpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from committee.saving.format.attributes import Kind, count, either, floats, labels, positive, shares
from committee.saving.predictors.probabilities import softmax

Named = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Densities:
    """A classifier with a normal distribution for each class.

    Parameters
    ----------
    n_features_in_ : int
    classes_ : ndarray of shape (n_classes,)
    means : ndarray of shape (n_classes, n_columns)
    axes : list of ndarray of shape (n_columns,) or (n_columns, n_axes)
        For each class, the factors that scale or turn the distances from the mean to unit variance.
    offsets : ndarray of shape (n_classes,)
        The logarithms of the prior probability and the density of the mean, up to a constant.
    """

    n_features_in_: int
    classes_: np.ndarray
    means: np.ndarray
    axes: list[np.ndarray]
    offsets: np.ndarray

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        return self.classes_[self._logarithms(X).argmax(axis=1)]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        return softmax(self._logarithms(X))

    def _logarithms(self, X: np.ndarray) -> np.ndarray:
        found = np.empty((len(X), len(self.classes_)))
        for code, (mean, axes) in enumerate(zip(self.means, self.axes, strict=True)):
            distances = X - mean
            turned = distances * axes if axes.ndim == 1 else distances @ axes
            found[:, code] = self.offsets[code] - 0.5 * np.einsum("ij,ij->i", turned, turned)
        return found


class NaiveBayes(Densities):
    """Gaussian naive Bayes."""

    kinds: ClassVar[Mapping[str, Kind]] = {
        "n_features_in_": count("features"),
        "classes_": labels(),
        "theta_": floats("classes", "features"),
        # All variances are 0 if all columns are constant.
        "var_": either(positive("classes", "features"), floats("classes", "features", high=0.0, low=0.0)),
        "class_prior_": shares("classes"),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self:
        """Take the attributes."""
        # The variance is 0 only if all columns are constant, and then the prior probabilities decide.
        is_known = fitted["var_"] > 0
        variances = np.where(is_known, fitted["var_"], 1.0)
        with np.errstate(divide="ignore"):
            offsets = np.log(fitted["class_prior_"]) - 0.5 * np.log(2 * np.pi * variances).sum(axis=1)
        axes = list(is_known / np.sqrt(variances))
        return cls(fitted["n_features_in_"], fitted["classes_"], fitted["theta_"], axes, offsets)


DENSITY_MODELS = {
    "sklearn.naive_bayes.GaussianNB": NaiveBayes,
}
