"""The logarithmic pool: members' probabilities are multiplied, each to a power learnt from honest votes.

In: honest votes for classes. Out: an exponent for each member and a factor for each class. It is stacking by
logistic regression on log-probabilities in which all classes share a member's weight: so there is little to
learn, and it can be learnt from few rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from committee.combining.rule import Honest, Rule
from committee.combining.votes import weighted_sum
from committee.parameters import declared, number, parameter
from committee.saving import attributes

# Probabilities below this are taken for it: a member that is sure and wrong does not decide alone.
SMALLEST = 1e-6


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

    penalty: float = parameter(
        1e-3,
        "a number >= 0",
        number(0),
        "What the squares cost against the mean log loss. With 0, members that say the same have no single "
        "best weights.",
    )

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        "weights_": attributes.floats("members", low=0),
        "biases_": attributes.floats("outputs"),
    }

    def _learn(self, honest: Honest) -> None:
        from scipy.optimize import minimize

        n_members, n_outputs = honest.n_members, honest.n_outputs
        start = np.concatenate([np.full(n_members, 1 / n_members), np.zeros(n_outputs)])
        logarithms = [(logarithm(votes), y, weights) for votes, y, weights in honest.blocks()]
        total = honest.weights.sum()

        def loss(point: np.ndarray) -> tuple[float, np.ndarray]:
            distance = point - start
            value = 0.5 * self.penalty * float(distance @ distance)
            slope = self.penalty * distance
            for votes, y, weights in logarithms:
                rows = np.arange(len(y))
                scores = pooled(votes, point[:n_members], point[n_members:])
                shares = np.exp(scores)
                sums = shares.sum(axis=1)
                value += float((weights * (np.log(sums) - scores[rows, y])).sum() / total)
                error = shares / sums[:, None]
                error[rows, y] -= 1
                error *= (weights / total)[:, None]
                slope[:n_members] += [float((vote * error).sum()) for vote in votes]
                slope[n_members:] += error.sum(axis=0)
            return value, slope

        bounds = [(0.0, None)] * n_members + [(None, None)] * n_outputs
        found: Any = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        self.weights_, self.biases_ = found.x[:n_members].copy(), found.x[n_members:].copy()

    def _decide(self, votes: np.ndarray) -> np.ndarray:
        shares: np.ndarray = np.exp(pooled(logarithm(votes), self.weights_, self.biases_))
        return shares


def logarithm(votes: np.ndarray) -> np.ndarray:
    """The logarithms of votes, none of them too low."""
    logarithms: np.ndarray = np.log(np.maximum(votes, SMALLEST))
    return logarithms


def pooled(logarithms: np.ndarray, weights: np.ndarray, biases: np.ndarray) -> np.ndarray:
    """The scores of the classes, of which the highest of each row is 0."""
    scores: np.ndarray = weighted_sum(logarithms, weights) + biases
    return scores - scores.max(axis=1, keepdims=True)
