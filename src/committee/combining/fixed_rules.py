"""Rules that need no training, as functions of the votes.

In: votes of shape (n_members, n_rows, n_outputs), and a weight for each member. Out: one decision of shape
(n_rows, n_outputs). In the formulas, d[i, j] is the vote of member i for class j, and w[i] is its weight. A
weight of 2 has the effect of a second, equal member, and a member of weight 0 has no effect.

Decisions on classes are rescaled to sum to one. If no class has any support, all get the same share. With
`rescale=False`, the support itself is returned, as textbooks print it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from committee.table.input_types import ArrayLike
from committee.votes.vote_arrays import (
    check_classes,
    check_member_weights,
    check_votes,
    in_blocks,
    labels_of,
    shares_of,
    weighted_sum,
)

# Smaller differences between sums of weights are ignored, so that the order of the members has no effect.
SAME_SHARE = 1e-12
Function = Callable[..., np.ndarray]


def mean(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Average the members' votes: the sum of w[i] d[i, j] over the members.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs)
    weights : array-like of shape (n_members,), default=None
        None gives all members the same weight.
    rescale : bool, default=True
        Whether to rescale decisions on classes. False returns the support itself.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    References
    ----------
    J. Kittler, M. Hatef, R. P. W. Duin, J. Matas, "On combining classifiers". IEEE Transactions on Pattern
    Analysis and Machine Intelligence 20(3), 1998: the sum rule.

    Examples
    --------
    >>> mean([[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]]).round(2)
    array([[0.53, 0.47]])
    """
    votes = check_votes(votes)
    shares = shares_of(weights, len(votes))
    return in_blocks(lambda block: weighted_sum(block, shares), votes, rescale=rescale)


def median(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Take the median of the members' votes for each output.

    With two middle votes, it is their mean. With weights, it is the vote at which half of the total weight is
    reached.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs)
    weights : array-like of shape (n_members,), default=None
        None gives all members the same weight.
    rescale : bool, default=True
        Whether to rescale decisions on classes. False returns the support itself.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    References
    ----------
    Kittler et al. 1998, as for `mean`: the median rule.

    Examples
    --------
    >>> median([[[3.0]], [[4.0]], [[90.0]]])
    array([[4.]])
    """
    votes = check_votes(votes)
    shares = shares_of(weights, len(votes))
    return in_blocks(lambda block: middle(block, shares), votes, rescale=rescale)


def trimmed_mean(votes: ArrayLike, weights: ArrayLike | None = None, *, trim: float = 0.2) -> np.ndarray:
    """Average the members' votes for each output without the lowest and the highest.

    If `trim` times the number of members is a whole number, this many votes are removed at each end, as in
    scipy's `trim_mean`. Otherwise, the last of them keeps a part of its weight.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_outputs)
    weights : array-like of shape (n_members,), default=None
        None gives all members the same weight.
    trim : float in [0, 0.5), default=0.2
        The share of the weight to remove at each end. 0 is the mean, and nearly 0.5 is the median.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)

    References
    ----------
    K. Tumer, J. Ghosh, "Robust combining of disparate classifiers through order statistics". Pattern Analysis
    and Applications 5, 2002.

    Examples
    --------
    >>> trimmed_mean([[[3.0]], [[4.0]], [[5.0]], [[6.0]], [[90.0]]])
    array([[5.]])
    """
    votes = check_votes(votes)
    shares = shares_of(weights, len(votes))
    if not 0 <= trim < 0.5:
        raise ValueError(f"trim must be a number in [0, 0.5). Got {trim!r}.")
    return in_blocks(lambda block: between(block, shares, trim, 1 - trim), votes)


def minimum(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Take the lowest vote for each class, and rescale.

    A vote of 0 is a veto. If every class has one, all get the same share.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        Members of weight 0 are ignored. Other weights make no difference.
    rescale : bool, default=True
        Whether to rescale decisions on classes. False returns the support itself.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)

    References
    ----------
    Kittler et al. 1998, as for `mean`: the min rule.

    Examples
    --------
    >>> minimum([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]])
    array([[0.4, 0.6]])
    >>> minimum([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]], rescale=False)
    array([[0.2, 0.3]])
    """
    votes = check_classes(votes, "minimum")
    members = check_member_weights(weights, len(votes)) > 0
    return in_blocks(lambda block: block[members].min(axis=0), votes, rescale=rescale)


def maximum(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Take the highest vote for each class, and rescale.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        Members of weight 0 are ignored. Other weights make no difference.
    rescale : bool, default=True
        Whether to rescale decisions on classes. False returns the support itself.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)

    References
    ----------
    Kittler et al. 1998, as for `mean`: the max rule.

    Examples
    --------
    >>> maximum([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]]).round(2)
    array([[0.47, 0.53]])
    """
    votes = check_classes(votes, "maximum")
    members = check_member_weights(weights, len(votes)) > 0
    return in_blocks(lambda block: block[members].max(axis=0), votes, rescale=rescale)


def product(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Multiply the members' votes, each to the power w[i], and rescale.

    A vote of 0 is a veto. If every class has one, all zeros are treated as the same very small number. Then
    only the classes with the fewest vetoes by weight remain, and the other votes decide between them.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        Exponents. None gives every member the exponent 1.
    rescale : bool, default=True
        Whether to rescale. False returns the products.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)

    References
    ----------
    Kittler et al. 1998, as for `mean`: the product rule.

    Examples
    --------
    >>> product([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]]).round(2)
    array([[0.47, 0.53]])
    """
    votes = check_classes(votes, "product")
    exponents = check_member_weights(weights, len(votes))
    if not rescale:
        return in_blocks(lambda block: powers(block, exponents), votes, rescale=False)
    return in_blocks(lambda block: multiplied(block, exponents), votes)


def geometric_mean(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Average the logarithms of the members' votes, and rescale: the mean of their log-odds.

    This is the `product` to the power 1 / n_members, so its probabilities are less extreme. Vetoes have the
    same effect as in `product`.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        None gives all members the same weight.
    rescale : bool, default=True
        Whether to rescale decisions on classes. False returns the support itself.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)

    References
    ----------
    C. Genest, J. V. Zidek, "Combining probability distributions: a critique and an annotated bibliography".
    Statistical Science 1(1), 1986: the logarithmic opinion pool.

    Examples
    --------
    >>> geometric_mean([[[0.2, 0.8]], [[0.6, 0.4]], [[0.7, 0.3]]]).round(2)
    array([[0.49, 0.51]])
    """
    votes = check_classes(votes, "geometric_mean")
    shares = shares_of(weights, len(votes))
    if not rescale:
        return in_blocks(lambda block: powers(block, shares), votes, rescale=False)
    return in_blocks(lambda block: multiplied(block, shares), votes)


def majority(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Count the members that vote for each class.

    A member votes for its class of the highest probability, or the first of several. A class has the majority
    if more than half of the total weight votes for it. If no share exceeds 1/2, the committee abstains. The
    shares are returned in this case too, so the class with the most votes still has the largest share.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        The weight of each member's vote, for a weighted majority. None gives all members the same weight.
    rescale : bool, default=True
        Whether to rescale to shares. False returns the sums of the weights.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares of the votes.

    See Also
    --------
    plurality : Decide for the class with the most votes, with or without a majority.

    References
    ----------
    L. Lam, C. Y. Suen, "Application of majority voting to pattern recognition". IEEE Transactions on Systems,
    Man, and Cybernetics A 27(5), 1997.

    Examples
    --------
    >>> majority([[[0.2, 0.8]], [[0.7, 0.3]], [[0.7, 0.3]]]).round(2)
    array([[0.67, 0.33]])

    Find the rows with a majority:

    >>> four = one_hot([[0, 0], [0, 0], [0, 1], [1, 2]], n_classes=3)
    >>> majority(four).max(axis=1) > 0.5
    array([ True, False])
    """
    votes = check_classes(votes, "majority")
    shares = shares_of(weights, len(votes)) if rescale else check_member_weights(weights, len(votes))
    return in_blocks(lambda block: counted(block, shares), votes, rescale=rescale)


def plurality(votes: ArrayLike, weights: ArrayLike | None = None) -> np.ndarray:
    """Decide for the class with the most votes, with or without a majority.

    A member votes for its class of the highest probability, or the first of several. Classes with equally
    many votes share the decision.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        The weight of each member's vote. None gives all members the same weight.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        1 for the winning class, 0 for the others.

    See Also
    --------
    majority : Return the shares of the votes, which show whether there is a majority.

    References
    ----------
    Lam and Suen 1997, as for `majority`.

    Examples
    --------
    >>> plurality(one_hot([[0], [0], [1], [2], [3]], n_classes=4))
    array([[1., 0., 0., 0.]])
    """
    votes = check_classes(votes, "plurality")
    shares = shares_of(weights, len(votes))

    def winners(block: np.ndarray) -> np.ndarray:
        counts = counted(block, shares)
        return (counts >= counts.max(axis=1, keepdims=True) - SAME_SHARE).astype(np.float64)

    return in_blocks(winners, votes)


def borda(votes: ArrayLike, weights: ArrayLike | None = None, *, rescale: bool = True) -> np.ndarray:
    """Count ranks: a class gets a point from a member for each class with a lower vote of this member.

    A class with an equal vote gives half a point.

    Parameters
    ----------
    votes : array-like of shape (n_members, n_rows, n_classes)
    weights : array-like of shape (n_members,), default=None
        The weight of each member's points. None gives all members the same weight.
    rescale : bool, default=True
        Whether to rescale. False returns the points.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Shares of the points.

    References
    ----------
    T. K. Ho, J. J. Hull, S. N. Srihari, "Decision combination in multiple classifier systems". IEEE
    Transactions on Pattern Analysis and Machine Intelligence 16(1), 1994.

    Examples
    --------
    >>> borda([[[0.1, 0.2, 0.7]], [[0.4, 0.5, 0.1]]]).round(2)
    array([[0.17, 0.5 , 0.33]])
    """
    votes = check_classes(votes, "borda")
    shares = shares_of(weights, len(votes)) if rescale else check_member_weights(weights, len(votes))
    return in_blocks(lambda block: ranked(block, shares), votes, rescale=rescale)


def one_hot(labels: ArrayLike, n_classes: int) -> np.ndarray:
    """Turn labels into crisp votes.

    Parameters
    ----------
    labels : array-like of int of any shape, such as (n_members, n_rows)
        Numbers of classes, starting at 0.
    n_classes : int

    Returns
    -------
    ndarray of the shape of `labels`, with n_classes as an additional last axis
        1 for the class, 0 for the others.

    Examples
    --------
    >>> one_hot([[0, 1]], n_classes=2)
    array([[[1., 0.],
            [0., 1.]]])
    """
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iu" or ((labels < 0) | (labels >= n_classes)).any():
        raise ValueError(f"labels must be integers from 0 to {n_classes - 1}. Got {labels!r}.")
    return np.eye(n_classes)[labels]


def middle(votes: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Return the weighted median: the mean of the votes just below and above half of the weight."""
    ordered, reached = in_order(votes, shares)
    lower = (reached >= 0.5 - SAME_SHARE).argmax(axis=0, keepdims=True)
    upper = (reached > 0.5 + SAME_SHARE).argmax(axis=0, keepdims=True)
    low, high = (np.take_along_axis(ordered, at, axis=0)[0] for at in (lower, upper))
    return low / 2 + high / 2


def between(votes: np.ndarray, shares: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the mean of the votes between two shares of the weight."""
    ordered, reached = in_order(votes, shares)
    return weighted_sum(ordered, np.diff(reached.clip(low, high), axis=0, prepend=low) / (high - low))


def in_order(votes: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the votes for each output. Return them and their cumulative shares of the weight."""
    if (shares == shares[0]).all():
        return np.sort(votes, axis=0), shares.cumsum()[:, np.newaxis, np.newaxis]
    order = votes.argsort(axis=0)
    return np.take_along_axis(votes, order, axis=0), shares[order].cumsum(axis=0)


def multiplied(votes: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the product of votes raised to powers, up to a factor for each row."""
    are_zero = votes == 0
    logarithms = weighted_sum(np.log(np.where(are_zero, 1, votes)), exponents)
    if are_zero.any():
        vetoes = weighted_sum(are_zero, exponents)
        fewest = vetoes.min(axis=1, keepdims=True)
        logarithms[vetoes > fewest + SAME_SHARE * exponents.sum()] = -np.inf
    return np.exp(logarithms - logarithms.max(axis=1, keepdims=True))


def powers(votes: np.ndarray, exponents: np.ndarray) -> np.ndarray:
    """Return the product of votes raised to powers. A member with the exponent 0 has no effect."""
    found: np.ndarray = np.prod(votes ** exponents[:, np.newaxis, np.newaxis], axis=0)
    return found


def counted(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weight of the members that vote for each class."""
    counts = np.zeros(votes.shape[1:])
    rows = np.arange(len(counts))
    for weight, label in zip(weights, labels_of(votes), strict=True):
        counts[rows, label] += weight
    return counts


def ranked(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the points of each class: half the number of other classes plus half of wins minus losses."""
    n_members, n_rows, n_classes = votes.shape
    by_class = np.ascontiguousarray(votes.transpose(2, 0, 1))
    balances = np.zeros((n_classes, n_members, n_rows), dtype=np.int32)
    for one in range(n_classes):
        for other in range(one):
            wins = (by_class[one] > by_class[other]).view(np.int8)
            wins -= (by_class[one] < by_class[other]).view(np.int8)
            balances[one] += wins
            balances[other] -= wins
    return weighted_sum((n_classes - 1 + balances.transpose(1, 2, 0)) / 2, weights)


FIXED: Mapping[str, Function] = {
    function.__name__: function
    for function in (
        *(mean, median, trimmed_mean, minimum, maximum),
        *(product, geometric_mean, majority, plurality, borda),
    )
}
