"""Predict with multi-layer perceptrons of scikit-learn by one matrix product for each layer."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from committee.saving.format.attributes import Kind, Wrong, count, floats, labels, list_of, one_of
from committee.saving.predictors.probabilities import logistic, softmax, two_shares

ACTIVATIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "identity": lambda sums: sums,
    "logistic": logistic,
    "tanh": np.tanh,
    "relu": lambda sums: np.maximum(sums, 0, out=sums),
}
LAYERS: Mapping[str, Kind] = {
    "n_features_in_": count("features"),
    "coefs_": list_of(floats(None, None), "layers"),
    "intercepts_": list_of(floats(None), "layers"),
}
Named = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Perceptron:
    """A perceptron for numbers.

    Parameters
    ----------
    n_features_in_ : int
    weights : list of ndarray of shape (n_inputs, n_outputs)
        For each layer.
    offsets : list of ndarray of shape (n_outputs,)
    activation : {"identity", "logistic", "tanh", "relu"}
        The activation of all layers but the last.
    """

    n_features_in_: int
    weights: list[np.ndarray]
    offsets: list[np.ndarray]
    activation: str

    kinds: ClassVar[Mapping[str, Kind]] = {**LAYERS, "out_activation_": one_of("identity")}

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self | None:
        """Take the layers of a model with one output."""
        layers = layers_of(parameters, fitted)
        return cls(**layers) if len(layers["offsets"][-1]) == 1 else None

    def sums(self, X: np.ndarray) -> np.ndarray:
        """Return the sums of the last layer, of shape (n_rows, n_outputs)."""
        values = X
        for weights, offsets in zip(self.weights[:-1], self.offsets[:-1], strict=True):
            values = ACTIVATIONS[self.activation](values @ weights + offsets)
        sums: np.ndarray = values @ self.weights[-1] + self.offsets[-1]
        return sums

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        return self.sums(X)[:, 0]


@dataclass(frozen=True, eq=False)
class PerceptronClassifier(Perceptron):
    """A perceptron with the logistic function of one sum for two classes, or the softmax of several sums."""

    classes_: np.ndarray

    kinds: ClassVar[Mapping[str, Kind]] = {
        **LAYERS,
        "classes_": labels(),
        "out_activation_": one_of("logistic", "softmax"),
    }

    @classmethod
    def of(cls, parameters: Named, fitted: Named) -> Self | None:
        """Take the layers. Labels that do not exclude each other have no copy."""
        layers, classes = layers_of(parameters, fitted), fitted["classes_"]
        n_outputs = len(layers["offsets"][-1])
        expected = {"logistic": (2, 1), "softmax": (n_outputs, n_outputs)}[fitted["out_activation_"]]
        if (len(classes), n_outputs) != expected:
            return None
        return cls(**layers, classes_=classes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class for each row."""
        sums = self.sums(X)
        codes = (sums[:, 0] > 0).astype(np.intp) if sums.shape[1] == 1 else sums.argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes for each row."""
        sums = self.sums(X)
        return two_shares(logistic(sums[:, 0])) if sums.shape[1] == 1 else softmax(sums)


def layers_of(parameters: Named, fitted: Named) -> dict[str, Any]:
    """Take the layers and their activation, and check them."""
    activation = parameters.get("activation", "relu")
    one_of(*ACTIVATIONS)(activation, {})
    n_columns, weights, offsets = fitted["n_features_in_"], fitted["coefs_"], fitted["intercepts_"]
    check_widths(n_columns, weights, offsets)
    return {"n_features_in_": n_columns, "weights": weights, "offsets": offsets, "activation": activation}


def check_widths(n_columns: int, weights: list[np.ndarray], offsets: list[np.ndarray]) -> None:
    """Raise `Wrong` unless the inputs of each layer are the outputs of the previous one."""
    widths = [n_columns, *map(len, offsets)]
    if not offsets or [each.shape for each in weights] != list(itertools.pairwise(widths)):
        raise Wrong("coefs_ and intercepts_ do not fit each other")


PERCEPTRONS = {
    "sklearn.neural_network.MLPClassifier": PerceptronClassifier,
    "sklearn.neural_network.MLPRegressor": Perceptron,
}
