"""What runners with a pool of threads do alike: queue a task, wait for tasks, close."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from committee.running.pool import Desk, Pool
from committee.running.runner import Runner
from committee.running.tasks import Task, in_order_of_completion
from committee.running.threads import share_cores


class PooledRunner(Runner):
    """Shares the cores among workers, and gives each of them a desk.

    Parameters
    ----------
    n_workers : int or None
    make_desk : callable
        Given the number of threads that a task may use.
    """

    def __init__(self, n_workers: int | None, make_desk: Callable[[int], Callable[[], Desk]]) -> None:
        super().__init__(*share_cores(n_workers))
        self._asked = n_workers
        self._pool = Pool(self.n_workers, make_desk(self.threads_per_worker))
        # Also when the interpreter exits.
        weakref.finalize(self, self._pool.stop, "its runner is gone")

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Yield tasks as they end."""
        try:
            yield from in_order_of_completion(tasks)
        except KeyboardInterrupt:
            self._pool.stop("it was interrupted")
            raise

    def close(self) -> None:
        """End all that has not ended, and leave neither a thread nor a process nor a file behind."""
        self._is_closed = True
        self._pool.stop("its runner was closed")

    def __reduce__(self) -> Any:
        return type(self), (self._asked,)
