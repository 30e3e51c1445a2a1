"""Which rows are held out together, when members are cross-validated.

In: `cv`, y, groups and weights. Out: a list of pairs (rows to learn from, rows to vote on). Rows of weight 0
are in neither.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from sklearn.model_selection import check_cv

from committee.combining.folding import Fold, numbered_folds
from committee.parameters import is_integer
from committee.task import check_size


def folds_of(
    cv: Any, X: Any, y: np.ndarray, groups: Any, weights: np.ndarray | None, *, is_class_task: bool
) -> list[Fold]:
    """The folds of a table.

    Parameters
    ----------
    cv : int, splitter or iterable of (train, test)
        An integer makes at most so many folds of rows in their order, stratified for classes, and keeps
        groups together. There are no more folds than groups, rows, or rows of the largest class.
    X : table
    y : ndarray of shape (n_rows,)
    groups : array-like of shape (n_rows,), or None
    weights : ndarray of shape (n_rows,), or None
    is_class_task : bool

    Returns
    -------
    list of (ndarray, ndarray)
        Positions of rows.

    Examples
    --------
    >>> folds_of(2, None, np.array([0, 1, 0, 1]), None, None, is_class_task=True)
    [(array([2, 3]), array([0, 1])), (array([0, 1]), array([2, 3]))]
    """
    if not is_class_task:
        check_size(y)  # before members are fitted: their votes will be judged by squares
    if is_integer(cv):
        folds = numbered_folds(int(cv), y, groups, weights, is_class_task=is_class_task)
        if not folds:
            raise nothing_to_hold_out(groups, weights, is_class_task)
        return folds
    counts = np.ones(len(y), dtype=bool) if weights is None else weights > 0
    found = []
    for train, held_out in check_cv(cv).split(X, y, groups):
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


def bags_will_do(cv: Any, groups: Any) -> bool:
    """Whether members may vote out of bag instead: of a number of folds, any other split would do as well.

    Examples
    --------
    >>> from sklearn.model_selection import KFold
    >>> bags_will_do(5, None), bags_will_do(5, np.array([0, 0, 1])), bags_will_do(KFold(5), None)
    (True, False, False)
    """
    return is_integer(cv) and groups is None


def nothing_to_hold_out(
    groups: np.ndarray | None, weights: np.ndarray | None, is_class_task: bool
) -> Exception:
    """The error of rows that cannot be split."""
    if groups is not None and weights is not None:
        groups = groups[weights > 0]
    what = "one group" if groups is not None and len(np.unique(groups)) == 1 else "no two rows of a class"
    what = what if is_class_task or groups is not None else "n_samples=1"
    return ValueError(f"Honest votes need rows to hold out, and there is {what}. Pass more rows.")


def split_print(folds: list[Fold], groups: np.ndarray | None) -> str:
    """A fingerprint of folds and groups."""
    checksum = hashlib.sha256()
    for rows in (*(rows for fold in folds for rows in fold), *([] if groups is None else [groups])):
        checksum.update(f"{len(rows)}\n".encode())
        checksum.update(np.ascontiguousarray(rows, dtype="<i8").data)
    return checksum.hexdigest()[:32]


def positions(rows: Any, n_rows: int) -> np.ndarray:
    """Rows of a split as positions, if they are rows of the table."""
    rows = np.asarray(rows)
    rows = np.flatnonzero(rows) if rows.dtype == bool else rows.astype(np.int64)
    unknown = rows[(rows < 0) | (rows >= n_rows)]
    if len(unknown):
        raise ValueError(f"cv has row {unknown[0]}, and X has {n_rows} rows. Split the table of the fit.")
    return rows
