"""Rank learners over many tables, count their wins, and find those that a test does not separate.

In: losses of shape (n_tables, n_learners), less is better. Out: ranks, of which 1 is the best and equal
learners share the mean of their places; wins; and cliques, sets of learners no two of which a test separates,
as large as they can be. By Nemenyi's test, a clique is all learners between two ranks. By tests of pairs it
need not be: a test may separate the second learner from the first, but not the third. Such a clique
contradicts the ranks. It is kept, with the learners that it skips.
"""

from __future__ import annotations

from collections.abc import Iterator
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


@dataclass(frozen=True)
class Clique:
    """Learners that a test does not separate.

    Parameters
    ----------
    members : tuple of int
        In the order of their ranks.
    skipped : tuple of int
        Learners between the best and the worst of them that the test separates from some of them.
    """

    members: tuple[int, ...]
    skipped: tuple[int, ...]

    @property
    def contradicts_ranks(self) -> bool:
        """Whether a learner between its best and its worst member does not belong to it."""
        return bool(self.skipped)


def cliques_of(mean_ranks: np.ndarray, is_apart: np.ndarray) -> list[Clique]:
    """Find the cliques of two members or more, the one with the best first.

    Parameters
    ----------
    mean_ranks : ndarray of shape (n_learners,)
    is_apart : ndarray of bool of shape (n_learners, n_learners)
        Whether a test separates two learners.

    Returns
    -------
    list of Clique

    Examples
    --------
    >>> apart = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]], dtype=bool)
    >>> cliques_of(np.array([1.2, 2.0, 2.8]), apart)
    [Clique(members=(0, 2), skipped=(1,)), Clique(members=(1, 2), skipped=())]
    """
    order = np.argsort(mean_ranks, kind="stable")
    alike = ~is_apart[np.ix_(order, order)]
    neighbours = [set(np.flatnonzero(row).tolist()) - {place} for place, row in enumerate(alike)]
    found = sorted(sorted(each) for each in maximal(set(), set(range(len(order))), set(), neighbours))
    return [
        Clique(
            tuple(int(order[place]) for place in places),
            tuple(int(order[place]) for place in range(places[0], places[-1]) if place not in places),
        )
        for places in found
        if len(places) > 1
    ]


def maximal(
    chosen: set[int], open_to: set[int], done: set[int], neighbours: list[set[int]]
) -> Iterator[set[int]]:
    """Find the cliques that no other contains (Bron and Kerbosch 1973, with a pivot)."""
    if not open_to and not done:
        yield chosen
        return
    pivot = max(open_to | done, key=lambda each: len(neighbours[each] & open_to))
    for each in sorted(open_to - neighbours[pivot]):
        yield from maximal(chosen | {each}, open_to & neighbours[each], done & neighbours[each], neighbours)
        open_to, done = open_to - {each}, done | {each}
