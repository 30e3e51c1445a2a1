"""Metrics of decisions as functions of counts, for many decisions at once.

In: the weights of the rows of each class that are decided right, are decided on and are there. Out: a score,
as scikit-learn's metric of that name gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from committee.votes.honest import HonestVotes

# From the weights of the rows of each class that are decided right, are decided on and are there, each of
# shape (n_decisions, n_classes), to a score for each decision.
Score = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
# What is left of one, at most, when shares that sum to it are taken from it.
ROUNDING = 1e-12


def count_score(metric: Any, honest: HonestVotes) -> Score | None:
    """A metric as a function of counts, if it is known to be one; more is better.

    Those of one class, such as f1, are about the class whose label is 1.

    Examples
    --------
    >>> honest = HonestVotes.of(np.full((1, 4, 2), 0.5), np.array([0, 0, 0, 1]))
    >>> count_score("f1_macro", honest)(*(np.array([each]) for each in ([2.0, 1.0], [2.0, 2.0], [3.0, 1.0])))
    array([0.73333333])
    >>> count_score("roc_auc", honest) is None
    True
    """
    if not isinstance(metric, str):
        return None
    if metric in SCORES:
        return SCORES[metric]
    name, _, average = metric.partition("_")
    if name not in PARTS or average not in ("", *AVERAGES):
        return None
    part = PARTS[name]
    if average:
        return lambda *counts: AVERAGES[average](part, *counts)
    labels = np.arange(honest.n_outputs) if honest.classes is None else honest.classes
    positive = [code for code, label in enumerate(labels.tolist()) if label == 1]
    if len(positive) != 1 or len(labels) != 2:
        return None
    return lambda *counts: part(*counts)[:, positive[0]]


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """A quotient, 0 where there is none."""
    above, below = np.broadcast_arrays(above, below)
    return np.divide(above, below, out=np.zeros(above.shape), where=below > 0)


def macro(part: Score, right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The mean over the classes that are there or are decided on."""
    is_met = decided + there > 0
    return (part(right, decided, there) * is_met).sum(axis=1) / is_met.sum(axis=1)


def weighted(part: Score, right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The mean over the classes, by how much is there of each."""
    return (part(right, decided, there) * there).sum(axis=1) / there.sum(axis=1)


def micro(part: Score, *counts: np.ndarray) -> np.ndarray:
    """All classes taken for one."""
    return part(*(each.sum(axis=1, keepdims=True) for each in counts))[:, 0]


def balanced_accuracy(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The mean share that is decided right, over the classes that are there."""
    return ratio(right, there).sum(axis=1) / (there > 0).sum(axis=1)


def correlation(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The correlation of Matthews (Gorodkin 2004), of shares of all."""
    total = there.sum(axis=1)
    right, decided, there = (each / total[:, None] for each in (right, decided, there))
    spread = spread_of(decided) * spread_of(there)
    return ratio(right.sum(axis=1) - (decided * there).sum(axis=1), np.sqrt(spread))


def spread_of(shares: np.ndarray) -> np.ndarray:
    """How far shares are from being all of one class, which is 0 whatever rounding says."""
    spread: np.ndarray = 1 - (shares**2).sum(axis=1)
    return np.where(spread > ROUNDING, spread, 0.0)


def accuracy(right: np.ndarray, decided: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The share that is decided right."""
    return right.sum(axis=1) / there.sum(axis=1)


# What is counted of each class.
PARTS: Mapping[str, Score] = {
    "precision": lambda right, decided, there: ratio(right, decided),
    "recall": lambda right, decided, there: ratio(right, there),
    "f1": lambda right, decided, there: ratio(2 * right, decided + there),
    "jaccard": lambda right, decided, there: ratio(right, decided + there - right),
}
AVERAGES: Mapping[str, Callable[..., np.ndarray]] = {"macro": macro, "weighted": weighted, "micro": micro}
SCORES: Mapping[str, Score] = {
    "error": accuracy,
    "accuracy": accuracy,
    "balanced_error": balanced_accuracy,
    "balanced_accuracy": balanced_accuracy,
    "matthews_corrcoef": correlation,
}
