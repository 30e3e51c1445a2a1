"""The logarithmic pool: members' probabilities are multiplied, each to a power learnt from honest votes.

In: honest votes for classes. Out: an exponent for each member and a factor for each class. It is stacking by
logistic regression on log-probabilities in which all classes share a member's weight: so there is little to
learn, and it can be learnt from few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from committee.combining.rule import Rule
from committee.parameters import declared, number, parameter
from committee.saving import saved
from committee.saving.format import attributes
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import weighted_sum

# Probabilities below this are taken for it: a member that is sure and wrong does not decide alone.
SMALLEST = 1e-3
# Newton steps: how many at most, the slope at which they end, and what share of the fall that the slope
# promises must come true. A number this near to its bound stays there.
MOST_STEPS, FLAT, ENOUGH, SMALLEST_STEP, NEAR = 50, 1e-6, 1e-4, 1e-6, 1e-10
# Added to the curvature, relative to it: without a penalty, members that say the same have no single best
# weights.
RIDGE = 1e-12


@saved
@declared
class LogPoolRule(Rule):
    r"""Multiply the members' probabilities, each to its power (Genest and Zidek 1986).

    .. math:: p(c) \propto \exp\Big(b_c + \sum_m w_m \log p_m(c)\Big), \qquad w_m \ge 0.

    Weights and the :math:`b_c` minimise the mean log loss on honest votes plus a penalty on the squared
    distance of the weights from one over the number of members, and of the :math:`b_c` from 0. Weights that
    sum to more than one make the decision surer than the members are, which is right where they err in
    different ways.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        The exponents.
    biases_ : ndarray of shape (n_classes,)

    References
    ----------
    C. Genest, J. V. Zidek (1986). Combining probability distributions: a critique and an annotated
    bibliography. Statistical Science 1.

    Examples
    --------
    >>> votes = [[[0.8, 0.2], [0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]]
    >>> LogPoolRule(penalty=0.1).fit(votes, [0, 0, 1]).weights_.round(1)
    array([1.7, 0.5])
    """

    # It has learnt from votes of single models; the mean of their votes is surer than it knows.
    decides_by_fold: ClassVar[bool] = True

    penalty: float = parameter(
        1e-3,
        number(0),
        "What the squares cost against the mean log loss. With 0, members that say the same have no single "
        "best weights.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "weights_": attributes.floats("members", low=0),
        "biases_": attributes.floats("outputs"),
    }

    def _learn(self, honest: HonestVotes) -> None:
        self.weights_, self.biases_ = lowest_log_loss(honest, self.penalty, SMALLEST)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        return np.exp(pooled(logarithm(votes, SMALLEST), self.weights_, self.biases_))


def lowest_log_loss(honest: HonestVotes, penalty: float, smallest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the exponents and the biases of the lowest log loss, with a penalty for leaving the mean.

    Parameters
    ----------
    honest : HonestVotes
    penalty : float
    smallest : float
        Probabilities below this are taken for it.

    Returns
    -------
    weights : ndarray of shape (n_members,)
    biases : ndarray of shape (n_classes,)
    """
    n_members, n_outputs = honest.n_members, honest.n_outputs
    total = honest.weights.sum()
    blocks = [(logarithm(votes, smallest), y, weights / total) for votes, y, weights in honest.blocks()]
    start = np.concatenate([np.full(n_members, 1 / n_members), np.zeros(n_outputs)])

    def model(point: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        distance = point - start
        value = 0.5 * penalty * float(distance @ distance)
        slope, curvature = penalty * distance, penalty * np.eye(len(point))
        for logarithms, y, weights in blocks:
            more = log_loss_at(point, logarithms, y, weights)
            value, slope, curvature = value + more[0], slope + more[1], curvature + more[2]
        return value, slope, curvature

    point = lowest_point(model, start, np.arange(len(start)) < n_members)
    return point[:n_members].copy(), point[n_members:].copy()


def log_loss_at(
    point: np.ndarray, logarithms: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log loss on some rows with its first and second derivatives by exponents and biases.

    The second are the covariances of the members' log-probabilities, and of the classes, under the decision.
    """
    n_members, n_rows, _ = logarithms.shape
    rows = np.arange(n_rows)
    scores = pooled(logarithms, point[:n_members], point[n_members:])
    shares = np.exp(scores)
    sums = shares.sum(axis=1, keepdims=True)
    value = float(weights @ (np.log(sums[:, 0]) - scores[rows, y]))
    shares /= sums
    weighted = shares * weights[:, None]
    error = weighted.copy()
    error[rows, y] -= weights
    slope = np.append(logarithms.reshape(n_members, -1) @ error.ravel(), error.sum(axis=0))
    centred = logarithms - (logarithms * shares).sum(axis=2, keepdims=True)
    with_biases = (centred * weighted).sum(axis=1)
    centred *= np.sqrt(weighted)
    flat = centred.reshape(n_members, -1)
    of_biases = np.diag(weighted.sum(axis=0)) - shares.T @ weighted
    return value, slope, np.block([[flat @ flat.T, with_biases], [with_biases.T, of_biases]])


def lowest_point(
    model: Callable[[np.ndarray], tuple[float, np.ndarray, np.ndarray]],
    start: np.ndarray,
    is_bounded: np.ndarray,
) -> np.ndarray:
    """Return where a convex function is lowest, some numbers not below 0: projected Newton (Bertsekas 1982).

    Parameters
    ----------
    model : callable
        The value, the slope and the curvature at a point.
    start : ndarray of shape (n,)
    is_bounded : ndarray of bool of shape (n,)
        The numbers that may not be below 0.

    Returns
    -------
    ndarray of shape (n,)

    Examples
    --------
    >>> def bowl(point):
    ...     return float(((point - [1.0, -2.0]) ** 2).sum()), 2 * (point - [1.0, -2.0]), 2 * np.eye(2)
    >>> lowest_point(bowl, np.ones(2), np.array([True, True]))
    array([1., 0.])
    """
    point = start
    value, slope, curvature = model(point)
    for _ in range(MOST_STEPS):
        is_free = ~is_bounded | (point > NEAR) | (slope < 0)
        if np.abs(slope[is_free]).max(initial=0.0) <= FLAT:
            break
        square = curvature[np.ix_(is_free, is_free)]
        square[np.diag_indices_from(square)] += RIDGE * max(1.0, float(np.trace(square)))
        step = np.zeros(len(point))
        step[is_free] = -np.linalg.solve(square, slope[is_free])
        size = 1.0
        while True:
            tried = point + size * step
            tried[is_bounded] = np.maximum(tried[is_bounded], 0.0)
            found = model(tried)
            if found[0] <= value + ENOUGH * float(slope @ (tried - point)):
                break
            size /= 2
            if size < SMALLEST_STEP:
                return point
        point, (value, slope, curvature) = tried, found
    return point


def logarithm(votes: np.ndarray, smallest: float) -> np.ndarray:
    """Return the logarithms of votes, none of them too low."""
    return np.log(np.maximum(votes, smallest))


def pooled(logarithms: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """Return the scores of the classes, of which the highest of each row is 0."""
    scores: np.ndarray = weighted_sum(logarithms, weights) + biases
    return scores - scores.max(axis=1, keepdims=True)
