"""Run a queue of orders in threads, for `ThreadRunner` and `ProcessRunner`.

Each thread has an executor, which executes one order at a time: in the thread itself, or in its own
process. The threads are daemons and start with the first orders. They have no reference to the runner, so an
unused runner can be deleted, and its threads with it.

An order includes the settings of its caller. scikit-learn has one configuration per thread, and Python has
one list of warning filters per process: a filter that turns a warning into an error applies in tasks too.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Any, Protocol

from committee.running.resources import share_cores
from committee.running.runner import (
    Configuration,
    Order,
    Runner,
    Task,
    TaskError,
    failure,
    in_order_of_completion,
)

# The time that a thread gets to stop.
SECONDS_TO_STOP = 0.8

Filters = list[tuple[Any, ...]]


@contextmanager
def configured(configuration: Configuration) -> Iterator[None]:
    """Use a configuration of scikit-learn within the block."""
    if configuration is None:
        yield
        return
    import sklearn

    with sklearn.config_context(**configuration):
        yield


def filter_warnings(filters: Filters) -> None:
    """Replace the warning filters of this process."""
    warnings.resetwarnings()
    for action, message, category, module, line in reversed(filters):
        warnings.filterwarnings(action, _text(message), category, _text(module), line)


def _text(pattern: str | re.Pattern[str] | None) -> str:
    return pattern.pattern if isinstance(pattern, re.Pattern) else pattern or ""


class Abandoned(BaseException):
    """The exception that ends a task in a thread, because its result is not needed any more."""


class Executor(Protocol):
    """The object that executes the orders of one pool thread."""

    def execute(self, order: Order) -> object:
        """Return what the function of the order returns; raise a TaskError if it fails."""

    def stop(self) -> None:
        """End the current order, if another thread can end it."""

    def close(self) -> None:
        """Release all resources."""


class Pool:
    """Some threads, each with an executor, and the queue of their orders.

    Parameters
    ----------
    n_threads : int
    make_executor : callable
    """

    def __init__(self, n_threads: int, make_executor: Callable[[], Executor]) -> None:
        self.n_threads = n_threads
        self.make_executor = make_executor
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._threads: list[PoolThread] = []
        self._lock = threading.Lock()
        self._reason: str | None = None
        self._process = os.getpid()

    def add(self, order: Order) -> None:
        """Queue an order, and start a thread for it unless all threads exist."""
        with self._lock:
            if self._reason is not None:
                return order.refuse(self._reason)
            self._orders.put(order)
            if len(self._threads) < self.n_threads:
                self._threads.append(PoolThread(self._orders, self.make_executor()))
                self._threads[-1].thread.start()

    def stop(self, reason: str) -> None:
        """End all tasks, with an error that gives the reason, and all threads.

        Another call completes a call that was interrupted.
        """
        # A forked process has none of the threads, and must not end the processes of its parent.
        if os.getpid() != self._process:
            return
        with self._lock:
            self._reason = reason
        with suppress(Empty):
            while True:
                order = self._orders.get_nowait()
                if order is not None:
                    order.refuse(reason)
        self._orders.put(None)
        for each in self._threads:
            each.stop(reason)
        deadline = time.monotonic() + SECONDS_TO_STOP
        for each in self._threads:
            # Neither this thread nor one whose start was interrupted can be joined.
            with suppress(RuntimeError):
                each.thread.join(max(0.0, deadline - time.monotonic()))


class PoolThread:
    """A thread of a pool, with its executor and its current order."""

    def __init__(self, orders: SimpleQueue[Order | None], executor: Executor) -> None:
        self.executor = executor
        self.order: Order | None = None
        self.reason: str | None = None
        self.lock = threading.Lock()
        self.thread = threading.Thread(target=self._work, args=[orders], name="committee-runner", daemon=True)

    def stop(self, reason: str) -> None:
        """End the current task, and start no other."""
        with self.lock:
            if self.reason is None and self.order is not None:
                task = self.order.task
                task.settle(error=TaskError(f"{task}, did not end: {reason}."))
                self.executor.stop()
            self.reason = reason

    def _work(self, orders: SimpleQueue[Order | None]) -> None:
        try:
            while (order := orders.get()) is not None and self._begin(order):
                try:
                    self._execute(order)
                finally:
                    with self.lock:
                        self.order = order = None
        except Abandoned:
            pass
        finally:
            # The other threads end too.
            orders.put(None)
            self.executor.close()

    def _begin(self, order: Order) -> bool:
        with self.lock:
            if self.reason is None:
                self.order = order
                return True
        order.refuse(self.reason)
        return False

    def _execute(self, order: Order) -> None:
        task = order.task
        if not task.set_running_or_notify_cancel():
            return
        try:
            result = self.executor.execute(order)
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
    """A runner that shares the cores among workers, each of which has an executor.

    Parameters
    ----------
    n_workers : int or None
    make_executors : callable
        Takes the number of threads that a task may use, and returns a function that makes an executor.
    """

    def __init__(
        self, n_workers: int | None, make_executors: Callable[[int], Callable[[], Executor]]
    ) -> None:
        super().__init__(*share_cores(n_workers))
        self._requested = n_workers
        self._make_executor = make_executors(self.threads_per_worker)
        self._open_pool()

    def _open_pool(self) -> None:
        self._pool = Pool(self.n_workers, self._make_executor)
        # This ends the threads of a runner that is not closed, also when the interpreter exits.
        self._finalizer = weakref.finalize(self, self._pool.stop, "its runner is gone")

    def _add(self, order: Order) -> None:
        try:
            self._pool.add(order)
        except KeyboardInterrupt:
            self._interrupt()
            raise

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        try:
            yield from in_order_of_completion(tasks)
        except KeyboardInterrupt:
            self._interrupt()
            raise

    def _interrupt(self) -> None:
        """End all tasks. Later tasks run in new threads."""
        self._pool.stop("it was interrupted")
        self._finalizer.detach()
        self._open_pool()

    def close(self) -> None:
        """End all unfinished tasks, and release all threads, processes and files."""
        super().close()
        try:
            self._pool.stop("its runner was closed")
        except KeyboardInterrupt:
            self._pool.stop("its runner was closed")
            raise
        finally:
            # Python ignores a KeyboardInterrupt in a finalizer, so none of a closed runner may run later.
            self._finalizer.detach()

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self._requested,)
