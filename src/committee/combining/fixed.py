"""Rules that need no training: functions of the votes alone.

In: votes of shape (n_members, n_rows, n_outputs), and a weight for each member. Out: one decision of shape
(n_rows, n_outputs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from committee.combining.votes import (
    check_classes,
    check_votes,
    in_blocks,
    labels_of,
    shares_of,
    weighted_sum,
)


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
    shares = shares_of(weights, len(votes))
    return in_blocks(lambda block: weighted_sum(block, shares), votes)


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
    votes = check_classes(votes, "majority")
    shares = shares_of(weights, len(votes))
    return in_blocks(lambda block: count(block, shares), votes)


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


def count(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weight of the members that vote for each class."""
    return weighted_sum(one_hot(labels_of(votes), votes.shape[2]), weights)
