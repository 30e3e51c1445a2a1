"""Check arrays of votes and process them in blocks of rows.

Votes are an array of shape (n_members, n_rows, n_outputs). One output means regression. Several outputs are
classes: votes for classes are not negative, and each row of a decision sums to one. Votes keep their dtype.
Only one block at a time is converted to float64, so a large array of float32 is never copied as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from committee.task import Classification, Regression

# Votes in a block. Two megabytes of float64 stay in the caches while a rule processes them.
BLOCK_SIZE = 1 << 18
LARGEST = np.finfo(np.float64).max
# Votes for classes are not rescaled if their sum differs from one by less than this.
NEARLY_ONE = 1e-4
# Two supports are equal if they differ by at most this many rounding errors of a vote, or by this share.
N_ROUNDINGS, SAME_SUPPORT = 8, 1e-12


def check_votes(votes: object) -> np.ndarray:
    """Return votes as an array. Raise unless it is numeric and 3-dimensional, with a member and an output.

    The values are checked later, block by block, in `blocks_of`.

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
        are_labels = array.ndim == 2 and array.dtype.kind in "iub"
        way_out = " Turn labels into votes with one_hot(labels, n_classes)." if are_labels else ""
        raise ValueError(
            f"votes must have the shape (n_members, n_rows, n_outputs). Got {array.shape}.{way_out}"
        )
    return array


def are_classes(votes: np.ndarray) -> bool:
    """Return whether votes are for classes, that is, whether there are several outputs."""
    return bool(votes.shape[2] > 1)


def check_classes(votes: object, rule: str) -> np.ndarray:
    """Check votes with `check_votes`, and raise unless they are for classes.

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
    """Check the votes and yield them as float64, one block of rows at a time.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)

    Yields
    ------
    rows : slice
    block : ndarray of float64 of shape (n_members, n_rows of the block, n_outputs)
        Do not modify it: it may be a view of the votes.
    """
    n_members, n_rows, n_outputs = votes.shape
    step = max(1, BLOCK_SIZE // (n_members * n_outputs))
    for start in range(0, n_rows, step):
        rows = slice(start, min(start + step, n_rows))
        block = np.asarray(votes[:, rows], dtype=np.float64)
        check_block(block, start)
        yield rows, block


def check_block(block: np.ndarray, first_row: int = 0) -> None:
    """Raise an error that names the first invalid vote: not finite, or negative if it is for a class."""
    lowest = 0.0 if are_classes(block) else -LARGEST
    # NaN fails both comparisons.
    if block.min(initial=0) >= lowest and block.max(initial=0) <= LARGEST:
        return
    are_valid, condition = np.isfinite(block), "finite"
    if are_valid.all():
        are_valid, condition = block >= 0, ">= 0, as they are for classes"
    member, row, output = np.argwhere(~are_valid)[0]
    vote = block[member, row, output]
    raise ValueError(f"votes must be {condition}. Got {vote} of member {member} for row {first_row + row}.")


def in_blocks(
    decide: Callable[[np.ndarray], np.ndarray], votes: np.ndarray, *, rescale: bool = True
) -> np.ndarray:
    """Combine votes one block of rows at a time.

    Decisions on classes are rescaled to sum to one, after `settled` has equalised nearly equal supports.

    Parameters
    ----------
    decide : callable
        Maps the votes of a block to the support of each output, of shape (n_rows of the block, n_outputs).
    votes : ndarray of shape (n_members, n_rows, n_outputs)
    rescale : bool, default=True
        Whether to settle and rescale decisions on classes. False returns the support.

    Returns
    -------
    ndarray of float64 of shape (n_rows, n_outputs)
    """
    decision = np.empty(votes.shape[1:])
    rounding = rounding_of(votes)
    for rows, block in blocks_of(votes):
        support = decide(block)
        decision[rows] = rescaled(settled(support, rounding)) if rescale and are_classes(block) else support
    return decision


def rounding_of(votes: np.ndarray) -> float:
    """Return the largest relative difference that rounding of the votes may cause between equal supports.

    Examples
    --------
    >>> rounding_of(np.ones((1, 1, 2), dtype=np.float32)), rounding_of(np.ones((1, 1, 2)))
    (9.5367431640625e-07, 1e-12)
    """
    step = float(np.finfo(votes.dtype).eps) if votes.dtype.kind == "f" else 0.0
    return max(N_ROUNDINGS * step, SAME_SUPPORT)


def settled(support: np.ndarray, rounding: float) -> np.ndarray:
    """Set each support that equals the highest support of its row up to rounding to the highest support.

    So ties are resolved by the order of the classes, not by rounding errors.

    Examples
    --------
    >>> settled(np.array([[0.6 + 0.3, 0.2 + 0.7, 0.1]]), 1e-12)
    array([[0.9, 0.9, 0.1]])
    """
    highest = support.max(axis=-1, keepdims=True)
    return np.where(support >= highest * (1 - rounding), highest, support)


def rescaled(support: np.ndarray) -> np.ndarray:
    """Rescale support to sum to one. If no class has support, all classes get the same share.

    Examples
    --------
    >>> rescaled(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    # Dividing by the largest support first keeps the sums from overflow and underflow.
    largest = support.max(axis=-1, keepdims=True, initial=0)
    shares: np.ndarray = np.divide(support, largest, out=np.ones_like(support), where=largest > 0)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def as_shares(votes: np.ndarray, tolerance: float) -> np.ndarray:
    """Rescale votes to sum to one for each row.

    Votes that sum to one within the tolerance are not changed, so ties remain ties.

    Examples
    --------
    >>> as_shares(np.array([[0.3, 0.7], [1.0, 3.0]]), 1e-9)
    array([[0.3 , 0.7 ],
           [0.25, 0.75]])
    """
    is_far = np.abs(votes.sum(axis=-1, keepdims=True) - 1) > tolerance
    return np.where(is_far, rescaled(votes), votes) if is_far.any() else votes


def weighted_sum(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weighted sum of the members' votes.

    Members are added one at a time, so the result for a row does not depend on the other rows, bit by bit.

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
    """Return the class that each member votes for (the first if tied), of shape (n_members, n_rows)."""
    if votes.shape[2] == 2:
        return (votes[:, :, 1] > votes[:, :, 0]).astype(np.intp)
    labels: np.ndarray = votes.argmax(axis=2)
    return labels


def label_dtype(n_classes: int) -> np.dtype:
    """Return the smallest dtype for the codes of classes.

    Examples
    --------
    >>> label_dtype(256), label_dtype(257)
    (dtype('uint8'), dtype('uint16'))
    """
    return np.min_scalar_type(n_classes - 1)


def highest_of(votes: np.ndarray) -> np.ndarray:
    """Return the highest vote of each member for each row, as an array of shape (n_members, n_rows)."""
    highest = votes[:, :, 0].copy()
    for output in range(1, votes.shape[2]):
        np.maximum(highest, votes[:, :, output], out=highest)
    return highest


def margins_of(votes: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Compute margins: votes for the true class minus the most for another one (Schapire et al. 1998).

    Parameters
    ----------
    votes : ndarray of shape (n_rows, n_classes)
    y : ndarray of int of shape (n_rows,)
        The codes of the true classes.

    Returns
    -------
    ndarray of shape (n_rows,)
        Positive if the decision is right. Between -1 and 1 for shares of votes.

    Examples
    --------
    >>> margins_of(np.array([[0.7, 0.2, 0.1], [0.7, 0.2, 0.1]]), np.array([0, 1])).round(1)
    array([ 0.5, -0.5])
    """
    rows = np.arange(len(y))
    others = votes.copy()
    others[rows, y] = -np.inf
    margins: np.ndarray = votes[rows, y] - others.max(axis=1)
    return margins


def check_member_weights(weights: object, n_members: int, name: str = "weights") -> np.ndarray:
    """Check the weights of the members and return them as float64. None gives ones.

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
    """Return the weights of the members, rescaled to sum to one."""
    return rescaled(check_member_weights(weights, n_members))


def dtype_of(task: Classification | Regression) -> type:
    """Return the dtype of votes: float32 is precise enough for classes, regression needs float64."""
    return np.float32 if isinstance(task, Classification) else np.float64
