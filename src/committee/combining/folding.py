"""Rows that are held out: folds by their number, and what a rule decides on rows that it has not learnt from.

scikit-learn is imported where rows are split: what a fitted rule needs does without.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from committee.combining.losses import NoValueError
from committee.combining.rule import Honest, Rule, rows_of, unfitted

# The rows to learn from, and those that are held out.
Fold = tuple[np.ndarray, np.ndarray]
# The folds of a rule whose decisions are asked for.
N_FOLDS = 5


def numbered_folds(
    n_folds: int, y: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None, *, is_class_task: bool
) -> list[Fold]:
    """At most so many folds of rows in their order, stratified for classes; groups stay together.

    Parameters
    ----------
    n_folds : int
    y : ndarray of shape (n_rows,)
        Codes of classes, or numbers.
    groups : ndarray of shape (n_rows,), or None
    weights : ndarray of shape (n_rows,), or None
        Rows of weight 0 are in no fold.
    is_class_task : bool

    Returns
    -------
    list of (ndarray, ndarray)
        Positions of the rows to learn from, and of those held out. Empty if nothing can be held out.

    Examples
    --------
    >>> numbered_folds(2, np.array([0, 1, 0, 1]), None, None, is_class_task=True)
    [(array([2, 3]), array([0, 1])), (array([0, 1]), array([2, 3]))]
    >>> numbered_folds(2, np.array([0, 1]), None, None, is_class_task=True)
    []
    """
    rows = np.arange(len(y)) if weights is None else np.flatnonzero(weights)
    y, groups = y[rows], None if groups is None else groups[rows]
    n_folds = min(n_folds, most_folds(y, groups, is_class_task))
    if n_folds < 2:
        return []
    with warnings.catch_warnings():
        # A class that some fold lacks gets no votes there, as documented.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        split = splitter_of(n_folds, groups is not None, is_class_task).split(np.zeros(len(rows)), y, groups)
        return [(rows[train], rows[held_out]) for train, held_out in split]


def drawn_folds(
    n_folds: int, y: np.ndarray, groups: np.ndarray | None, weights: np.ndarray | None, *, is_class_task: bool
) -> list[Fold]:
    """The same of rows in a random order, always the same: a table may be sorted by what is asked.

    Examples
    --------
    >>> drawn_folds(2, np.array([0.0, 1.0, 2.0, 3.0]), None, None, is_class_task=False)
    [(array([1, 3]), array([0, 2])), (array([0, 2]), array([1, 3]))]
    """
    drawn = np.random.default_rng(0).permutation(len(y) if weights is None else np.flatnonzero(weights))
    groups = None if groups is None else groups[drawn]
    folds = numbered_folds(n_folds, y[drawn], groups, None, is_class_task=is_class_task)
    return [(np.sort(drawn[train]), np.sort(drawn[held_out])) for train, held_out in folds]


def most_folds(y: np.ndarray, groups: np.ndarray | None, is_class_task: bool) -> int:
    """How many folds there can be; with fewer than two, there is nothing to hold out.

    Examples
    --------
    >>> most_folds(np.array([0, 0, 0, 1]), None, is_class_task=True)
    3
    """
    most = int(np.bincount(y).max()) if is_class_task else len(y)
    return most if groups is None else min(most, len(np.unique(groups)))


def splitter_of(n_folds: int, has_groups: bool, is_class_task: bool) -> Any:
    """The splitter of a number of folds."""
    from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

    if is_class_task:
        return (StratifiedGroupKFold if has_groups else StratifiedKFold)(n_folds)
    return (GroupKFold if has_groups else KFold)(n_folds)


def decided_elsewhere(rule: Rule, honest: Honest, seconds: float, deadline: float) -> Honest:
    """What a rule decides on rows that it has not learnt from, as the honest votes of one member.

    Parameters
    ----------
    rule : Rule
        Stays as it is: others with its parameters are fitted.
    honest : Honest
    seconds : float
        How long a fit takes.
    deadline : float
        When the last fit must have ended, by `time.monotonic`.

    Returns
    -------
    Honest
        On the rows that were held out by then; they may be none.

    Examples
    --------
    >>> from committee.combining.weighted import CAWPERule
    >>> honest = Honest.of([[[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]], [0, 0, 1, 1])
    >>> decided_elsewhere(CAWPERule(), honest, seconds=1.0, deadline=np.inf).votes.round(2)
    array([[[0.9, 0.1],
            [0.8, 0.2],
            [0.3, 0.7],
            [0.4, 0.6]]])
    """
    decision = np.zeros(honest.votes.shape[1:])
    is_decided = np.zeros(honest.n_rows, dtype=bool)
    folds = drawn_folds(N_FOLDS, honest.y, honest.groups, honest.weights, is_class_task=honest.are_classes)
    for train, held_out in folds:
        if time.monotonic() + seconds > deadline:
            break
        try:
            fitted = honest.on(train).teach(unfitted(rule))
        except NoValueError:
            continue  # these rows lack a class that the rule's metric asks for
        X = rows_of(honest.X, held_out) if rule._looks_at_X() else None
        decision[held_out] = fitted.combine(honest.votes[:, held_out], X)
        is_decided[held_out] = True
    rows = np.flatnonzero(is_decided)
    return replace(honest.on(rows), votes=decision[None, rows], has_voted=None)
