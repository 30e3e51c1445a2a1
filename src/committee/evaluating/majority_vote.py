"""Compute the theoretical accuracy of a majority vote from the accuracies of its members.

The distribution of the number of right members is binomial if members are independent and equally accurate,
Poisson-binomial if they are independent but not equally accurate, and beta-binomial if they are correlated. A
decision is right if more than half of the members are right. With more than two classes, a class may also win
with less than half of the votes, so the observed accuracy may be higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from committee.combining.fixed_rules import majority
from committee.evaluating.diversity_measures import Oracle, average, correlation
from committee.evaluating.vote_scores import Given, read_class_votes
from committee.parameters import is_integer, is_number
from committee.printing import brief
from committee.table.input_types import ArrayLike
from committee.table.result_frame import Tabulated
from committee.task import to_numbers
from committee.votes.vote_arrays import labels_of

# The value of a tie in the accuracy.
TIES = {"won": 1.0, "half": 0.5, "lost": 0.0}


def majority_vote_accuracy(n: int, p: ArrayLike, *, correlation: float = 0.0, ties: str = "half") -> float:
    """Compute the accuracy of a majority vote from the accuracies of its members.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        The accuracy of all members, or of each member.
    correlation : float, default=0.0
        The correlation between two members being right; see `right_votes`. 0 means independent members, for
        which the result is exact.
    ties : {"half", "won", "lost"}, default="half"
        How a tie counts, that is, if exactly half of the members are right: half right, right or wrong.

    Returns
    -------
    float

    References
    ----------
    L. Lam, C. Y. Suen, "Application of majority voting to pattern recognition". IEEE Transactions on Systems,
    Man, and Cybernetics A 27(5), 1997.

    Examples
    --------
    >>> round(majority_vote_accuracy(3, 0.6), 3), round(majority_vote_accuracy(51, 0.6), 4)
    (0.648, 0.9265)
    >>> round(majority_vote_accuracy(3, [0.9, 0.6, 0.6]), 3)
    0.792
    >>> round(majority_vote_accuracy(51, 0.6, correlation=0.2), 2)
    0.67
    """
    if ties not in TIES:
        raise ValueError(f'ties must be "half", "won" or "lost". Got {ties!r}.')
    chances = right_votes(n, p, correlation=correlation)
    half = len(chances) // 2
    if n % 2:
        return float(chances[half:].sum())
    return float(chances[half + 1 :].sum() + TIES[ties] * chances[half])


def right_votes(n: int, p: ArrayLike, *, correlation: float = 0.0) -> np.ndarray:
    """Return the probabilities that 0, 1, ..., n members are right about a row.

    Correlated members follow the beta-binomial model, in which rows differ in difficulty. The probability of
    being right about a row is drawn from a beta distribution with mean p. Given this probability, members are
    independent. So all members have the same p, and all pairs the same correlation.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        The accuracy of all members, or of each member.
    correlation : float from 0 to 1, default=0.0
        The correlation between two members being right. If it is 1, all members vote alike.

    Returns
    -------
    ndarray of shape (n + 1,)

    Examples
    --------
    >>> right_votes(3, 0.6)
    array([0.064, 0.288, 0.432, 0.216])
    """
    accuracies = check_members(n, p, correlation)
    if correlation:
        return beta_binomial(n, float(accuracies), float(correlation))
    return binomial(n, float(accuracies)) if accuracies.ndim == 0 else poisson_binomial(accuracies)


def binomial(n: int, p: float) -> np.ndarray:
    """Return the distribution for independent, equally accurate members."""
    right = np.arange(n + 1)
    return np.asarray(np.exp(log_ways(n) + xlogy(right, p) + xlog1py(n - right, -p)))


def log_ways(n: int) -> np.ndarray:
    """Return the logarithms of the numbers of ways in which 0, 1, ..., n of n members can be right."""
    right = np.arange(n + 1)
    return np.asarray(gammaln(n + 1) - gammaln(right + 1) - gammaln(n - right + 1))


def poisson_binomial(accuracies: np.ndarray) -> np.ndarray:
    """Return the distribution for independent members, by adding one member at a time."""
    chances = np.ones(1)
    for p in accuracies:
        chances = np.convolve(chances, [1 - p, p])
    return chances


def beta_binomial(n: int, p: float, between: float) -> np.ndarray:
    """Return the distribution for correlated, equally accurate members."""
    if between == 1:
        return np.concatenate([[1 - p], np.zeros(n - 1), [p]])
    if p in (0, 1):
        return binomial(n, p)
    # Sums of n logarithms stay precise for correlations near 0 and 1, unlike differences of log-gammas.
    steps = np.arange(n) * between / (1 - between)
    of_right, of_wrong, of_all = (
        np.concatenate([[0.0], np.log(start + steps).cumsum()]) for start in (p, 1 - p, 1.0)
    )
    return np.exp(log_ways(n) + of_right + of_wrong[::-1] - of_all[-1])


def check_members(n: int, p: ArrayLike, correlation: float) -> np.ndarray:
    """Check the parameters, and return the accuracies as an array of shape () or (n,)."""
    if not is_integer(n) or n < 1:
        raise ValueError(f"n must be an integer >= 1, the number of members. Got {n!r}.")
    accuracies = to_numbers(p, "p")
    if accuracies.shape not in ((), (n,)):
        raise ValueError(f"p must be one number, or one for each of {n} members. Got {accuracies.shape}.")
    if not ((accuracies >= 0) & (accuracies <= 1)).all():
        raise ValueError(f"p must be from 0 to 1. Got {p!r}.")
    if not is_number(correlation) or not 0 <= correlation <= 1:
        raise ValueError(f"correlation must be a number from 0 to 1. Got {correlation!r}.")
    if correlation and accuracies.ndim:
        raise ValueError("With a correlation, p must be one number for all members. Pass their mean.")
    return accuracies


@brief
@dataclass(frozen=True)
class Forecast(Tabulated):
    """The theoretical and the observed accuracy of a majority vote.

    Parameters
    ----------
    n_members : int
    mean_accuracy : float
        The mean accuracy of the members.
    correlation : float
        The correlation between two members being right, averaged over all pairs. NaN if it is undefined.
    independent : float
        The accuracy of the vote if the members were independent and had their observed accuracies.
    correlated : float
        The accuracy of the vote in the beta-binomial model, if all members had the mean accuracy and this
        correlation. A negative or undefined correlation counts as 0.
    observed : float
        The accuracy of the majority vote on the data.
    """

    n_members: int
    mean_accuracy: float
    correlation: float
    independent: float
    correlated: float
    observed: float


def majority_vote_forecast(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None, ties: str = "half"
) -> Forecast:
    """Compare the observed accuracy of a majority vote with its theoretical accuracy.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes) or (n_members, n_rows)
        Votes for classes, or labels, of at least two members.
    y : array-like of shape (n_rows,)
        The true classes: codes from 0 on, or labels if the votes are labels.
    sample_weight : array-like of shape (n_rows,), default=None
        Row weights. None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels of the outputs, such as `classes_` of an estimator. If given, y has labels.
    ties : {"half", "won", "lost"}, default="half"
        How a tie counts in the theoretical accuracies. In the observed vote, the first of the tied classes
        wins.

    Returns
    -------
    Forecast
        With `independent`, `correlated` and `observed`, among others. With more than two classes, a class may
        win with less than half of the votes, so the observed accuracy may be higher than both others.

    Examples
    --------
    >>> found = majority_vote_forecast([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 1])
    >>> found.observed, found.independent
    (0.75, 0.625)
    """
    honest = read_class_votes(votes, y, sample_weight, classes, as_labels=True)
    oracle = Oracle.of(votes, y, sample_weight, classes)
    accuracies = np.array([oracle.mean(right) for right in oracle.right])
    between = average(correlation(votes, y, sample_weight=sample_weight, classes=classes))
    n, mean = oracle.n_members, float(accuracies.mean())
    assumed = max(between, 0.0) if between == between else 0.0
    decided = labels_of(majority(honest.votes)[None])[0]
    return Forecast(
        n,
        mean,
        between,
        majority_vote_accuracy(n, accuracies, ties=ties),
        majority_vote_accuracy(n, mean, correlation=assumed, ties=ties),
        oracle.mean((decided == honest.y).astype(np.float64)),
    )
