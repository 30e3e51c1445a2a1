"""Lines on stderr that tell how far a forest is."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN_LINES = 0.5


class Progress:
    """Tells of the trees that are grown: the engine calls `tell` between trees, the forest `write` at last.

    Parameters
    ----------
    first_tree : int
        The trees that were there before.
    goal : str
        How many there will be, as the lines say it.

    Examples
    --------
    >>> Progress(0, "100").tell(1)  # too early for a line
    """

    def __init__(self, first_tree: int, goal: str) -> None:
        self.first_tree = first_tree
        self.goal = goal
        self.began = self.told = time.monotonic()

    def tell(self, n_done: int) -> None:
        """Write a line, unless one was written just before."""
        if time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            self.write(n_done)

    def write(self, n_done: int) -> None:
        """Write a line."""
        self.told = time.monotonic()
        n_grown, seconds = self.first_tree + n_done, self.told - self.began
        print(f"committee: {n_grown} of {self.goal} trees, {seconds:.1f} s", file=sys.stderr)
