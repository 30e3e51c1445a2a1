"""Rank learners over many tables, test their differences, and group learners that do not differ.

In: losses of shape (n_tables, n_learners); lower is better. Out: ranks (1 is the best, ties get their mean
rank), wins, test statistics and p-values, and cliques. A clique is a maximal set of learners without a
significant difference between any two of them.

In Nemenyi's test, a clique contains all learners between two ranks. Tests of pairs may give other cliques:
the first learner may differ from the second, but not from the third. Such a clique contradicts the ranks. It
is returned together with the learners that it skips.

The distributions and the signed-rank test come from scipy. scikit-posthocs gives the same results, but has no
p-value for two learners that are equal on every table, and needs four more libraries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy

from committee.printing import brief

# Losses are rounded to this many decimals, because means of the same numbers differ in their last digits if
# the order of summation differs.
N_DIGITS = 10
# The weight of the pseudo-table without a difference, as in the authors' BayesianSignedRank.R.
PRIOR_WEIGHT = 0.5
# The number of draws from the posterior, and the number of draws in a batch.
N_DRAWS, N_AT_ONCE = 50_000, 500


@brief
@dataclass(frozen=True)
class Friedman:
    """The result of a Friedman test of whether learners differ at all.

    Parameters
    ----------
    statistic, p_value : float
        Friedman's chi-square test, with the formula of Demsar 2006, which does not correct for ties.
    f_statistic, f_p_value : float
        The F test of Iman and Davenport, which is less conservative.
    degrees : tuple of (int, int)
        The degrees of freedom of F. The first number is also that of the chi-square.
    """

    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    degrees: tuple[int, int]


def friedman(losses: np.ndarray) -> Friedman:
    """Test whether all learners are equal.

    Parameters
    ----------
    losses : ndarray of shape (n_tables, n_learners)

    Returns
    -------
    Friedman

    References
    ----------
    J. Demsar, "Statistical comparisons of classifiers over multiple data sets". JMLR 7, 2006.

    Examples
    --------
    >>> friedman(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])).statistic
    6.5
    """
    n, k = check_tables(losses)
    mean_ranks = rank_tables(losses).mean(axis=0)
    statistic = 12 * n / (k * (k + 1)) * (np.square(mean_ranks).sum() - k * (k + 1) ** 2 / 4)
    rest = n * (k - 1) - statistic
    # The rest is 0 if all tables agree on all ranks.
    f_statistic = (n - 1) * statistic / rest if rest > 1e-9 else np.inf
    degrees = k - 1, (k - 1) * (n - 1)
    return Friedman(
        float(round(statistic, N_DIGITS)),
        float(scipy.stats.chi2.sf(statistic, degrees[0])),
        float(f_statistic),
        float(scipy.stats.f.sf(f_statistic, *degrees)),
        degrees,
    )


def critical_difference(n_learners: int, n_tables: int, alpha: float = 0.05) -> float:
    """Compute the smallest significant difference of two mean ranks in Nemenyi's test.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    quantile = scipy.stats.studentized_range.ppf(1 - alpha, n_learners, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_learners * (n_learners + 1) / (6 * n_tables)))


def nemenyi(losses: np.ndarray) -> np.ndarray:
    """Compute the p-values of Nemenyi's test of all pairs, of shape (n_learners, n_learners).

    Examples
    --------
    >>> nemenyi(np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [2.0, 1.0, 3.0]])).round(2)
    array([[1.  , 0.91, 0.1 ],
           [0.91, 1.  , 0.23],
           [0.1 , 0.23, 1.  ]])
    """
    n, k = check_tables(losses)
    mean_ranks = rank_tables(losses).mean(axis=0)
    apart = np.abs(mean_ranks[:, None] - mean_ranks[None, :]) / np.sqrt(k * (k + 1) / (6 * n))
    return np.asarray(scipy.stats.studentized_range.sf(apart * np.sqrt(2), k, np.inf))


def wilcoxon_holm(losses: np.ndarray) -> np.ndarray:
    """Compute the p-values of Wilcoxon's signed-rank test of all pairs, corrected by Holm's procedure.

    Parameters
    ----------
    losses : ndarray of shape (n_tables, n_learners)

    Returns
    -------
    ndarray of shape (n_learners, n_learners)
        Two learners that are equal on every table have the p-value 1.

    Examples
    --------
    >>> wilcoxon_holm(np.arange(12.0).reshape(6, 2))
    array([[1.     , 0.03125],
           [0.03125, 1.     ]])
    """
    _, k = check_tables(losses)
    first, second = np.triu_indices(k, 1)
    differences = np.round(losses[:, first] - losses[:, second], N_DIGITS)
    raw = [float(scipy.stats.wilcoxon(each).pvalue) if each.any() else 1.0 for each in differences.T]
    p_values = np.ones((k, k))
    p_values[first, second] = p_values[second, first] = holm(np.array(raw))
    return p_values


def holm(p_values: np.ndarray) -> np.ndarray:
    """Correct p-values for multiple testing by Holm's procedure.

    The smallest of n p-values is multiplied by n, the next one by n - 1, and so on.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03]))
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


@brief
@dataclass(frozen=True)
class Odds:
    """The probabilities that either of two learners is better, or that they are practically equivalent.

    Parameters
    ----------
    first, equal, second : float
        The probabilities that most of the mass is in each of three regions: the first learner is better, the
        difference is within the region of practical equivalence, or the second learner is better. They sum to
        one.
    rope : float
        Half the width of the region of practical equivalence.
    """

    first: float
    equal: float
    second: float
    rope: float


def bayesian_signed_rank(
    losses: np.ndarray, others: np.ndarray, rope: float = 0.01, random_state: int = 0
) -> Odds:
    """Run the Bayesian signed-rank test of two learners.

    Table weights are drawn from a Dirichlet distribution. Its prior is a pseudo-table without a difference
    and with half the weight of a table. For each draw, the test computes the distribution of the mean
    difference of two tables that are sampled with these weights.

    Parameters
    ----------
    losses, others : ndarray of shape (n_tables,)
    rope : float, default=0.01
        Differences of at most this size count as practically equivalent.
    random_state : int, default=0

    Returns
    -------
    Odds

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon, "Time for a change: a tutorial for comparing multiple
    classifiers through Bayesian analysis". JMLR 18, 2017.

    Examples
    --------
    >>> bayesian_signed_rank(np.full(30, 0.2), np.full(30, 0.3), rope=0.01).first > 0.99
    True
    """
    if not rope >= 0:
        raise ValueError(f"rope must be a number >= 0. Got {rope!r}.")
    # Losses are compared, so the first learner is better if a difference is negative.
    differences = np.concatenate([[0.0], np.round(losses - others, N_DIGITS)])
    sums = differences[:, None] + differences[None, :]
    first, second = (sums < -2 * rope).astype(np.float64), (sums > 2 * rope).astype(np.float64)
    rng = np.random.default_rng(random_state)
    prior = np.array([PRIOR_WEIGHT, *np.ones(len(differences) - 1)])
    counts = np.zeros(3)
    for start in range(0, N_DRAWS, N_AT_ONCE):
        weights = rng.dirichlet(prior, size=min(N_AT_ONCE, N_DRAWS - start))
        masses = np.stack([((weights @ each) * weights).sum(axis=1) for each in (first, second)])
        shares = np.stack([masses[0], 1.0 - masses.sum(axis=0), masses[1]])
        is_largest = np.isclose(shares, shares.max(axis=0))
        counts += (is_largest / is_largest.sum(axis=0)).sum(axis=1)
    first_share, equal_share, second_share = (counts / N_DRAWS).tolist()
    return Odds(first_share, equal_share, second_share, rope)


@brief
@dataclass(frozen=True)
class ResampledT:
    """The result of a corrected resampled t-test of two learners on one table.

    Parameters
    ----------
    difference : float
        The mean loss of the first learner minus that of the second.
    statistic, p_value : float
    n_resamples : int
    """

    difference: float
    statistic: float
    p_value: float
    n_resamples: int


def corrected_resampled_t(losses: np.ndarray, others: np.ndarray, test_ratio: float) -> ResampledT:
    """Run the t-test of two learners over resamples of a table, corrected because resamples share rows.

    Parameters
    ----------
    losses, others : ndarray of shape (n_resamples,)
    test_ratio : float
        The number of test rows divided by the number of training rows.

    Returns
    -------
    ResampledT

    References
    ----------
    C. Nadeau, Y. Bengio, "Inference for the generalization error". Machine Learning 52, 2003.

    Examples
    --------
    >>> found = corrected_resampled_t(np.array([0.1, 0.2, 0.3]), np.array([0.2, 0.2, 0.5]), test_ratio=1.0)
    >>> round(found.statistic, 3)
    -0.866
    """
    n = len(losses)
    if n < 2:
        raise ValueError(f"The corrected t-test needs two resamples or more. Got {n}.")
    differences = np.round(np.asarray(losses) - np.asarray(others), N_DIGITS)
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    if variance == 0:
        statistic = 0.0 if mean == 0 else float(np.copysign(np.inf, mean))
    else:
        statistic = mean / float(np.sqrt((1 / n + test_ratio) * variance))
    return ResampledT(mean, statistic, float(2 * scipy.stats.t.sf(abs(statistic), n - 1)), n)


def check_tables(losses: np.ndarray) -> tuple[int, int]:
    """Return the number of tables and of learners. Raise if they are not enough for a test."""
    n, k = losses.shape
    if n < 2 or k < 2:
        raise ValueError(
            "A test over tables needs at least two learners, and two tables with results of all learners. "
            f"Got {k} and {n}."
        )
    return n, k


def rank_tables(losses: np.ndarray) -> np.ndarray:
    """Rank the learners on each table. Ties get their mean rank.

    Parameters
    ----------
    losses : ndarray of shape (n_tables, n_learners)

    Returns
    -------
    ndarray of shape (n_tables, n_learners)

    Examples
    --------
    >>> rank_tables(np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.4]]))
    array([[1. , 3. , 2. ],
           [2.5, 2.5, 1. ]])
    """
    return np.asarray(scipy.stats.rankdata(np.round(losses, N_DIGITS), axis=1))


@brief
@dataclass(frozen=True, eq=False)
class Wins:
    """The number of tables on which each learner beats each other learner.

    Parameters
    ----------
    names : tuple of str
    wins, ties : ndarray of int of shape (n_learners, n_learners)
        The number of tables on which the learner of the row is better than the learner of the column, and on
        which they are equal.

    Examples
    --------
    >>> Wins.of(("a", "b"), np.array([[0.1, 0.3], [0.5, 0.5], [0.2, 0.9]])).of_pair("a", "b")
    (2, 1, 0)
    """

    names: tuple[str, ...]
    wins: np.ndarray
    ties: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...], losses: np.ndarray) -> Wins:
        """Count wins and ties in losses of shape (n_tables, n_learners)."""
        rounded = np.round(losses, N_DIGITS)
        row, column = rounded[:, :, None], rounded[:, None, :]
        return cls(names, (row < column).sum(axis=0), (row == column).sum(axis=0))

    @property
    def losses(self) -> np.ndarray:
        """The number of tables on which the learner of the row is worse than the learner of the column."""
        return self.wins.T

    def of_pair(self, learner: str, other: str) -> tuple[int, int, int]:
        """Return the wins, ties and losses of a learner against another."""
        row, column = self.names.index(learner), self.names.index(other)
        return int(self.wins[row, column]), int(self.ties[row, column]), int(self.wins[column, row])


@dataclass(frozen=True)
class Clique:
    """A set of learners that do not differ significantly.

    Parameters
    ----------
    members : tuple of int
        The learners, in the order of their ranks.
    skipped : tuple of int
        Learners ranked between the best and the worst member that differ from at least one member.
    """

    members: tuple[int, ...]
    skipped: tuple[int, ...]

    @property
    def contradicts_ranks(self) -> bool:
        """Whether a learner ranked between the best and the worst member is not a member."""
        return bool(self.skipped)


def cliques_of(mean_ranks: np.ndarray, is_apart: np.ndarray) -> list[Clique]:
    """Find the cliques of at least two members, the one with the best member first.

    Parameters
    ----------
    mean_ranks : ndarray of shape (n_learners,)
    is_apart : ndarray of bool of shape (n_learners, n_learners)
        Whether two learners differ significantly.

    Returns
    -------
    list of Clique

    Examples
    --------
    >>> apart = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    >>> cliques_of(np.array([1.2, 2.0, 2.8]), apart)
    [Clique(members=(0, 2), skipped=(1,)), Clique(members=(1, 2), skipped=())]
    """
    order = np.argsort(mean_ranks, kind="stable")
    alike = ~is_apart[np.ix_(order, order)]
    neighbours = [set(np.flatnonzero(row).tolist()) - {place} for place, row in enumerate(alike)]
    found = sorted(sorted(each) for each in maximal(set(), set(range(len(order))), set(), neighbours))
    return [
        Clique(
            tuple(int(order[place]) for place in places),
            tuple(int(order[place]) for place in range(places[0], places[-1]) if place not in places),
        )
        for places in found
        if len(places) > 1
    ]


def maximal(
    chosen: set[int], open_to: set[int], done: set[int], neighbours: list[set[int]]
) -> Iterator[set[int]]:
    """Yield the maximal cliques (Bron and Kerbosch 1973, with a pivot)."""
    if not open_to and not done:
        yield chosen
        return
    pivot = max(open_to | done, key=lambda each: len(neighbours[each] & open_to))
    for each in sorted(open_to - neighbours[pivot]):
        yield from maximal(chosen | {each}, open_to & neighbours[each], done & neighbours[each], neighbours)
        open_to, done = open_to - {each}, done | {each}
