"""From the weighted votes of members to a decision: what the engine's links do, for members of any kind."""

from __future__ import annotations

import numpy as np


def shares_of(sums: np.ndarray) -> np.ndarray:
    """Sums of votes as shares; all the same for a row that has none.

    Examples
    --------
    >>> shares_of(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    totals = sums.sum(axis=1, keepdims=True)
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 1 / sums.shape[1])


def samme_scale(n_classes: int) -> float:
    """By what SAMME multiplies shares of votes before it takes the softmax.

    The scores are 1 for the class of a member and -1 / (n_classes - 1) for the others, in the mean of the
    votes, and the softmax takes scores / (n_classes - 1). What does not depend on the class falls out of it.
    """
    return n_classes / (n_classes - 1) ** 2


def softmax(scores: np.ndarray) -> np.ndarray:
    """Probabilities in proportion to exp(scores).

    Examples
    --------
    >>> softmax(np.log([[1.0, 3.0]])).round(2)
    array([[0.25, 0.75]])
    """
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)
