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

EVENT: ContextVar[threading.Event | None] = ContextVar("stop", default=None)
DEADLINE: ContextVar[float | None] = ContextVar("deadline", default=None)


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
    token = DEADLINE.set(None if seconds is None else time.monotonic() + seconds)
    try:
        yield
    finally:
        DEADLINE.reset(token)


@contextmanager
def half_of_the_time() -> Iterator[None]:
    """Leave half of the time, if there is a deadline, for what comes after the block."""
    deadline = DEADLINE.get()
    with ended_after(None if deadline is None else (deadline - time.monotonic()) / 2):
        yield


def has_deadline() -> bool:
    """Whether the work of this context is to end by the clock."""
    return DEADLINE.get() is not None


def seconds_left() -> float | None:
    """How much time the work of this context has left; None if it takes as long as it takes."""
    deadline = DEADLINE.get()
    return None if deadline is None else deadline - time.monotonic()


def is_time_up() -> bool:
    """Whether the work of this context has had its time."""
    deadline = DEADLINE.get()
    return deadline is not None and time.monotonic() >= deadline
