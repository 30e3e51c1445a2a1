"""Find the thresholds of the classes at which a metric is best.

In: scores of honest decisions, and a metric. Out: a bias for each class, which is added to its scores. The
biases are optimised one class after the other, among the values at which the predicted class of a row
changes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from committee.metrics.counts import Score
from committee.metrics.member_losses import decided
from committee.metrics.metric_table import Metric
from committee.votes.vote_arrays import rescaled, rounding_of

# The number of thresholds to try for a class, and the number of passes over all classes.
N_THRESHOLDS, N_TURNS = 60, 2
# Without counts, the metric is computed for every threshold. The first number limits the thresholds of all
# classes together, and the second is the least number for each class.
MOST_SCORED, LEAST_SCORED = 240, 8


def best_biases(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray, metric: Metric, deadline: float
) -> np.ndarray:
    """Return the biases of the scores of the classes at which the metric is best; 0 if none improves it.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Logarithms of probabilities.
    y : ndarray of int of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    metric : Metric
    deadline : float
        The time of `time.monotonic` at which to return the best biases so far.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    counts = np.flatnonzero(weights)
    scores, y, weights = scores[counts], y[counts], weights[counts]
    loss: ByScore | ByCounts
    if metric.of_counts is None:
        n_thresholds = min(N_THRESHOLDS, max(LEAST_SCORED, MOST_SCORED // scores.shape[1]))
        loss = ByScore(metric, y, weights, deadline, n_thresholds)
    else:
        loss = ByCounts(metric.of_counts, y, weights)
    n_classes = scores.shape[1]
    biases = np.zeros(n_classes)
    lowest = loss.plain(scores)
    # With two classes, the bias of one is enough.
    classes = range(1 if n_classes == 2 else 0, n_classes)
    for _ in range(N_TURNS):
        before = lowest
        for code in classes:
            if time.monotonic() >= deadline:
                return biases
            moved = scores + biases
            tried = thresholds(moved, code, loss.n_thresholds)
            losses = loss.raised(moved, code, tried)
            best = int(losses.argmin())
            if losses[best] < lowest:
                lowest = float(losses[best])
                biases[code] += tried[best]
        if lowest == before:
            break
    return biases


def thresholds(scores: np.ndarray, code: int, n_thresholds: int) -> np.ndarray:
    """Return increases of the score of a class after which growing shares of the rows are predicted as it."""
    margins = np.unique(margins_of(scores, code)[0])
    places = np.linspace(0, len(margins) - 1, min(n_thresholds, len(margins))).round().astype(np.int64)
    # Thresholds between the margins of two rows make no ties. Above the last one, all rows are of the class.
    above = np.append(margins[1:], margins[-1] + 1.0)
    return (margins[places] + above[places]) / 2


def margins_of(scores: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how far the score of a class is below the best other class on each row, and that class."""
    others = scores.copy()
    others[:, code] = -np.inf
    best = others.argmax(axis=1)
    return np.take_along_axis(others, best[:, None], axis=1)[:, 0] - scores[:, code], best


@dataclass(frozen=True, eq=False)
class ByScore:
    """The losses of decisions under a metric that is computed for each decision.

    Parameters
    ----------
    metric : Metric
    y, weights : ndarray of shape (n_rows,)
    deadline : float
    n_thresholds : int
        The number of thresholds of a class to try.
    """

    metric: Metric
    y: np.ndarray
    weights: np.ndarray
    deadline: float
    n_thresholds: int

    def plain(self, scores: np.ndarray) -> float:
        """Return the loss if the class of the highest score is predicted."""
        decision = rescaled(np.exp(scores - scores.max(axis=1, keepdims=True)))
        return self.metric.loss(self.y, decided(decision, rounding_of(decision)), self.weights)

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised; infinity after the deadline."""
        losses = np.full(len(by), np.inf)
        for place in coarse_first(len(by)):
            if time.monotonic() >= self.deadline:
                break
            moved = scores.copy()
            moved[:, code] += by[place]
            losses[place] = self.plain(moved)
        return losses


@dataclass(frozen=True)
class ByCounts:
    """The losses of decisions under a metric of counts.

    Parameters
    ----------
    score : Score
    y : ndarray of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    """

    score: Score
    y: np.ndarray
    weights: np.ndarray
    n_thresholds: ClassVar[int] = N_THRESHOLDS

    def plain(self, scores: np.ndarray) -> float:
        """Return the loss if the class of the highest score is predicted."""
        n_classes, labels = scores.shape[1], scores.argmax(axis=1)
        right = np.bincount(labels, self.weights * (labels == self.y), n_classes)
        decided = np.bincount(labels, self.weights, n_classes)
        return float(-self.score(right[None], decided[None], self._there(n_classes))[0])

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised by increasing numbers.

        The best other class is predicted for a row until the increase exceeds its margin. So the changes
        between two thresholds are counted once, and their cumulative sums are the counts.
        """
        n_classes = scores.shape[1]
        margins, best = margins_of(scores, code)
        # The predicted class of a row changes just below the threshold with this number.
        place = np.searchsorted(by, margins, side="right")

        def changing(weights: np.ndarray) -> np.ndarray:
            counts = np.bincount(place * n_classes + best, weights, (len(by) + 1) * n_classes)
            return counts.reshape(len(by) + 1, n_classes)

        def left(of_changes: np.ndarray) -> np.ndarray:
            return of_changes.sum(axis=0) - of_changes[:-1].cumsum(axis=0)

        decided = left(changing(self.weights))
        right = left(changing(self.weights * (best == self.y)))
        decided[:, code] = self.weights.sum() - decided.sum(axis=1)
        right[:, code] = changing(self.weights * (self.y == code)).sum(axis=1)[:-1].cumsum()
        return -self.score(right, decided, self._there(n_classes))

    def _there(self, n_classes: int) -> np.ndarray:
        return np.bincount(self.y, self.weights, n_classes)[None]


def coarse_first(n: int) -> list[int]:
    """Order places so that any number of the first ones are far apart.

    Examples
    --------
    >>> coarse_first(7)
    [3, 1, 5, 0, 2, 4, 6]
    """
    found: list[int] = []
    step = 1 << n.bit_length()
    while step > 1:
        found += range(step // 2 - 1, n, step)
        step //= 2
    return found
