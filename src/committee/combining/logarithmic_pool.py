"""The logarithmic pool, which multiplies the members' probabilities, each raised to a fitted power.

In: honest votes for classes. Out: an exponent for each member and a factor for each class. This is stacking
by logistic regression on log-probabilities, with one weight for each member that all classes share. It has
few parameters, so it can be fitted on few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from committee.combining.rule import Rule
from committee.parameters import declared, number, optional, parameter
from committee.saving.format import attributes
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import weighted_sum

# Probabilities are clipped at this minimum, so that a member that is sure and wrong does not decide alone.
SMALLEST = 1e-3
# Settings of Newton's method: the maximum number of steps, the slope at which it ends, the required share of
# the predicted decrease (Armijo's rule), the smallest step, and the distance at which a bound is active.
MOST_STEPS, FLAT, ENOUGH, SMALLEST_STEP, NEAR = 50, 1e-6, 1e-4, 1e-6, 1e-10
# The penalty is worth this many rows, but at least a small share of the rows.
ROWS_OF_PENALTY, LEAST_PENALTY = 10.0, 1e-3
# Added to the curvature, relative to it, because equal members have no unique best weights without a penalty.
RIDGE = 1e-12


@declared
class LogPoolRule(Rule):
    r"""Multiply the members' probabilities, each raised to its own power (Genest and Zidek 1986).

    .. math:: p(c) \propto \exp\Big(b_c + \sum_m w_m \log p_m(c)\Big), \qquad w_m \ge 0.

    The weights and the :math:`b_c` minimise the mean log loss on honest votes plus a penalty. The penalty is
    proportional to the squared distances of the weights from 1 / n_members, and of the :math:`b_c` from 0.
    If the weights sum to more than one, the decision is more confident than the members. This is right for
    members that make different errors.

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

    # The rule is fitted on votes of single models. Their mean is calibrated differently.
    decides_by_fold: ClassVar[bool] = True

    penalty: float | None = parameter(
        None,
        optional(number(0)),
        "The factor of the squared distances. With 0, members with equal votes have no unique best weights. "
        "None is 10 / n_rows, but at least 0.001: with few rows, the weights stay near 1 / n_members.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "weights_": attributes.floats("members", low=0),
        "biases_": attributes.floats("outputs"),
    }

    def _learn(self, honest: HonestVotes) -> None:
        penalty = penalty_for(honest) if self.penalty is None else self.penalty
        self.weights_, self.biases_ = lowest_log_loss(honest, penalty, SMALLEST)

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        return np.exp(pooled(logarithm(votes, SMALLEST), self.weights_, self.biases_))


def penalty_for(honest: HonestVotes) -> float:
    """Return the default penalty for a number of rows.

    Examples
    --------
    >>> votes = np.full((1, 50, 2), 0.5)
    >>> penalty_for(HonestVotes.of(votes, [0, 1] * 25))
    0.2
    """
    return max(LEAST_PENALTY, ROWS_OF_PENALTY / float(honest.weights.sum()))


def lowest_log_loss(honest: HonestVotes, penalty: float, smallest: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the exponents and the biases that minimise the log loss plus the penalty.

    Parameters
    ----------
    honest : HonestVotes
    penalty : float
    smallest : float
        Probabilities are clipped at this minimum.

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
    """Return the log loss on some rows, its gradient and its Hessian with respect to exponents and biases.

    The Hessian contains the covariances of the members' log-probabilities and of the classes under the
    decision.
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
    """Minimise a convex function with some variables >= 0 by the projected Newton method (Bertsekas 1982).

    Parameters
    ----------
    model : callable
        Return the value, the gradient and the Hessian at a point.
    start : ndarray of shape (n,)
    is_bounded : ndarray of bool of shape (n,)
        Whether a variable must be >= 0.

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
    """Return the logarithms of votes, which are clipped at a minimum."""
    return np.log(np.maximum(votes, smallest))


def pooled(logarithms: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """Return the scores of the classes, shifted so that the highest of each row is 0."""
    scores: np.ndarray = weighted_sum(logarithms, weights) + biases
    return scores - scores.max(axis=1, keepdims=True)
