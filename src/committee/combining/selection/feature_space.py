"""Standardise rows for rules that select members by row or region.

In: X, a matrix of numbers. Out: points of shape (n_rows, n_columns) whose columns have the mean 0 and the
standard deviation 1 on the rows of the fit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Space:
    """The center and the scale of each column.

    Parameters
    ----------
    center : ndarray of shape (n_columns,)
    spread : ndarray of shape (n_columns,)
        Positive numbers.
    """

    center: np.ndarray
    spread: np.ndarray

    @classmethod
    def of(cls, X: np.ndarray, weights: np.ndarray, scale: bool = True) -> Space:
        """Compute the space of some rows. With scale=False, rows are not changed."""
        if not scale:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        # Columns are divided by powers of two, which is exact, so that their squares do not overflow.
        _, powers = np.frexp(np.abs(X).max(axis=0, initial=0))
        small = np.ldexp(X, -powers)
        center = np.average(small, axis=0, weights=weights)
        spread = np.sqrt(np.average((small - center) ** 2, axis=0, weights=weights))
        return cls(np.ldexp(center, powers), np.where(spread > 0, np.ldexp(spread, powers), 1.0))

    def points(self, X: np.ndarray) -> np.ndarray:
        """Convert rows to points.

        Examples
        --------
        >>> X = np.array([[1.0, 5.0], [3.0, 5.0]])
        >>> Space.of(X, np.ones(2)).points(X)
        array([[-1.,  0.],
               [ 1.,  0.]])
        """
        if X.shape[1] != len(self.center):
            raise ValueError(
                f"The rule was fitted on {len(self.center)} columns. Got {X.shape[1]}. Pass the same columns."
            )
        points: np.ndarray = X - self.center
        points /= self.spread
        return points


def as_matrix(X: object, reason: str = "the rule computes distances") -> np.ndarray:
    """Convert X to a matrix of finite numbers. Refuse categories and missing values.

    Parameters
    ----------
    X : table
    reason : str
        The reason for errors.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)

    Examples
    --------
    >>> as_matrix([["red"], ["blue"]])
    Traceback (most recent call last):
    ValueError: X must be a matrix of numbers: the rule computes distances. Encode categories and text first.
    >>> as_matrix([[1.0], [float("nan")]])
    Traceback (most recent call last):
    ValueError: X must be finite: the rule computes distances. Fill in missing values first.
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
