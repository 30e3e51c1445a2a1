"""Thresholds that suit a metric: what is added to the scores of the classes.

In: scores of honest decisions, and a metric. Out: a number for each class. Each is found among those at which
some row changes its class, one class after the other.
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

# The number of thresholds of a class to try, and how often.
N_THRESHOLDS, N_TURNS = 60, 2
# Without counts, a metric judges every threshold: at most the first number for all classes together, and at
# least the second for each class.
MOST_ASKED, LEAST_ASKED = 240, 8


def best_biases(
    scores: np.ndarray, y: np.ndarray, weights: np.ndarray, metric: Metric, deadline: float
) -> np.ndarray:
    """Return what to add to the scores of the classes so that the metric is best; 0 where nothing is gained.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Logarithms of probabilities.
    y : ndarray of int of shape (n_rows,)
    weights : ndarray of shape (n_rows,)
    metric : Metric
    deadline : float
        When to return the best so far, by `time.monotonic`.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    counts = np.flatnonzero(weights)
    scores, y, weights = scores[counts], y[counts], weights[counts]
    judge: ByScore | ByCounts
    if metric.of_counts is None:
        n_thresholds = min(N_THRESHOLDS, max(LEAST_ASKED, MOST_ASKED // scores.shape[1]))
        judge = ByScore(metric, y, weights, deadline, n_thresholds)
    else:
        judge = ByCounts(metric.of_counts, y, weights)
    n_classes = scores.shape[1]
    biases = np.zeros(n_classes)
    lowest = judge.plain(scores)
    # Of two classes, one is enough.
    classes = range(1 if n_classes == 2 else 0, n_classes)
    for _ in range(N_TURNS):
        before = lowest
        for code in classes:
            if time.monotonic() >= deadline:
                return biases
            moved = scores + biases
            tried = thresholds(moved, code, judge.n_thresholds)
            losses = judge.raised(moved, code, tried)
            best = int(losses.argmin())
            if losses[best] < lowest:
                lowest = float(losses[best])
                biases[code] += tried[best]
        if lowest == before:
            break
    return biases


def thresholds(scores: np.ndarray, code: int, n_thresholds: int) -> np.ndarray:
    """Return how much the score of a class must rise for shares of the rows to become of that class."""
    lacking = np.unique(lacking_of(scores, code)[0])
    places = np.linspace(0, len(lacking) - 1, min(n_thresholds, len(lacking))).round().astype(np.int64)
    # Between two rows, so that neither is a tie; above the last, all rows are of the class.
    above = np.append(lacking[1:], lacking[-1] + 1.0)
    return (lacking[places] + above[places]) / 2


def lacking_of(scores: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
    """Return what each row lacks to be of a class, and the best of the other classes."""
    others = scores.copy()
    others[:, code] = -np.inf
    best = others.argmax(axis=1)
    return np.take_along_axis(others, best[:, None], axis=1)[:, 0] - scores[:, code], best


@dataclass(frozen=True, eq=False)
class ByScore:
    """Judge decisions by a metric that is computed for each.

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
        """Return the loss of the decision by the highest score."""
        decision = rescaled(np.exp(scores - scores.max(axis=1, keepdims=True)))
        return self.metric.loss(self.y, decided(decision, rounding_of(decision)), self.weights)

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised; infinity where time is too short."""
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
    """Judge decisions by counts: the weights of the rows, class by class.

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
        """Return the loss of the decision by the highest score."""
        n_classes, labels = scores.shape[1], scores.argmax(axis=1)
        right = np.bincount(labels, self.weights * (labels == self.y), n_classes)
        decided = np.bincount(labels, self.weights, n_classes)
        return float(-self.score(right[None], decided[None], self._there(n_classes))[0])

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """Return the losses if the score of a class is raised, by more and more.

        A row belongs to the best other class until the class has what the row lacks. So what each class gains
        or loses between two thresholds is counted once, and summed.
        """
        n_classes = scores.shape[1]
        lacking, best = lacking_of(scores, code)
        # A row changes its class before the threshold of this place.
        place = np.searchsorted(by, lacking, side="right")

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
    """Return places in an order in which the first ones are far apart, however many there is time for.

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
