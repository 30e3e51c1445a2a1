"""A model prepared to answer rows at once. It needs numpy and the engine."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.saving.deciding import Decider
from committee.table.schema import Schema
from committee.task import Classification, Regression


class Predictor:
    """Decides on matrices of float64 without any check, and on rows as mappings by column name.

    Parameters
    ----------
    decider : Decider
    schema : Schema
        The columns of the rows.
    task : Classification or Regression

    Attributes
    ----------
    decide : callable
        From rows to the decision for each, of shape (n_rows, n_outputs).
    """

    __slots__ = ("decide", "decider", "schema", "task")

    def __init__(self, decider: Decider, schema: Schema, task: Classification | Regression) -> None:
        self.__setstate__((decider, schema, task))

    def __getstate__(self) -> tuple[Any, ...]:
        return self.decider, self.schema, self.task

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.decider, self.schema, self.task = state
        self.decide = self.decider.ask(self.schema)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns, in the order of a matrix; x0, x1, ... if the fit saw none."""
        return self.schema.names

    def predict(self, X: Any) -> np.ndarray:
        """The class or the number for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            A mapping is one row: the value of each column by its name. None and a category that was not seen
            in the fit are missing.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self.task.decode(self.decide(X))


class ClassPredictor(Predictor):
    """A predictor of classes."""

    __slots__ = ()

    @property
    def classes(self) -> np.ndarray:
        """The labels, in the order of the probabilities."""
        return self.task.classes

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes for each row.

        Parameters
        ----------
        X : ndarray of float64 of shape (n_rows, n_columns), mapping, or sequence of mappings
            As `predict` takes it.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            In the order of `classes`.
        """
        return self.decide(X)


def prepare(decider: Decider, schema: Schema, task: Classification | Regression) -> Predictor:
    """Make the predictor of a fitted model."""
    kind = ClassPredictor if isinstance(task, Classification) else Predictor
    return kind(decider, schema, task)
