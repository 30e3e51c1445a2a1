"""Diversity of all members together: one number for a committee, from how many are right about each row.

In the formulas L is the number of members, l(x) how many of them are right about row x, and the mean is over
the rows, by weight; p is the mean accuracy of the members.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from committee.documentation import with_parameters
from committee.evaluating import pairs
from committee.evaluating.pairs import Oracle, average
from committee.evaluating.reading import CLASS_VOTES, Given


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
    of_pairs = (pairs.q_statistic, pairs.correlation, pairs.disagreement, pairs.double_fault)
    of_all = (
        entropy,
        kohavi_wolpert,
        interrater_agreement,
        difficulty,
        generalised_diversity,
        coincident_failure,
    )
    found = {measure.__name__: average(measure(votes, y, **given)) for measure in of_pairs}
    found["kappa"] = average(pairs.kappa(votes, sample_weight=sample_weight))
    return found | {measure.__name__: measure(votes, y, **given) for measure in of_all}
