"""Compute how often a majority vote is right in theory, from how often its members are.

The number of members that are right has a distribution: binomial if they are independent and equally good,
Poisson-binomial if they are not equally good, and beta-binomial if they are not independent. A decision is
right if more than half of the members are. That is all for two classes; of more classes, the largest share
may win with less than half, so that the observed accuracy may be higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from committee.combining.fixed_rules import majority
from committee.evaluating.diversity_measures import Oracle, average, correlation
from committee.evaluating.vote_scores import Given, read_class_votes
from committee.parameters import is_integer, is_number
from committee.table.input_types import ArrayLike
from committee.task import to_numbers
from committee.votes.vote_arrays import labels_of

# What a tie counts.
TIES = {"won": 1.0, "half": 0.5, "lost": 0.0}


def majority_vote_accuracy(n: int, p: ArrayLike, *, correlation: float = 0.0, ties: str = "half") -> float:
    """Return how often a majority of members is right, from how often each of them is.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        How often every member, or each of them, is right.
    correlation : float, default=0.0
        Of being right, between any two members; see `right_votes`. 0 means independent members, for which
        the result is exact.
    ties : {"half", "won", "lost"}, default="half"
        What it counts if exactly half of the members are right: a coin decides, or it is right, or wrong.

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

    Members that are not independent follow the beta-binomial model: rows differ in difficulty. The chance of
    being right about a row is drawn from a beta distribution of mean p, and given it the members are
    independent. So all members have the same p, and every two of them the same correlation.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        How often every member, or each of them, is right.
    correlation : float from 0 to 1, default=0.0
        Of being right, between any two members; at 1 all members are one.

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
    """Return the distribution of independent and equally good members."""
    right = np.arange(n + 1)
    return np.asarray(np.exp(log_ways(n) + xlogy(right, p) + xlog1py(n - right, -p)))


def log_ways(n: int) -> np.ndarray:
    """Return the logarithms of the numbers of ways in which 0, 1, ..., n of n members can be right."""
    right = np.arange(n + 1)
    return np.asarray(gammaln(n + 1) - gammaln(right + 1) - gammaln(n - right + 1))


def poisson_binomial(accuracies: np.ndarray) -> np.ndarray:
    """Return the distribution of independent members, one after the other."""
    chances = np.ones(1)
    for p in accuracies:
        chances = np.convolve(chances, [1 - p, p])
    return chances


def beta_binomial(n: int, p: float, between: float) -> np.ndarray:
    """Return the distribution of equally good members on rows of different difficulty."""
    if between == 1:
        return np.concatenate([[1 - p], np.zeros(n - 1), [p]])
    if p in (0, 1):
        return binomial(n, p)
    # As products of n factors, whose logarithms are exact also where members are nearly independent or one.
    steps = np.arange(n) * between / (1 - between)
    of_right, of_wrong, of_all = (
        np.concatenate([[0.0], np.log(start + steps).cumsum()]) for start in (p, 1 - p, 1.0)
    )
    return np.exp(log_ways(n) + of_right + of_wrong[::-1] - of_all[-1])


def check_members(n: int, p: ArrayLike, correlation: float) -> np.ndarray:
    """Return how often members are right, an array of no dimension or of all members."""
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


@dataclass(frozen=True)
class Forecast:
    """How often a majority vote is right, in theory and in fact.

    Parameters
    ----------
    n_members : int
    mean_accuracy : float
        Of the members.
    correlation : float
        Of being right, the mean over all pairs; NaN if it is not known.
    independent : float
        The accuracy of independent members that are each as good as these.
    correlated : float
        That of equally good members of this correlation, by the beta-binomial model. A negative correlation,
        or one that is not known, counts as 0.
    observed : float
        The accuracy of their majority vote.
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
    """Compare the accuracy of a majority vote with what theory says of its members.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes) or (n_members, n_rows)
        Votes for classes, or labels, of at least two members.
    y : array-like of shape (n_rows,)
        The classes: numbers from 0 on, or labels if the votes are labels.
    sample_weight : array-like of shape (n_rows,), default=None
        None gives every row the weight 1.
    classes : array-like of shape (n_outputs,), default=None
        The labels that votes are for, as `classes_` of an estimator. With them y is labels.
    ties : {"half", "won", "lost"}, default="half"
        What theory is to count if exactly half of the members are right. What is observed goes to the first
        class.

    Returns
    -------
    Forecast
        With `independent`, `correlated` and `observed`, among others. With more than two classes a vote may
        be won with less than half, so the observed accuracy may be above both.

    Examples
    --------
    >>> found = majority_vote_forecast([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 1])
    >>> found.observed, found.independent
    (0.75, 0.625)
    """
    honest = read_class_votes(votes, y, sample_weight, classes)
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
