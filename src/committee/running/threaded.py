"""Tasks in threads of this process: nothing is copied, and what frees the interpreter's lock is parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

from committee.running.limits import TASK_THREADS, BlasLimit, ThreadLimit
from committee.running.pool import Abandoned, Order, abandon
from committee.running.pooled import PooledRunner
from committee.running.settings import configured
from committee.running.sharing import Held, with_values
from committee.running.tasks import Task, failure

# The runners in whose tasks we are.
_inside: ContextVar[tuple[object, ...]] = ContextVar("inside", default=())


class ThreadRunner(PooledRunner):
    """Runs tasks in threads.

    Parameters
    ----------
    n_workers : int, default=None
        None and -1 are all cores that may be used, and there are never more.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        self._mark = object()
        super().__init__(n_workers, lambda n_threads: partial(_ThreadDesk, n_threads, self._mark))
        self._blas = BlasLimit(self.threads_per_worker)

    def put(self, value: Any) -> Held:
        """Share a value with all tasks."""
        self._check_open()
        return Held(value)

    def submit(
        self, function: Callable[..., Any], /, *args: Any, name: str | None = None, **kwargs: Any
    ) -> Task:
        """Let a function be called in a thread."""
        if self._mark in _inside.get():
            raise RuntimeError(
                "A task cannot wait for a thread of its own runner. Make a runner inside the task."
            )
        task = self._task(function, name)
        self._blas.begin()
        task.add_done_callback(self._blas.end)
        self._pool.add(Order(task, function, args, kwargs, self._context(name)))
        return task

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        try:
            yield from super().as_completed(tasks)
        finally:
            self._blas.release()

    def close(self) -> None:
        """End all that has not ended. A thread in a call that cannot be interrupted ends after that call."""
        super().close()
        self._blas.release()


class _ThreadDesk:
    """Does orders in the thread itself."""

    def __init__(self, n_threads: int, mark: object) -> None:
        self.limit = ThreadLimit(n_threads)
        self.mark = mark
        self.thread: int | None = None

    def do(self, order: Order) -> Any:
        """Call the function with the context of the caller."""
        self.thread = threading.get_ident()
        self.limit.hold_openmp()
        self.limit.hold_joblib()
        try:
            with configured(order.configuration):
                return order.context.run(self._call, order)
        except Abandoned:
            raise
        except BaseException as error:
            raise failure(order.task, error) from error

    def _call(self, order: Order) -> Any:
        TASK_THREADS.set(self.limit.n_threads)
        _inside.set((*_inside.get(), self.mark))
        return order.function(*with_values(order.args), **with_values(order.kwargs))

    def stop(self) -> None:
        """Ask the thread to leave its task at its next step in Python."""
        if self.thread is not None:
            abandon(self.thread)

    def close(self) -> None:
        """Leave nothing behind: there is nothing but the thread."""
