"""The space that rules look for neighbours and regions in: rows as points, columns on one scale.

In: X, a matrix of numbers. Out: points of shape (n_rows, n_columns) whose columns have the mean 0 and the
standard deviation 1 on the rows of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Space:
    """How columns are shifted and scaled.

    Parameters
    ----------
    center : ndarray of shape (n_columns,)
    spread : ndarray of shape (n_columns,)
        Above 0.
    """

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray, scale: bool = True) -> Space:
        """The space of some rows; without scaling, the rows are points as they are."""
        if not scale:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        # Powers of two, so that squares of no column are too large or too small and no bit changes.
        _, powers = np.frexp(np.abs(X).max(axis=0, initial=0))
        small = np.ldexp(X, -powers)
        center = np.average(small, axis=0, weights=weights)
        spread = np.sqrt(np.average((small - center) ** 2, axis=0, weights=weights))
        return cls(np.ldexp(center, powers), np.where(spread > 0, np.ldexp(spread, powers), 1.0))

    def points(self, X: np.ndarray) -> np.ndarray:
        """Rows as points.

        Examples
        --------
        >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
        >>> Space.of(X, np.ones(2)).points(X)
        array([[-1.,  0.],
               [ 1.,  0.]])
        """
        if X.shape[1] != len(self.center):
            raise ValueError(
                f"The rule was fitted on {len(self.center)} columns and gets {X.shape[1]}. Pass the same "
                "columns."
            )
        points: np.ndarray = X - self.center
        points /= self.spread
        return points


def as_matrix(X: Any, reason: str = "distances are taken in it") -> np.ndarray:
    """X as a matrix of finite numbers; categories and missing values are none.

    Parameters
    ----------
    X : table
    reason : str
        Why it must be one, in the words of the error.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> as_matrix([["red"], ["blue"]])
    Traceback (most recent call last):
    ValueError: X must be a matrix of numbers: distances are taken in it. Encode categories and text first.
    >>> as_matrix([[1.0], [float("nan")]])
    Traceback (most recent call last):
    ValueError: X must be finite: distances are taken in it. Fill in missing values first.
    """
    if hasattr(X, "toarray"):
        X = X.toarray()
    try:
        matrix = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise ValueError(f"X must be a matrix of numbers: {reason}. Encode categories and text first.")
    if not np.isfinite(matrix).all():
        raise ValueError(f"X must be finite: {reason}. Fill in missing values first.")
    return matrix
