"""Lines on stderr that tell how far a long fit is."""

from __future__ import annotations

import sys
import time

SECONDS_BETWEEN_LINES = 0.5


class Progress:
    """Tells of what is done: the engine calls `tell` in between, the estimator `write` at last.

    Parameters
    ----------
    first : int
        How many were there before.
    goal : str
        How many there will be, and of what, as the lines say it.

    Examples
    --------
    >>> Progress(0, "100 trees").tell(1)  # too early for a line
    """

    def __init__(self, first: int, goal: str) -> None:
        self.first = first
        self.goal = goal
        self.began = self.told = time.monotonic()

    def tell(self, n_done: int) -> None:
        """Write a line, unless one was written just before."""
        if time.monotonic() - self.told >= SECONDS_BETWEEN_LINES:
            self.write(n_done)

    def write(self, n_done: int) -> None:
        """Write a line."""
        self.told = time.monotonic()
        n_there, seconds = self.first + n_done, self.told - self.began
        print(f"committee: {n_there} of {self.goal}, {seconds:.1f} s", file=sys.stderr)
