"""The thresholds of decisions that suit a metric: what is added to the scores of the classes.

In: scores of honest decisions, and a metric. Out: a number for each class. Each is found among those at which
some row changes its class, one class after the other.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from committee.combining.counting import Score, count_score
from committee.combining.losses import member_losses, metric_of_votes
from committee.votes.arrays import rescaled
from committee.votes.honest import HonestVotes

# So many thresholds of a class are tried, in so many turns.
N_THRESHOLDS, N_TURNS = 60, 2
# Of a metric that has to be asked about each, so many of all classes together, and so many of each at least.
MOST_ASKED, LEAST_ASKED = 240, 8


def best_biases(scores: np.ndarray, honest: HonestVotes, metric: Any, deadline: float) -> np.ndarray:
    """What must be added to the scores of the classes to lower a metric most; 0 where nothing is gained.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_classes)
        Logarithms of probabilities.
    honest : HonestVotes
    metric : str or callable
    deadline : float
        When the best so far are taken, by `time.monotonic`.

    Returns
    -------
    ndarray of shape (n_classes,)
    """
    counts = np.flatnonzero(honest.weights)
    scores, honest = scores[counts], honest.on(counts)
    judge = judge_by(metric, honest, deadline)
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
    """By how much the score of a class must rise for shares of the rows to become of that class."""
    lacking = np.unique(lacking_of(scores, code)[0])
    places = np.linspace(0, len(lacking) - 1, min(n_thresholds, len(lacking))).round().astype(np.int64)
    # Between two rows, so that neither is a tie; above the last, all rows are of the class.
    above = np.append(lacking[1:], lacking[-1] + 1.0)
    middle: np.ndarray = (lacking[places] + above[places]) / 2
    return middle


def lacking_of(scores: np.ndarray, code: int) -> tuple[np.ndarray, np.ndarray]:
    """What each row lacks to be of a class, and the best of the other classes."""
    others = scores.copy()
    others[:, code] = -np.inf
    best = others.argmax(axis=1)
    return np.take_along_axis(others, best[:, None], axis=1)[:, 0] - scores[:, code], best


@dataclass(frozen=True)
class ByFunction:
    """Judges decisions by a metric that is asked about each.

    Parameters
    ----------
    metric : str or callable
    honest : HonestVotes
    deadline : float
    """

    metric: Any
    honest: HonestVotes
    deadline: float

    @property
    def n_thresholds(self) -> int:
        """How many thresholds of a class are tried."""
        return min(N_THRESHOLDS, max(LEAST_ASKED, MOST_ASKED // self.honest.n_outputs))

    def plain(self, scores: np.ndarray) -> float:
        """The loss of the decision by the highest score."""
        return loss_of(scores, self.honest, self.metric)

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """The losses if the score of a class is raised; infinity for those that time is too short for."""
        losses = np.full(len(by), np.inf)
        for place in coarse_first(len(by)):
            if time.monotonic() >= self.deadline:
                break
            moved = scores.copy()
            moved[:, code] += by[place]
            losses[place] = loss_of(moved, self.honest, self.metric)
        return losses


@dataclass(frozen=True)
class ByCounts:
    """Judges decisions by a metric that counts: from the weights of the rows, class by class.

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
        """The loss of the decision by the highest score."""
        n_classes, labels = scores.shape[1], scores.argmax(axis=1)
        right = np.bincount(labels, self.weights * (labels == self.y), n_classes)
        decided = np.bincount(labels, self.weights, n_classes)
        return float(-self.score(right[None], decided[None], self._there(n_classes))[0])

    def raised(self, scores: np.ndarray, code: int, by: np.ndarray) -> np.ndarray:
        """The losses if the score of a class is raised, by more and more.

        A row is of the best other class until the class has what it lacks: so what each class gains or loses
        between two thresholds is counted once, and summed.
        """
        n_classes = scores.shape[1]
        lacking, best = lacking_of(scores, code)
        # A row changes its class before the threshold of this place.
        place = np.searchsorted(by, lacking, side="right")

        def changing(weights: np.ndarray) -> np.ndarray:
            counts = np.bincount(place * n_classes + best, weights, (len(by) + 1) * n_classes)
            return counts.reshape(len(by) + 1, n_classes)

        def left(of_changes: np.ndarray) -> np.ndarray:
            remaining: np.ndarray = of_changes.sum(axis=0) - of_changes[:-1].cumsum(axis=0)
            return remaining

        decided = left(changing(self.weights))
        right = left(changing(self.weights * (best == self.y)))
        decided[:, code] = self.weights.sum() - decided.sum(axis=1)
        right[:, code] = changing(self.weights * (self.y == code)).sum(axis=1)[:-1].cumsum()
        return -self.score(right, decided, self._there(n_classes))

    def _there(self, n_classes: int) -> np.ndarray:
        return np.bincount(self.y, self.weights, n_classes)[None]


def judge_by(metric: Any, honest: HonestVotes, deadline: float) -> ByFunction | ByCounts:
    """Who judges by a metric: by counts, if that will do."""
    score = count_score(metric, honest)
    if score is None:
        return ByFunction(metric, honest, deadline)
    return ByCounts(score, honest.y, honest.weights)


def coarse_first(n: int) -> list[int]:
    """Places in an order in which the first of them are far apart, however many there is time for.

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


def loss_of(scores: np.ndarray, honest: HonestVotes, metric: Any) -> float:
    """The metric of the decision that scores come to."""
    decision = rescaled(np.exp(scores - scores.max(axis=1, keepdims=True)))
    judged = replace(honest, votes=decision[None], has_voted=None)
    return float(member_losses(metric_of_votes(metric, judged), judged)[0])
