"""Limits of time and memory for a cell: it runs in a process of its own, which can be ended.

The process stays for the next cells of the same thread, so that its beginning is paid once, and is ended
when a cell takes too long. It ends by itself when whoever began it is gone, `kill -9` included.
"""

from __future__ import annotations

import math
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from committee import running
from committee.evaluating.cells import Cell, Outcome, run_cell
from committee.members.lesson import Lesson
from committee.parameters import is_integer, is_number
from committee.running import Runner, Task, TaskError

# A thread that is asked to stop notices after so long.
SECONDS_BETWEEN_LOOKS = 0.2
_of_thread = threading.local()


@dataclass(frozen=True)
class Limits:
    """What a cell may take.

    Parameters
    ----------
    seconds : float or None, default=None
        For all fits of the cell and its votes.
    n_bytes : int or None, default=None
        Of memory, beside the table. Only Linux can hold a process to it.
    """

    seconds: float | None = None
    n_bytes: int | None = None

    def __post_init__(self) -> None:
        if self.seconds is not None and not (is_number(self.seconds) and self.seconds > 0):
            raise ValueError(f"time_limit must be a number of seconds > 0, or None. Got {self.seconds!r}.")
        if self.n_bytes is not None and not (is_integer(self.n_bytes) and self.n_bytes >= 1):
            raise ValueError(f"memory_limit must be a number of bytes >= 1, or None. Got {self.n_bytes!r}.")
        if self.n_bytes is not None and sys.platform != "linux":
            raise ValueError("memory_limit needs Linux: no other system holds a process to it. Leave it out.")

    @property
    def are_set(self) -> bool:
        """Whether there is any."""
        return self.seconds is not None or self.n_bytes is not None


class TimeLimitError(Exception):
    """A cell has taken longer than it may."""


def run_within(limits: Limits, key: str, lesson: Lesson, cell: Cell, *arguments: Any) -> Outcome:
    """Run a cell in another process, and end it if it takes too long.

    Parameters
    ----------
    limits : Limits
    key : str
        The fingerprint of the table, which is sent to the process once.
    lesson, cell, *arguments : see `run_cell`

    Returns
    -------
    Outcome
    """
    bench = getattr(_of_thread, "bench", None) or Bench()
    _of_thread.bench = bench
    try:
        return bench.run(limits, key, lesson, cell, *arguments)
    except Exception as error:
        return Outcome.failed(error)


def leave() -> None:
    """End the process of this thread, if it has one."""
    bench = getattr(_of_thread, "bench", None)
    if bench is not None:
        bench.end()


class Bench:
    """A process for the cells of one thread, and the table that it knows."""

    def __init__(self) -> None:
        self._runner: Runner | None = None
        self._key = ""
        self._handle: Any = None

    def run(self, limits: Limits, key: str, lesson: Lesson, cell: Cell, *arguments: Any) -> Outcome:
        """Run a cell here."""
        if self._runner is None:
            self._runner = running.runner("processes", 1)
        if key != self._key:
            self._key, self._handle = key, self._runner.put(lesson)
            # What a process takes to begin, to import and to open the table is not the cell's.
            self._wait(self._runner.submit(begin, self._handle, *arguments), None, cell)
        given = limits.n_bytes, self._handle, cell, *arguments
        outcome: Outcome = self._wait(
            self._runner.submit(run_in_memory, *given, name=str(cell)), limits.seconds, cell
        )
        return outcome

    def _wait(self, task: Task, seconds: float | None, cell: Cell) -> Any:
        """The result of a task, which may take some seconds. Whatever ends the waiting ends the process."""
        assert self._runner is not None
        left = math.inf if seconds is None else seconds
        deadline = time.monotonic() + left
        is_over = False
        try:
            while self._runner.first_completed([task], min(SECONDS_BETWEEN_LOOKS, left)) is None:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise TimeLimitError(f"{cell} took longer than {seconds:g} s.")
            is_over = True
        finally:
            if not is_over:
                self.end()
        return task.result()

    def end(self) -> None:
        """End the process."""
        if self._runner is not None:
            self._runner.close()
        self._runner, self._key, self._handle = None, "", None


def begin(*given: Any) -> None:
    """Nothing: a process that has called it has begun, and has imported what it was given."""


def run_in_memory(n_bytes: int | None, lesson: Lesson, cell: Cell, *arguments: Any) -> Outcome:
    """Run a cell in this process, which may take so much memory more than it has."""
    if n_bytes is None:
        return run_cell(lesson, cell, *arguments)
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (data_bytes() + n_bytes, before[1]))
    try:
        outcome = run_cell(lesson, cell, *arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
    if outcome.error is not None and outcome.error.startswith(("MemoryError", "_ArrayMemoryError")):
        told = f"MemoryError: {cell} takes more than {n_bytes / 1e6:.0f} MB of memory."
        return Outcome(error=told, trace=outcome.trace)
    return outcome


def data_bytes() -> int:
    """What this process has taken of the memory that a limit counts."""
    for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
        if line.startswith("VmData:"):
            return int(line.split()[1]) * 1024
    raise OSError("/proc/self/status does not tell VmData, so memory_limit cannot be held.")


def outcome_of(task: Any) -> Outcome:
    """What came of the task of a cell: a worker that has died is a failure of its cell."""
    error = task.exception()
    if error is None:
        outcome: Outcome = task.result()
        return outcome
    if isinstance(error, TaskError):
        return Outcome.failed(error)
    raise error
