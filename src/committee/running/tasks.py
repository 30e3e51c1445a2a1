"""Tasks: what a runner is given to do, and how it tells that something went wrong.

A `Task` is a future with the name and the index that errors tell. What a task raises comes back as a
`TaskError` that is of the raised type too, so `except ValueError` catches what a member's `fit` raises
wherever it ran.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, InvalidStateError
from contextlib import suppress
from functools import cache
from queue import SimpleQueue
from typing import Any

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

    def settle(self, result: Any = None, error: BaseException | None = None) -> None:
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

    def __reduce__(self) -> Any:
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

    def __reduce__(self) -> Any:
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
