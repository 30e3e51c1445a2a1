"""Split rows: into folds that are held out in turn, or into rows to learn from and rows to judge by.

In: how to split, and y, groups and weights of the rows. Out: folds, which are pairs of positions (rows to
learn from, rows that are held out), or a number or a mask for each row. No other module splits rows.

Predictors load this module with the rules, so scikit-learn is imported where its splitters are used.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable
from numbers import Integral
from typing import Protocol

import numpy as np

from committee.parameters import is_integer
from committee.task import check_size

# Positions of the rows to learn from, and of those that are held out.
Fold = tuple[np.ndarray, np.ndarray]
# The number of folds where nobody asks for another.
N_FOLDS = 5
# 0.1 * 10 is a little more than 1 in floating point. Shares are rounded down after this is added.
ROUNDING = 1e-9


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn."""

    def split(
        self, X: object, y: object = None, groups: object = None
    ) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Yield positions of rows to learn from, and of rows that are held out."""
        ...


def folds_of(
    cv: object,
    X: object,
    y: np.ndarray,
    groups: np.ndarray | None,
    weights: np.ndarray | None,
    *,
    is_class_task: bool,
) -> list[Fold]:
    """Split a table as `cv` specifies. Rows of weight 0 are in no fold.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        An integer makes at most that many folds; see `numbered_folds`.
    X : table
    y : ndarray of shape (n_rows,)
    groups : array-like of shape (n_rows,), or None
    weights : ndarray of shape (n_rows,), or None
    is_class_task : bool

    Returns
    -------
    list of (ndarray, ndarray)

    Examples
    --------
    >>> folds_of(2, None, np.array([0, 1, 0, 1]), None, None, is_class_task=True)
    [(array([2, 3]), array([0, 1])), (array([0, 1]), array([2, 3]))]
    """
    if not is_class_task:
        check_size(y)  # before members are fitted: their votes will be judged by squares
    if isinstance(cv, Integral) and is_integer(cv):
        folds = numbered_folds(int(cv), y, groups, weights, is_class_task=is_class_task)
        if not folds:
            raise nothing_to_hold_out(groups, weights, is_class_task)
        return folds
    return folds_of_splitter(cv, X, y, groups, weights)


def numbered_folds(
    n_folds: int, y: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None, *, is_class_task: bool
) -> list[Fold]:
    """Split rows in their order into at most n_folds folds, stratified for classes; groups stay together.

    There are no more folds than groups, rows, or rows of the largest class. The list is empty if nothing can
    be held out.

    Examples
    --------
    >>> numbered_folds(2, np.array([0, 1, 0, 1]), None, None, is_class_task=True)
    [(array([2, 3]), array([0, 1])), (array([0, 1]), array([2, 3]))]
    >>> numbered_folds(2, np.array([0, 1]), None, None, is_class_task=True)
    []
    """
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
    y, groups = y[rows], None if groups is None else groups[rows]
    n_folds = min(n_folds, most_folds(y, groups, is_class_task))
    if n_folds < 2:
        return []
    kinds = (StratifiedKFold, StratifiedGroupKFold) if is_class_task else (KFold, GroupKFold)
    splitter: Splitter = kinds[groups is not None](n_folds)
    with warnings.catch_warnings():
        # A class that some fold lacks gets no votes there, as documented.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        split = splitter.split(np.zeros(len(rows)), y, groups)
        return [(rows[train], rows[held_out]) for train, held_out in split]


def drawn_folds(
    cv: object,
    rows: np.ndarray,
    y: np.ndarray,
    groups: np.ndarray | None,
    rng: np.random.Generator,
    *,
    is_class_task: bool,
) -> list[Fold]:
    """Split some rows of a table in a random order, since a table may be sorted by its target.

    Examples
    --------
    >>> rows, y, rng = np.arange(4), np.array([0.0, 1.0, 2.0, 3.0]), np.random.default_rng(0)
    >>> drawn_folds(2, rows, y, None, rng, is_class_task=False)
    [(array([1, 3]), array([0, 2])), (array([0, 2]), array([1, 3]))]
    """
    drawn = rng.permutation(rows)
    groups = None if groups is None else groups[drawn]
    folds = folds_of(cv, None, y[drawn], groups, None, is_class_task=is_class_task)
    # In place: folds of a long table take as much memory as some of its columns.
    for number, (train, held_out) in enumerate(folds):
        folds[number] = np.sort(drawn[train]), np.sort(drawn[held_out])
    return folds


def most_folds(y: np.ndarray, groups: np.ndarray | None, is_class_task: bool) -> int:
    """Return how many folds there can be; with fewer than two, nothing can be held out.

    Examples
    --------
    >>> most_folds(np.array([0, 0, 0, 1]), None, is_class_task=True)
    3
    """
    most = int(np.bincount(y).max()) if is_class_task else len(y)
    return most if groups is None else min(most, len(np.unique(groups)))


def folds_of_splitter(
    cv: object, X: object, y: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None
) -> list[Fold]:
    """Split a table by a splitter or by pairs of row numbers, and check that all votes will be honest."""
    from sklearn.model_selection import check_cv

    counts = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    splitter: Splitter = check_cv(cv)
    found = []
    for train, held_out in splitter.split(X, y, groups):
        train, held_out = positions(train, len(y)), positions(held_out, len(y))
        found.append((train[counts[train]], held_out[counts[held_out]]))
    found = [(train, held_out) for train, held_out in found if len(held_out)]
    if not found:
        raise ValueError("cv holds out no row. Honest votes need folds with rows held out.")
    if any(len(train) == 0 for train, _ in found):
        raise ValueError("cv has a fold without a row to learn from. Use fewer folds.")
    for number, (train, held_out) in enumerate(found):
        if np.intersect1d(train, held_out).size:
            raise ValueError(f"Fold {number} of cv learns from rows that it holds out, so no vote is honest.")
    return found


def positions(rows: object, n_rows: int) -> np.ndarray:
    """Return the rows of a split as positions, if they are rows of the table."""
    found = np.asarray(rows)
    found = np.flatnonzero(found) if found.dtype == bool else found.astype(np.int64)
    unknown = found[(found < 0) | (found >= n_rows)]
    if len(unknown):
        raise ValueError(f"cv has row {unknown[0]}, and X has {n_rows} rows. Split the table of the fit.")
    return found


def bags_will_do(cv: object, groups: object) -> bool:
    """Return whether members may vote out of bag instead: any split does where `cv` is a number of folds.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> bags_will_do(5, None), bags_will_do(5, np.array([0, 0, 1])), bags_will_do(KFold(5), None)
    (True, False, False)
    """
    return is_integer(cv) and groups is None


def nothing_to_hold_out(
    groups: np.ndarray | None, weights: np.ndarray | None, is_class_task: bool
) -> ValueError:
    """Return the error for rows that cannot be split."""
    if groups is not None and weights is not None:
        groups = groups[weights > 0]
    what = "one group" if groups is not None and len(np.unique(groups)) == 1 else "no two rows of a class"
    what = what if is_class_task or groups is not None else "n_samples=1"
    return ValueError(f"Honest votes need rows to hold out, and there is {what}. Pass more rows.")


def split_print(folds: Iterable[Fold], groups: np.ndarray | None) -> str:
    """Return a fingerprint of folds and groups."""
    checksum = hashlib.sha256()
    for rows in (*(rows for fold in folds for rows in fold), *([] if groups is None else [groups])):
        checksum.update(f"{len(rows)}\n".encode())
        checksum.update(np.ascontiguousarray(rows, dtype="<i8").data)
    return checksum.hexdigest()[:32]


def folds_by_content(
    votes: np.ndarray, has_voted: np.ndarray, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None
) -> list[Fold]:
    """Split rows by their votes, so that the order of a table changes no score; groups stay together.

    Rows are sorted by y and then by a random mix of their votes, and are dealt to the folds in turn, so that
    every fold has similar answers. Rows of weight 0 are held out, but no fold learns from them. Folds without
    a row to learn from are left out.

    Parameters
    ----------
    votes : ndarray of shape (n_members, n_rows, n_outputs)
    has_voted : ndarray of bool of shape (n_members, n_rows)
    y, weights : ndarray of shape (n_rows,)
    groups : ndarray of shape (n_rows,), or None

    Returns
    -------
    list of (ndarray, ndarray)
    """
    rng = np.random.default_rng(0)
    mixed = rng.random(len(votes)) @ votes[:, :, 0]
    mixed += rng.random(len(votes)) @ has_voted
    order = np.lexsort((mixed, y))
    units = np.arange(len(y)) if groups is None else groups
    _, first, unit = np.unique(units[order], return_index=True, return_inverse=True)
    number = np.empty(len(y), dtype=np.int64)
    number[order] = first.argsort().argsort()[unit] % N_FOLDS
    found = []
    for fold in np.unique(number):
        is_held_out = number == fold
        train = np.flatnonzero(~is_held_out & (weights > 0))
        if len(train):
            found.append((train, np.flatnonzero(is_held_out)))
    return found


def dealt_folds(target: np.ndarray, n_folds: int, rng: np.random.RandomState) -> np.ndarray:
    """Return the number of the fold of each row; every fold has its share of each class, or of each range.

    Examples
    --------
    >>> dealt_folds(np.array([0, 1, 0, 1]), 2, np.random.RandomState(0))
    array([1, 1, 0, 0], dtype=int32)
    """
    folds = np.empty(len(target), dtype=np.int32)
    folds[np.lexsort([rng.permutation(len(target)), target])] = np.arange(len(target)) % n_folds
    return folds


def spare_rows(classes: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows that may be held out: all but one of each class, sorted by class, in random order.

    Examples
    --------
    >>> spare_rows(np.array([0, 1, 1, 2]), seed=0)
    array([1])
    """
    chance = np.random.Generator(np.random.Philox(key=seed + 1)).random(len(classes))
    order = np.lexsort([chance, classes])
    spare: np.ndarray = order[np.diff(classes[order], prepend=-1) == 0]
    return spare


def spare_folds(classes: np.ndarray, seed: int) -> np.ndarray:
    """Return the number of the fold of each row; -1 for one row of each class, which no fold holds out.

    Examples
    --------
    >>> spare_folds(np.array([0, 0, 0, 1]), seed=0)
    array([ 0,  1, -1, -1])
    """
    spare = spare_rows(classes, seed)
    folds = np.full(len(classes), -1)
    folds[spare] = np.arange(len(spare)) % N_FOLDS
    return folds


def spare_share(classes: np.ndarray, fraction: float, seed: int) -> np.ndarray:
    """Return a mask of the rows to validate by, a share of each class. No class loses its last row.

    Examples
    --------
    >>> classes = np.array([0] * 9 + [1] * 5 + [2])
    >>> np.bincount(classes[spare_share(classes, 0.5, seed=0)])
    array([4, 2])
    """
    spare = spare_rows(classes, seed)
    # One row is held out at equal steps along the classes.
    steps = np.floor(np.arange(len(spare) + 1) * fraction)
    mask = np.zeros(len(classes), dtype=bool)
    mask[spare[np.diff(steps) > 0]] = True
    if not mask.any():
        raise ValueError(
            f"validation_fraction={fraction} leaves no row of {len(classes)} to validate by. Pass X_val and "
            "y_val, or set early_stopping=False."
        )
    return mask


def drawn_share(classes: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return a mask of the rows to judge by, a share of each class, rounded down. No class loses all rows.

    Examples
    --------
    >>> classes = np.array([0, 0, 0, 0, 1, 1])
    >>> np.bincount(classes[drawn_share(classes, 0.5, np.random.default_rng(0))])
    array([2, 1])
    """
    mask = np.zeros(len(classes), dtype=bool)
    for code in np.unique(classes):
        rows = np.flatnonzero(classes == code)
        n_held_out = int(np.floor(len(rows) * fraction + ROUNDING))
        mask[rng.permutation(rows)[: min(n_held_out, len(rows) - 1)]] = True
    return mask


def one_in(n_folds: int, rows: np.ndarray, classes: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Return a mask of one in n_folds of some rows, in random order along the classes.

    Examples
    --------
    >>> one_in(2, np.arange(4), np.array([0, 0, 1, 1]), np.random.RandomState(0))
    array([ True, False, False,  True])
    """
    shuffled = rng.permutation(rows)
    by_class = shuffled[np.argsort(classes[shuffled], kind="stable")]
    mask = np.zeros(len(classes), dtype=bool)
    mask[by_class[n_folds - 1 :: n_folds]] = True
    return mask
