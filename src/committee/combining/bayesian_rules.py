"""Bayesian rules, which compute the weights of members from the likelihood of y given their honest votes.

Bayesian model averaging assumes that a single member generated all rows, and weighs each member by the
probability that it is this member. With more rows, the weights of all members except one vanish. Bayesian
model combination assumes that a mixture of the members generated the rows, and averages over mixtures.

For classes, the likelihood of a row is the vote for its class. For regression, it is a normal density around
the vote, with a separate variance for each member or mixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from committee.combining.weighted_rules import WeightedRule
from committee.parameters import RANDOM_STATE, Constraint, declared, integer, parameter
from committee.saving.format import attributes
from committee.table.input_types import ArrayLike, RandomState
from committee.votes.honest_votes import HonestVotes
from committee.votes.vote_arrays import BLOCK_SIZE, check_member_weights, rescaled

# Votes for the true class are clipped at this, the precision of float32, so that one row cannot exclude a
# member.
SMALLEST_VOTE = float(np.finfo(np.float32).eps)
# The smallest variance of errors, as a share of the mean square of y, because the density must be finite.
SMALLEST_VARIANCE = 1e-12

# The number of bisections in the search for the power that tempers a likelihood.
N_BISECTIONS = 40
# With smaller concentrations, all weights in a draw from a Dirichlet distribution are 0 except one.
SMALLEST_CONCENTRATION = 0.01
# The number of mixtures to draw from a Dirichlet distribution before it is updated.
GROUP_SIZE = 50


@declared
class BayesianAveragingRule(WeightedRule):
    """Weigh each member by the probability that it generated y, given its honest votes.

    The weight of member i is proportional to prior[i] times the product of the likelihoods of all rows, each
    raised to the power of the weight of the row.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        The logarithm of the likelihood of y under the honest votes of each member.

    References
    ----------
    J. A. Hoeting, D. Madigan, A. E. Raftery, C. T. Volinsky, "Bayesian model averaging: a tutorial".
    Statistical Science 14(4), 1999.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]])
    >>> BayesianAveragingRule().fit(votes, [0, 0, 1]).weights_.round(2)
    array([0.84, 0.16])
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    prior: ArrayLike | None = parameter(
        None,
        Constraint("an array-like of shape (n_members,) or None"),
        "The prior probabilities of the members, in any unit. None gives all the same.",
    )

    def _check_kind(self, n_members: int, n_outputs: int, is_weighted: bool) -> None:
        check_member_weights(self.prior, n_members, "prior")

    def _learn(self, honest: HonestVotes) -> None:
        from scipy.special import softmax

        prior = check_member_weights(self.prior, honest.n_members, "prior")
        likelihood = Likelihood(honest)
        self.scores_ = likelihood.of(np.eye(honest.n_members))
        with np.errstate(divide="ignore"):
            self.weights_ = softmax(self.scores_ + np.log(prior))


@declared
class BayesianCombinationRule(WeightedRule):
    """Average mixtures of the members, each weighted by the probability that it generated y.

    A mixture is a set of weights of the members that sum to one. The prior distribution of mixtures is
    uniform, and the rule uses the posterior mean. It is estimated by importance sampling from Dirichlet
    distributions. The first one is uniform. Each later one has the mean and the spread of the previous draws,
    which are tempered so that the effective number of draws is at least half a group. (The paper instead adds
    the most likely draws to the parameters of the distribution.) With many members and rows, only the best
    few draws have an effect.

    Attributes
    ----------
    scores_ : ndarray of shape (n_members,)
        The logarithm of the likelihood of y under the honest votes of each member alone.
    log_likelihood_ : float
        The logarithm of the likelihood under the most likely mixture.

    References
    ----------
    K. Monteith, J. L. Carroll, K. Seppi, T. Martinez, "Turning Bayesian model averaging into Bayesian model
    combination". International Joint Conference on Neural Networks, 2011.

    Examples
    --------
    >>> votes = np.array([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [[0.6, 0.4], [0.4, 0.6], [0.6, 0.4]]])
    >>> BayesianCombinationRule(random_state=0).fit(votes, [0, 0, 1]).weights_.round(1)
    array([0.6, 0.4])
    """

    tasks: ClassVar[tuple[str, ...]] = ("classification", "regression")

    n_draws: int = parameter(
        2000, integer(1), "The minimum number of mixtures to draw. It is rounded up to a multiple of 50."
    )
    random_state: RandomState = parameter(None, RANDOM_STATE, "The seed of the draws of mixtures.")

    kept: ClassVar[Mapping[str, attributes.Kind]] = {
        **WeightedRule.kept,
        "log_likelihood_": attributes.number(),
    }

    def _learn(self, honest: HonestVotes) -> None:
        from threadpoolctl import threadpool_limits

        # The matrix products are many and small, so threads would mostly wait for each other.
        with threadpool_limits(1):
            self._draw(Likelihood(honest), honest.n_members)

    def _draw(self, likelihood: Likelihood, n_members: int) -> None:
        from scipy.special import softmax
        from sklearn.utils import check_random_state

        rng = check_random_state(self.random_state)
        concentrations = [np.ones(n_members)]
        mixtures, logarithms, densities = np.empty((0, n_members)), np.empty(0), np.empty(0)
        while len(mixtures) < self.n_draws:
            group = rng.dirichlet(concentrations[-1], size=GROUP_SIZE)
            earlier = np.logaddexp(densities, log_density(mixtures, concentrations[-1:]))
            densities = np.concatenate([earlier, log_density(group, concentrations)])
            mixtures = np.concatenate([mixtures, group])
            logarithms = np.concatenate([logarithms, likelihood.of(group)])
            shares = tempered(logarithms - densities, GROUP_SIZE / 2)
            concentrations.append(moved(concentrations[-1], mixtures, shares))
        self.weights_ = rescaled(softmax(logarithms - densities) @ mixtures)
        self.scores_ = likelihood.of(np.eye(n_members))
        self.log_likelihood_ = float(logarithms.max())


class Likelihood:
    """The likelihood of y under mixtures of the honest votes of members.

    Parameters
    ----------
    honest : HonestVotes
    """

    def __init__(self, honest: HonestVotes) -> None:
        self.n_rows = float(honest.weights.sum())
        self.row_shares = honest.weights / self.n_rows
        self.are_classes = honest.are_classes
        self.has_voted = None if honest.has_voted is None else honest.has_voted.astype(np.float64)
        if self.are_classes:
            self.values = right_votes_of(honest)
        else:
            self.values, self.scale = errors_of(honest)
            self.error_products = (self.values * self.row_shares) @ self.values.T
            mean_square = float(self.row_shares @ (honest.y / self.scale) ** 2)
            self.smallest = max(SMALLEST_VARIANCE * mean_square, float(np.finfo(np.float64).tiny))

    def of(self, mixtures: np.ndarray) -> np.ndarray:
        """Return the logarithm of the likelihood under each mixture.

        Parameters
        ----------
        mixtures : ndarray of shape (n_mixtures, n_members)
            Weights that sum to one.

        Returns
        -------
        ndarray of shape (n_mixtures,)
        """
        if self.are_classes:
            logarithms = self.n_rows * self._mean(np.log, mixtures)
        else:
            if self.has_voted is None:
                variances = np.einsum("gi,ij,gj->g", mixtures, self.error_products, mixtures)
            else:
                variances = self._mean(np.square, mixtures)
            log_variances = np.log(variances.clip(self.smallest)) + 2 * np.log(self.scale)
            logarithms = -0.5 * self.n_rows * (np.log(2 * np.pi) + log_variances + 1)
        # Members without votes on rows of positive weight are treated like the worst member.
        return np.where(np.isnan(logarithms), np.nanmin(logarithms), logarithms)

    def _mean(self, function: Callable[[np.ndarray], np.ndarray], mixtures: np.ndarray) -> np.ndarray:
        """Return the mean over rows of a function of the votes of mixtures.

        On rows on which some members have not voted, the others are mixed in the same proportions. Rows on
        which no member of a mixture has voted are skipped. The mean is NaN if no row is left.
        """
        n_members, n_rows = self.values.shape
        step = max(1, BLOCK_SIZE // (n_members + len(mixtures)))
        total, weight = np.zeros(len(mixtures)), np.zeros(len(mixtures))
        for start in range(0, n_rows, step):
            rows = slice(start, start + step)
            values, shares = self.values[:, rows], self.row_shares[rows]
            if self.has_voted is None:
                total += function(mixtures @ values) @ shares
                weight += shares.sum()
                continue
            own = self.has_voted[:, rows]
            present = mixtures @ own
            mixed = np.divide(
                mixtures @ (values * own), present, out=np.ones_like(present), where=present > 0
            )
            total += (function(mixed) * (present > 0)) @ shares
            weight += (present > 0) @ shares
        return np.divide(total, weight, out=np.full(len(total), np.nan), where=weight > 0)


def log_density(mixtures: np.ndarray, concentrations: list[np.ndarray]) -> np.ndarray:
    """Return the log density of draws from several Dirichlet distributions with equally many draws each.

    It is the density of the mixture of all distributions, up to a constant (the balance heuristic of Veach
    and Guibas 1995). The first of them is uniform, so no draw from a narrow one can outweigh all others.

    Parameters
    ----------
    mixtures : ndarray of shape (n_mixtures, n_members)
    concentrations : list of ndarray of shape (n_members,)

    Returns
    -------
    ndarray of shape (n_mixtures,)
    """
    from scipy.special import gammaln, logsumexp

    exponents = np.array(concentrations)
    scale = gammaln(exponents.sum(axis=1)) - gammaln(exponents).sum(axis=1)
    logarithms = np.log(mixtures.clip(np.finfo(np.float64).tiny))
    return logsumexp(logarithms @ (exponents - 1).T + scale, axis=1)


def tempered(logarithms: np.ndarray, n_least: float) -> np.ndarray:
    """Return normalised weights of draws, tempered by a power if the effective number of draws is too small.

    Examples
    --------
    >>> tempered(np.log([1.0, 2.0, 1.0]), 2).round(2)
    array([0.25, 0.5 , 0.25])
    >>> tempered(np.array([0.0, -1000.0, -1000.0]), 2).round(2)
    array([0.67, 0.17, 0.17])
    """
    from scipy.special import softmax

    shares: np.ndarray = softmax(logarithms)
    if 1 / (shares**2).sum() >= n_least:
        return shares
    power, shares = 0.0, np.full(len(logarithms), 1 / len(logarithms))
    for step in 0.5 ** np.arange(1, N_BISECTIONS):
        tried = softmax((power + step) * logarithms)
        if 1 / (tried**2).sum() >= n_least:
            power, shares = power + step, tried
    return shares


def moved(concentration: np.ndarray, mixtures: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the Dirichlet distribution with the mean and the spread of draws; the last if they agree."""
    mean = shares @ mixtures
    variance = float((shares @ (mixtures - mean) ** 2).sum())
    if variance <= 0:
        return concentration
    total = float((mean * (1 - mean)).sum()) / variance - 1
    return (max(total, 1.0) * mean).clip(SMALLEST_CONCENTRATION)


def right_votes_of(honest: HonestVotes) -> np.ndarray:
    """Return the votes of each member for the true classes, of shape (n_members, n_rows)."""
    blocks = []
    for votes, y, _ in honest.blocks():
        blocks.append(rescaled(votes)[:, np.arange(len(y)), y])
    return np.concatenate(blocks, axis=1).clip(SMALLEST_VOTE)


def errors_of(honest: HonestVotes) -> tuple[np.ndarray, float]:
    """Return the errors of the members in units of the largest, of shape (n_members, n_rows), and that unit.

    The error of a mixture is the mixture of the errors.
    """
    errors = np.concatenate([votes[:, :, 0] - y for votes, y, _ in honest.blocks()], axis=1)
    largest = float(np.abs(errors).max()) or 1.0
    errors /= largest
    return errors, largest
