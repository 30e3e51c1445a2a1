"""Runners of this process: tasks run one after the other, or in threads. Nothing is copied.

Threads run Python code in parallel only where it releases the interpreter's lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from functools import partial

from committee.running.process_runner import ProcessRunner
from committee.running.resources import TASK_THREADS, BlasLimit, ThreadLimit, allowed_cores
from committee.running.runner import Order, Runner, Task, TaskError, failure
from committee.running.shared_values import Handle, with_values
from committee.running.worker_pool import Abandoned, PooledRunner, abandon, configured


class SerialRunner(Runner):
    """A runner that runs a task when the caller waits for its result. The task may use all cores."""

    def __init__(self) -> None:
        super().__init__(n_workers=1, threads_per_worker=allowed_cores())
        self._task_type = SerialTask

    def _start(self, order: Order) -> None:
        assert isinstance(order.task, SerialTask)
        order.task.runner, order.task.order = self, order

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Run the tasks and yield each."""
        for task in list(tasks):
            task.exception()
            yield task

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """Run the first of some tasks and return it."""
        return next(self.as_completed(sorted(tasks, key=lambda task: task.index)), None)

    def __reduce__(self) -> tuple[object, ...]:
        return SerialRunner, ()


class SerialTask(Task):
    """A task that runs when the caller waits for its result."""

    runner: Runner
    order: Order | None = None

    def result(self, timeout: float | None = None) -> object:
        """Return what the function returns."""
        self._run()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Return the exception that the function raises; None if it raises none."""
        self._run()
        return super().exception(timeout)

    def _run(self) -> None:
        if self.order is None or self.done():
            return
        order, self.order = self.order, None
        if self.runner._is_closed:
            return order.refuse("its runner was closed")
        self.set_running_or_notify_cancel()
        try:
            result = order.context.run(order.function, *with_values(order.args), **with_values(order.kwargs))
        except KeyboardInterrupt:
            self.settle(error=TaskError(f"{self}, did not end: it was interrupted."))
            raise
        except BaseException as error:
            self.settle(error=failure(self, error))
        else:
            self.settle(result)


# The runners in whose tasks the current code runs.
_inside: ContextVar[tuple[object, ...]] = ContextVar("inside", default=())


class ThreadRunner(PooledRunner):
    """A runner that runs tasks in threads.

    Parameters
    ----------
    n_workers : int, default=None
        The number of threads, at most one per core. None and -1 use all cores that this process may use.
    """

    def __init__(self, n_workers: int | None = None) -> None:
        self._mark = object()
        super().__init__(n_workers, lambda n_threads: partial(ThreadExecutor, n_threads, self._mark))
        self._blas = BlasLimit(self.threads_per_worker)

    def _start(self, order: Order) -> None:
        if self._mark in _inside.get():
            raise RuntimeError(
                "A task cannot wait for a thread of its own runner. Make a runner inside the task."
            )
        self._blas.begin()
        order.task.add_done_callback(self._blas.end)
        self._add(order)

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        try:
            yield from super().as_completed(tasks)
        finally:
            self._blas.release()

    def close(self) -> None:
        """End all unfinished tasks. A call that cannot be interrupted runs to its end in its thread."""
        super().close()
        self._blas.release()


class ThreadExecutor:
    """The executor of a pool thread that calls functions in the thread itself."""

    def __init__(self, n_threads: int, mark: object) -> None:
        self.limit = ThreadLimit(n_threads)
        self.mark = mark
        self.thread: int | None = None

    def execute(self, order: Order) -> object:
        """Call the function in the context of the caller."""
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
        """Make the thread leave its task at its next step in Python."""
        if self.thread is not None:
            abandon(self.thread)

    def close(self) -> None:
        """Release nothing: the executor has no resources besides its thread."""


def runner(kind: str | Runner = "threads", n_workers: int | None = None) -> Runner:
    """Make a runner by its name, or wrap an existing one.

    Parameters
    ----------
    kind : {"serial", "threads", "processes"} or Runner, default="threads"
        "serial" runs a task when the caller waits for its result. "threads" copies nothing, and suits tasks
        that release the interpreter's lock, as our estimators and most of scikit-learn's trees and linear
        algebra do. "processes" suits all other tasks: it copies arguments and results, except the values that
        `put` shares by memory map. The caller closes a Runner that it passes.
    n_workers : int, default=None
        The number of tasks that run at the same time, at most one per core. None and -1 use all cores that
        this process may use (by affinity, control group and OMP_NUM_THREADS); -2 uses one fewer. Each task
        may use its share of the cores for threads. A runner that is made inside a task has only the cores of
        that task.

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
                "n_workers is only for a runner that is made by its name. A Runner has its own number of "
                "workers. Leave n_workers out."
            )
        kind._check_open()
        return LentRunner(kind)
    if kind == "serial":
        if n_workers not in (None, 1) or isinstance(n_workers, bool):
            raise ValueError(f"n_workers must be 1 or None for the serial runner. Got {n_workers!r}.")
        return SerialRunner()
    if kind not in ("threads", "processes"):
        raise ValueError(f'runner must be "serial", "threads", "processes" or a Runner. Got {kind!r}.')
    return ThreadRunner(n_workers) if kind == "threads" else ProcessRunner(n_workers)


def runner_of(kind: str | Runner, n_jobs: int | None) -> Runner:
    """Make the runner of an estimator; `n_jobs` is the number of workers if the kind allows more than one.

    Examples
    --------
    >>> with runner_of("serial", 2) as run:
    ...     run.n_workers
    1
    """
    leaves_choice = isinstance(kind, str) and kind != "serial"
    return runner(kind, n_jobs if leaves_choice else None)


class LentRunner(Runner):
    """A wrapper of a runner that its owner closes. Closing the wrapper leaves the runner open."""

    def __init__(self, lender: Runner) -> None:
        super().__init__(lender.n_workers, lender.threads_per_worker)
        self._lender = lender

    def put(self, value: object) -> Handle:
        """Share a value through the lent runner."""
        self._check_open()
        return self._lender.put(value)

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        """Submit a function call to the lent runner."""
        self._check_open()
        return self._lender.submit(function, *args, name=name, **kwargs)

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        return self._lender.as_completed(tasks)

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """Wait until one of some tasks has ended, and return it."""
        return self._lender.first_completed(tasks, seconds)

    def __reduce__(self) -> tuple[object, ...]:
        return LentRunner, (self._lender,)
