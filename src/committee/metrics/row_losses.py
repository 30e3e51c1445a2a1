"""Compute the loss of each vote on each row.

In: votes of shape (n_members, n_rows, n_outputs) and y. Out: losses of shape (n_members, n_rows).
"""

from __future__ import annotations

import numpy as np

from committee.votes.vote_arrays import labels_of

# Rules clip probabilities at this when they are fitted, so that no single row determines the result.
SMALLEST = 1e-15
# Scores clip probabilities at this, as in scikit-learn.
SMALLEST_SCORED = float(np.finfo(np.float64).eps)


class NoValueError(ValueError):
    """A metric has no value on some rows, for example because a class has no rows."""


def log_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return minus the logarithm of the vote for the true class."""
    return -np.log(np.maximum(votes_for(votes, y), SMALLEST_SCORED))


def learnt_log_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the log losses that rules minimise."""
    return -np.log(np.maximum(votes_for(votes, y), SMALLEST))


def errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return 1 where the predicted class is wrong. Of equal votes, the first class is predicted."""
    return (labels_of(votes) != y).astype(np.float64)


def squared_errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the squared distance of the votes from y. For classes, y is one-hot encoded."""
    return np.square(residuals(votes, y)).sum(axis=2)


def brier_losses(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the squared distance from the one-hot encoded class, halved for two classes."""
    return squared_errors(votes, y) * brier_scale(votes.shape[2])


def brier_scale(n_classes: int) -> float:
    """Return the factor of the squared distances in scikit-learn's Brier score."""
    return 0.5 if n_classes == 2 else 1.0


def absolute_errors(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the absolute difference of the votes and y."""
    return np.abs(votes[:, :, 0] - y)


def votes_for(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the votes of each member for the true class of each row, of shape (n_members, n_rows)."""
    return np.take_along_axis(votes, y[None, :, None], axis=2)[:, :, 0]


def residuals(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return votes minus y. For classes, y is one-hot encoded."""
    if votes.shape[2] == 1:
        return votes - y[None, :, None]
    from_answer = votes.copy()
    from_answer[:, np.arange(len(y)), y] -= 1
    return from_answer


def balanced(y: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Rescale the weights of the rows so that all classes have the same total weight."""
    of_class = np.bincount(y, weights=weights)
    return weights / np.where(of_class > 0, of_class, 1.0)[y]
