"""What a fit of bagging is to do: who the members are, what each of them sees, and how many there will be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from committee import _engine
from committee.learners.training_data import Training
from committee.members.seeds import COLUMNS, stream
from committee.parameters import is_float
from committee.sampling.bags import Bags
from committee.sampling.out_of_bag import OutOfBag
from committee.table import BinnedTable

# n_estimators="auto" makes at most so many members, and looks at so many to see whether the error is flat.
MOST_MEMBERS = 1000
FLAT_MEMBERS = 25


@dataclass(frozen=True, eq=False)
class Learning:
    """What members learn from.

    Parameters
    ----------
    member : estimator
        Not fitted.
    is_engine : bool
        Whether the engine grows it.
    training : Training
    binned : BinnedTable
        The table in the engine's codes.
    native : matrix or frame, or None
        The table as members take it; None for a `BinnedTable`.
    groups : ndarray of int of shape (n_rows,), or None
    repeats : ndarray of shape (n_rows,), or None
        How often each row stands in the table, if its weight says that; what its class weighs is not in it.
    """

    member: Any
    is_engine: bool
    training: Training
    binned: BinnedTable
    native: Any
    groups: np.ndarray | None
    repeats: np.ndarray | None


@dataclass(frozen=True, eq=False)
class Batch:
    """What is to be done.

    Parameters
    ----------
    member : estimator
        Not fitted.
    training : Training
    bags : Bags
    weights : ndarray of shape (n_rows,), or None
        What a row weighs each time that it stands in a bag; None for 1.
    columns : list of ndarray of uint32, or None
        What each of the members sees that are to be made; None if they all see all columns.
    seed : int
    first, last : int
        The members to be made: those before `first` are there.
    is_auto : bool
        Whether to stop when the out-of-bag error is flat.
    is_scored : bool
        Whether the out-of-bag decision is wanted.
    keeps_votes : bool
        Whether the votes of every member on the rows that it has not seen are wanted.
    is_majority : bool
        Whether votes for one class alone are summed.
    before : OutOfBag or None
        Of the members that are there.
    progress : callable or None
        Called with the number of members done; the work ends if it answers True.
    """

    member: Any
    training: Training
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
    """What a fit of bagging has made.

    Parameters
    ----------
    members : list of estimators, or the engine's Forest
    out_of_bag : OutOfBagVotes, or None
        Those of the members before included.
    votes : ndarray of shape (n_members, n_rows, n_outputs), or None
        NaN where a member has seen a row.
    importances : ndarray of shape (n_members, n_columns), or None
    has_missing : ndarray of bool of shape (n_columns,), or None
    interruption : BaseException, or None
        What has ended the work before its time. The members so far are whole.
    """

    members: Any
    out_of_bag: _engine.OutOfBagVotes | None
    votes: np.ndarray | None
    importances: np.ndarray | None = None
    has_missing: np.ndarray | None = None
    interruption: BaseException | None = None

    @property
    def n_members(self) -> int:
        """How many members were made."""
        return len(self.members) if isinstance(self.members, list) else self.members.n_trees


def columns_of_members(
    n_columns: int, max_features: int | float, *, replaces: bool, seed: int, members: range
) -> list[np.ndarray] | None:
    """The columns that each member sees, in increasing order; None if all see all.

    Examples
    --------
    >>> columns_of_members(4, 0.5, replaces=False, seed=0, members=range(3, 5))
    [array([0, 2], dtype=uint32), array([1, 3], dtype=uint32)]
    >>> columns_of_members(4, 5, replaces=False, seed=0, members=range(1))
    Traceback (most recent call last):
    ValueError: max_features=5 is more than the 4 columns of X. Lower it, or give a share in (0, 1].
    """
    n_seen = max(1, int(max_features * n_columns)) if is_float(max_features) else int(max_features)
    if n_seen > n_columns:
        raise ValueError(
            f"max_features={max_features} is more than the {n_columns} columns of X. Lower it, or give a "
            "share in (0, 1]."
        )
    if n_seen == n_columns and not replaces:
        return None
    # A generator for each member: a fit that goes on later draws what it would have drawn at once.
    drawn = [stream(seed, i, COLUMNS).choice(n_columns, n_seen, replace=replaces) for i in members]
    return [np.unique(each).astype(np.uint32) for each in drawn]


def n_members_wanted(n_estimators: int | str, n_there: int, what: str, curve: Any = ()) -> int:
    """The number of members to have after the fit, if as many are there before, of such an out-of-bag error.

    Examples
    --------
    >>> n_members_wanted(50, 100, "trees")
    Traceback (most recent call last):
    ValueError: n_estimators=50 must be larger or equal to the 100 trees that warm_start=True goes on with.
    >>> n_members_wanted("auto", 60, "trees", [0.5] * 60), n_members_wanted("auto", 0, "trees")
    (60, 1000)
    """
    if isinstance(n_estimators, str):
        return n_there if is_flat(curve) else max(MOST_MEMBERS, n_there)
    if n_estimators < n_there:
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to the {n_there} {what} that "
            "warm_start=True goes on with."
        )
    return int(n_estimators)


def is_flat(curve: Any) -> bool:
    """Whether the mean error over the last members is not half a percent below that over as many before.

    An error that is not known yet, since every row is in every bag, as a single one always is, is flat too.

    Examples
    --------
    >>> is_flat([0.5] * 49), is_flat([0.5] * 50), is_flat([np.nan] * 50), is_flat([np.nan, *[0.5] * 49])
    (False, True, True, False)
    """
    if len(curve) < 2 * FLAT_MEMBERS:
        return False
    last, before = sum(curve[-FLAT_MEMBERS:]), sum(curve[-2 * FLAT_MEMBERS : -FLAT_MEMBERS])
    return bool(last >= 0.995 * before or np.isnan(last))
