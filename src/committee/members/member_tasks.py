"""Collect the results of tasks in which members are fitted or vote, with errors that name the member."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from sklearn.base import BaseEstimator

from committee.running import Runner, Task, TaskError
from committee.running.runner import failed


def numbered(number: int, member: BaseEstimator, what: str = "Member") -> str:
    """Name a member by its number in an error.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> numbered(3, GaussianNB())
    'Member 3, GaussianNB,'
    """
    return f"{what} {number}, {type(member).__name__},"


def failed_member(who: str, what: str, error: Exception, way_out: str = "") -> TaskError:
    """Make an error of the type of its cause that names a member, what it cannot do and the reason.

    Examples
    --------
    >>> failed_member("Member 'tree'", "vote", ValueError("No rows."))
    TaskError("Member 'tree' cannot vote. ValueError: No rows.")
    """
    reason = " ".join(f"{type(error).__name__}: {error}".split())
    return failed(f"{who} cannot {what}. {reason}{way_out}", error)


@contextmanager
def naming(who: str, what: str) -> Iterator[None]:
    """Name the member in errors of the block."""
    try:
        yield
    except Exception as error:
        raise failed_member(who, what, error) from error


def results_in_order(tasks: Iterator[Task], run: Runner) -> Generator[Any]:
    """Yield the results of tasks in order. Only a few are submitted ahead."""
    waiting: deque[Task] = deque()
    try:
        while True:
            waiting.extend(islice(tasks, 2 * run.n_workers - len(waiting)))
            if not waiting:
                return
            yield result_of(waiting[0], run)
            waiting.popleft()
    finally:
        for task in waiting:
            task.cancel()


def result_of(task: Task, run: Runner, who: str | None = None) -> Any:
    """Return the result of a task, or raise the error that names the member.

    Parameters
    ----------
    task : Task
    run : Runner
    who : str, default=None
        The name of the member for errors of the task itself, for example if its process dies.
    """
    for done in run.as_completed([task]):
        error = done.exception()
        cause = None if error is None else error.__cause__
        if isinstance(cause, TaskError):
            raise cause from cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            # The work was stopped from another thread.
            raise cause
        if isinstance(error, TaskError) and who is not None:
            raise failed_member(who, "be fitted", error) from error
    return task.result()
