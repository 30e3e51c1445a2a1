"""Report progress, call scikit-learn's callbacks and handle interruptions in every long fit.

`sklearn.callback` needs scikit-learn 1.9. With an older version, estimators have no `set_callbacks`.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from committee.running import Work
from committee.running.deadline import has_deadline, is_time_up

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupportMixin
    from sklearn.callback import with_callbacks as with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """An empty base class: there are no callbacks."""

    def with_callbacks(method: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the method, so that the call depth is the same as with callbacks."""

        @functools.wraps(method)
        def called(*arguments: Any, **named: Any) -> Any:
            return method(*arguments, **named)

        return called


Fitted = Callable[[], dict[str, Any]]


class TaskCalls:
    """The calls of an estimator's callbacks, at the begin and the end of the fit and of each task.

    Parameters
    ----------
    estimator : estimator with callbacks
    X, y : table and array-like
        The training set.
    name : {"tree", "round", "member", "fold"}
        The kind of the tasks.
    n_tasks : int or None
        The number of tasks, if it is known.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, name: str, n_tasks: int | None) -> None:
        self.about = {"estimator": estimator, "X": X, "y": y}
        self.name, self.n_tasks = name, n_tasks
        self.n_ended = 0
        self.fit = estimator._init_callback_context(max_subtasks=n_tasks)
        self.fit.call_on_fit_task_begin(**self.about)
        self.task: Any = None
        self.begin()

    def begin(self) -> None:
        """Report the begin of the next task."""
        self.task = self.fit.subcontext(task_name=self.name)
        self.task.call_on_fit_task_begin(**self.about)

    def report(self, n_done: int, fitted: Fitted | None = None) -> bool:
        """Report the end of tasks and the beginning of the next one. Return whether a callback stops the fit.

        Parameters
        ----------
        n_done : int
            The number of tasks that have ended. It can grow by more than one if tasks run in parallel.
        fitted : callable, default=None
            Returns the attributes of the estimator as fitted so far. Only callbacks that need them call it.
        """
        wants_to_stop = False
        # Threads may finish tasks after a callback has stopped the fit.
        while self.n_ended < n_done and self.task is not None:
            self.n_ended += 1
            is_last = self.n_ended == n_done
            wants_to_stop |= self.task.call_on_fit_task_end(
                **self.about, reconstruction_attributes=fitted if is_last else None
            )
            self.task = None
            if self.n_ended != self.n_tasks and not (is_last and wants_to_stop):
                self.begin()
        return wants_to_stop

    def end(self, fitted: Fitted) -> None:
        """Report the end of the fit, and of the task that did not run because of early stopping."""
        if self.task is not None:
            self.task.call_on_fit_task_end(**self.about)
        self.fit.call_on_fit_task_end(**self.about, reconstruction_attributes=fitted)


def task_calls(estimator: Any, X: Any, y: Any, name: str, n_tasks: int | None) -> TaskCalls | None:
    """Return the calls of an estimator's callbacks, or None if it has none."""
    return TaskCalls(estimator, X, y, name, n_tasks) if hasattr(estimator, "_skl_callbacks") else None


def hook_of(work: Work, calls: TaskCalls | None) -> Callable[[int], bool] | None:
    """Return a function that takes the number of tasks done and returns whether to stop.

    Return None if there are no receivers of progress, no callbacks and no deadline.
    """
    if not work.has_receiver and calls is None and not has_deadline():
        return None
    report = reporter(work, calls)
    return lambda n_done: report(n_done) or is_time_up()


def reporter(work: Work, calls: TaskCalls | None) -> Callable[[int], bool]:
    """Return a function that reports the number of tasks done and returns whether a callback stops."""

    def report(n_done: int) -> bool:
        work.report(n_done)
        return calls is not None and calls.report(n_done)

    return report


class FitFrame:
    """The progress, callbacks and interruption of a fit of many trees, rounds or members.

    Parameters
    ----------
    estimator : estimator
    X, y : table and array-like
        The training set.
    unit : {"tree", "round", "member"}
    n_total : int
        The number of units after the fit.
    n_before : int, default=0
        The number of units before the fit.
    is_limit : bool, default=False
        Whether the fit may end with fewer units.
    n_tasks : int, default=None
        The number of tasks that callbacks expect. None is the number of new units, if it is known.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        unit: str,
        n_total: int,
        *,
        n_before: int = 0,
        is_limit: bool = False,
        n_tasks: int | None = None,
    ) -> None:
        self.estimator = estimator
        n_made = None if is_limit else n_total - n_before
        self.calls = task_calls(estimator, X, y, unit, n_made if n_tasks is None else n_tasks)
        name, verbose = type(estimator).__name__, estimator.verbose
        self.work = Work(f"{unit}s", name, n_total, n_before=n_before, is_limit=is_limit, verbose=verbose)

    @property
    def hook(self) -> Callable[[int], bool] | None:
        """The function to call within `work` with the number of units done. It returns whether to stop."""
        return hook_of(self.work, self.calls)

    def end(self, interruption: BaseException | None, n_made: int, keep: Callable[[], object]) -> None:
        """Keep the fitted units, then raise the interruption or report the end of the fit.

        An interrupted fit keeps complete units if a warm start can add the others.
        """
        is_warm = getattr(self.estimator, "warm_start", False)
        if interruption is None or (is_warm and isinstance(interruption, KeyboardInterrupt) and n_made > 0):
            keep()
        if interruption is not None:
            raise interruption
        if self.calls:
            self.calls.end(lambda: vars(self.estimator))


def warn_of_no_more(what: str, stacklevel: int = 5) -> None:
    """Warn that a warm start adds no trees or members, because `n_estimators` is reached."""
    message = f"Warm-start fitting without increasing n_estimators does not fit new {what}."
    warnings.warn(message, stacklevel=stacklevel)
