"""The space in which rules look for neighbours and regions: rows as points, columns on one scale.

In: X, a matrix of numbers. Out: points of shape (n_rows, n_columns) whose columns have the mean 0 and the
standard deviation 1 on the rows of the fit; and for each of other points, the distances and rows of the known
points nearest to it by Euclidean distance. The nearest come first, and of points equally near the lower row.
They are the neighbours that scikit-learn's `NearestNeighbors` finds, which leaves the order of ties open.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from committee._engine import NeighbourSearch
from committee.running import n_threads

# Axes are found from at most this many points, and not in wider tables, where that costs more than it saves.
MOST_POINTS = 2048
MOST_COLUMNS = 512
# Points are turned in products of this many terms, which one thread makes in the caches. If that would be
# fewer than FEW_POINTS, MANY_POINTS are turned at a time, which are worth a product on all threads.
PRODUCT_SIZE = 1 << 19
FEW_POINTS, MANY_POINTS = 64, 8192
# Fewer asked points are not worth a second thread.
POINTS_OF_A_THREAD = 256


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
        """Make the space of some rows; without scaling, the rows are points as they are."""
        if not scale:
            return cls(np.zeros(X.shape[1]), np.ones(X.shape[1]))
        # Powers of two, so that squares of no column are too large or too small and no bit changes.
        _, powers = np.frexp(np.abs(X).max(axis=0, initial=0))
        small = np.ldexp(X, -powers)
        center = np.average(small, axis=0, weights=weights)
        spread = np.sqrt(np.average((small - center) ** 2, axis=0, weights=weights))
        return cls(np.ldexp(center, powers), np.where(spread > 0, np.ldexp(spread, powers), 1.0))

    def points(self, X: np.ndarray) -> np.ndarray:
        """Return rows as points.

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


def as_matrix(X: object, reason: str = "distances are taken in it") -> np.ndarray:
    """Return X as a matrix of finite numbers, and refuse categories and missing values.

    Parameters
    ----------
    X : table
    reason : str
        Why it must be a matrix, for the error.

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


class Nearest:
    """Known points among which neighbours are found.

    Points are compared along axes of their own, first those along which they differ most, so that a few
    columns rule most points out. Any axes at right angles give the same neighbours.

    Parameters
    ----------
    points : ndarray of shape (n_known, n_columns)

    Examples
    --------
    >>> distances, rows = Nearest(np.array([[0.0], [3.0], [4.0]])).find(np.array([[1.0]]), 2)
    >>> distances.tolist(), rows.tolist()
    ([[1.0, 2.0]], [[0, 1]])
    """

    def __init__(self, points: np.ndarray) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self._center, self._axes = axes_of(self.points)
        self._search = NeighbourSearch(self.points, self._turned(self.points), n_threads(None))

    def find(self, asked: np.ndarray, n_neighbours: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and rows of the nearest known points, of shape (n_asked, n_neighbours)."""
        asked = np.ascontiguousarray(asked, dtype=np.float64)
        threads = 1 if len(asked) <= POINTS_OF_A_THREAD else n_threads(None)
        return self._search.find(asked, self._turned(asked), n_neighbours, False, threads)

    def find_others(self, n_neighbours: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the same for each known point among the others."""
        turned = self._turned(self.points)
        return self._search.find(self.points, turned, n_neighbours, True, n_threads(None))

    def __reduce__(self) -> tuple[type[Nearest], tuple[np.ndarray]]:
        return Nearest, (self.points,)

    def _turned(self, points: np.ndarray) -> np.ndarray:
        turned = np.empty(points.shape, dtype=np.float32)
        # The engine handles numbers that are too large.
        with np.errstate(over="ignore", invalid="ignore"):
            together = PRODUCT_SIZE // points.shape[1] ** 2
            step = together if together >= FEW_POINTS else MANY_POINTS
            for start in range(0, len(points), step):
                rows = slice(start, start + step)
                centred = points[rows] - self._center
                turned[rows] = centred[:, self._axes] if self._axes.ndim == 1 else centred @ self._axes
        return turned


def axes_of(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a centre and axes as columns, the widest first; in wide tables, columns by their spread."""
    largest = max(points.max(), -points.min()) or 1.0
    sample = points[:: max(1, len(points) // MOST_POINTS)] / largest
    center = sample.mean(axis=0)
    sample = sample - center
    if points.shape[1] > MOST_COLUMNS:
        return center * largest, np.argsort(-sample.std(axis=0), kind="stable")
    # In parts that one thread makes: waking another takes longer.
    step = max(FEW_POINTS, PRODUCT_SIZE // points.shape[1] ** 2)
    parts = (sample[start : start + step] for start in range(0, len(sample), step))
    _, axes = np.linalg.eigh(sum(part.T @ part for part in parts))
    return center * largest, axes[:, ::-1]
