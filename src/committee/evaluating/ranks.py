"""Ranks over many tables: 1 is the best learner of a table, and equal ones share the mean of their places.

In: losses of shape (n_tables, n_learners), less is better. Out: ranks, and who wins against whom how often.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy

# Means of the same numbers in another order differ in their last digits, and are equal all the same.
N_DIGITS = 10


def rank_tables(losses: np.ndarray) -> np.ndarray:
    """The rank of each learner on each table.

    Parameters
    ----------
    losses : ndarray of shape (n_tables, n_learners)

    Returns
    -------
    ndarray of shape (n_tables, n_learners)

    Examples
    --------
    >>> rank_tables(np.array([[0.1, 0.3, 0.2], [0.5, 0.5, 0.4]]))
    array([[1. , 3. , 2. ],
           [2.5, 2.5, 1. ]])
    """
    return np.asarray(scipy.stats.rankdata(np.round(losses, N_DIGITS), axis=1))


@dataclass(frozen=True, eq=False)
class Wins:
    """On how many tables each learner beats each other.

    Parameters
    ----------
    names : tuple of str
    wins, ties : ndarray of int of shape (n_learners, n_learners)
        How often the learner of the row is better than that of the column, and how often they are equal.

    Examples
    --------
    >>> Wins.of(("a", "b"), np.array([[0.1, 0.3], [0.5, 0.5], [0.2, 0.9]])).of_pair("a", "b")
    (2, 1, 0)
    """

    names: tuple[str, ...]
    wins: np.ndarray
    ties: np.ndarray

    @classmethod
    def of(cls, names: tuple[str, ...], losses: np.ndarray) -> Wins:
        """Count them in losses of shape (n_tables, n_learners)."""
        rounded = np.round(losses, N_DIGITS)
        ours, theirs = rounded[:, :, None], rounded[:, None, :]
        return cls(names, (ours < theirs).sum(axis=0), (ours == theirs).sum(axis=0))

    @property
    def losses(self) -> np.ndarray:
        """How often the learner of the row is worse than that of the column."""
        return self.wins.T

    def of_pair(self, learner: str, other: str) -> tuple[int, int, int]:
        """Wins, ties and losses of a learner against another."""
        row, column = self.names.index(learner), self.names.index(other)
        return int(self.wins[row, column]), int(self.ties[row, column]), int(self.wins[column, row])
