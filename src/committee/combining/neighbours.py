"""Nearest neighbours, exactly, by Euclidean distance.

In: points as rows of a matrix. Out: for each asked point, the distances and rows of the known points nearest
to it, the nearest first and of those equally near the lower row. They are the neighbours that scikit-learn's
`NearestNeighbors` finds, which leaves open who comes first of equals.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee._engine import NeighbourSearch
from committee.running import n_threads

# Axes are found from so many points, and not in wider tables, where that costs more than it saves.
MOST_POINTS = 2048
MOST_COLUMNS = 512
# Points are turned in products of so many terms, which one thread makes in the caches; if that would be fewer
# points than the first number, so many as the second at a time, which are worth a product on all threads.
PRODUCT_SIZE = 1 << 19
FEW_POINTS, MANY_POINTS = 64, 8192
# Fewer asked points are not worth a second thread.
POINTS_OF_A_THREAD = 256


class Nearest:
    """Known points among which neighbours are found.

    Points are looked at along axes of their own, first those along which they differ most, so that a few
    columns rule most points out. Any axes at right angles give the same neighbours, sooner or later.

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
        """Distances and rows of the nearest known points, of shape (n_asked, n_neighbours)."""
        asked = np.ascontiguousarray(asked, dtype=np.float64)
        threads = 1 if len(asked) <= POINTS_OF_A_THREAD else n_threads(None)
        return self._search.find(asked, self._turned(asked), n_neighbours, False, threads)

    def find_others(self, n_neighbours: int) -> tuple[np.ndarray, np.ndarray]:
        """The same for each known point among the others."""
        turned = self._turned(self.points)
        return self._search.find(self.points, turned, n_neighbours, True, n_threads(None))

    def __reduce__(self) -> tuple[Any, ...]:
        return Nearest, (self.points,)

    def _turned(self, points: np.ndarray) -> np.ndarray:
        turned = np.empty(points.shape, dtype=np.float32)
        # The engine knows what to do with numbers that are too large.
        with np.errstate(over="ignore", invalid="ignore"):
            together = PRODUCT_SIZE // points.shape[1] ** 2
            step = together if together >= FEW_POINTS else MANY_POINTS
            for start in range(0, len(points), step):
                rows = slice(start, start + step)
                centred = points[rows] - self._center
                turned[rows] = centred[:, self._axes] if self._axes.ndim == 1 else centred @ self._axes
        return turned


def axes_of(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A centre, and axes as columns, the widest first; in wide tables, the columns by how much they vary."""
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
