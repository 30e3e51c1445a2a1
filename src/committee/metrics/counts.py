"""Compute scores from counts, for many decisions at once.

In: three arrays of shape (n_decisions, n_classes). For each class, they contain the weight of its correctly
classified rows (`right`), of the rows that are predicted to be of it (`decided`), and of its rows (`there`).
Out: the score of each decision, as scikit-learn defines it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

Score = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
# The largest rounding error of one minus shares that sum to one.
ROUNDING = 1e-12


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Divide, and return 0 where the denominator is 0."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def macro(part: Score, right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the mean over the classes that have rows or are predicted."""
    is_met = decided + there > 0
    return (part(right, decided, there) * is_met).sum(axis=1) / is_met.sum(axis=1)


def weighted(part: Score, right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the mean over the classes, weighted by the number of their rows."""
    return (part(right, decided, there) * there).sum(axis=1) / there.sum(axis=1)


def micro(part: Score, *counts: np.ndarray) -> np.ndarray:
    """Return the score of the counts summed over all classes."""
    return part(*(each.sum(axis=1, keepdims=True) for each in counts))[:, 0]


def accuracy(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the share of correct decisions."""
    return right.sum(axis=1) / there.sum(axis=1)


def balanced_accuracy(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the mean recall over the classes that have rows."""
    return ratio(right, there).sum(axis=1) / (there > 0).sum(axis=1)


def correlation(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Return the Matthews correlation coefficient for several classes (Gorodkin 2004)."""
    total = there.sum(axis=1)
    right, decided, there = (each / total[:, None] for each in (right, decided, there))
    spread = spread_of(decided) * spread_of(there)
    return ratio(right.sum(axis=1) - (decided * there).sum(axis=1), np.sqrt(spread))


def spread_of(shares: np.ndarray) -> np.ndarray:
    """Return one minus the sum of squared shares: 0 if all rows are of one class."""
    spread: np.ndarray = 1 - (shares**2).sum(axis=1)
    return np.where(spread > ROUNDING, spread, 0.0)


# Scores of a single class, and ways to average them over all classes.
PARTS: Mapping[str, Score] = {
    "precision": lambda right, decided, there: ratio(right, decided),
    "recall": lambda right, decided, there: ratio(right, there),
    "f1": lambda right, decided, there: ratio(2 * right, decided + there),
    "jaccard": lambda right, decided, there: ratio(right, decided + there - right),
}
AVERAGES: Mapping[str, Callable[..., np.ndarray]] = {"macro": macro, "weighted": weighted, "micro": micro}
