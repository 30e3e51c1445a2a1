"""The record of a fit: the leaderboard, the time, the folds, the date, and the members that were skipped.

It is made once, at the end of a fit, and stored in the file of the model. So a model can show its honest
scores without honest votes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Self

import numpy as np

from committee.assembling.leaderboard import Leaderboard
from committee.saving import Fields
from committee.table.row_hashes import row_hashes

# With fewer stored hashes, the share of training rows in a table is not estimated.
FEWEST_HASHES = 5


@dataclass(frozen=True)
class SkippedMember:
    """A member that does not take part in a committee, although it was tried.

    Parameters
    ----------
    name : str
    title : str
        The readable name.
    reason : str
    """

    name: str
    title: str
    reason: str


@dataclass(frozen=True)
class FitRecord:
    """What happened in a fit.

    Parameters
    ----------
    date : str
        The end of the fit, as in `2026-11-19T15:30:00+00:00`.
    seconds : float
        The time of the fit.
    n_folds : int
        The number of folds of each repeat.
    skipped : tuple of SkippedMember
    leaderboard : Leaderboard or None
        None if the rule has changed since, or nothing can be scored.
    problem : str, default=""
        Why nothing can be scored.
    row_hashes : tuple of int, default=()
        Hashes of some training rows with their targets, by which `share_in` recognises them.
    """

    date: str
    seconds: float
    n_folds: int
    skipped: tuple[SkippedMember, ...]
    leaderboard: Leaderboard | None = field(repr=False)
    problem: str = ""
    row_hashes: tuple[int, ...] = field(default=(), repr=False)

    def share_in(self, columns: Sequence[np.ndarray], n_rows: int) -> float | None:
        """Estimate the share of the training rows that are in a table.

        Parameters
        ----------
        columns : sequence of ndarray
            The columns of the table and y, as in the fit.
        n_rows : int

        Returns
        -------
        float or None
            None if too few training rows differ from all others.
        """
        if len(self.row_hashes) < FEWEST_HASHES:
            return None
        known = np.array(self.row_hashes, dtype=np.uint64)
        return float(np.isin(known, row_hashes(columns, n_rows)).mean())

    def fields(self) -> dict[str, object]:
        """Return the values for `take`."""
        board = None if self.leaderboard is None else self.leaderboard.fields()
        own = {name: getattr(self, name) for name in ("date", "seconds", "n_folds", "problem")}
        hashes = np.array(self.row_hashes, dtype=np.uint64)
        return own | {
            "skipped": [asdict(each) for each in self.skipped],
            "leaderboard": board,
            "row_hashes": hashes,
        }

    @classmethod
    def take(cls, given: Fields) -> Self:
        """Read a record from the values of a file."""
        date, seconds = given.take("date", str), given.take("seconds", float)
        n_folds, problem = given.integer("n_folds", 0, 2**31 - 1), given.take("problem", str)
        skipped = []
        for written in given.take("skipped", list):
            given.require(isinstance(written, dict), "a skipped member is not a dict")
            each = Fields(written, "skipped")
            skipped.append(SkippedMember(*(each.take(name, str) for name in ("name", "title", "reason"))))
            each.finish()
        board = given.optional_fields("leaderboard")
        hashes = given.array("row_hashes", np.uint64, (None,))
        given.finish()
        taken = None if board is None else Leaderboard.take(board)
        return cls(date, seconds, n_folds, tuple(skipped), taken, problem, tuple(hashes.tolist()))
