"""How members confuse classes: the weight of the rows of a class that a member calls by another's name."""

from __future__ import annotations

import numpy as np

from committee.votes.arrays import labels_of
from committee.votes.honest import HonestVotes


def confusions_of(honest: HonestVotes) -> np.ndarray:
    """Count what each member decides on the rows of each class.

    Parameters
    ----------
    honest : HonestVotes

    Returns
    -------
    ndarray of shape (n_members, n_classes, n_classes)
        Weights of rows; a row of it is the true class, a column the class that the member votes for.

    Examples
    --------
    >>> confusions_of(HonestVotes.of([[[0.9, 0.1], [0.4, 0.6], [0.2, 0.8]]], [0, 0, 1]))
    array([[[1., 1.],
            [0., 1.]]])
    """
    n_classes = honest.n_outputs
    counts = np.zeros((honest.n_members, n_classes * n_classes))
    for votes, y, weights in honest.judging():
        for member, label in enumerate(labels_of(votes)):
            counts[member] += np.bincount(y * n_classes + label, weights[member], n_classes * n_classes)
    return counts.reshape(-1, n_classes, n_classes)


def one_against_the_rest(confusions: np.ndarray) -> np.ndarray:
    """For each class, the confusion of it (the second) with all others together (the first).

    Parameters
    ----------
    confusions : ndarray of shape (n_members, n_classes, n_classes)

    Returns
    -------
    ndarray of shape (n_members, n_classes, 2, 2)
    """
    hits = np.diagonal(confusions, axis1=1, axis2=2)
    misses, false_calls = confusions.sum(axis=2) - hits, confusions.sum(axis=1) - hits
    rest = confusions.sum(axis=(1, 2))[:, np.newaxis] - hits - misses - false_calls
    return np.stack([rest, false_calls, misses, hits], axis=2).reshape(*hits.shape, 2, 2)


def accuracy_of(confusions: np.ndarray) -> np.ndarray:
    """The share of right decisions, of confusions in the last two axes; 0 where nothing was decided."""
    right, total = np.trace(confusions, axis1=-2, axis2=-1), confusions.sum(axis=(-2, -1))
    return np.divide(right, total, out=np.zeros(np.shape(total)), where=total > 0)


def balanced_accuracy_of(confusions: np.ndarray) -> np.ndarray:
    """The mean share of right decisions over the classes that there are rows of."""
    rows = confusions.sum(axis=-1)
    hits = np.diagonal(confusions, axis1=-2, axis2=-1)
    shares = np.divide(hits, rows, out=np.zeros_like(hits), where=rows > 0)
    return shares.sum(axis=-1) / (rows > 0).sum(axis=-1).clip(1)
