"""The limits of a fit: time, with the handling of Ctrl-C, and memory.

The `Clock` gives each fit a budget of time. Forests and boosters end within it with the trees that they have;
other members are not started if they would take too long. Ctrl-C ends the current work like the end of the
time does. A second Ctrl-C ends the fit.

The `Room` decides whether a fit may start while others run, and whether a member fits in memory. The memory
of a member is measured in its first fit, which runs alone if there is a limit. Until then, the estimate is
the table as a matrix of floats.
"""

from __future__ import annotations

import math
import pickle
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from sklearn.base import BaseEstimator

from committee import running
from committee.automatic.portfolio import Size
from committee.running.resources import PeakMemory

Found = TypeVar("Found")
# A model, the held-out rows and its votes on them; the last two may be None.
Result: TypeAlias = tuple[BaseEstimator, Any, Any, Any]

# The largest share of the time that is kept for the choice of the rule, and the fewest seconds for it.
SHARE_OF_RULE, LEAST_FOR_RULE = 0.1, 0.5
# The share of the time that is kept for fits on all rows.
SHARE_OF_REFITS = 0.08
# The time to cancel fits that have not ended, in seconds and as a share of the limit; the smaller counts.
TO_LEAVE, SHARE_TO_LEAVE = 0.6, 0.06
# The largest share of the remaining time for all folds of one member.
SHARE_OF_MEMBER = 0.5
BYTES_OF_NUMBER = 8
# For a larger table, one fit at a time uses all cores. A larger model is not pickled to measure its size.
MANY_BYTES = 2**27


class Clock:
    """A clock that starts when it is created.

    Parameters
    ----------
    limit : float or None
        In seconds. None sets no limit.
    now : callable, default=time.monotonic
        Returns the time in seconds.

    Attributes
    ----------
    is_stopped : bool
        Whether Ctrl-C was pressed.

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
        self.is_stopped = False
        self._for_rule = 0.0 if limit is None else limit * SHARE_OF_RULE
        self._for_refits = 0.0

    def keep_for_rule(self, seconds: float) -> None:
        """Reserve time for the choice of the rule, if that is less than its share of the time.

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

    def keep_for_refits(self) -> None:
        """Reserve time for fits on all rows."""
        self._for_refits = 0.0 if self.limit is None else self.limit * SHARE_OF_REFITS

    def elapsed(self) -> float:
        """Return the seconds since the start."""
        return self._now() - self._began

    def left(self) -> float | None:
        """Return the seconds left for fits; None without a limit."""
        if self.limit is None:
            return None
        kept = self._for_rule + self._for_refits + min(TO_LEAVE, self.limit * SHARE_TO_LEAVE)
        return max(0.0, self._began + self.limit - kept - self._now())

    def release(self) -> None:
        """Use the reserved time for fits."""
        self._for_rule = self._for_refits = 0.0

    def is_over(self) -> bool:
        """Return whether there is no time left for fits."""
        return self.left() == 0.0

    def left_for_rule(self) -> float:
        """Return the seconds left for the choice of the rule."""
        if self.limit is None:
            return math.inf
        return max(LEAST_FOR_RULE, self._began + self.limit - self._for_refits - self._now())

    def stop(self) -> None:
        """Note the first Ctrl-C, after which finished work is kept; raise at the second."""
        if self.is_stopped:
            raise KeyboardInterrupt
        self.is_stopped = True

    def interrupt(self, when: str = "", then: str = "") -> None:
        """Note Ctrl-C and warn about it."""
        self.stop()
        warnings.warn(
            f"The fit was interrupted{when}. What is finished is kept{then}.", RuntimeWarning, stacklevel=4
        )

    def finish(
        self, work: Callable[[], Found], otherwise: Callable[[], Found], when: str, then: str = ""
    ) -> Found:
        """Do some work, or something else if the user presses Ctrl-C meanwhile.

        Parameters
        ----------
        work, otherwise : callable
        when, then : str
            For the warning: when the fit was interrupted, and the consequence.

        Returns
        -------
        object
            The result of the function that was completed.
        """
        try:
            return work()
        except KeyboardInterrupt:
            self.interrupt(when, then)
            return otherwise()

    def budget(self, n_fits: int, n_workers: int) -> float | None:
        """Return the seconds for one of n_fits fits of a member, if n_workers run at the same time."""
        left = self.left()
        return None if left is None else left * SHARE_OF_MEMBER / math.ceil(n_fits / n_workers)

    def allows(self, seconds: float, n_fits: int, n_workers: int) -> bool:
        """Return whether there is time for n_fits fits that take some seconds each."""
        left = self.left()
        return left is None or (left > 0 and seconds * math.ceil(n_fits / n_workers) <= left)


@dataclass(frozen=True)
class Use:
    """The memory of one fit, in bytes.

    Parameters
    ----------
    peak : float
        The largest use during the fit.
    model : float
        The size of the fitted model.
    """

    peak: float
    model: float


def measured(function: Callable[..., Result], *arguments: object) -> tuple[Result, Use]:
    """Call a function whose first result is a model, and measure how much memory it takes."""
    memory = PeakMemory()
    result = function(*arguments)
    peak, growth = memory.peak(), memory.growth()
    # The growth does not show the size of a small model: it may reuse free memory of the process, and a
    # library that is used for the first time takes memory once, not for each model.
    model = growth if growth > MANY_BYTES else pickled_bytes(result[0], growth)
    return result, Use(max(peak, model), model)


def pickled_bytes(model: BaseEstimator, default: float) -> float:
    """Return the size of a model as a pickle, or the default if it cannot be pickled."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        text = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    except Exception:
        return default
    return float(len(text) + sum(each.raw().nbytes for each in buffers))


@dataclass
class Room:
    """The memory in which members are fitted.

    Parameters
    ----------
    table_bytes : float
        The estimate for a fit that is not measured yet.
    n_models : int
        The approximate number of models that are kept of each member.
    limit : float or None, default=None
        In bytes besides the table. None is the free memory at the time.
    skips : bool, default=False
        Whether members that do not fit in memory are skipped.
    uses : dict from name to Use
        The measured fits.
    """

    table_bytes: float
    n_models: int
    limit: float | None = None
    skips: bool = False
    uses: dict[str, Use] = field(default_factory=dict)

    @classmethod
    def of(cls, size: Size, n_models: int, limit: float | None, skips: bool) -> Room:
        """Create the room for members on a table of some size."""
        n_bytes = BYTES_OF_NUMBER * size.n_rows * (size.n_columns or size.n_encoded)
        return cls(float(n_bytes), n_models, limit, skips)

    def n_at_once(self, n_jobs: int | None) -> int | None:
        """Return how many fits run at the same time; if `n_jobs` is None, one on a large table.

        Examples
        --------
        >>> Room(1e9, 5).n_at_once(None), Room(1e9, 5).n_at_once(4), Room(1e6, 5).n_at_once(None)
        (1, 4, None)
        """
        return 1 if n_jobs is None and self.table_bytes > MANY_BYTES else n_jobs

    def measures(self, name: str, n_workers: int) -> bool:
        """Return whether the next fit of a member is measured. It then runs alone."""
        is_alone = self.limit is not None or (n_workers == 1 and self.table_bytes > MANY_BYTES)
        return is_alone and name not in self.uses

    def has(self, name: str, others: Iterable[str]) -> bool:
        """Return whether a fit may start while others run. Alone it always may.

        Examples
        --------
        >>> room = Room(1.0, 1, limit=10.0, uses={"forest": Use(7.0, 0.5), "bayes": Use(2.0, 0.0)})
        >>> room.has("bayes", ["forest"]), room.has("forest", ["forest"]), room.has("forest", [])
        (True, False, True)
        >>> room.has("linear", ["bayes"])  # not measured
        False
        """
        names = [*others, name]
        if len(names) == 1:
            return True
        if self.limit is not None and not all(each in self.uses for each in names):
            return False
        return sum(self._use(each).peak for each in names) <= self._free(name) - self._models(name)

    def shortage(self, name: str) -> str | None:
        """Return why a member does not fit in memory, by its measured fits; None if it does.

        Examples
        --------
        >>> room = Room(1.0, n_models=5, limit=2e8, skips=True, uses={"forest": Use(7e7, 6e7)})
        >>> room.shortage("forest")
        'its fits take about 310 MB, and there are 200 MB'
        """
        needed, free = self._models(name) + self._use(name).peak - self._use(name).model, self._free(name)
        if not self.skips or needed <= free:
            return None
        return f"its fits take about {written(needed)}, and there are {written(free)}"

    def _use(self, name: str) -> Use:
        return self.uses.get(name, Use(self.table_bytes, 0.0))

    def _models(self, name: str) -> float:
        """Return the memory of all models of a member."""
        return self.n_models * self._use(name).model

    def _free(self, name: str) -> float:
        """Return the memory that the models of all other members leave."""
        if self.limit is None:
            return running.available_bytes()
        return self.limit - sum(self._models(other) for other in self.uses if other != name)


def written(n_bytes: float) -> str:
    """Format a number of bytes.

    Examples
    --------
    >>> written(3_200_000_000), written(115_000)
    ('3.2 GB', '115 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.{0 if n_bytes >= 10 * factor else 1}f} {unit}"
    return f"{n_bytes:.0f} bytes"
