"""Rules that need no training: functions of the votes alone.

In: votes of shape (n_members, n_rows, n_outputs), and a weight for each member. Out: one decision of shape
(n_rows, n_outputs).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def mean(votes: Any, weights: Any = None) -> np.ndarray:
    """Average the members' votes.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs)
    weights : array-like of shape (n_members,), default=None
        None gives every member the same say.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    Examples
    --------
    >>> mean([[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]]).round(2)
    array([[0.53, 0.47]])
    """
    votes = check_votes(votes)
    return np.tensordot(shares_of(weights, len(votes)), votes, axes=1)


def majority(votes: Any, weights: Any = None) -> np.ndarray:
    """Count the members that vote for each class.

    A member votes for its class of the highest probability, the first of equal ones.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        What the vote of each member counts. None gives every member the same say.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares of the votes.

    Examples
    --------
    >>> majority([[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]]).round(2)
    array([[0.67, 0.33]])
    """
    votes = check_votes(votes)
    return mean(one_hot(votes.argmax(axis=2), votes.shape[2]), weights)


def one_hot(labels: Any, n_classes: int) -> np.ndarray:
    """Turn labels into crisp votes.

    Parameters
    ----------
    labels : array-like of int of any shape, such as (n_members, n_rows)
        Numbers of classes, from 0 on.
    n_classes : int

    Returns
    -------
    ndarray of the shape of labels, and n_classes
        1 for the class, 0 for the others.

    Examples
    --------
    >>> one_hot([[0, 1]], n_classes=2)
    array([[[1., 0.],
            [0., 1.]]])
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu" or ((labels < 0) | (labels >= n_classes)).any():
        raise ValueError(f"labels must be integers from 0 to {n_classes - 1}. Got {labels!r}.")
    return np.eye(n_classes)[labels]


def check_votes(votes: Any) -> np.ndarray:
    """Votes as an array, if they have three dimensions and at least one member."""
    votes = np.asarray(votes, dtype=np.float64)
    if votes.ndim != 3 or len(votes) == 0:
        raise ValueError(f"votes must have the shape (n_members, n_rows, n_outputs). Got {votes.shape}.")
    return votes


def shares_of(weights: Any, n_members: int) -> np.ndarray:
    """Weights as shares that sum to one."""
    if weights is None:
        return np.full(n_members, 1 / n_members)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (n_members,):
        raise ValueError(f"weights must be one number for each of {n_members} members. Got {weights.shape}.")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(f"weights must be finite, >= 0 and not all 0. Got {weights}.")
    return weights / weights.sum()
