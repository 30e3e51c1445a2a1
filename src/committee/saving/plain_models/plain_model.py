"""Make plain models, which need only numpy and the engine, of fitted models of scikit-learn.

In: the parameters and the fitted attributes of a model, from a file or from memory. Out: a model with
`predict` and, for classes, `classes_` and `predict_proba` or `decision_function`. Its results differ from
those of scikit-learn by rounding errors only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.attributes import Kind, Wrong, check_all, floats
from committee.saving.format.file_errors import DamagedFile
from committee.saving.plain_models.density_models import DENSITY_MODELS
from committee.saving.plain_models.kernel_machines import KERNEL_MACHINES
from committee.saving.plain_models.linear_models import LINEAR_MODELS
from committee.saving.plain_models.neighbour_models import NEIGHBOUR_MODELS
from committee.saving.plain_models.perceptrons import PERCEPTRONS
from committee.saving.saved_estimators import Described

KNOWN: Mapping[str, Any] = {
    **LINEAR_MODELS,
    **DENSITY_MODELS,
    **KERNEL_MACHINES,
    **NEIGHBOUR_MODELS,
    **PERCEPTRONS,
}
SCALED_TARGET = "sklearn.compose.TransformedTargetRegressor"
SCALER = "sklearn.preprocessing.StandardScaler"
ONE_COLUMN: Kind = floats(1)


@dataclass(frozen=True, eq=False)
class RescaledRegressor:
    """A regressor that was fitted on y with the mean 0 and the standard deviation 1."""

    regressor: Any
    mean: float
    deviation: float

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self.regressor.n_features_in_)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the number for each row."""
        numbers: np.ndarray = self.regressor.predict(X) * self.deviation + self.mean
        return numbers


def plain_model(described: Described) -> Any | None:
    """Return the plain model of a description; None if the model needs scikit-learn or is not fitted."""
    if described.fitted is None:
        return None
    try:
        if described.name == SCALED_TARGET:
            return rescaled_regressor(described.fitted)
        kind = KNOWN.get(described.name)
        if kind is None or has_sparse_arrays(described.fitted):
            return None
        check_all(kind.kinds, described.fitted, {})
        return kind.of(described.parameters, described.fitted)
    except Wrong as error:
        raise DamagedFile(f"{described.name}: {error}.") from error


def as_plain_model(model: Any) -> Any:
    """Return a plain model of a fitted model of scikit-learn. Return any other model unchanged.

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> model = as_plain_model(LinearRegression().fit([[1.0], [2.0]], [2.0, 4.0]))
    >>> type(model).__module__, model.predict(np.array([[3.0]])).round(6)
    ('committee.saving.plain_models.linear_models', array([6.]))
    """
    described = description_of(model)
    try:
        return (None if described is None else plain_model(described)) or model
    except DamagedFile:  # an attribute that a file could not hold, such as a vector of infinite numbers
        return model


def description_of(model: Any) -> Described | None:
    """Return the description of a fitted model of scikit-learn in memory; None for other models."""
    package = ".".join(type(model).__module__.split(".")[:2])
    if not package.startswith("sklearn."):
        return None
    return Described(f"{package}.{type(model).__name__}", model.get_params(deep=False), vars(model))


def rescaled_regressor(fitted: Mapping[str, object]) -> RescaledRegressor | None:
    """Return a regressor that scales its answers; None for other transformations of y."""
    regressor, scaler = (described_part(fitted.get(name)) for name in ("regressor_", "transformer_"))
    if regressor is None or scaler is None or scaler.name != SCALER or scaler.fitted is None:
        return None
    inner = plain_model(regressor)
    if inner is None:
        return None
    values = {"mean_": 0.0, "scale_": 1.0}
    for parameter, name in (("with_mean", "mean_"), ("with_std", "scale_")):
        if scaler.parameters.get(parameter) is True:
            check_all({name: ONE_COLUMN}, scaler.fitted, {})
            values[name] = float(scaler.fitted[name][0])  # type: ignore[index]
    return RescaledRegressor(inner, values["mean_"], values["scale_"])


def described_part(value: object) -> Described | None:
    """Return the description of a model inside another one, from a file or from memory."""
    return value if isinstance(value, Described) else description_of(value)


def has_sparse_arrays(fitted: Mapping[str, object]) -> bool:
    """Return whether a model holds sparse matrices, which need scipy."""
    return any(getattr(value, "format", None) == "csr" for value in fitted.values())
