"""Ways to end long work besides Ctrl-C: another thread, or a deadline.

The engine calls `check` on the calling thread about every 50 ms of a long call. An exception of `check` ends
the call. Work in rounds or trees calls `is_time_up` after each of them, and keeps the finished ones.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Deadline:
    """The time at which work ends.

    Parameters
    ----------
    at : float
        The time of the monotonic clock.
    cut : threading.Event
        Set when work skips something because of the deadline.
    """

    at: float
    cut: threading.Event = field(default_factory=threading.Event)


EVENT: ContextVar[threading.Event | None] = ContextVar("stop", default=None)
DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[None]:
    """Raise a KeyboardInterrupt in long work within the block soon after an event is set.

    Parameters
    ----------
    event : threading.Event
        The event that another thread sets.

    Examples
    --------
    >>> import numpy as np
    >>> from committee import RandomForestClassifier
    >>> event = threading.Event()
    >>> threading.Timer(0.1, event.set).start()
    >>> X = np.random.default_rng(0).normal(size=(10_000, 9))
    >>> try:
    ...     with stopped_by(event):
    ...         RandomForestClassifier(100_000).fit(X, X[:, 0] > 0)
    ... except KeyboardInterrupt as stop:
    ...     print(stop)
    The work was stopped from another thread.
    """
    token = EVENT.set(event)
    try:
        yield
    finally:
        EVENT.reset(token)


def check() -> None:
    """Raise if another thread has stopped the work of this context."""
    event = EVENT.get()
    if event is not None and event.is_set():
        raise KeyboardInterrupt("The work was stopped from another thread.")


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """End fits of forests, boosters and networks within the block after some seconds, and keep the models.

    Parameters
    ----------
    seconds : float, or None
        None sets no limit.

    Examples
    --------
    >>> from committee import RandomForestRegressor
    >>> with ended_after(0.1):
    ...     forest = RandomForestRegressor(1_000_000, n_jobs=1).fit([[1], [2], [3]], [1.0, 2.0, 3.0])
    >>> 1 <= len(forest.estimators_) < 1_000_000
    True
    """
    with ended_by(None if seconds is None else Deadline(time.monotonic() + seconds)):
        yield


@contextmanager
def half_of_the_time() -> Iterator[None]:
    """End the block after half of the time until the deadline, if there is one."""
    whole = DEADLINE.get()
    with ended_by(None if whole is None else Deadline((time.monotonic() + whole.at) / 2, whole.cut)):
        yield


@contextmanager
def ended_by(deadline: Deadline | None) -> Iterator[None]:
    """Set the deadline of the work within the block."""
    token = DEADLINE.set(deadline)
    try:
        yield
    finally:
        DEADLINE.reset(token)


def has_deadline() -> bool:
    """Return whether the work of this context has a deadline."""
    return DEADLINE.get() is not None


def seconds_left() -> float | None:
    """Return the time until the deadline of this context; None without a deadline."""
    deadline = DEADLINE.get()
    return None if deadline is None else deadline.at - time.monotonic()


def is_time_up() -> bool:
    """Return whether the deadline of this context has passed. The caller then skips the rest of its work."""
    deadline = DEADLINE.get()
    if deadline is None or time.monotonic() < deadline.at:
        return False
    deadline.cut.set()
    return True


def note_cut() -> None:
    """Record that the work of this context does less than it would without a deadline."""
    deadline = DEADLINE.get()
    if deadline is not None:
        deadline.cut.set()


def was_cut() -> bool:
    """Return whether the work of this context may have skipped something because of its deadline.

    Examples
    --------
    >>> with ended_after(60.0):
    ...     before = was_cut()
    ...     note_cut()
    ...     before, was_cut()
    (False, True)
    """
    deadline = DEADLINE.get()
    return deadline is not None and deadline.cut.is_set()
