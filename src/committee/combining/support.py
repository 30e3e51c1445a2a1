"""The arithmetic of the fixed rules: from a block of votes to the support of each output.

In: votes of float64 of shape (n_members, n_rows, n_outputs), and a weight for each member. Out: an array of
shape (n_rows, n_outputs), not rescaled.
"""

from __future__ import annotations

import numpy as np

from committee.votes.arrays import labels_of, weighted_sum

# Sums of weights that differ by less are equal: the order of the members does not decide.
SAME_SHARE = 1e-12


def middle(votes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """The weighted median: halfway between the votes before and after half of the weight."""
    ordered, reached = in_order(votes, shares)
    lower = (reached >= 0.5 - SAME_SHARE).argmax(axis=0, keepdims=True)
    upper = (reached > 0.5 + SAME_SHARE).argmax(axis=0, keepdims=True)
    low, high = (np.take_along_axis(ordered, at, axis=0)[0] for at in (lower, upper))
    middles: np.ndarray = low / 2 + high / 2
    return middles


def between(votes: np.ndarray, shares: np.ndarray, low: float, high: float) -> np.ndarray:
    """The mean of the votes between two shares of the weight."""
    ordered, reached = in_order(votes, shares)
    counted = np.diff(reached.clip(low, high), axis=0, prepend=low)
    return weighted_sum(ordered, counted / (high - low))


def in_order(votes: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The votes for each output in ascending order, and the share of the weight that is reached with each."""
    if (shares == shares[0]).all():
        return np.sort(votes, axis=0), shares.cumsum()[:, np.newaxis, np.newaxis]
    order = votes.argsort(axis=0)
    return np.take_along_axis(votes, order, axis=0), shares[order].cumsum(axis=0)


def multiplied(votes: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """The product of votes to powers, up to a factor for each row."""
    are_zero = votes == 0
    logarithms = weighted_sum(np.log(np.where(are_zero, 1, votes)), exponents)
    if are_zero.any():
        vetoes = weighted_sum(are_zero, exponents)
        fewest = vetoes.min(axis=1, keepdims=True)
        logarithms[vetoes > fewest + SAME_SHARE * exponents.sum()] = -np.inf
    return np.exp(logarithms - logarithms.max(axis=1, keepdims=True))


def counted(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The weight of the members that vote for each class."""
    counts = np.zeros(votes.shape[1:])
    rows = np.arange(len(counts))
    for weight, label in zip(weights, labels_of(votes), strict=True):
        counts[rows, label] += weight
    return counts


def winners(counts: np.ndarray) -> np.ndarray:
    """1 for the class, or the classes, with the most of the votes, whose shares are given."""
    return (counts >= counts.max(axis=1, keepdims=True) - SAME_SHARE).astype(np.float64)


def ranked(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The points of each class: half the classes besides it, and half its wins less its losses."""
    n_members, n_rows, n_classes = votes.shape
    by_class = np.ascontiguousarray(votes.transpose(2, 0, 1))
    balances = np.zeros((n_classes, n_members, n_rows), dtype=np.int32)
    for one in range(n_classes):
        for other in range(one):
            wins = (by_class[one] > by_class[other]).view(np.int8)
            wins -= (by_class[one] < by_class[other]).view(np.int8)
            balances[one] += wins
            balances[other] -= wins
    return weighted_sum((n_classes - 1 + balances.transpose(1, 2, 0)) / 2, weights)
