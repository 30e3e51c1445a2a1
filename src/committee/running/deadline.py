"""Who wants to end work, beside Ctrl-C: another thread, or the clock.

The engine calls `check` on the thread that has called it, about every 50 ms of a long call. What it raises
ends the call. Work in rounds or trees asks `is_time_up` after each of them, and ends with those it has.
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
    """When work is to end.

    Parameters
    ----------
    at : float
        By the monotonic clock.
    cut : threading.Event
        Set when work leaves something out for it.
    """

    at: float
    cut: threading.Event = field(default_factory=threading.Event)


EVENT: ContextVar[threading.Event | None] = ContextVar("stop", default=None)
DEADLINE: ContextVar[Deadline | None] = ContextVar("deadline", default=None)


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[None]:
    """End long work within the block, by a KeyboardInterrupt, soon after the event is set.

    Parameters
    ----------
    event : threading.Event
        Another thread sets it.

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
    """Raise if the work of this context is to end."""
    event = EVENT.get()
    if event is not None and event.is_set():
        raise KeyboardInterrupt("The work was stopped from another thread.")


@contextmanager
def ended_after(seconds: float | None) -> Iterator[None]:
    """Let forests, boosters and networks within the block end, with what they have, after some seconds.

    Parameters
    ----------
    seconds : float, or None
        None: they take as long as they take.

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
    """Leave half of the time, if there is a deadline, for what comes after the block."""
    whole = DEADLINE.get()
    with ended_by(None if whole is None else Deadline((time.monotonic() + whole.at) / 2, whole.cut)):
        yield


@contextmanager
def ended_by(deadline: Deadline | None) -> Iterator[None]:
    """Let work within the block end by a deadline."""
    token = DEADLINE.set(deadline)
    try:
        yield
    finally:
        DEADLINE.reset(token)


def has_deadline() -> bool:
    """Whether the work of this context is to end by the clock."""
    return DEADLINE.get() is not None


def seconds_left() -> float | None:
    """How much time the work of this context has left; None if it takes as long as it takes."""
    deadline = DEADLINE.get()
    return None if deadline is None else deadline.at - time.monotonic()


def is_time_up() -> bool:
    """Whether the work of this context has had its time. Who is told so leaves out the rest."""
    deadline = DEADLINE.get()
    if deadline is None or time.monotonic() < deadline.at:
        return False
    deadline.cut.set()
    return True


def note_cut() -> None:
    """Note that work of this context plans less than it would without a deadline."""
    deadline = DEADLINE.get()
    if deadline is not None:
        deadline.cut.set()


def was_cut() -> bool:
    """Whether work of this context may have left something out for want of time.

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
