"""Tasks in which members are fitted or vote: their results in order, and errors that name the member.

An error in a member names it, by number or name, with the cause.
"""

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
    """Return what errors call a member that has no name.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> numbered(3, GaussianNB())
    'Member 3, GaussianNB,'
    """
    return f"{what} {number}, {type(member).__name__},"


def failed_member(who: str, what: str, error: Exception, way_out: str = "") -> TaskError:
    """Make an error of the type of its cause that names a member, what it cannot do and why, in one line.

    Examples
    --------
    >>> failed_member("Member 'tree'", "vote", ValueError("No rows."))
    TaskError("Member 'tree' cannot vote. ValueError: No rows.")
    """
    told = " ".join(f"{type(error).__name__}: {error}".split())
    return failed(f"{who} cannot {what}. {told}{way_out}", error)


@contextmanager
def naming(who: str, what: str) -> Iterator[None]:
    """Name the member in whatever is raised meanwhile."""
    try:
        yield
    except Exception as error:
        raise failed_member(who, what, error) from error


def results_in_order(tasks: Iterator[Task], run: Runner) -> Generator[Any]:
    """Yield the results of tasks in their order. Few are submitted ahead, and cancelled at the end."""
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
        The member whose task it is: named if the task itself fails, as one does whose process dies.
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
