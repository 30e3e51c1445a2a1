"""Threads that take orders from a queue: what the runners of threads and of processes have in common.

Every thread has a desk, which does the orders one by one: here in the thread, or in a process of its own. The
threads are daemons and begin when there are orders for them. They know the queue but not the runner, so that
a runner nobody holds any more can go, and its threads with it.

An order takes the settings of its caller along. scikit-learn keeps its configuration for each thread, and
Python the filters of warnings for each process: a filter that makes a warning an error must do so in a task
too.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import Context
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from committee.running.messages import Frame
from committee.running.resources import share_cores
from committee.running.runner import Runner, Task, TaskError, failure, in_order_of_completion

# What a thread that is asked to stop may take until it is left alone.
SECONDS_TO_STOP = 0.8


Configuration = dict[str, object] | None
Filters = list[tuple[Any, ...]]


def configuration() -> Configuration:
    """scikit-learn's configuration in this thread; None if it is not loaded, and so not changed."""
    sklearn = sys.modules.get("sklearn")
    return None if sklearn is None else sklearn.get_config()


@contextmanager
def configured(configuration: Configuration) -> Iterator[None]:
    """Let scikit-learn have a configuration for a while."""
    if configuration is None:
        yield
        return
    import sklearn

    with sklearn.config_context(**configuration):
        yield


def warning_filters() -> Filters:
    """The filters of warnings of this process."""
    return list(warnings.filters)


def filter_warnings(filters: Filters) -> None:
    """Let this process have some filters of warnings."""
    warnings.resetwarnings()
    for action, message, category, module, line in reversed(filters):
        warnings.filterwarnings(action, _text(message), category, _text(module), line)


def _text(pattern: str | re.Pattern[str] | None) -> str:
    return pattern.pattern if isinstance(pattern, re.Pattern) else pattern or ""


class Abandoned(BaseException):
    """Raised in a thread whose task nobody waits for any more."""


@dataclass(frozen=True, eq=False)
class Order:
    """A task and what is to be called for it.

    Parameters
    ----------
    task : Task
    function : callable
    args : tuple
    kwargs : dict
        All three are kept until the task has ended, and with them the values that are shared with it.
    context : Context
        That of the caller.
    sent : list of bytes-like
        The call as frames, if it goes to another process.
    configuration : dict or None
        That of scikit-learn in the caller's thread.
    """

    task: Task
    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    context: Context
    sent: list[Frame] = field(default_factory=list)
    configuration: Configuration = field(default_factory=configuration)

    def refuse(self, reason: str) -> None:
        """Tell that the task will not be done."""
        self.task.settle(error=TaskError(f"{self.task}, did not run: {reason}."))


class Desk(Protocol):
    """Where one thread of a pool does its orders."""

    def do(self, order: Order) -> object:
        """What the function of the order returns; a TaskError if it fails."""

    def stop(self) -> None:
        """End what is being done, if that can be ended from another thread."""

    def close(self) -> None:
        """Leave nothing behind."""


class Pool:
    """Some threads, each with a desk, and the queue of their orders.

    Parameters
    ----------
    n_threads : int
    make_desk : callable
    """

    def __init__(self, n_threads: int, make_desk: Callable[[], Desk]) -> None:
        self.n_threads = n_threads
        self.make_desk = make_desk
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._seats: list[_Seat] = []
        self._lock = threading.Lock()
        self._process = os.getpid()

    def add(self, order: Order) -> None:
        """Queue an order, and begin a thread for it unless all are there."""
        with self._lock:
            self._orders.put(order)
            if len(self._seats) < self.n_threads:
                self._seats.append(_Seat(self._orders, self.make_desk()))

    def stop(self, reason: str) -> None:
        """End all tasks, with an error that tells the reason, and all threads. New orders begin new ones."""
        # A forked process has none of the threads, and must leave the processes alone.
        if os.getpid() != self._process:
            return
        with self._lock:
            orders, self._orders = self._orders, SimpleQueue()
            seats, self._seats = self._seats, []
        while not orders.empty():
            with suppress(Empty):
                order = orders.get_nowait()
                if order is not None:
                    order.refuse(reason)
        for seat in seats:
            seat.stop(reason)
            orders.put(None)
        deadline = time.monotonic() + SECONDS_TO_STOP
        for seat in seats:
            if seat.thread is not threading.current_thread():
                seat.thread.join(max(0.0, deadline - time.monotonic()))


class _Seat:
    """A thread and its desk."""

    def __init__(self, orders: SimpleQueue[Order | None], desk: Desk) -> None:
        self.desk = desk
        self.order: Order | None = None
        self.reason: str | None = None
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._work, args=[orders], name="committee-runner", daemon=True)
        self.thread.start()

    def stop(self, reason: str) -> None:
        """End the task that is being done, and take no other."""
        with self.lock:
            self.reason = reason
            if self.order is not None:
                task = self.order.task
                task.settle(error=TaskError(f"{task}, did not end: {reason}."))
                self.desk.stop()

    def _work(self, orders: SimpleQueue[Order | None]) -> None:
        try:
            while (order := orders.get()) is not None and self._begin(order):
                try:
                    self._do(order)
                finally:
                    with self.lock:
                        self.order = order = None
        except Abandoned:
            pass
        finally:
            self.desk.close()

    def _begin(self, order: Order) -> bool:
        with self.lock:
            if self.reason is None:
                self.order = order
                return True
        order.refuse(self.reason)
        return False

    def _do(self, order: Order) -> None:
        task = order.task
        if not task.set_running_or_notify_cancel():
            return
        try:
            result = self.desk.do(order)
        except Abandoned:
            raise
        except TaskError as error:
            task.settle(error=error)
        except BaseException as error:
            task.settle(error=failure(task, error))
        else:
            task.settle(result)


def abandon(thread: int) -> None:
    """Raise Abandoned in another thread at its next step in Python."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Abandoned))


class PooledRunner(Runner):
    """Shares the cores among workers, and gives each of them a desk.

    Parameters
    ----------
    n_workers : int or None
    make_desk : callable
        Given the number of threads that a task may use.
    """

    def __init__(self, n_workers: int | None, make_desk: Callable[[int], Callable[[], Desk]]) -> None:
        super().__init__(*share_cores(n_workers))
        self._asked = n_workers
        self._pool = Pool(self.n_workers, make_desk(self.threads_per_worker))
        # Also when the interpreter exits.
        weakref.finalize(self, self._pool.stop, "its runner is gone")

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        try:
            yield from in_order_of_completion(tasks)
        except KeyboardInterrupt:
            self._pool.stop("it was interrupted")
            raise

    def close(self) -> None:
        """End all that has not ended, and leave neither a thread nor a process nor a file behind."""
        self._is_closed = True
        self._pool.stop("its runner was closed")

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._asked,)
