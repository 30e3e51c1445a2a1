"""Numbered work as tasks of a runner: drawings of rows, and fits on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from committee import running
from committee.running.tasks import failed

# The number of drawings of rows in a task.
DRAWS_IN_A_TASK = 16
# What functions that run tasks say of their last parameters.
RUNS = {
    "random_state": "random_state : int, RandomState or None, default=None",
    "runner": """runner : {"serial", "threads", "processes"} or Runner, default="threads"
    Where the work runs. It changes nothing but the time.""",
    "n_jobs": """n_jobs : int, default=None
    The number of fits or drawings at a time, which changes no result. None is one for each core.""",
    "verbose": """verbose : int, default=0
    Whether to show the progress.""",
}


def in_tasks(
    function: Callable[..., list[Any]],
    shared: Any,
    n_total: int,
    *,
    step: int,
    what: str,
    by: str,
    runner: Any,
    n_jobs: int | None,
    verbose: Any,
) -> list[Any]:
    """What a function makes of each number, in their order, whatever the runner.

    Parameters
    ----------
    function : callable
        From what is shared, a first number and the one behind the last to a list of results.
    shared : object
        Given to all tasks.
    n_total : int
        How many numbers there are.
    step : int
        How many of them a task does.
    what, by : str
        What progress calls the numbers, and who wants them.
    runner : {"serial", "threads", "processes"} or Runner
    n_jobs : int or None
    verbose : int or bool

    Returns
    -------
    list of length n_total

    Examples
    --------
    >>> options = {"what": "draws", "by": "squares", "runner": "threads", "n_jobs": None, "verbose": 0}
    >>> in_tasks(lambda base, begin, end: [base + n for n in range(begin, end)], 7, 5, step=2, **options)
    [7, 8, 9, 10, 11]
    """
    with (
        running.runner_of(runner, n_jobs) as run,
        running.Work(what, by, n_total, verbose=int(verbose)) as work,
    ):
        try:
            handle = run.put(shared)
        except running.TaskError as error:
            raise failed(
                f"What {by} needs cannot go to other processes: {error.__cause__}. Let functions use what "
                'can be pickled, or set runner="threads".',
                error,
            ) from error
        tasks, n_done = [], 0
        for begin in range(0, n_total, step):
            end = min(begin + step, n_total)
            name = f"{what} {begin} to {end - 1}" if step > 1 else f"{what.removesuffix('s')} {begin}"
            tasks.append(run.submit(function, handle, begin, end, name=name))
        try:
            for task in run.as_completed(tasks):
                n_done += len(task.result())
                work.tell(n_done)
        finally:
            for task in tasks:
                task.cancel()
    return [each for task in tasks for each in task.result()]
