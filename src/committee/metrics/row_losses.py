"""Losses of rows: what a vote costs on one row, lower for better votes.

In: votes of shape (n_members, n_rows, n_outputs) and y. Out: losses of shape (n_members, n_rows).
"""

from __future__ import annotations

import numpy as np

from committee.votes.vote_arrays import labels_of

# Lower probabilities count as this one where rules learn, so that no single row decides alone.
SMALLEST = 1e-15
# The same where decisions are scored, as in scikit-learn.
SMALLEST_SCORED = float(np.finfo(np.float64).eps)


class NoValueError(ValueError):
    """A metric has no value on some rows, for example because they lack a class."""


def log_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return minus the logarithm of the vote for the class of the row."""
    return -np.log(np.maximum(votes_for(votes, y), SMALLEST_SCORED))


def learnt_log_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log losses that rules learn by."""
    return -np.log(np.maximum(votes_for(votes, y), SMALLEST))


def errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return 1 where the class of the highest vote, the first of equal ones, is wrong."""
    return (labels_of(votes) != y).astype(np.float64)


def squared_errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the squared distance from the answer."""
    return np.square(residuals(votes, y)).sum(axis=2)


def brier_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the squared distance from a crisp vote for the class; half of it for two classes."""
    return squared_errors(votes, y) * brier_scale(votes.shape[2])


def brier_scale(n_classes: int) -> float:
    """Return what scikit-learn multiplies the squared distances by."""
    return 0.5 if n_classes == 2 else 1.0


def absolute_errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distance from the answer."""
    return np.abs(votes[:, :, 0] - y)


def votes_for(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the votes of each member for the class of each row, of shape (n_members, n_rows)."""
    return np.take_along_axis(votes, y[None, :, None], axis=2)[:, :, 0]


def residuals(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return votes minus the answer: the number, or a crisp vote for the class."""
    if votes.shape[2] == 1:
        return votes - y[None, :, None]
    from_answer = votes.copy()
    from_answer[:, np.arange(len(y)), y] -= 1
    return from_answer


def balanced(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights of the rows with which every class counts the same."""
    of_class = np.bincount(y, weights=weights)
    return weights / np.where(of_class > 0, of_class, 1.0)[y]
