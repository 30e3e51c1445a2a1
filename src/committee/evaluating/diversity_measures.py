"""Measures of diversity: how much the members of a committee differ.

A measure of pairs is a matrix of shape (n_members, n_members). In its formula, N11, N10, N01 and N00 are the
summed weights of the rows on which both members of a pair are right, only the first, only the second, and
neither; N is the sum of the four. An undefined value, such as 0 / 0, is NaN.

A measure of all members is one number. In its formula, L is the number of members, l(x) is the number of
members that are right on row x, and p is their mean accuracy. Means over rows are weighted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.vote_scores import CLASS_VOTES, Given, as_array, read_class_votes
from committee.printing import brief
from committee.table.input_types import ArrayLike
from committee.votes.vote_arrays import labels_of

__all__ = [
    "average",
    "coincident_failure",
    "correlation",
    "difficulty",
    "disagreement",
    "double_fault",
    "entropy",
    "generalised_diversity",
    "interrater_agreement",
    "kappa",
    "kohavi_wolpert",
    "q_statistic",
    "summary",
]

Value = TypeVar("Value")


@brief
@dataclass(frozen=True, eq=False)
class Oracle:
    """The oracle output of a committee: which member is right on which row.

    Parameters
    ----------
    right : ndarray of float64 of shape (n_members, n_rows)
        1 where the class that a member predicts, or that of its highest vote, is the true class.
    weights : ndarray of float64 of shape (n_rows,)
    """

    right: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, votes: ArrayLike, y: ArrayLike, sample_weight: Given, classes: Given = None) -> Oracle:
        """Read the class votes of at least two members.

        Examples
        --------
        >>> Oracle.of([[0, 1]], [0, 0], None)
        Traceback (most recent call last):
        ValueError: votes must have at least 2 members. Got 1.
        """
        honest = read_class_votes(votes, y, sample_weight, classes, least=2, as_labels=True)
        return cls((labels_of(honest.votes) == honest.y).astype(np.float64), honest.weights)

    @property
    def n_members(self) -> int:
        """The number of members."""
        return len(self.right)

    def mean(self, of_rows: np.ndarray) -> float:
        """Return the weighted mean over the rows."""
        return float(of_rows @ self.weights / self.weights.sum())

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Compute N11, N10, N01 and N00 of all pairs, each of shape (n_members, n_members)."""
        # Every entry is a sum, not a difference, so that an entry that should be 0 is exactly 0.
        right, wrong = self.right, 1 - self.right
        first = (right * self.weights) @ wrong.T
        return (right * self.weights) @ right.T, first, first.T, (wrong * self.weights) @ wrong.T


def measure(compute: Callable[[Oracle], Value]) -> Callable[..., Value]:
    """Turn a function of the oracle output into a function of votes and true classes."""

    @wraps(compute, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
    def measured(
        votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
    ) -> Value:
        return compute(Oracle.of(votes, y, sample_weight, classes))

    # Without this, `help` shows the signature of the wrapped function.
    del measured.__wrapped__
    return with_parameters(CLASS_VOTES)(measured)


@measure
def q_statistic(oracle: Oracle) -> np.ndarray:
    """Compute Yule's Q of all pairs: (N11 N00 - N01 N10) / (N11 N00 + N01 N10).

    Q is 0 for independent members, positive up to 1 for members that are right on the same rows, and negative
    down to -1 for members that are wrong on different rows.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    References
    ----------
    L. I. Kuncheva, C. J. Whitaker, "Measures of diversity in classifier ensembles and their relationship with
    the ensemble accuracy". Machine Learning 51, 2003, for this measure and all others of right and wrong.

    Examples
    --------
    >>> q_statistic([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1]).round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    """
    both, first, second, neither = oracle.pairs()
    agree, differ = both * neither, first * second
    return divided(agree - differ, agree + differ)


@measure
def correlation(oracle: Oracle) -> np.ndarray:
    """Compute the correlation between being right, for all pairs.

    The formula is (N11 N00 - N01 N10) / sqrt((N11 + N10) (N01 + N00) (N11 + N01) (N10 + N00)). The
    correlation has the same sign as Q and is closer to 0.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    Examples
    --------
    >>> correlation([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1]).round(2)
    array([[1.  , 0.17],
           [0.17, 1.  ]])
    """
    both, first, second, neither = oracle.pairs()
    right_wrong = (both + first) * (second + neither) * (both + second) * (first + neither)
    return divided(both * neither - first * second, np.sqrt(right_wrong))


@measure
def disagreement(oracle: Oracle) -> np.ndarray:
    """Compute the share of rows on which exactly one member of a pair is right: (N01 + N10) / N.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    Examples
    --------
    >>> disagreement([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1])
    array([[0. , 0.4],
           [0.4, 0. ]])
    """
    both, first, second, neither = oracle.pairs()
    return (first + second) / (both + first + second + neither)


@measure
def double_fault(oracle: Oracle) -> np.ndarray:
    """Compute the share of rows on which both members of a pair are wrong: N00 / N.

    Returns
    -------
    ndarray of shape (n_members, n_members)
        The diagonal has the error of each member.

    Examples
    --------
    >>> double_fault([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1])
    array([[0.4, 0.2],
           [0.2, 0.4]])
    """
    both, first, second, neither = oracle.pairs()
    return neither / (both + first + second + neither)


@with_parameters(CLASS_VOTES)
def kappa(votes: ArrayLike, *, sample_weight: Given = None) -> np.ndarray:
    """Compute Cohen's kappa between the labels of all pairs: their agreement beyond chance.

    Kappa is (a - e) / (1 - e). Here a is the share of rows on which both members predict the same label, and
    e is the share expected if the members were independent: the sum over the classes of the product of how
    often each member predicts the class. The true classes are not needed. To compute kappa of being right and
    wrong, as Kuncheva and Whitaker do, pass right and wrong as labels.

    Returns
    -------
    ndarray of shape (n_members, n_members)
        1 for members that always agree, 0 for members that agree by chance, and less than 0 for members that
        agree less often than by chance.

    References
    ----------
    D. D. Margineantu, T. G. Dietterich, "Pruning adaptive boosting". ICML 1997.

    Examples
    --------
    >>> kappa([["a", "a", "b", "c"], ["a", "b", "b", "c"]]).round(2)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """
    values = as_array(votes, "votes", as_labels=True)
    # Labels can be read only together with true labels, so those of the first member serve as such.
    n_rows = values.shape[1] if values.ndim > 1 else 1
    y = values[0] if values.ndim == 2 and len(values) else np.zeros(n_rows, dtype=np.int64)
    honest = read_class_votes(values, y, sample_weight, least=2)
    labels, weights = labels_of(honest.votes), honest.weights
    total = weights.sum()
    agree, by_chance = (np.zeros((len(labels), len(labels))) for _ in range(2))
    for label in np.unique(labels):
        predicted = (labels == label).astype(np.float64)
        agree += (predicted * weights) @ predicted.T / total
        frequency = predicted @ weights / total
        by_chance += np.outer(frequency, frequency)
    # If both members always predict the same single class, they agree by chance alone.
    return divided(agree - by_chance, np.where(by_chance < 1 - 1e-12, 1 - by_chance, 0.0))


def average(matrix: ArrayLike) -> float:
    """Average a matrix of pairs over all pairs that are not NaN.

    Parameters
    ----------
    matrix : array-like of shape (n_members, n_members)
        Only the upper triangle is used.

    Returns
    -------
    float
        NaN if all pairs are NaN.

    Examples
    --------
    >>> average([[0.0, 0.25, 0.5], [0.25, 0.0, 0.75], [0.5, 0.75, 0.0]])
    0.5
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) < 2:
        raise ValueError(f"matrix must have the shape (n_members, n_members). Got {matrix.shape}.")
    pairs = matrix[np.triu_indices(len(matrix), 1)]
    known = pairs[~np.isnan(pairs)]
    return float(known.mean()) if len(known) else float("nan")


def divided(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """Divide arrays, with NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(denominator, np.nan), where=denominator != 0)


@measure
def entropy(oracle: Oracle) -> float:
    """Compute the entropy of right and wrong votes: the mean of min(l(x), L - l(x)) / (L - ceil(L / 2)).

    Returns
    -------
    float
        0 if the members are all right or all wrong on every row, 1 if half of them are right on every row.

    References
    ----------
    P. Cunningham, J. Carney, "Diversity versus quality in classification ensembles based on feature
    selection". ECML 2000, in the form of Kuncheva and Whitaker 2003.

    Examples
    --------
    >>> entropy([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 1])
    0.5
    """
    n_right, n_members = oracle.right.sum(axis=0), oracle.n_members
    fewer = np.minimum(n_right, n_members - n_right)
    return oracle.mean(fewer) / (n_members - math.ceil(n_members / 2))


@measure
def kohavi_wolpert(oracle: Oracle) -> float:
    """Compute the variance of Kohavi and Wolpert: the mean of l(x) (L - l(x)) / L^2.

    It equals (L - 1) / (2 L) times the average disagreement, and is between 0 and 1/4.

    Returns
    -------
    float

    References
    ----------
    R. Kohavi, D. H. Wolpert, "Bias plus variance decomposition for zero-one loss functions". ICML 1996.

    Examples
    --------
    >>> kohavi_wolpert([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.125
    """
    share = oracle.right.mean(axis=0)
    return oracle.mean(share * (1 - share))


@measure
def interrater_agreement(oracle: Oracle) -> float:
    """Compute Fleiss' kappa of being right: 1 - mean(l(x) (L - l(x))) / (L (L - 1) p (1 - p)).

    It equals 1 - D / (2 p (1 - p)), where D is the average disagreement.

    Returns
    -------
    float
        1 if the members are all right or all wrong on every row, 0 if they agree by chance, and at least
        -1 / (L - 1). NaN if no member, or every member, is wrong on every row.

    References
    ----------
    J. L. Fleiss, "Statistical methods for rates and proportions". Wiley 1981.

    Examples
    --------
    >>> round(interrater_agreement([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1]), 6)
    0.0
    """
    n_members, share = oracle.n_members, oracle.right.mean(axis=0)
    accuracy = oracle.mean(share)
    by_chance = accuracy * (1 - accuracy) * (n_members - 1) / n_members
    if by_chance < 1e-15:
        return float("nan")
    return 1 - oracle.mean(share * (1 - share)) / by_chance


@measure
def difficulty(oracle: Oracle) -> float:
    """Compute the variance of the difficulty of rows: the variance of l(x) / L over the rows.

    Returns
    -------
    float
        0 if all rows are equally hard, which is the most diverse case; p (1 - p) if the members are all right
        or all wrong on every row.

    References
    ----------
    L. K. Hansen, P. Salamon, "Neural network ensembles". IEEE Transactions on Pattern Analysis and Machine
    Intelligence 12(10), 1990, in the form of Kuncheva and Whitaker 2003.

    Examples
    --------
    >>> difficulty([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.125
    """
    share = oracle.right.mean(axis=0)
    return oracle.mean(np.square(share - oracle.mean(share)))


@measure
def generalised_diversity(oracle: Oracle) -> float:
    """Compute generalised diversity, 1 - p(2) / p(1).

    Here p(1) is the probability that one member drawn at random is wrong, and p(2) the probability that two
    members drawn at random are both wrong. If w(x) = L - l(x) members are wrong on row x, p(1) is the mean of
    w / L, and p(2) is the mean of w (w - 1) / (L (L - 1)).

    Returns
    -------
    float
        1 if no two members are wrong on the same row, 0 if they are only wrong together. NaN if no member is
        ever wrong.

    References
    ----------
    D. Partridge, W. Krzanowski, "Software diversity: practical statistics for its measurement and
    exploitation". Information and Software Technology 39, 1997.

    Examples
    --------
    >>> generalised_diversity([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.5
    """
    n_members = oracle.n_members
    n_wrong = n_members - oracle.right.sum(axis=0)
    one = oracle.mean(n_wrong / n_members)
    two = oracle.mean(n_wrong * (n_wrong - 1) / (n_members * (n_members - 1)))
    return 1 - two / one if one > 0 else float("nan")


@measure
def coincident_failure(oracle: Oracle) -> float:
    """Compute coincident failure diversity: the mean of l(x) / (L - 1) over rows with a wrong member.

    Returns
    -------
    float
        1 if at most one member is wrong on each row, 0 if the members are only wrong together or never wrong.

    References
    ----------
    Partridge and Krzanowski 1997, as for `generalised_diversity`.

    Examples
    --------
    >>> round(coincident_failure([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1]), 6)
    0.666667
    """
    n_right = oracle.right.sum(axis=0)
    has_error = (n_right < oracle.n_members).astype(np.float64)
    failing = oracle.mean(has_error)
    return oracle.mean(has_error * n_right / (oracle.n_members - 1)) / failing if failing > 0 else 0.0


PAIR_MEASURES = (q_statistic, correlation, disagreement, double_fault)
COMMITTEE_MEASURES = (
    *(entropy, kohavi_wolpert, interrater_agreement, difficulty, generalised_diversity, coincident_failure),
)


@with_parameters(CLASS_VOTES)
def summary(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> dict[str, float]:
    """Compute all measures of diversity, and average the measures of pairs.

    Returns
    -------
    dict of str to float
        Values by name of measure. "kappa" compares labels; the others compare right and wrong.

    Examples
    --------
    >>> found = summary([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    >>> found["disagreement"], found["entropy"]
    (0.5, 0.5)
    """
    given = {"sample_weight": sample_weight, "classes": classes}
    found = {each.__name__: average(each(votes, y, **given)) for each in PAIR_MEASURES}
    found["kappa"] = average(kappa(votes, sample_weight=sample_weight))
    return found | {each.__name__: each(votes, y, **given) for each in COMMITTEE_MEASURES}
