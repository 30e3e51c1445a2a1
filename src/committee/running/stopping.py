"""Who wants to end work, beside Ctrl-C: work on other threads than the main one gets no signals.

The engine calls `check` on the thread that has called it, about every 50 ms of a long call. What it raises
ends the call.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

EVENT: ContextVar[threading.Event | None] = ContextVar("stop", default=None)


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
