"""The time that a committee has, what part of it each fit may take, and what happens at Ctrl-C.

In: a limit in seconds, or none. Out: how much is left, and a budget for each fit: forests and boosters end
inside it with the trees they have; others are not begun if they would take too long. Ctrl-C ends the work at
hand as the end of the time does; the second one ends the fit.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")

# The share of all time that is kept for the choice of the rule, after the last fit, at most, and what it has
# at least.
SHARE_OF_RULE, LEAST_FOR_RULE = 0.1, 0.5
# What is kept to leave fits that have not ended: so many seconds, or such a share if that is less.
TO_LEAVE, SHARE_TO_LEAVE = 0.6, 0.06
# The share of the time left that one member may take for all its folds.
SHARE_OF_MEMBER = 0.5


class Clock:
    """Runs from its making on.

    Parameters
    ----------
    limit : float or None
        Seconds; None sets no limit.
    now : callable, default=time.monotonic
        Tells the time in seconds.

    Examples
    --------
    >>> Clock(None).left(), Clock(None).budget(n_fits=5, n_workers=2)
    (None, None)
    >>> Clock(60.0, now=lambda: 0.0).budget(n_fits=5, n_workers=2)
    8.9
    """

    def __init__(self, limit: float | None, now: Callable[[], float] = time.monotonic) -> None:
        self.limit = limit
        self._now = now
        self._began = now()
        self._is_stopped = False
        self._for_rule = 0.0 if limit is None else limit * SHARE_OF_RULE

    def keep_for_rule(self, seconds: float) -> None:
        """Keep some seconds for the choice of the rule, if that is less than its share of the time.

        Examples
        --------
        >>> clock = Clock(100.0, now=lambda: 0.0)
        >>> clock.left()
        89.4
        >>> clock.keep_for_rule(2.0)
        >>> clock.left()
        97.4
        """
        self._for_rule = min(self._for_rule, max(seconds, LEAST_FOR_RULE))

    def left(self) -> float | None:
        """The seconds left for fits; None if there is no limit."""
        if self.limit is None:
            return None
        kept = self._for_rule + min(TO_LEAVE, self.limit * SHARE_TO_LEAVE)
        return max(0.0, self._began + self.limit - kept - self._now())

    def is_over(self) -> bool:
        """Whether there is no time left for fits."""
        return self.left() == 0.0

    def left_for_rule(self) -> float:
        """The seconds left for the choice of the rule."""
        if self.limit is None:
            return math.inf
        return max(LEAST_FOR_RULE, self._began + self.limit - self._now())

    def stop(self) -> None:
        """Note that the user has pressed Ctrl-C, which keeps what is finished; the second one is raised."""
        if self._is_stopped:
            raise KeyboardInterrupt
        self._is_stopped = True

    def interrupt(self, when: str = "", then: str = "") -> None:
        """Note that the user has pressed Ctrl-C, and warn of it."""
        self.stop()
        warnings.warn(
            f"The fit was interrupted{when}. What is finished is kept{then}.", RuntimeWarning, stacklevel=4
        )

    def finish(
        self, work: Callable[[], Found], otherwise: Callable[[], Found], when: str, then: str = ""
    ) -> Found:
        """Do some work, or something else instead if the user presses Ctrl-C meanwhile.

        Parameters
        ----------
        work, otherwise : callable
        when, then : str
            What the warning says: when the fit was interrupted, and what follows.

        Returns
        -------
        object
            What the one or the other returns.
        """
        try:
            return work()
        except KeyboardInterrupt:
            self.interrupt(when, then)
            return otherwise()

    def budget(self, n_fits: int, n_workers: int) -> float | None:
        """The seconds that one of some fits of a member may take, if so many run at the same time."""
        left = self.left()
        return None if left is None else left * SHARE_OF_MEMBER / turns(n_fits, n_workers)

    def allows(self, seconds: float, n_fits: int, n_workers: int) -> bool:
        """Whether some fits of as many seconds each can still be done."""
        left = self.left()
        return left is None or (left > 0 and seconds * turns(n_fits, n_workers) <= left)


def turns(n_fits: int, n_workers: int) -> int:
    """How many fits one worker does after the other."""
    return math.ceil(n_fits / n_workers)
