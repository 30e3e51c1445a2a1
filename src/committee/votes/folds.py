"""Split rows into folds for cross-validation, or into training and validation rows.

In: the kind of split, and y, groups and weights of the rows. Out: folds, which are pairs of positions
(training rows, held-out rows), or a fold number or a mask for each row. No other module splits rows.

Predictors import this module through the rules, so scikit-learn is imported only where a splitter is used.
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

# Positions of the training rows and of the held-out rows.
Fold = tuple[np.ndarray, np.ndarray]
# The default number of folds.
N_FOLDS = 5
# Floating-point error may put a product just below an integer. Adding this before rounding down corrects it.
ROUNDING = 1e-9


class Splitter(Protocol):
    """A cross-validation splitter of scikit-learn."""

    def split(
        self, X: object, y: object = None, groups: object = None
    ) -> Iterable[tuple[np.ndarray, np.ndarray]]:
        """Yield the positions of the training rows and of the held-out rows."""
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
        An integer is the largest number of folds; see `numbered_folds`.
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
        check_size(y)  # Squared errors must be finite. Checked here, before members are fitted.
    if isinstance(cv, Integral) and is_integer(cv):
        folds = numbered_folds(int(cv), y, groups, weights, is_class_task=is_class_task)
        if not folds:
            raise nothing_to_hold_out(groups, weights, is_class_task)
        return folds
    return folds_of_splitter(cv, X, y, groups, weights)


def numbered_folds(
    n_folds: int, y: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None, *, is_class_task: bool
) -> list[Fold]:
    """Split rows, without shuffling, into at most n_folds folds.

    Folds are stratified by class and keep groups together. There are at most as many folds as groups, and at
    most as many as rows of the largest class (for regression, as rows). The list is empty if there cannot be
    two folds.

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
        # Classes with fewer rows than folds are allowed: models of folds without them do not vote for them.
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
    """Split some rows of a table in random order, because the table may be sorted by its target.

    Examples
    --------
    >>> rows, y, rng = np.arange(4), np.array([0.0, 1.0, 2.0, 3.0]), np.random.default_rng(0)
    >>> drawn_folds(2, rows, y, None, rng, is_class_task=False)
    [(array([1, 3]), array([0, 2])), (array([0, 2]), array([1, 3]))]
    """
    drawn = rng.permutation(rows)
    groups = None if groups is None else groups[drawn]
    folds = folds_of(cv, None, y[drawn], groups, None, is_class_task=is_class_task)
    # Folds are replaced in place, because those of a long table take as much memory as several columns.
    for number, (train, held_out) in enumerate(folds):
        folds[number] = np.sort(drawn[train]), np.sort(drawn[held_out])
    return folds


def most_folds(y: np.ndarray, groups: np.ndarray | None, is_class_task: bool) -> int:
    """Return the largest possible number of folds. If it is less than 2, no row can be held out.

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
    """Split a table with a splitter or pairs of row positions. Raise if training rows are held out."""
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
    """Return the rows of a split, given as positions or a mask, as positions within the table."""
    found = np.asarray(rows)
    found = np.flatnonzero(found) if found.dtype == bool else found.astype(np.int64)
    unknown = found[(found < 0) | (found >= n_rows)]
    if len(unknown):
        raise ValueError(f"cv has row {unknown[0]}, and X has {n_rows} rows. Split the table of the fit.")
    return found


def can_vote_out_of_bag(cv: object, groups: object) -> bool:
    """Return whether out-of-bag votes may replace out-of-fold votes.

    They may if `cv` is only a number of folds and there are no groups to keep together.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> can_vote_out_of_bag(5, None), can_vote_out_of_bag(KFold(5), None)
    (True, False)
    >>> can_vote_out_of_bag(5, np.array([0, 0, 1]))
    False
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


def split_fingerprint(folds: Iterable[Fold], groups: np.ndarray | None) -> str:
    """Return a fingerprint of folds and groups."""
    checksum = hashlib.sha256()
    for rows in (*(rows for fold in folds for rows in fold), *([] if groups is None else [groups])):
        checksum.update(f"{len(rows)}\n".encode())
        checksum.update(np.ascontiguousarray(rows, dtype="<i8").data)
    return checksum.hexdigest()[:32]


def folds_by_content(
    votes: np.ndarray, has_voted: np.ndarray, y: np.ndarray, weights: np.ndarray, groups: np.ndarray | None
) -> list[Fold]:
    """Split rows by y and their votes, so that scores do not depend on the order of the table.

    Rows are sorted by y and then by a random combination of their votes. They are assigned to the folds in
    turn, so all folds have similar values of y. Groups stay together. Rows of weight 0 are held out, but are
    never training rows. Folds without training rows are skipped.

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
    """Return the fold number of each row. Folds are stratified by class, or by the value of the target.

    Examples
    --------
    >>> dealt_folds(np.array([0, 1, 0, 1]), 2, np.random.RandomState(0))
    array([1, 1, 0, 0], dtype=int32)
    """
    folds = np.empty(len(target), dtype=np.int32)
    folds[np.lexsort([rng.permutation(len(target)), target])] = np.arange(len(target)) % n_folds
    return folds


def spare_rows(classes: np.ndarray, seed: int) -> np.ndarray:
    """Return the rows that may be held out: all except one random row of each class.

    They are sorted by class, and in random order within a class.

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
    """Return the fold number of each row. One row of each class has -1 and is never held out.

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
    """Return a mask of the validation rows, a share of each class. At least one row of each class remains.

    Examples
    --------
    >>> classes = np.array([0] * 9 + [1] * 5 + [2])
    >>> np.bincount(classes[spare_share(classes, 0.5, seed=0)])
    array([4, 2])
    """
    spare = spare_rows(classes, seed)
    # Rows are sorted by class. Holding out rows at equal steps takes the same share of each class.
    steps = np.floor(np.arange(len(spare) + 1) * fraction)
    mask = np.zeros(len(classes), dtype=bool)
    mask[spare[np.diff(steps) > 0]] = True
    if not mask.any():
        raise ValueError(
            f"validation_fraction={fraction} leaves no row of {len(classes)} for validation. Pass X_val and "
            "y_val, or set early_stopping=False."
        )
    return mask


def drawn_share(classes: np.ndarray, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return a mask of test rows, a share of each class, rounded down. At least one row per class remains.

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
    """Return a mask of one in n_folds of the rows, drawn at random and stratified by class.

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
