"""Measure how much the members of a committee differ: for all pairs, and for all members together.

Measures of pairs are matrices of shape (n_members, n_members). In their formulas N11, N10, N01 and N00 are
the weights of the rows on which both members of a pair are right, only the first, only the second, and
neither; N is their sum. A value that is not defined, as 0 / 0, is NaN.

Measures of all members are one number. In their formulas L is the number of members, l(x) how many of them
are right about row x, and the mean is over the rows, by weight; p is the mean accuracy of the members.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from committee.documentation import with_parameters
from committee.evaluating.vote_scores import CLASS_VOTES, Given, read_class_votes, read_labels
from committee.table.input_types import ArrayLike
from committee.votes.vote_arrays import labels_of


@dataclass(frozen=True, eq=False)
class Oracle:
    """Who is right about which row.

    Parameters
    ----------
    right : ndarray of float64 of shape (n_members, n_rows)
        1 where the class of a member's highest vote, the first of equal ones, is that of the row.
    weights : ndarray of float64 of shape (n_rows,)
    """

    right: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, votes: ArrayLike, y: ArrayLike, sample_weight: Given, classes: Given = None) -> Oracle:
        """Read the votes of at least two members on classes.

        Examples
        --------
        >>> Oracle.of([[0, 1]], [0, 0], None)
        Traceback (most recent call last):
        ValueError: Diversity is between members: there must be at least two of them. Got 1.
        """
        honest = read_class_votes(votes, y, sample_weight, classes)
        if honest.n_members < 2:
            raise ValueError("Diversity is between members: there must be at least two of them. Got 1.")
        return cls((labels_of(honest.votes) == honest.y).astype(np.float64), honest.weights)

    @property
    def n_members(self) -> int:
        """The number of members."""
        return len(self.right)

    def mean(self, of_rows: np.ndarray) -> float:
        """The weighted mean over the rows."""
        return float(of_rows @ self.weights / self.weights.sum())

    def pairs(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """N11, N10, N01 and N00 of all pairs, each of shape (n_members, n_members)."""
        # Each is a sum of its own, and none a difference, so that nothing is 0 and not nearly 0.
        right, wrong = self.right, 1 - self.right
        first = (right * self.weights) @ wrong.T
        return (right * self.weights) @ right.T, first, first.T, (wrong * self.weights) @ wrong.T


@with_parameters(CLASS_VOTES)
def q_statistic(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> np.ndarray:
    """Yule's Q of all pairs: (N11 N00 - N01 N10) / (N11 N00 + N01 N10).

    0 for members that are independent, up to 1 for those that are right about the same rows, down to -1 for
    those that are wrong about different ones.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    References
    ----------
    L. I. Kuncheva, C. J. Whitaker, "Measures of diversity in classifier ensembles and their relationship with
    the ensemble accuracy". Machine Learning 51, 2003: this and all measures of right and wrong here.

    Examples
    --------
    >>> q_statistic([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1]).round(2)
    array([[1.  , 0.33],
           [0.33, 1.  ]])
    """
    both, first, second, neither = Oracle.of(votes, y, sample_weight, classes).pairs()
    agree, differ = both * neither, first * second
    return divided(agree - differ, agree + differ)


@with_parameters(CLASS_VOTES)
def correlation(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> np.ndarray:
    """The correlation of being right, of all pairs.

    (N11 N00 - N01 N10) / sqrt((N11 + N10) (N01 + N00) (N11 + N01) (N10 + N00)). It has the sign of Q and is
    nearer to 0.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    Examples
    --------
    >>> correlation([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1]).round(2)
    array([[1.  , 0.17],
           [0.17, 1.  ]])
    """
    both, first, second, neither = Oracle.of(votes, y, sample_weight, classes).pairs()
    right_wrong = (both + first) * (second + neither) * (both + second) * (first + neither)
    return divided(both * neither - first * second, np.sqrt(right_wrong))


@with_parameters(CLASS_VOTES)
def disagreement(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> np.ndarray:
    """The share of rows about which one of a pair is right and the other is not: (N01 + N10) / N.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    Examples
    --------
    >>> disagreement([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1])
    array([[0. , 0.4],
           [0.4, 0. ]])
    """
    both, first, second, neither = Oracle.of(votes, y, sample_weight, classes).pairs()
    return (first + second) / (both + first + second + neither)


@with_parameters(CLASS_VOTES)
def double_fault(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> np.ndarray:
    """The share of rows about which both of a pair are wrong: N00 / N. On the diagonal, the errors.

    Returns
    -------
    ndarray of shape (n_members, n_members)

    Examples
    --------
    >>> double_fault([[1, 1, 0, 0, 1], [1, 0, 1, 0, 1]], [1, 1, 1, 1, 1])
    array([[0.4, 0.2],
           [0.2, 0.4]])
    """
    both, first, second, neither = Oracle.of(votes, y, sample_weight, classes).pairs()
    return neither / (both + first + second + neither)


@with_parameters(CLASS_VOTES)
def kappa(votes: ArrayLike, *, sample_weight: Given = None) -> np.ndarray:
    """Cohen's kappa of the labels of all pairs: how much more two members agree than by chance.

    (a - e) / (1 - e), with a the share of rows with the same label, and e the share to be expected of members
    that are independent: the sum, over the classes, of the product of how often each says it. The truth is
    not asked for. Kuncheva and Whitaker take it of right and wrong: pass those as labels.

    Returns
    -------
    ndarray of shape (n_members, n_members)
        1 for members that always agree, 0 for those that do by chance, below 0 for those that do less often.

    References
    ----------
    D. D. Margineantu, T. G. Dietterich, "Pruning adaptive boosting". ICML 1997.

    Examples
    --------
    >>> kappa([["a", "a", "b", "c"], ["a", "b", "b", "c"]]).round(2)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """
    labels, weights = read_labels(votes, sample_weight)
    total = weights.sum()
    agree, by_chance = (np.zeros((len(labels), len(labels))) for _ in range(2))
    for label in np.unique(labels):
        said = (labels == label).astype(np.float64)
        agree += (said * weights) @ said.T / total
        often = said @ weights / total
        by_chance += np.outer(often, often)
    # Where both say the same one class, agreement is no more than chance.
    return divided(agree - by_chance, np.where(by_chance < 1 - 1e-12, 1 - by_chance, 0.0))


def average(matrix: ArrayLike) -> float:
    """The mean of a matrix of pairs over all pairs, without those that are NaN.

    Parameters
    ----------
    matrix : array-like of shape (n_members, n_members)
        The upper triangle is looked at.

    Returns
    -------
    float
        NaN if all pairs are.

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
    """A quotient, NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full_like(denominator, np.nan), where=denominator != 0)


@with_parameters(CLASS_VOTES)
def entropy(votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None) -> float:
    """How evenly members are right and wrong: the mean of min(l(x), L - l(x)) / (L - ceil(L / 2)).

    0 if all are right or wrong together about every row, 1 if about half of them are about each.

    Returns
    -------
    float

    References
    ----------
    P. Cunningham, J. Carney, "Diversity versus quality in classification ensembles based on feature
    selection". ECML 2000, in the form of Kuncheva and Whitaker 2003.

    Examples
    --------
    >>> entropy([[1, 1, 0, 0], [1, 0, 1, 0], [1, 1, 1, 0]], [1, 1, 1, 1])
    0.5
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    n_right, n_members = oracle.right.sum(axis=0), oracle.n_members
    fewer = np.minimum(n_right, n_members - n_right)
    return oracle.mean(fewer) / (n_members - math.ceil(n_members / 2))


@with_parameters(CLASS_VOTES)
def kohavi_wolpert(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """The variance of Kohavi and Wolpert: the mean of l(x) (L - l(x)) / L^2.

    It is (L - 1) / (2 L) times the average disagreement, from 0 to 1/4.

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
    oracle = Oracle.of(votes, y, sample_weight, classes)
    share = oracle.right.mean(axis=0)
    return oracle.mean(share * (1 - share))


@with_parameters(CLASS_VOTES)
def interrater_agreement(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """Fleiss' kappa of being right: 1 - mean(l(x) (L - l(x))) / (L (L - 1) p (1 - p)).

    It is 1 - D / (2 p (1 - p)), with D the average disagreement: 1 if all are right or wrong together, 0 if
    they agree by chance, -1 / (L - 1) at least. NaN if nobody, or everybody, is ever wrong.

    Returns
    -------
    float

    References
    ----------
    J. L. Fleiss, "Statistical methods for rates and proportions". Wiley 1981.

    Examples
    --------
    >>> round(interrater_agreement([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1]), 6)
    0.0
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    n_members, share = oracle.n_members, oracle.right.mean(axis=0)
    accuracy = oracle.mean(share)
    by_chance = accuracy * (1 - accuracy) * (n_members - 1) / n_members
    if by_chance < 1e-15:
        return float("nan")
    return 1 - oracle.mean(share * (1 - share)) / by_chance


@with_parameters(CLASS_VOTES)
def difficulty(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """How far rows differ in difficulty: the variance, over the rows, of the share l(x) / L that is right.

    0 if every row is as hard as any other, which is most diverse; p (1 - p) if all are right or wrong
    together.

    Returns
    -------
    float

    References
    ----------
    L. K. Hansen, P. Salamon, "Neural network ensembles". IEEE Transactions on Pattern Analysis and Machine
    Intelligence 12(10), 1990, in the form of Kuncheva and Whitaker 2003.

    Examples
    --------
    >>> difficulty([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.125
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    share = oracle.right.mean(axis=0)
    return oracle.mean(np.square(share - oracle.mean(share)))


@with_parameters(CLASS_VOTES)
def generalised_diversity(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """1 - p(2) / p(1): p(1) is how often a member drawn at random is wrong, p(2) how often two of them are.

    With w(x) = L - l(x) of the members wrong about a row, p(1) is the mean of w / L and p(2) the mean of
    w (w - 1) / (L (L - 1)). 1 if no two are wrong about the same row, 0 if all are wrong together. NaN if
    nobody is ever wrong.

    Returns
    -------
    float

    References
    ----------
    D. Partridge, W. Krzanowski, "Software diversity: practical statistics for its measurement and
    exploitation". Information and Software Technology 39, 1997.

    Examples
    --------
    >>> generalised_diversity([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    0.5
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    n_members = oracle.n_members
    n_wrong = n_members - oracle.right.sum(axis=0)
    one = oracle.mean(n_wrong / n_members)
    two = oracle.mean(n_wrong * (n_wrong - 1) / (n_members * (n_members - 1)))
    return 1 - two / one if one > 0 else float("nan")


@with_parameters(CLASS_VOTES)
def coincident_failure(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> float:
    """The mean of l(x) / (L - 1) over the rows about which somebody is wrong: coincident failure diversity.

    1 if never more than one member is wrong, 0 if all are wrong together, or nobody ever is.

    Returns
    -------
    float

    References
    ----------
    Partridge and Krzanowski 1997, as for `generalised_diversity`.

    Examples
    --------
    >>> round(coincident_failure([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1]), 6)
    0.666667
    """
    oracle = Oracle.of(votes, y, sample_weight, classes)
    n_right = oracle.right.sum(axis=0)
    somebody = (n_right < oracle.n_members).astype(np.float64)
    failing = oracle.mean(somebody)
    return oracle.mean(somebody * n_right / (oracle.n_members - 1)) / failing if failing > 0 else 0.0


@with_parameters(CLASS_VOTES)
def summary(
    votes: ArrayLike, y: ArrayLike, *, sample_weight: Given = None, classes: Given = None
) -> dict[str, float]:
    """All measures of a committee by name, those of pairs averaged.

    Returns
    -------
    dict of str to float
        "kappa" is of the labels; the others are of right and wrong.

    Examples
    --------
    >>> found = summary([[1, 1, 0, 0], [1, 0, 1, 0]], [1, 1, 1, 1])
    >>> found["disagreement"], found["entropy"]
    (0.5, 0.5)
    """
    given = {"sample_weight": sample_weight, "classes": classes}
    of_pairs = (q_statistic, correlation, disagreement, double_fault)
    of_all = (
        entropy,
        kohavi_wolpert,
        interrater_agreement,
        difficulty,
        generalised_diversity,
        coincident_failure,
    )
    found = {measure.__name__: average(measure(votes, y, **given)) for measure in of_pairs}
    found["kappa"] = average(kappa(votes, sample_weight=sample_weight))
    return found | {measure.__name__: measure(votes, y, **given) for measure in of_all}
