"""Votes: an array of shape (n_members, n_rows, n_outputs), checked once and used in blocks of rows.

One output is a regression. More outputs are classes: votes for them are not negative, and a decision on them
sums to one. Votes keep their dtype; one block at a time becomes float64, so a large array of float32 is never
copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import numpy as np

from committee.task import Classification, Regression

# Votes in a block: two megabytes of float64, which stay in the caches while a rule works on them.
BLOCK_SIZE = 1 << 18
LARGEST = np.finfo(np.float64).max
# Votes for classes whose sum differs from one by less than this count as shares of one.
NEARLY_ONE = 1e-4
# Support counts as equal if it differs by at most this many roundings of a vote, or by this share.
N_ROUNDINGS, SAME_SUPPORT = 8, 1e-12


def check_votes(votes: object) -> np.ndarray:
    """Return votes as an array of numbers, if they have three dimensions, a member and an output.

    The numbers themselves are checked block by block, in `blocks_of`.

    Examples
    --------
    >>> check_votes([[0.5, 0.5]])
    Traceback (most recent call last):
    ValueError: votes must have the shape (n_members, n_rows, n_outputs). Got (1, 2).
    """
    try:
        array = np.asarray(votes)
    except ValueError as error:
        raise ValueError("votes must have the same rows and outputs for every member.") from error
    if array.dtype.kind not in "fiub":
        raise ValueError(f"votes must be numbers. Got {array.dtype}. Turn labels into votes with one_hot.")
    if array.ndim != 3 or len(array) == 0 or array.shape[2] == 0:
        raise ValueError(f"votes must have the shape (n_members, n_rows, n_outputs). Got {array.shape}.")
    return array


def are_classes(votes: np.ndarray) -> bool:
    """Return whether votes are for classes: there is more than one output."""
    return bool(votes.shape[2] > 1)


def check_classes(votes: object, rule: str) -> np.ndarray:
    """Return votes as `check_votes` does, if they are for classes.

    Examples
    --------
    >>> check_classes([[[3.5]]], "borda")
    Traceback (most recent call last):
    ValueError: borda decides on classes, and votes of one output are a regression. Use mean or median.
    """
    checked = check_votes(votes)
    if not are_classes(checked):
        raise ValueError(
            f"{rule} decides on classes, and votes of one output are a regression. Use mean or median."
        )
    return checked


def blocks_of(votes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the votes on one block of rows after the other, as float64, and check each number.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)

    Yields
    ------
    rows : slice
    block : ndarray of float64 of shape (n_members, n_rows of the block, n_outputs)
        Must not be changed: it may be a view of the votes.
    """
    n_members, n_rows, n_outputs = votes.shape
    step = max(1, BLOCK_SIZE // (n_members * n_outputs))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        block = np.asarray(votes[:, rows], dtype=np.float64)
        check_block(block, start)
        yield rows, block


def check_block(block: np.ndarray, first_row: int = 0) -> None:
    """Raise unless all votes are finite and, for classes, not negative; the error names the first."""
    lowest = 0.0 if are_classes(block) else -LARGEST
    # NaN fails both comparisons.
    if block.min(initial=0) >= lowest and block.max(initial=0) <= LARGEST:
        return
    are_sound, fault = np.isfinite(block), "finite"
    if are_sound.all():
        are_sound, fault = block >= 0, ">= 0, as they are for classes"
    member, row, output = np.argwhere(~are_sound)[0]
    vote = block[member, row, output]
    raise ValueError(f"votes must be {fault}. Got {vote} of member {member} for row {first_row + row}.")


def in_blocks(decide: Callable[[np.ndarray], np.ndarray], votes: np.ndarray) -> np.ndarray:
    """Decide on one block after the other. Decisions on classes are settled and rescaled to sum to one.

    Parameters
    ----------
    decide : callable
        From the votes of a block to the support of each output, of shape (n_rows of the block, n_outputs).
    votes : ndarray of shape (n_members, n_rows, n_outputs)

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_outputs)
    """
    decision = np.empty(votes.shape[1:])
    rounding = rounding_of(votes)
    for rows, block in blocks_of(votes):
        support = decide(block)
        decision[rows] = rescaled(settled(support, rounding)) if are_classes(block) else support
    return decision


def rounding_of(votes: np.ndarray) -> float:
    """Return the relative difference that rounding of the votes may cause between equal supports.

    Examples
    --------
    >>> rounding_of(np.ones((1, 1, 2), dtype=np.float32)), rounding_of(np.ones((1, 1, 2)))
    (9.5367431640625e-07, 1e-12)
    """
    step = float(np.finfo(votes.dtype).eps) if votes.dtype.kind == "f" else 0.0
    return max(N_ROUNDINGS * step, SAME_SUPPORT)


def settled(support: np.ndarray, rounding: float) -> np.ndarray:
    """Raise support to the highest of the row where it differs from that by rounding alone.

    So the order of the classes, not rounding, decides between classes with the same support on paper.

    Examples
    --------
    >>> settled(np.array([[0.6 + 0.3, 0.2 + 0.7, 0.1]]), 1e-12)
    array([[0.9, 0.9, 0.1]])
    """
    highest = support.max(axis=-1, keepdims=True)
    return np.where(support >= highest * (1 - rounding), highest, support)


def rescaled(support: np.ndarray) -> np.ndarray:
    """Rescale support to sum to one. Where no class has support, all classes get the same share.

    Examples
    --------
    >>> rescaled(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    # Divided by the largest first, so that no sum is too large or too small for a float.
    largest = support.max(axis=-1, keepdims=True, initial=0)
    shares: np.ndarray = np.divide(support, largest, out=np.ones_like(support), where=largest > 0)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def as_shares(votes: np.ndarray, tolerance: float) -> np.ndarray:
    """Rescale votes to sum to one for each row. Those that nearly do stay as they are, so ties stay ties.

    Examples
    --------
    >>> as_shares(np.array([[0.3, 0.7], [1.0, 3.0]]), 1e-9)
    array([[0.3 , 0.7 ],
           [0.25, 0.75]])
    """
    is_far = np.abs(votes.sum(axis=-1, keepdims=True) - 1) > tolerance
    return np.where(is_far, rescaled(votes), votes) if is_far.any() else votes


def weighted_sum(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sum the members' votes, each times its weight.

    Members are added one after the other, so a row gets the same bits alone and among other rows.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
    weights : ndarray of shape (n_members,) or (n_members, n_outputs)

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
    """
    total: np.ndarray = weights[0] * votes[0]
    for weight, vote in zip(weights[1:], votes[1:], strict=True):
        total += weight * vote
    return total


def labels_of(votes: np.ndarray) -> np.ndarray:
    """Return the class that each member votes for, the first of ties, of shape (n_members, n_rows)."""
    if votes.shape[2] == 2:
        return (votes[:, :, 1] > votes[:, :, 0]).astype(np.intp)
    labels: np.ndarray = votes.argmax(axis=2)
    return labels


def highest_of(votes: np.ndarray) -> np.ndarray:
    """Return the highest vote of each member, of shape (n_members, n_rows)."""
    highest = votes[:, :, 0].copy()
    for output in range(1, votes.shape[2]):
        np.maximum(highest, votes[:, :, output], out=highest)
    return highest


def check_member_weights(weights: object, n_members: int, name: str = "weights") -> np.ndarray:
    """Return the weights of the members as float64; ones if they are None.

    Examples
    --------
    >>> check_member_weights([1, -1], 2)
    Traceback (most recent call last):
    ValueError: weights must be finite, >= 0 and not all 0. Got [ 1. -1.].
    """
    if weights is None:
        return np.ones(n_members)
    try:
        array = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one for each of {n_members} members.") from error
    if array.shape != (n_members,):
        raise ValueError(f"{name} must be one number for each of {n_members} members. Got {array.shape}.")
    if not np.isfinite(array).all() or (array < 0).any() or not array.any():
        raise ValueError(f"{name} must be finite, >= 0 and not all 0. Got {array}.")
    return array


def shares_of(weights: object, n_members: int) -> np.ndarray:
    """Return the weights of the members as shares that sum to one."""
    return rescaled(check_member_weights(weights, n_members))


def dtype_of(task: Classification | Regression) -> type:
    """Return the dtype of votes: float32 for classes, which is as much as they are good for."""
    return np.float32 if isinstance(task, Classification) else np.float64


def mean_of_models(
    cast: Iterable[tuple[np.ndarray | slice, np.ndarray]], n_rows: int, n_outputs: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean vote of one member's models on each row, and whether any model votes on it.

    A class that a model does not know has the score minus infinity, and the mean leaves the model out.

    Examples
    --------
    >>> scores = np.array([[1.0, 2.0, -np.inf]]), np.array([[3.0, -np.inf, -np.inf]])
    >>> mean_of_models([(slice(None), each) for each in scores], n_rows=1, n_outputs=3)
    (array([[  2.,   2., -inf]]), array([ True]))
    """
    total, counts = np.zeros((n_rows, n_outputs)), np.zeros((n_rows, n_outputs), dtype=np.int32)
    for rows, votes in cast:
        is_known = votes > -np.inf
        total[rows] += np.where(is_known, votes, 0.0)
        counts[rows] += is_known
    nobody = counts == 0
    total /= np.maximum(counts, 1)
    total[nobody] = -np.inf
    return total, ~nobody.all(axis=1)


def folded_scores(scores: Sequence[np.ndarray], n_folds: int) -> list[np.ndarray]:
    """Return the mean scores of each fold's models; models are in the order of the folds, again and again."""
    found = []
    for fold in range(n_folds):
        of_fold = scores[fold::n_folds]
        mean, _ = mean_of_models([(slice(None), each) for each in of_fold], *of_fold[0].shape)
        found.append(mean)
    return found
