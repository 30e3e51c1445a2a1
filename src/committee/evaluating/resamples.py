"""Resamples of a table: which rows are learnt from and which are judged on, by a number alone.

In: y and the number of the resample. Out: a mask of the rows that are judged on, and folds of the others.
Each class is split in the same shares, so that no class is judged on that was not learnt.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from committee.assembling.folds import folds_of
from committee.combining.folding import Fold
from committee.parameters import is_integer


def held_out_rows(y: np.ndarray, resample: int, test_size: float, *, are_classes: bool) -> np.ndarray:
    """A mask of the rows that are judged on.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    resample : int
    test_size : float
        Their share of each class; what is left of a class is rounded up, so that there is always a row to
        learn it from.
    are_classes : bool

    Returns
    -------
    ndarray of bool of shape (n_rows,)

    Examples
    --------
    >>> is_test = held_out_rows(np.array([0, 0, 0, 0, 1, 1]), 0, 0.5, are_classes=True)
    >>> np.bincount([0, 0, 0, 0, 1, 1], weights=is_test)
    array([2., 1.])
    """
    rng = np.random.default_rng(resample)
    is_test = np.zeros(len(y), dtype=bool)
    parts = [np.flatnonzero(y == code) for code in np.unique(y)] if are_classes else [np.arange(len(y))]
    for rows in parts:
        # 0.1 * 10 is a little more than 1 for a computer, and is 1.
        n_test = int(np.floor(len(rows) * test_size + 1e-9))
        is_test[rng.permutation(rows)[: min(n_test, len(rows) - 1)]] = True
    return is_test


def shuffled_folds(cv: Any, y: np.ndarray, resample: int, *, are_classes: bool) -> list[Fold]:
    """Folds of the rows that are learnt from, drawn at random."""
    order = np.random.default_rng([resample, 1]).permutation(len(y))
    found = folds_of(cv, None, y[order], None, None, is_class_task=are_classes)
    return [(np.sort(order[train]), np.sort(order[held_out])) for train, held_out in found]


def numbers_of(resamples: Any) -> list[int]:
    """The numbers of resamples.

    Examples
    --------
    >>> numbers_of(3), numbers_of([4, 7])
    ([0, 1, 2], [4, 7])
    """
    if is_integer(resamples) and resamples >= 1:
        return list(range(int(resamples)))
    found = [] if isinstance(resamples, str) or not isinstance(resamples, Iterable) else list(resamples)
    are_numbers = all(is_integer(each) and each >= 0 for each in found) and len(set(found)) == len(found)
    if not are_numbers or (not found and not isinstance(resamples, list)):
        raise ValueError(f"resamples must be an integer >= 1, or a list of integers >= 0. Got {resamples!r}.")
    return [int(each) for each in found]
