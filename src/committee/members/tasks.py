"""The results of tasks in which members are fitted or vote: in order, with errors that name the member."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

from committee.members.failing import failed_member
from committee.running import Runner, Task, TaskError


def results_in_order(tasks: Iterator[Task], run: Runner) -> Generator[Any]:
    """The results of tasks in their order. Few are submitted before their time, and those are cancelled."""
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
    """The result of a task, or the error that names the member.

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
