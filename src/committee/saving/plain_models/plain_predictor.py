"""Make predictors of scikit-learn's models, alone or in a pipeline behind a `TableEncoder`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from committee.saving.format.file_errors import require
from committee.saving.plain_models.plain_model import plain_model
from committee.saving.predictors.deciders import EncodedDecider, TableDecider
from committee.saving.predictors.predictor import ClassPredictor, Predictor, Task
from committee.saving.predictors.score_votes import class_scores, scores_by_class
from committee.saving.saved_estimators import Described
from committee.saving.states.state import Models
from committee.table.schema import Column, Kind, Schema, Table
from committee.task import Classification, Regression, codes_in

PIPELINE = "sklearn.pipeline.Pipeline"


@dataclass(frozen=True, eq=False)
class PlainDecider(TableDecider):
    """The decider of a plain model on a table of numbers.

    Parameters
    ----------
    model : plain model
    task : Classification or Regression
    as_scores : bool
        Whether to return scores for a calibration instead of votes.
    """

    model: Any
    task: Task
    as_scores: bool

    def decide(self, table: Table, n_threads: int) -> np.ndarray:
        """Return the votes on a table."""
        return self.votes(np.column_stack([column.astype(np.float64) for column in table.columns]))

    def votes(self, X: np.ndarray) -> np.ndarray:
        """Return votes on a matrix: numbers, probabilities, 1 for the predicted class, or scores."""
        if not np.isfinite(X).all():
            raise ValueError("X contains NaN or infinity, which the model does not support. Fill in numbers.")
        if isinstance(self.task, Regression):
            numbers: np.ndarray = self.model.predict(X)[:, np.newaxis]
            return numbers
        if self.as_scores:
            return self._scores(X)
        if hasattr(self.model, "predict_proba"):
            probabilities: np.ndarray = self.model.predict_proba(X)
            return probabilities
        return np.eye(self.task.n_outputs)[self._predicted(X)]

    def _predicted(self, X: np.ndarray) -> np.ndarray:
        return codes_in(self.model.predict(X), self.model.classes_)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        n_classes = self.task.n_outputs
        is_paired = getattr(self.model, "decision_function_shape", "ovr") == "ovo" and n_classes > 2
        scores = None if is_paired else scores_by_class(self.model.decision_function(X), n_classes)
        return class_scores(scores, np.arange(n_classes), self._predicted(X), n_classes)


def plain_predictor(
    described: Described, role: str, models: Models, *, as_scores: bool = False
) -> Predictor | None:
    """Return the predictor of a model of scikit-learn; None if it needs scikit-learn.

    Parameters
    ----------
    described : Described
        From a file, or from memory by `description_of`.
    role : str
        The role of the model in its file, for errors.
    models : Models
    as_scores : bool, default=False
        Whether a classifier without probabilities returns its scores.
    """
    if described.name == PIPELINE:
        return encoded_predictor(described, role, models, as_scores=as_scores)
    model = plain_model(described)
    if model is None or (as_scores and not hasattr(model, "decision_function")):
        return None
    classes = getattr(model, "classes_", None)
    task = Regression() if classes is None else Classification(classes)
    decider = PlainDecider(model, task, as_scores)
    kind = ClassPredictor if hasattr(model, "predict_proba") else Predictor
    return kind(decider, schema_of(described, model.n_features_in_), task)


def encoded_predictor(
    described: Described, role: str, models: Models, *, as_scores: bool
) -> Predictor | None:
    """Return the predictor of a pipeline of a `TableEncoder` and one model; None for other pipelines."""
    steps = described.parameters.get("steps")
    if not isinstance(steps, list) or len(steps) != 2 or not all(is_step(step) for step in steps):
        return None
    (_, first), (_, last) = steps
    encoding = models.encoding(first)
    if encoding is None:
        return None
    inner = models.predictor(last, role, as_scores=as_scores)
    require(inner.schema.n_columns == encoding.width, f"The {role} does not fit its encoder")
    return type(inner)(EncodedDecider(encoding, inner), encoding.schema, inner.task)


def is_step(value: object) -> bool:
    """Return whether a value of a file is a named step of a pipeline."""
    return isinstance(value, tuple) and len(value) == 2


def schema_of(described: Described, n_columns: int) -> Schema:
    """Return the schema of a model that takes numbers only."""
    names: Any = (described.fitted or {}).get("feature_names_in_")
    is_named = names is not None and len(names) == n_columns and all(isinstance(name, str) for name in names)
    found = map(str, names) if is_named else (f"x{place}" for place in range(n_columns))
    return Schema(tuple(Column(name, Kind.NUMBER) for name in found), is_named)
