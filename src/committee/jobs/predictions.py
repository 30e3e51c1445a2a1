"""Predict the rows of a table, with a fitted estimator or a model file.

A model file is opened without scikit-learn if the model and the size of the table allow it. So a prediction
from the command line takes a fraction of a second.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from committee.files import AS_FOUND, BadTable, CSVForm, column_names, read_unchanged
from committee.files.opened_file import open_file
from committee.jobs.model_table import ExpectedTable, table_for
from committee.jobs.unseen_values import UnseenValues
from committee.saving import DamagedFile, Predictor, origin_of, predictor
from committee.table.schema import PLAIN
from committee.task import Classification

# A predictor reads rows one by one. For more rows, it takes longer than the import of scikit-learn.
MOST_ROWS_OF_PREDICTOR = 1000
PREDICTION = "prediction"
# The name for all columns in `keep`.
ALL = "all"


class PredictingModel(Protocol):
    """A model that can predict: a `LoadedModel` or a `ModelFile`."""

    @property
    def expected(self) -> ExpectedTable:
        """What the model expects of a table."""

    def decide(self, X: Any) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""

    def votes(self, X: Any) -> dict[str, np.ndarray]:
        """Return the votes of the members, by the names of their columns."""


@dataclass(frozen=True)
class LoadedModel:
    """A fitted estimator.

    Parameters
    ----------
    estimator : estimator
    """

    estimator: Any

    @property
    def expected(self) -> ExpectedTable:
        """What the model expects of a table."""
        return ExpectedTable.of(self.estimator)

    def decide(self, X: Any) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""
        are_classes = isinstance(self.estimator._task, Classification)
        found: np.ndarray = self.estimator.predict_proba(X) if are_classes else self.estimator.predict(X)
        return found if are_classes else found[:, np.newaxis]

    def votes(self, X: Any) -> dict[str, np.ndarray]:
        """Return the votes of the members, by the names of their columns."""
        if not hasattr(self.estimator, "get_feature_names_out"):
            raise BadTable(f"{type(self.estimator).__name__} has no members that vote. Omit --votes.")
        names = [f"vote_{name}" for name in self.estimator.get_feature_names_out()]
        return dict(zip(names, self.estimator.transform(X).T, strict=True))


class ModelFile:
    """A model file, opened by `committee.predictor` if it can, else loaded as an estimator.

    Parameters
    ----------
    path : str or path
    load : callable
        Load the estimator of the file. It is called at most once, and only if it is needed.

    Attributes
    ----------
    expected : ExpectedTable
    why_loaded : str
        Why the file has no predictor. Empty if it has one.
    """

    def __init__(self, path: str | os.PathLike[str], load: Callable[[], Any]) -> None:
        self.why_loaded = ""
        self._load = load
        self._loaded: LoadedModel | None = None
        self._predictor: Predictor | None = None
        try:
            self._predictor = predictor(path)
            self.expected = ExpectedTable(self._predictor.schema, self._predictor.task, origin_of(path))
        except DamagedFile:
            raise
        except ValueError as error:
            self.why_loaded = str(error).removesuffix(" Use committee.load.")
            self.expected = self._estimator().expected

    def decide(self, X: Any) -> np.ndarray:
        """Return the decision for each row, of shape (n_rows, n_outputs)."""
        if self._predictor is None or len(X) > MOST_ROWS_OF_PREDICTOR:
            return self._estimator().decide(X)
        return self._predictor.decide(rows_of(X, self._predictor))

    def votes(self, X: Any) -> dict[str, np.ndarray]:
        """Return the votes of the members, by the names of their columns."""
        return self._estimator().votes(X)

    def _estimator(self) -> LoadedModel:
        if self._loaded is None:
            self._loaded = LoadedModel(self._load())
        return self._loaded


def rows_of(X: pa.Table | np.ndarray, prepared: Predictor) -> Any:
    """Return rows as a predictor takes them: a matrix of numbers, or mappings by column name."""
    if isinstance(X, np.ndarray):
        return X.astype(np.float64)
    if all(column.kind in PLAIN for column in prepared.schema.columns):
        columns = [column.cast(pa.float64()).to_numpy() for column in X.columns]
        return np.column_stack(columns)
    return X.to_pylist()


@dataclass(frozen=True, eq=False)
class Predictions:
    """The predictions of a model for a table.

    Parameters
    ----------
    frame : pyarrow.Table
        The kept columns, `prediction`, `probability_<class>`, `vote_<member>` or `vote_<member>_<class>`. The
        rows have the order of the table.
    unseen : tuple of UnseenValues
        The columns with values that the fit has not seen.
    """

    frame: pa.Table
    unseen: tuple[UnseenValues, ...]


def predict(
    model: Any,
    place: Any,
    *,
    proba: bool = False,
    votes: bool = False,
    keep: Sequence[str] = (),
    renamed: Mapping[str, str] | None = None,
    ignore_extra: bool = False,
    form: CSVForm = AS_FOUND,
) -> Predictions:
    """Predict the rows of a table.

    Parameters
    ----------
    model : estimator or ModelFile
    place : str, path or frame
    proba : bool, default=False
        Whether to add the probability of each class.
    votes : bool, default=False
        Whether to add the votes of the members.
    keep : sequence of str, default=()
        Columns of the table to put before the predictions, as they are written; "all" for all columns.
    renamed : mapping of str to str, default=None
        The names in this table of columns that have another name than in the training table.
    ignore_extra : bool, default=False
        Whether to ignore columns that were not in the training table.
    form : CSVForm

    Returns
    -------
    Predictions
    """
    opened: PredictingModel = model if isinstance(model, ModelFile) else LoadedModel(model)
    expected = opened.expected
    labels = expected.task.classes
    if proba and labels is None:
        raise BadTable("The model predicts numbers, which have no probabilities. Omit --proba.")
    is_path = isinstance(place, str | os.PathLike)
    # A pipe can be read only once, so it is opened once for both readings.
    with open_file(place) if is_path else contextlib.nullcontext(place) as source:
        kept = read_unchanged(source, None if ALL in keep else keep, form=form) if keep else pa.table({})
        names = kept.column_names
        read = table_for(expected, source, ignore_extra=ignore_extra, kept=names, renamed=renamed, form=form)
    decision = opened.decide(read.X)
    columns: dict[str, Any] = {PREDICTION: pa.array(expected.task.decode(decision).tolist())}
    if proba and labels is not None:
        pairs = zip(labels.tolist(), decision.T, strict=True)
        columns |= {f"probability_{label}": share for label, share in pairs}
    if votes:
        columns |= opened.votes(read.X)
    for name in kept.column_names:
        if name in columns:
            raise BadTable(f"The column {name!r} of {read.name} cannot be kept, because it is predicted.")
    arrays = [
        np.ascontiguousarray(each) if isinstance(each, np.ndarray) else each for each in columns.values()
    ]
    names = [*kept.column_names, *columns]
    return Predictions(pa.table([*kept.columns, *arrays], names=names), read.unseen)


def contains_predictions(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a table with a column of predictions."""
    try:
        return PREDICTION in column_names(path)
    except BadTable:
        return False
