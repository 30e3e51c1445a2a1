"""The limits of a fit: time, with what happens at Ctrl-C, and memory.

The `Clock` gives each fit a budget. Forests and boosters end inside it with the trees they have; other
members are not begun if they would take too long. Ctrl-C ends the work at hand as the end of the time does;
the second one ends the fit.

The `Room` decides whether a fit may begin while others run, and why a member does not fit in memory. What a
member takes is measured in its first fit, which runs alone if there is a limit. Until then the guess is the
table as a matrix of floats.
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
# A model, the rows that it has not seen, if there are any, and its votes on them.
Result: TypeAlias = tuple[BaseEstimator, Any, Any]

# The share of all time that is kept for the choice of the rule, after the last fit, at most, and what it has
# at least.
SHARE_OF_RULE, LEAST_FOR_RULE = 0.1, 0.5
# What is kept to leave fits that have not ended: so many seconds, or such a share if that is less.
TO_LEAVE, SHARE_TO_LEAVE = 0.6, 0.06
# The share of the time left that one member may take for all its folds.
SHARE_OF_MEMBER = 0.5
BYTES_OF_NUMBER = 8
# If the table takes more than this, one fit at a time has all cores; a model that takes more is not pickled
# to find its size.
MANY_BYTES = 2**27


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


@dataclass(frozen=True)
class Use:
    """The memory that one fit has taken, in bytes.

    Parameters
    ----------
    peak : float
        At most, while it ran.
    model : float
        By the model, which stays.
    """

    peak: float
    model: float


def measured(function: Callable[..., Result], *arguments: object) -> tuple[Result, Use]:
    """Call a function that returns a model first, and measure what it takes of the memory of the process."""
    memory = PeakMemory()
    result = function(*arguments)
    peak, growth = memory.peak(), memory.growth()
    # A small model is pickled: it may lie in memory that the process had before, and libraries that are used
    # for the first time keep memory too, once and not for each model.
    model = growth if growth > MANY_BYTES else pickled_bytes(result[0], growth)
    return result, Use(max(peak, model), model)


def pickled_bytes(model: BaseEstimator, default: float) -> float:
    """The size of a model as a pickle, or the default if it has none."""
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
        The guess of what a fit takes that is not measured yet.
    n_models : int
        How many models of a member are kept, about.
    limit : float or None, default=None
        Bytes besides the table. None is what is free at the time.
    skips : bool, default=False
        Whether members that do not fit in memory are skipped.
    uses : dict from name to Use
        What has been measured.
    """

    table_bytes: float
    n_models: int
    limit: float | None = None
    skips: bool = False
    uses: dict[str, Use] = field(default_factory=dict)

    @classmethod
    def of(cls, size: Size, n_models: int, limit: float | None, skips: bool) -> Room:
        """The room for members on a table of a size."""
        n_bytes = BYTES_OF_NUMBER * size.n_rows * (size.n_columns or size.n_encoded)
        return cls(float(n_bytes), n_models, limit, skips)

    def n_at_once(self, n_jobs: int | None) -> int | None:
        """How many fits may run side by side, if `n_jobs` leaves it open: one if the table is large.

        Examples
        --------
        >>> Room(1e9, 5).n_at_once(None), Room(1e9, 5).n_at_once(4), Room(1e6, 5).n_at_once(None)
        (1, 4, None)
        """
        return 1 if n_jobs is None and self.table_bytes > MANY_BYTES else n_jobs

    def measures(self, name: str, n_workers: int) -> bool:
        """Whether the next fit of a member is to be measured. It then runs alone."""
        is_alone = self.limit is not None or (n_workers == 1 and self.table_bytes > MANY_BYTES)
        return is_alone and name not in self.uses

    def has(self, name: str, others: Iterable[str]) -> bool:
        """Whether a fit may begin beside others. Alone it always may.

        Examples
        --------
        >>> room = Room(1.0, 1, limit=10.0, uses={"forest": Use(7.0, 0.5), "bayes": Use(2.0, 0.0)})
        >>> room.has("bayes", ["forest"]), room.has("forest", ["forest"]), room.has("forest", [])
        (True, False, True)
        >>> room.has("linear", ["bayes"])  # is not measured
        False
        """
        names = [*others, name]
        if len(names) == 1:
            return True
        if self.limit is not None and not all(each in self.uses for each in names):
            return False
        return sum(self._use(each).peak for each in names) <= self._free(name) - self._models(name)

    def lack(self, name: str) -> str | None:
        """Why a member does not fit in memory, by what is known of its fits; None if it does.

        Examples
        --------
        >>> room = Room(1.0, n_models=5, limit=2e8, skips=True, uses={"forest": Use(7e7, 6e7)})
        >>> room.lack("forest")
        'its fits take about 310 MB, and there are 200 MB'
        """
        needed, free = self._models(name) + self._use(name).peak - self._use(name).model, self._free(name)
        if not self.skips or needed <= free:
            return None
        return f"its fits take about {written(needed)}, and there are {written(free)}"

    def _use(self, name: str) -> Use:
        return self.uses.get(name, Use(self.table_bytes, 0.0))

    def _models(self, name: str) -> float:
        """What all models of a member take."""
        return self.n_models * self._use(name).model

    def _free(self, name: str) -> float:
        """What the models of all other members leave."""
        if self.limit is None:
            return running.available_bytes()
        return self.limit - sum(self._models(other) for other in self.uses if other != name)


def written(n_bytes: float) -> str:
    """A number of bytes for people.

    Examples
    --------
    >>> written(3_200_000_000), written(115_000)
    ('3.2 GB', '115 kB')
    """
    for unit, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n_bytes >= factor:
            return f"{n_bytes / factor:.{0 if n_bytes >= 10 * factor else 1}f} {unit}"
    return f"{n_bytes:.0f} bytes"
