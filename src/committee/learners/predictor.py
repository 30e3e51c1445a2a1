"""A fitted estimator, prepared to answer single rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from committee import _engine
from committee.table import Kind
from committee.task import Classification


class Predictor:
    """Decides on matrices of float64 without any check, by the trees that were there when it was made.

    Parameters
    ----------
    forest : fitted forest or booster
    """

    __slots__ = ("_forest", "_predict_matrix", "_rule", "_task")

    def __init__(self, forest: Any) -> None:
        self.__setstate__((forest._forest, forest._rule, forest._task))

    def __getstate__(self) -> tuple[Any, ...]:
        return self._forest, self._rule, self._task

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self._forest, self._rule, self._task = state
        self._predict_matrix = _engine.Prepared(self._forest, self._rule).predict_matrix

    def predict(self, X: np.ndarray) -> np.ndarray:
        """The class or the number for each row."""
        return self._task.decode(self._decide(X))

    def _decide(self, X: np.ndarray) -> np.ndarray:
        try:
            return self._predict_matrix(X)
        except TypeError as error:
            raise TypeError(
                f"A predictor takes a matrix of float64. Got {type(X).__name__}. Use the estimator itself."
            ) from error


class ClassPredictor(Predictor):
    """A predictor of classes."""

    __slots__ = ()

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """The probabilities of the classes for each row."""
        return self._decide(X)


def prepare(forest: Any) -> Predictor:
    """Make the predictor of a fitted forest.

    Examples
    --------
    >>> from committee import RandomForestClassifier
    >>> forest = RandomForestClassifier(random_state=0).fit([[1], [2], [8], [9]] * 5, [0, 0, 1, 1] * 5)
    >>> prepare(forest).predict(np.array([[1.5]]))
    array([0])
    """
    others = [column.name for column in forest.schema_.columns if column.kind is not Kind.NUMBER]
    if others:
        raise ValueError(f"A predictor takes numbers only, and {others} are not. Use the estimator itself.")
    return ClassPredictor(forest) if isinstance(forest._task, Classification) else Predictor(forest)
