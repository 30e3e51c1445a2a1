"""Find the nearest neighbours of points by Euclidean distance.

In: known points, and other points of the same columns. Out: the distances and rows of the nearest known
points. The nearest come first, and ties are broken by the lower row. scikit-learn's `NearestNeighbors` finds
the same neighbours, but its order of ties is undefined.
"""

from __future__ import annotations

import numpy as np

from committee._engine import NeighbourSearch
from committee.running import n_threads

# Axes are computed from at most this many points. In wider tables, they cost more than they save.
MOST_POINTS = 2048
MOST_COLUMNS = 512
# Points are rotated by matrix products of this many terms, which fit into the caches of one thread. If these
# have fewer than FEW_POINTS points, products of MANY_POINTS points on all threads are faster.
PRODUCT_SIZE = 1 << 19
FEW_POINTS, MANY_POINTS = 64, 8192
# With fewer queries, a second thread is slower.
POINTS_OF_A_THREAD = 256


class Nearest:
    """A search structure for the nearest neighbours among known points.

    Points are compared along principal axes, starting with the axis of the largest variance, so that a few
    columns exclude most points. Any orthogonal axes give the same neighbours.

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
        self._search = NeighbourSearch(self.points, self._rotated(self.points), n_threads(None))

    def find(self, queries: np.ndarray, n_neighbours: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and rows of the nearest known points, of shape (n_queries, n_neighbours)."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        threads = 1 if len(queries) <= POINTS_OF_A_THREAD else n_threads(None)
        return self._search.find(queries, self._rotated(queries), n_neighbours, False, threads)

    def find_others(self, n_neighbours: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and rows of the nearest other points for each known point."""
        rotated = self._rotated(self.points)
        return self._search.find(self.points, rotated, n_neighbours, True, n_threads(None))

    def __reduce__(self) -> tuple[type[Nearest], tuple[np.ndarray]]:
        return Nearest, (self.points,)

    def _rotated(self, points: np.ndarray) -> np.ndarray:
        rotated = np.empty(points.shape, dtype=np.float32)
        # The engine handles numbers that overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            together = PRODUCT_SIZE // points.shape[1] ** 2
            step = together if together >= FEW_POINTS else MANY_POINTS
            for start in range(0, len(points), step):
                rows = slice(start, start + step)
                centred = points[rows] - self._center
                rotated[rows] = centred[:, self._axes] if self._axes.ndim == 1 else centred @ self._axes
        return rotated


def distances_between(points: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return the distance of each point from each known point, of shape (n_points, n_known).

    Examples
    --------
    >>> distances_between(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0], [0.0, 0.0]]))
    array([[5., 0.]])
    """
    squares = np.einsum("ij,ij->i", points, points)[:, None] + np.einsum("ij,ij->i", known, known)
    squares -= 2 * (points @ known.T)
    np.maximum(squares, 0, out=squares)
    distances: np.ndarray = np.sqrt(squares, out=squares)
    return distances


def axes_of(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a center and the principal axes as columns, or the order of columns by spread in wide tables."""
    largest = max(points.max(), -points.min()) or 1.0
    sample = points[:: max(1, len(points) // MOST_POINTS)] / largest
    center = sample.mean(axis=0)
    sample = sample - center
    if points.shape[1] > MOST_COLUMNS:
        return center * largest, np.argsort(-sample.std(axis=0), kind="stable")
    # The product is computed in parts on one thread, because starting another takes longer.
    step = max(FEW_POINTS, PRODUCT_SIZE // points.shape[1] ** 2)
    parts = (sample[start : start + step] for start in range(0, len(sample), step))
    _, axes = np.linalg.eigh(sum(part.T @ part for part in parts))
    return center * largest, axes[:, ::-1]
