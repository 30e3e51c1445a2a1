"""The one protocol by which work runs somewhere: here, in threads, in processes, on other machines.

A task is a function and its arguments. Nothing is shared between tasks but what `put` shares, and all that a
task returns comes back by value, so a runner may be anywhere. A task gets its seeds from whoever submits it,
so that every runner gives the same results.
"""

from __future__ import annotations

import itertools
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, wait
from contextvars import Context, copy_context
from typing import Any

from committee.running.progress import WITHIN
from committee.running.sharing import Handle
from committee.running.tasks import Task


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
    def put(self, value: Any) -> Handle:
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
        self, function: Callable[..., Any], /, *args: Any, name: str | None = None, **kwargs: Any
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

    def _task(self, function: Callable[..., Any], name: str | None, kind: type[Task] = Task) -> Task:
        self._check_open()
        if name is None:
            name = getattr(function, "__qualname__", type(function).__qualname__)
        return kind(name, next(self._indices))
