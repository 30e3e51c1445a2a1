"""The protocol of runners: submit tasks to this thread, to other threads, to processes or to other machines.

A task is a function and its arguments. Tasks share only the values that `put` shares, and results are
returned by value, so a runner may be anywhere. The caller passes all seeds, so every runner gives the same
results.

A `Task` is a future with a name and an index for error messages. An exception in a task becomes a `TaskError`
that is an instance of the raised type too, so `except ValueError` catches what the `fit` of a member raises
on any runner.
"""

from __future__ import annotations

import itertools
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, InvalidStateError, wait
from contextlib import suppress
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from functools import cache
from queue import SimpleQueue
from typing import Any

from committee.running.messages import Frame
from committee.running.progress import WITHIN
from committee.running.shared_values import Handle, Reference

Configuration = dict[str, object] | None

_settled = itertools.count()


class Task(Future):
    """A function call that a runner executes, with the methods of `concurrent.futures.Future`.

    `Runner.submit` makes tasks. `result()` waits for the return value; `done()` does not wait.

    Parameters
    ----------
    name : str
        The name of the task in error messages.
    index : int
        The position among all tasks that the runner received.

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
        """Set the result or the error, unless the task has ended before, as tasks of a closed runner have."""
        self._place = next(_settled)
        with suppress(InvalidStateError):
            if error is None:
                self.set_result(result)
            else:
                self.set_exception(error)


class TaskError(Exception):
    r"""The error of a failed task, also an instance of the type of its `__cause__`.

    Parameters
    ----------
    message : str
        The name of the task and the cause.

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
        return failed, (self.message, self.__cause__)


class WorkerDiedError(TaskError):
    """A task whose process died, and whose second try ended in the same way.

    Parameters
    ----------
    message : str
        The name of the task, and how the process died.

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
    """Return a TaskError that is an instance of the type of its cause too, if the cause is an Exception."""
    error = TaskError(message)
    if isinstance(cause, TaskError):
        error = type(cause)(message)
    elif isinstance(cause, Exception):
        kind: Any = type(cause)
        # Some types allow no subclass, or cannot be made from a message.
        with suppress(Exception):
            error = _type_like(kind)(message)
    error.__cause__ = cause
    return error


def failure(task: Task, cause: BaseException) -> TaskError:
    """Return the error of a task whose function raised."""
    reason = type(cause).__name__
    with suppress(Exception):
        reason += f": {' '.join(str(cause).split())}" if str(cause) else "."
    if isinstance(cause, TaskError):
        reason = str(cause)  # includes its own cause
    return failed(f"{task}, failed. {reason}", cause)


def in_order_of_completion(tasks: Iterable[Task]) -> Iterator[Task]:
    """Yield tasks as they end, first those that have ended already."""
    # The tasks are sorted at once, because tasks that end during the sort would change places.
    ended: SimpleQueue[Any] = SimpleQueue()
    waiting = sorted(tasks, key=lambda task: task._place)
    for task in waiting:
        task.add_done_callback(ended.put)
    for _ in waiting:
        yield ended.get()


@cache
def _type_like(cause: Any) -> type[TaskError]:
    # `__init__` is that of TaskError: the one of the cause may need more arguments.
    return type("TaskError", (TaskError, cause), {"__module__": __name__})


def sklearn_configuration() -> Configuration:
    """Return scikit-learn's configuration in this thread; None if scikit-learn is not loaded."""
    sklearn = sys.modules.get("sklearn")
    return None if sklearn is None else sklearn.get_config()


@dataclass(frozen=True, eq=False)
class Order:
    """A task with its function call.

    Parameters
    ----------
    task : Task
    function : callable
    args : tuple
    kwargs : dict
        The order keeps a reference to the function and its arguments until the task has ended, so the values
        that are shared with the task stay available.
    context : Context
        The context of the caller.
    sent : list of bytes-like
        The call as frames, if it is sent to another process.
    configuration : dict or None
        scikit-learn's configuration in the caller's thread.
    """

    task: Task
    function: Callable[..., object]
    args: tuple[object, ...]
    kwargs: dict[str, object]
    context: Context
    sent: list[Frame] = field(default_factory=list)
    configuration: Configuration = field(default_factory=sklearn_configuration)

    def refuse(self, reason: str) -> None:
        """Set an error that says that the task did not run."""
        self.task.settle(error=TaskError(f"{self.task}, did not run: {reason}."))


class Runner(ABC):
    """The base class of all runners, which `committee.running.runner` makes.

    A runner is a context manager that closes itself.

    Parameters
    ----------
    n_workers : int
        The number of tasks that run at the same time.
    threads_per_worker : int
        The number of threads that each task may use. `n_threads` returns at most this number in a task.

    Examples
    --------
    >>> from committee.running import runner
    >>> with runner("threads") as run:
    ...     numbers = run.put([3, 1, 2])
    ...     tasks = [run.submit(function, numbers) for function in (max, min, sorted)]
    ...     run.gather(tasks)
    [3, 1, [1, 2, 3]]
    """

    _task_type: type[Task] = Task

    def __init__(self, n_workers: int, threads_per_worker: int) -> None:
        self.n_workers = n_workers
        self.threads_per_worker = threads_per_worker
        self._is_closed = False
        self._process = os.getpid()
        self._indices = itertools.count()

    def put(self, value: object) -> Handle:
        """Share a value with all tasks.

        Parameters
        ----------
        value : object
            Tasks must not change it. Its arrays are read-only in tasks.

        Returns
        -------
        Handle
            An argument for tasks, at any depth of tuples, lists and dicts. The value is shared until the
            runner is closed, or until the handle is deleted and the tasks that received it have ended.
        """
        self._check_open()
        return Reference(value)

    def submit(
        self, function: Callable[..., object], /, *args: object, name: str | None = None, **kwargs: object
    ) -> Task:
        """Submit a function call.

        Parameters
        ----------
        function : callable
        *args, **kwargs : object
            The arguments of the function. Share large values that many tasks need with `put`.
        name : str, default=None
            The name of the task in error messages. None takes the name of the function.

        Returns
        -------
        Task
        """
        self._check_open()
        context = copy_context()
        if name is None:
            name = getattr(function, "__qualname__", type(function).__qualname__)
        else:
            # The progress of the task is reported under its name.
            context.run(WITHIN.set, (*WITHIN.get(), name))
        task = self._task_type(name, next(self._indices))
        self._start(Order(task, function, args, kwargs, context))
        return task

    def _start(self, order: Order) -> None:
        """Start a task, or queue it."""
        raise NotImplementedError

    @abstractmethod
    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end.

        Ctrl-C during the wait ends all unfinished tasks of the runner. The results of the others are kept.
        """

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """Wait until one of some tasks has ended, and return it; return None after some seconds.

        A task that runs in the waiting thread, as in a serial runner, runs to its end.
        """
        tasks = list(tasks)
        done = wait(tasks, timeout=seconds, return_when=FIRST_COMPLETED).done
        return next((task for task in tasks if task in done), None)

    def gather(self, tasks: Iterable[Task]) -> list[Any]:
        """Return the results of tasks in the order of the tasks. The first failure is raised at once."""
        tasks = list(tasks)
        for task in self.as_completed(tasks):
            task.result()
        return [task.result() for task in tasks]

    def close(self) -> None:
        """End all unfinished tasks and release all resources. Results of finished tasks are kept."""
        self._is_closed = True

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
