"""A runner by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from committee.running.processes import ProcessRunner
from committee.running.runner import Runner
from committee.running.serial import SerialRunner
from committee.running.sharing import Handle
from committee.running.tasks import Task
from committee.running.threaded import ThreadRunner


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

    def put(self, value: Any) -> Handle:
        self._check_open()
        return self._lender.put(value)

    def submit(
        self, function: Callable[..., Any], /, *args: Any, name: str | None = None, **kwargs: Any
    ) -> Task:
        self._check_open()
        return self._lender.submit(function, *args, name=name, **kwargs)

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        return self._lender.as_completed(tasks)

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        return self._lender.first_completed(tasks, seconds)

    def close(self) -> None:
        self._is_closed = True

    def __reduce__(self) -> Any:
        return _Lent, (self._lender,)
