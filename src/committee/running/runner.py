"""The one protocol by which work runs somewhere: here, in threads, in processes, on other machines.

A task is a function and its arguments. Nothing is shared between tasks but what `put` shares, and all that a
task returns comes back by value, so a runner may be anywhere. A task gets its seeds from whoever submits it,
so that every runner gives the same results.

A `Task` is a future with the name and the index that errors show. What a task raises comes back as a
`TaskError` that is of the raised type too, so `except ValueError` catches what a member's `fit` raises
wherever it ran.
"""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import suppress
from contextvars import Context, copy_context
from functools import cache
from queue import SimpleQueue
from typing import Any

from committee.running.progress import WITHIN
from committee.running.shared_values import Handle

_settled = itertools.count()


class Task(Future):
    """Something that a runner does: `result()` waits for what the function returns, `done()` does not wait.

    Made by `Runner.submit`. `exception`, `cancel` and `add_done_callback` are those of
    `concurrent.futures.Future`.

    Parameters
    ----------
    name : str
        What errors call it.
    index : int
        Its place in the order in which the runner was given its tasks.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("serial") as run:
    ...     task = run.submit(max, 3, 5, name="the larger")
    ...     task.name, task.index, task.done(), task.result(), task.done()
    ('the larger', 0, False, 5, True)
    """

    def __init__(self, name: str, index: int) -> None:
        super().__init__()
        self.name = name
        self.index = index
        self._place: float = float("inf")

    def __str__(self) -> str:
        return f"Task {self.index}, {self.name!r}"

    def settle(self, result: object = None, error: BaseException | None = None) -> None:
        """Keep what came out, unless the task has ended before, as those of a closed runner have."""
        self._place = next(_settled)
        try:
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)
        except InvalidStateError:
            pass


class TaskError(Exception):
    r"""A task failed. It is also of the type that the task raised, which is its `__cause__`.

    Parameters
    ----------
    message : str
        Names the task and the cause.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("serial") as run:
    ...     task = run.submit(int, "three", name="member 3")
    ...     try:
    ...         task.result()
    ...     except ValueError as error:
    ...         print(error, isinstance(error, TaskError), sep="\n")
    Task 0, 'member 3', failed. ValueError: invalid literal for int() with base 10: 'three'
    True
    """

    def __init__(self, message: str) -> None:
        self.message = message

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return _again, (self.message, self.__cause__)


class WorkerDiedError(TaskError):
    """The process of a task died, and that of its second try too.

    Parameters
    ----------
    message : str
        Names the task and how the process died.

    Examples
    --------
    >>> import os
    >>> from committee.running import runner
    >>> with runner("processes", n_workers=1) as run:
    ...     task = run.submit(os._exit, 3, name="member 3")
    ...     try:
    ...         task.result()
    ...     except WorkerDiedError as error:
    ...         print(error)
    Task 0, 'member 3', died with its process, and again when it was retried: exit code 3.
    """

    def __reduce__(self) -> tuple[object, ...]:
        return WorkerDiedError, (self.message,)


def failed(message: str, cause: BaseException | None) -> TaskError:
    """A TaskError that is of the type of its cause too, if that is an ordinary exception."""
    error = TaskError(message)
    if isinstance(cause, TaskError):
        error = type(cause)(message)
    elif isinstance(cause, Exception):
        kind: Any = type(cause)
        # Some types take no subclass, or cannot be made of a message.
        with suppress(Exception):
            error = _type_like(kind)(message)
    error.__cause__ = cause
    return error


def failure(task: Task, cause: BaseException) -> TaskError:
    """The error of a task whose function raised."""
    told = type(cause).__name__
    with suppress(Exception):
        told += f": {' '.join(str(cause).split())}" if str(cause) else "."
    if isinstance(cause, TaskError):
        told = str(cause)  # it tells its own cause
    return failed(f"{task}, failed. {told}", cause)


def in_order_of_completion(tasks: Iterable[Task]) -> Iterator[Task]:
    """Tasks as they end, those that have ended before first; each waits for the next."""
    # Copied and sorted at once: what ends meanwhile must not change places.
    ended: SimpleQueue[Any] = SimpleQueue()
    waiting = sorted(tasks, key=lambda task: task._place)
    for task in waiting:
        task.add_done_callback(ended.put)
    for _ in waiting:
        yield ended.get()


@cache
def _type_like(cause: Any) -> type[TaskError]:
    # `__init__` is TaskError's, so that of the cause, which may need more, is never called.
    return type("TaskError", (TaskError, cause), {"__module__": __name__})


def _again(message: str, cause: BaseException | None) -> TaskError:
    return failed(message, cause)


class Runner(ABC):
    """Runs tasks. Made by `committee.running.runner`; a context manager that closes itself.

    Parameters
    ----------
    n_workers : int
        How many tasks run at the same time.
    threads_per_worker : int
        How many threads each of them may use: `n_threads` answers no more inside of a task.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("threads") as run:
    ...     numbers = run.put([3, 1, 2])
    ...     tasks = [run.submit(function, numbers) for function in (max, min, sorted)]
    ...     run.gather(tasks)
    [3, 1, [1, 2, 3]]
    """

    def __init__(self, n_workers: int, threads_per_worker: int) -> None:
        self.n_workers = n_workers
        self.threads_per_worker = threads_per_worker
        self._is_closed = False
        self._process = os.getpid()
        self._indices = itertools.count()

    @abstractmethod
    def put(self, value: object) -> Handle:
        """Share a value with all tasks.

        Parameters
        ----------
        value : object
            Tasks must not change it. The arrays in it are read-only to them.

        Returns
        -------
        Handle
            To be given to tasks, at any depth of tuples, lists and dicts. The value is shared until the
            runner is closed, or until nobody holds the handle any more and the tasks that got it have ended.
        """

    @abstractmethod
    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        """Let a function be called.

        Parameters
        ----------
        function : callable
        *args, **kwargs : object
            Its arguments. What is large and goes to many tasks belongs into `put`.
        name : str, default=None
            What errors call the task; the name of the function if it is None.

        Returns
        -------
        Task
        """

    @abstractmethod
    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end, waiting for the next.

        Ctrl-C while waiting ends all tasks of the runner that have not ended. The results of the others stay.
        """

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """One of some tasks that has ended, waiting for the next to end, or None after some seconds.

        A task that has begun in the waiting thread itself, as those of a serial runner do, is waited for.
        """
        tasks = list(tasks)
        done = wait(tasks, timeout=seconds, return_when=FIRST_COMPLETED).done
        return next((task for task in tasks if task in done), None)

    def gather(self, tasks: Iterable[Task]) -> list[Any]:
        """The results of tasks, in the order of the tasks. The first failure is raised when it happens."""
        tasks = list(tasks)
        for task in self.as_completed(tasks):
            task.result()
        return [task.result() for task in tasks]

    @abstractmethod
    def close(self) -> None:
        """End all that has not ended and leave nothing behind. Results that are there stay."""

    def __enter__(self) -> Runner:
        self._check_open()
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __deepcopy__(self, memo: object) -> Runner:
        # scikit-learn's clone copies the parameters of an estimator, and a runner may be one.
        return self

    def _check_open(self) -> None:
        if self._process != os.getpid():
            raise RuntimeError("The runner belongs to another process. Make one in this process.")
        if self._is_closed:
            raise RuntimeError("The runner is closed. Make another with committee.running.runner.")

    def _context(self, name: str | None) -> Context:
        """The context of the caller, in which the progress of a task is told under its name."""
        context = copy_context()
        if name is not None:
            context.run(WITHIN.set, (*WITHIN.get(), name))
        return context

    def _task(self, function: Callable[..., object], name: str | None, kind: type[Task] = Task) -> Task:
        self._check_open()
        if name is None:
            name = getattr(function, "__qualname__", type(function).__qualname__)
        return kind(name, next(self._indices))
