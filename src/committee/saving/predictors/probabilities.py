"""Compute probabilities from scores and from sums of votes."""

from __future__ import annotations

import numpy as np


def shares_of(sums: np.ndarray) -> np.ndarray:
    """Return sums of votes as shares. All shares of a row without votes are equal.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    totals = sums.sum(axis=1, keepdims=True)
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1 / sums.shape[1])


def softmax(scores: np.ndarray) -> np.ndarray:
    """Return probabilities in proportion to exp(scores).

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]])).round(2)
    array([[0.25, 0.75]])
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def logistic(x: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + exp(-x)).

    Examples
    --------
    >>> logistic(np.array([0.0, -1000.0]))
    array([0.5, 0. ])
    """
    with np.errstate(over="ignore"):
        shares: np.ndarray = 1 / (1 + np.exp(-x))
    return shares


def two_shares(second: np.ndarray) -> np.ndarray:
    """Return the probabilities of two classes from those of the second class."""
    return np.stack([1 - second, second], axis=1)
