"""A line on stderr that tells how far a forest is."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN_LINES = 0.5


class Progress:
    """Tells of the trees that are grown; the engine calls `tell` after every tree.

    Parameters
    ----------
    first_tree : int
        The trees that were there before.
    n_trees : int
        The trees that there will be.

    Examples
    --------
    >>> Progress(0, 100).tell(1)  # too early for a line
    """

    def __init__(self, first_tree: int, n_trees: int) -> None:
        self.first_tree = first_tree
        self.n_trees = n_trees
        self.began = self.told = time.monotonic()

    def tell(self, n_done: int) -> None:
        """Write a line, unless one was written just before."""
        now, n_grown = time.monotonic(), self.first_tree + n_done
        if now - self.told < SECONDS_BETWEEN_LINES and n_grown < self.n_trees:
            return
        self.told = now
        print(f"committee: {n_grown} of {self.n_trees} trees, {now - self.began:.1f} s", file=sys.stderr)
