"""Runners of this process: one task after the other, or in threads; and a runner by its name.

Nothing is copied. In threads, what frees the interpreter's lock is parallel.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import Context, ContextVar
from functools import partial
from typing import Any

from committee.running.process_runner import ProcessRunner
from committee.running.resources import TASK_THREADS, BlasLimit, ThreadLimit, allowed_cores
from committee.running.runner import Runner, Task, TaskError, failure
from committee.running.shared_values import Handle, Held, with_values
from committee.running.worker_pool import Abandoned, Order, PooledRunner, abandon, configured


class SerialRunner(Runner):
    """Runs a task when its result is waited for, with all cores for its own threads."""

    def __init__(self) -> None:
        super().__init__(n_workers=1, threads_per_worker=allowed_cores())

    def put(self, value: object) -> Held:
        """Share a value with all tasks."""
        self._check_open()
        return Held(value)

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        """Remember a task until it is waited for."""
        task = self._task(function, name, _LaterTask)
        assert isinstance(task, _LaterTask)
        task.prepare(self, self._context(name), function, *args, **kwargs)
        return task

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Run the tasks and yield each."""
        for task in list(tasks):
            task.exception()
            yield task

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """Run the first of some tasks and return it."""
        task = min(tasks, key=lambda each: each.index, default=None)
        if task is not None:
            task.exception()
        return task

    def close(self) -> None:
        """Run no more tasks."""
        self._is_closed = True

    def __reduce__(self) -> tuple[object, ...]:
        return SerialRunner, ()


class _LaterTask(Task):
    """A task that is done by whoever asks for its result."""

    _call: Any = None

    def prepare(
        self,
        runner: Runner,
        context: Context,
        function: Callable[..., object],
        /,
        *args: object,
        **kwargs: object,
    ) -> None:
        """Say what is to be done."""
        self._call = runner, context, function, args, kwargs

    def result(self, timeout: float | None = None) -> object:
        """What the function returns."""
        self._run()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the function raises, if it does."""
        self._run()
        return super().exception(timeout)

    def _run(self) -> None:
        if self._call is None or self.done():
            return
        (runner, context, function, args, kwargs), self._call = self._call, None
        if runner._is_closed:
            return self.settle(error=TaskError(f"{self}, did not run: its runner was closed."))
        self.set_running_or_notify_cancel()
        try:
            result = context.run(function, *with_values(args), **with_values(kwargs))
        except KeyboardInterrupt:
            self.settle(error=TaskError(f"{self}, did not end: it was interrupted."))
            raise
        except BaseException as error:
            self.settle(error=failure(self, error))
        else:
            self.settle(result)


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

    def put(self, value: object) -> Held:
        """Share a value with all tasks."""
        self._check_open()
        return Held(value)

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
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

    def do(self, order: Order) -> object:
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

    def _call(self, order: Order) -> object:
        TASK_THREADS.set(self.limit.n_threads)
        _inside.set((*_inside.get(), self.mark))
        return order.function(*with_values(order.args), **with_values(order.kwargs))

    def stop(self) -> None:
        """Ask the thread to leave its task at its next step in Python."""
        if self.thread is not None:
            abandon(self.thread)

    def close(self) -> None:
        """Leave nothing behind: there is nothing but the thread."""


def runner(kind: str | Runner = "threads", n_workers: int | None = None) -> Runner:
    """Make a runner, or use one that is there.

    Parameters
    ----------
    kind : {"serial", "threads", "processes"} or Runner, default="threads"
        "serial" runs a task when its result is waited for. "threads" suits tasks that release the
        interpreter's lock, as our estimators and most of scikit-learn's trees and linear algebra do, and
        copies nothing. "processes" suits all others: what goes to a task and what it returns is copied, but
        for what `put` shares by memory map. A Runner is used as it is, and whoever made it closes it.
    n_workers : int, default=None
        How many tasks run at the same time. None and -1 are as many as there are cores that this process may
        use (by affinity, control group and OMP_NUM_THREADS), -2 is one fewer. There are never more than
        cores, and each task may use its share of them for threads. Inside a task, the cores are those of the
        task.

    Returns
    -------
    Runner

    Examples
    --------
    >>> with runner("threads", n_workers=2) as run:
    ...     tasks = [run.submit(pow, 2, power, name=f"power {power}") for power in (3, 4, 5)]
    ...     run.gather(tasks)
    [8, 16, 32]
    """
    if isinstance(kind, Runner):
        if n_workers is not None:
            raise ValueError(
                "n_workers is for a runner that is made by its name. A Runner has its own number of workers."
            )
        kind._check_open()
        return _Lent(kind)
    if kind == "serial":
        if n_workers not in (None, 1) or isinstance(n_workers, bool):
            raise ValueError(
                f"n_workers must be 1 or None where tasks run one after the other. Got {n_workers!r}."
            )
        return SerialRunner()
    if kind not in ("threads", "processes"):
        raise ValueError(f'runner must be "serial", "threads", "processes" or a Runner. Got {kind!r}.')
    return ThreadRunner(n_workers) if kind == "threads" else ProcessRunner(n_workers)


def runner_of(kind: str | Runner, n_jobs: int | None) -> Runner:
    """The runner of something that has `n_jobs`: the number of workers, where the kind leaves a choice.

    Examples
    --------
    >>> with runner_of("serial", 2) as run:
    ...     run.n_workers
    1
    """
    leaves_choice = isinstance(kind, str) and kind != "serial"
    return runner(kind, n_jobs if leaves_choice else None)


class _Lent(Runner):
    """Another's runner: leaving it does not close it."""

    def __init__(self, lender: Runner) -> None:
        super().__init__(lender.n_workers, lender.threads_per_worker)
        self._lender = lender

    def put(self, value: object) -> Handle:
        self._check_open()
        return self._lender.put(value)

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        self._check_open()
        return self._lender.submit(function, *args, name=name, **kwargs)

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        return self._lender.as_completed(tasks)

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        return self._lender.first_completed(tasks, seconds)

    def close(self) -> None:
        self._is_closed = True

    def __reduce__(self) -> tuple[object, ...]:
        return _Lent, (self._lender,)
