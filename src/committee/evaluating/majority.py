"""What theory says of a majority vote: how often it is right, from how often its members are.

The number of members that are right has a distribution: binomial if they are independent and equally good,
Poisson-binomial if they are not equally good, and one of two models if they are not independent. A decision
is right if more than half of the members are. That is all for two classes; of more classes, the largest share
may win with less than half, so that the observed accuracy may be higher.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from committee.combining.fixed import majority
from committee.combining.votes import labels_of
from committee.evaluating.pairs import Oracle, average, correlation
from committee.evaluating.reading import read_class_votes
from committee.parameters import is_integer
from committee.task import to_numbers

# What a tie counts.
TIES = {"won": 1.0, "half": 0.5, "lost": 0.0}
# Members that are not alike and not independent are gone through in all ways to be right and wrong: 65,536.
MOST_UNEQUAL = 16


def majority_vote_accuracy(
    n: int, p: Any, *, correlation: Any = 0.0, model: str = "beta_binomial", ties: str = "half"
) -> float:
    """How often a majority of members is right, from how often each of them is.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        How often every member, or each of them, is right.
    correlation : float, or array-like of shape (n, n), default=0.0
        Of being right, between any two members. 0 is independent members, for which the result is exact.
    model : {"beta_binomial", "bahadur"}, default="beta_binomial"
        What is assumed of members that are not independent; see `right_votes`.
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
    chances = right_votes(n, p, correlation=correlation, model=model)
    half = len(chances) // 2
    if n % 2:
        return float(chances[half:].sum())
    return float(chances[half + 1 :].sum() + TIES[ties] * chances[half])


def right_votes(n: int, p: Any, *, correlation: Any = 0.0, model: str = "beta_binomial") -> np.ndarray:
    """The probability that 0, 1, ..., n members are right about a row.

    Parameters
    ----------
    n : int
        The number of members.
    p : float, or array-like of shape (n,)
        How often every member, or each of them, is right.
    correlation : float, or array-like of shape (n, n), default=0.0
        Of being right, between any two members.
    model : {"beta_binomial", "bahadur"}, default="beta_binomial"
        "beta_binomial": rows differ in difficulty. The chance of being right about a row is drawn from a beta
        distribution of mean p, the same for all members, which are independent given it. So p is one number,
        and the correlation one from 0 to 1, where all members are one. "bahadur": the expansion of Bahadur
        without correlations of three and more members. So the correlation may be negative, or different
        between pairs, and members may be unequal (up to 16 of them); but it must be near 0, the nearer the
        more members there are, and what is too far is an error that tells how far it may be.

    Returns
    -------
    ndarray of shape (n + 1,)

    References
    ----------
    R. R. Bahadur, "A representation of the joint distribution of responses to n dichotomous items". Studies
    in Item Analysis and Prediction, Stanford 1961.

    Examples
    --------
    >>> right_votes(3, 0.6)
    array([0.064, 0.288, 0.432, 0.216])
    """
    accuracies, between = check_members(n, p, correlation)
    if model not in ("beta_binomial", "bahadur"):
        raise ValueError(f'model must be "beta_binomial" or "bahadur". Got {model!r}.')
    if not between.any():
        return binomial(n, accuracies) if accuracies.ndim == 0 else poisson_binomial(accuracies)
    if model == "beta_binomial":
        return beta_binomial(n, accuracies, between)
    if accuracies.ndim == 0 and between.ndim == 0:
        return bahadur(n, float(accuracies), float(between))
    return bahadur_of_unequal(np.broadcast_to(accuracies, n), between)


def binomial(n: int, p: np.ndarray) -> np.ndarray:
    """The distribution of independent and equally good members."""
    right = np.arange(n + 1)
    return np.asarray(np.exp(log_ways(n) + xlogy(right, p) + xlog1py(n - right, -p)))


def log_ways(n: int) -> np.ndarray:
    """The logarithms of the numbers of ways in which 0, 1, ..., n of n members can be right."""
    right = np.arange(n + 1)
    return np.asarray(gammaln(n + 1) - gammaln(right + 1) - gammaln(n - right + 1))


def poisson_binomial(accuracies: np.ndarray) -> np.ndarray:
    """The distribution of independent members, one after the other."""
    chances = np.ones(1)
    for p in accuracies:
        chances = np.convolve(chances, [1 - p, p])
    return chances


def beta_binomial(n: int, p: np.ndarray, between: np.ndarray) -> np.ndarray:
    """The distribution of equally good members on rows of different difficulty."""
    if p.ndim or between.ndim:
        raise ValueError(
            'The model "beta_binomial" takes one p and one correlation for all members. Pass the means, or '
            'use "bahadur".'
        )
    if not 0 <= between <= 1:
        raise ValueError(
            f'correlation must be from 0 to 1 in the model "beta_binomial". Got {between}. Use "bahadur".'
        )
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


def bahadur(n: int, p: float, between: float) -> np.ndarray:
    """The distribution of equally good members, each two of them correlated."""
    check_inner(np.array(p))
    right = np.arange(n + 1)
    # The sum, over the pairs, of the products of their standardised votes.
    total = (right - n * p) / np.sqrt(p * (1 - p))
    squares = right * (1 - p) / p + (n - right) * p / (1 - p)
    factor = (np.square(total) - squares) / 2
    check_bahadur(between, factor)
    return np.maximum(binomial(n, np.array(p)) * (1 + between * factor), 0)


def bahadur_of_unequal(accuracies: np.ndarray, between: np.ndarray) -> np.ndarray:
    """The distribution of members that differ, by going through all ways to be right and wrong."""
    n = len(accuracies)
    if n > MOST_UNEQUAL:
        raise ValueError(
            f'The model "bahadur" takes at most {MOST_UNEQUAL} members that are not all alike. Got {n}. Use '
            "their means."
        )
    check_inner(accuracies)
    right = np.array(list(itertools.product([0.0, 1.0], repeat=n)))
    chances = np.where(right == 1, accuracies, 1 - accuracies).prod(axis=1)
    standardised = (right - accuracies) / np.sqrt(accuracies * (1 - accuracies))
    if between.ndim == 0:
        factor = (np.square(standardised.sum(axis=1)) - np.square(standardised).sum(axis=1)) / 2
        check_bahadur(float(between), factor)
        factor = between * factor
    else:
        upper = np.triu(between, 1)
        factor = np.einsum("xi,ij,xj->x", standardised, upper, standardised, optimize=True)
        if factor.min() < -1 - 1e-12:
            raise ValueError('These correlations are too far from 0 for the model "bahadur". Use their mean.')
    return np.bincount(right.sum(axis=1).astype(int), weights=np.maximum(chances * (1 + factor), 0))


def check_bahadur(between: float, factor: np.ndarray) -> None:
    """Raise if a correlation gives a negative probability to some way of being right and wrong."""
    low = -1 / factor.max() if factor.max() > 0 else -np.inf
    high = -1 / factor.min() if factor.min() < 0 else np.inf
    if not low - 1e-12 <= between <= high + 1e-12:
        raise ValueError(
            f'correlation must be from {low:.4g} to {high:.4g} for these members in the model "bahadur". Got '
            f"{between}."
        )


def check_inner(accuracies: np.ndarray) -> None:
    """Raise for members that are always right or wrong: nothing correlates with them."""
    if ((accuracies <= 0) | (accuracies >= 1)).any():
        raise ValueError('p must be above 0 and below 1 in the model "bahadur". Leave such members out.')


def check_members(n: Any, p: Any, correlation: Any) -> tuple[np.ndarray, np.ndarray]:
    """How often members are right, and what is between them, as arrays of no dimension or of all members."""
    if not is_integer(n) or n < 1:
        raise ValueError(f"n must be an integer >= 1, the number of members. Got {n!r}.")
    accuracies, between = to_numbers(p, "p"), to_numbers(correlation, "correlation")
    if accuracies.shape not in ((), (n,)):
        raise ValueError(f"p must be one number, or one for each of {n} members. Got {accuracies.shape}.")
    if not ((accuracies >= 0) & (accuracies <= 1)).all():
        raise ValueError(f"p must be from 0 to 1. Got {p!r}.")
    if between.shape not in ((), (n, n)):
        raise ValueError(f"correlation must be one number, or ({n}, {n}) of them. Got {between.shape}.")
    if not (np.abs(between) <= 1).all():
        raise ValueError(f"correlation must be from -1 to 1. Got {correlation!r}.")
    if between.ndim:
        if not np.allclose(between, between.T):
            raise ValueError("correlation must be the same matrix if rows and columns change places.")
        between = between - np.diag(between.diagonal())
    return accuracies, between


@dataclass(frozen=True)
class Forecast:
    """What theory says of a majority vote, and what it does.

    Parameters
    ----------
    n_members : int
    mean_accuracy : float
        Of the members.
    correlation : float
        Of being right, the mean over all pairs; NaN if it cannot be told.
    independent : float
        The accuracy of independent members that are each as good as these.
    correlated : float
        That of equally good members of this correlation, by the beta-binomial model. A negative correlation,
        or one that cannot be told, counts as 0.
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
    votes: Any, y: Any, *, sample_weight: Any = None, classes: Any = None, ties: str = "half"
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
