"""Tasks in the thread that waits for them, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import Context
from typing import Any

from committee.running.runner import Runner
from committee.running.sharing import Held, with_values
from committee.running.tasks import Task, TaskError, failure
from committee.running.threads import allowed_cores


class SerialRunner(Runner):
    """Runs a task when its result is waited for, with all cores for its own threads."""

    def __init__(self) -> None:
        super().__init__(n_workers=1, threads_per_worker=allowed_cores())

    def put(self, value: Any) -> Held:
        """Share a value with all tasks."""
        self._check_open()
        return Held(value)

    def submit(
        self, function: Callable[..., Any], /, *args: Any, name: str | None = None, **kwargs: Any
    ) -> Task:
        """Remember a task until it is waited for."""
        task = self._task(function, name, _LaterTask)
        assert isinstance(task, _LaterTask)
        task.prepare(self, self._context(name), function, *args, **kwargs)
        return task

    def as_completed(self, tasks: Iterable[Task]) -> Iterator[Task]:
        """Run the tasks and yield each."""
        for task in list(tasks):
            task.exception()
            yield task

    def first_completed(self, tasks: Iterable[Task], seconds: float | None = None) -> Task | None:
        """Run the first of some tasks and return it."""
        task = min(tasks, key=lambda each: each.index, default=None)
        if task is not None:
            task.exception()
        return task

    def close(self) -> None:
        """Run no more tasks."""
        self._is_closed = True

    def __reduce__(self) -> Any:
        return SerialRunner, ()


class _LaterTask(Task):
    """A task that is done by whoever asks for its result."""

    _call: Any = None

    def prepare(
        self, runner: Runner, context: Context, function: Callable, /, *args: Any, **kwargs: Any
    ) -> None:
        """Say what is to be done."""
        self._call = runner, context, function, args, kwargs

    def result(self, timeout: float | None = None) -> Any:
        """What the function returns."""
        self._run()
        return super().result(timeout)

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the function raises, if it does."""
        self._run()
        return super().exception(timeout)

    def _run(self) -> None:
        if self._call is None or self.done():
            return
        (runner, context, function, args, kwargs), self._call = self._call, None
        if runner._is_closed:
            return self.settle(error=TaskError(f"{self}, did not run: its runner was closed."))
        self.set_running_or_notify_cancel()
        try:
            result = context.run(function, *with_values(args), **with_values(kwargs))
        except KeyboardInterrupt:
            self.settle(error=TaskError(f"{self}, did not end: it was interrupted."))
            raise
        except BaseException as error:
            self.settle(error=failure(self, error))
        else:
            self.settle(result)
