"""Cliques: sets of learners no two of which a test tells apart, as large as they can be.

By Nemenyi's test, a clique is all learners between two ranks. By tests of pairs it need not be: the first
and the third may not be told apart while the second, between them, differs from one. Such a clique
contradicts the ranks. It is kept, with the learners that it skips.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Clique:
    """Learners that are not told apart.

    Parameters
    ----------
    members : tuple of int
        In the order of their ranks.
    skipped : tuple of int
        Learners between the best and the worst of them that are told apart from some of them.
    """

    members: tuple[int, ...]
    skipped: tuple[int, ...]

    @property
    def contradicts_ranks(self) -> bool:
        """Whether a learner between its best and its worst member does not belong to it."""
        return bool(self.skipped)


def cliques_of(mean_ranks: np.ndarray, is_apart: np.ndarray) -> list[Clique]:
    """The cliques of two members or more, the one with the best first.

    Parameters
    ----------
    mean_ranks : ndarray of shape (n_learners,)
    is_apart : ndarray of bool of shape (n_learners, n_learners)
        Whether a test tells two learners apart.

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
    """All cliques that no other has in it (Bron and Kerbosch 1973, with a pivot)."""
    if not open_to and not done:
        yield chosen
        return
    pivot = max(open_to | done, key=lambda each: len(neighbours[each] & open_to))
    for each in sorted(open_to - neighbours[pivot]):
        yield from maximal(chosen | {each}, open_to & neighbours[each], done & neighbours[each], neighbours)
        open_to, done = open_to - {each}, done | {each}
