"""Describe a fit of bagging: the training set, the bags and columns of the members, and their number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from committee import _engine
from committee.learners.training_data import Training, check_grows
from committee.members.seeds import COLUMNS, stream
from committee.parameters import is_float
from committee.sampling.bags import Bags
from committee.sampling.out_of_bag import OutOfBag
from committee.table import BinnedTable

# The limit of n_estimators="auto", and the number of members over which it averages the error.
MOST_MEMBERS = 1000
FLAT_MEMBERS = 25


@dataclass(frozen=True, eq=False)
class MemberTraining:
    """The unfitted member, and the training data of all members.

    Parameters
    ----------
    member : estimator
    training : Training
    binned : BinnedTable
        The table in the engine's codes.
    native : matrix or frame, or None
        The table as members take it. None for a `BinnedTable`.
    groups : ndarray of int of shape (n_rows,), or None
    repeats : ndarray of shape (n_rows,), or None
        The number of repetitions of each row, if the weights of the rows are repetitions. Weights of classes
        do not count.
    """

    member: Any
    training: Training
    binned: BinnedTable
    native: Any
    groups: np.ndarray | None
    repeats: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Batch:
    """The members that a fit adds.

    Parameters
    ----------
    data : MemberTraining
    bags : Bags
    weights : ndarray of shape (n_rows,), or None
        The weight of one repetition of a row in a bag. None is 1.
    columns : list of ndarray of uint32, or None
        The columns of each new member. None is all columns for all members.
    seed : int
    first, last : int
        The range of the new members. Members before `first` exist already.
    is_auto : bool
        Whether to stop when the out-of-bag error is flat.
    is_scored : bool
        Whether to compute the out-of-bag decision.
    keeps_votes : bool
        Whether to return the votes of every member on the rows outside of its bag.
    is_majority : bool
        Whether each vote counts for its highest class only.
    before : OutOfBag or None
        The out-of-bag votes of the existing members.
    progress : callable or None
        Called with the number of members done. The work stops if it returns True.
    """

    data: MemberTraining
    bags: Bags
    weights: np.ndarray | None
    columns: list[np.ndarray] | None
    seed: int
    first: int
    last: int
    is_auto: bool = False
    is_scored: bool = False
    keeps_votes: bool = False
    is_majority: bool = False
    before: OutOfBag | None = None
    progress: Callable[[int], object] | None = None


@dataclass(frozen=True, eq=False)
class Made:
    """The members that a fit of bagging has fitted.

    Parameters
    ----------
    members : list of estimators, or the engine's Forest
    out_of_bag : OutOfBagVotes, or None
        The votes of all members, including those of the previous fit.
    votes : ndarray of shape (n_members, n_rows, n_outputs), or None
        NaN if the bag of the member contains the row.
    importances : ndarray of shape (n_members, n_columns), or None
    has_missing : ndarray of bool of shape (n_columns,), or None
    interruption : BaseException, or None
        The reason if the work ended early. The members so far are complete.
    labels : dict of int to ndarray of shape (n_rows,), default={}
        The codes of the predicted classes of members that may differ from their highest votes.
    """

    members: Any
    out_of_bag: _engine.OutOfBagVotes | None
    votes: np.ndarray | None
    importances: np.ndarray | None = None
    has_missing: np.ndarray | None = None
    interruption: BaseException | None = None
    labels: dict[int, np.ndarray] = field(default_factory=dict)

    @property
    def n_members(self) -> int:
        """The number of new members."""
        return len(self.members) if isinstance(self.members, list) else self.members.n_trees


def columns_of_members(
    n_columns: int, max_features: int | float, *, replaces: bool, seed: int, members: range
) -> list[np.ndarray] | None:
    """Return the columns of each member in increasing order, or None if all members use all columns.

    Examples
    --------
    >>> columns_of_members(4, 0.5, replaces=False, seed=0, members=range(3, 5))
    [array([0, 2], dtype=uint32), array([1, 3], dtype=uint32)]
    >>> columns_of_members(4, 5, replaces=False, seed=0, members=range(1))
    Traceback (most recent call last):
    ValueError: max_features=5 is more than the 4 columns of X. Lower it, or pass a share in (0, 1].
    """
    n_seen = max(1, int(max_features * n_columns)) if is_float(max_features) else int(max_features)
    if n_seen > n_columns:
        raise ValueError(
            f"max_features={max_features} is more than the {n_columns} columns of X. Lower it, or pass a "
            "share in (0, 1]."
        )
    if n_seen == n_columns and not replaces:
        return None
    # Each member has a generator, so a resumed fit draws the same columns as a single fit.
    drawn = [stream(seed, i, COLUMNS).choice(n_columns, n_seen, replace=replaces) for i in members]
    return [np.unique(each).astype(np.uint32) for each in drawn]


def n_members_wanted(n_estimators: int | str, n_before: int, what: str, curve: Any = ()) -> int:
    """Return the number of members after the fit.

    Parameters
    ----------
    n_estimators : int or "auto"
    n_before : int
        The number of members before the fit.
    what : {"members", "trees"}
    curve : sequence of float
        The out-of-bag errors of the members before the fit.

    Returns
    -------
    int

    Examples
    --------
    >>> n_members_wanted(50, 100, "trees")
    Traceback (most recent call last):
    ValueError: n_estimators=50 must be larger or equal to the 100 trees of the previous fit, with \
warm_start=True.
    >>> n_members_wanted("auto", 60, "trees", [0.5] * 60), n_members_wanted("auto", 0, "trees")
    (60, 1000)
    """
    if isinstance(n_estimators, str):
        return n_before if is_flat(curve) else max(MOST_MEMBERS, n_before)
    check_grows(n_estimators, n_before, what)
    return int(n_estimators)


def is_flat(curve: Any) -> bool:
    """Return whether the mean error of the last members is less than half a percent below the one before.

    An error that is NaN, because every bag contains every row, counts as flat.

    Examples
    --------
    >>> is_flat([0.5] * 49), is_flat([0.5] * 50), is_flat([np.nan] * 50), is_flat([np.nan, *[0.5] * 49])
    (False, True, True, False)
    """
    if len(curve) < 2 * FLAT_MEMBERS:
        return False
    last, before = sum(curve[-FLAT_MEMBERS:]), sum(curve[-2 * FLAT_MEMBERS : -FLAT_MEMBERS])
    return bool(last >= 0.995 * before or np.isnan(last))
